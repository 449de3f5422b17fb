// What the counters of a GPU say of a program, read from what Nsight Compute prints, compared with
// what the plan predicts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/bench.hpp"
#include "report/style.hpp"

namespace smelt::report {

// The counters that Nsight Compute is asked for, as its --metrics takes them.
std::string counters_wanted();

// One launch.
struct CountedLaunch {
  std::string function;  // "k0_p0"
  double read_bytes = 0, written_bytes = 0;
  double occupancy = 0;  // warps resident on average, of those that can be
  double ms = 0;
};

// Reads `ncu --csv --page raw`; lines that are not of the table are passed over. Throws UserError
// that says what to do when the counters are not permitted, or are not there.
std::vector<CountedLaunch> parse_counters(const std::string& text);

struct ProfileSide {
  int kernels = 0;
  int64_t predicted_read = 0, predicted_written = 0;  // by the plan
  std::vector<CountedLaunch> launches;

  double read() const;
  double written() const;
  double ms() const;
  double occupancy() const;  // weighed by time
};

struct Profile {
  BenchTitle title;
  std::vector<std::string> inputs;
  ProfileSide fused, unfused;
};

// Predicted bytes and the number of kernels.
ProfileSide predicted_side(const Executable& executable, const SizeBinding& sizes);

std::string to_text(const Profile& profile, const Style& style);
nlohmann::ordered_json to_json(const Profile& profile);

}  // namespace smelt::report
