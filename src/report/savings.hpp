// The calculator for a chain of operations that is known by its sizes alone.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace smelt::report {

struct ChainOperation {
  std::string name;
  int64_t input_size = 0, output_size = 0;  // elements
};

struct Savings {
  int64_t unfused_bytes = 0;  // every operation reads its input and writes its output
  int64_t fused_bytes = 0;    // the first input and the last output
  int64_t savings_bytes = 0;
  double savings_pct = 0;       // two decimals; 0 when nothing is moved
  double speedup_estimate = 0;  // unfused / fused, two decimals; 0 when nothing is moved
};

// Both throw UserError; a wrong entry is named by its place in the list and its name.
std::vector<ChainOperation> parse_chain(const std::string& json_text, const std::string& where);
Savings chain_savings(const std::vector<ChainOperation>& chain, int64_t dtype_bytes);

nlohmann::ordered_json to_json(const Savings& savings);
std::string to_text(const Savings& savings, size_t operations);

double round_to_decimals(double value, int decimals);

}  // namespace smelt::report
