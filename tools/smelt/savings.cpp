// smelt savings: the bytes that fusing a chain saves, from its sizes alone.
#include "report/savings.hpp"

#include "arguments.hpp"
#include "report/file.hpp"
#include "report/json.hpp"

namespace smelt::tool {
namespace {

constexpr int64_t kLargestList = 256 << 20;

}  // namespace

int run_savings(const SavingsOptions& options) {
  const Output output(options.common);
  const std::string path = options.list == "-" ? "/dev/stdin" : options.list;
  const std::string where = options.list == "-" ? "standard input" : options.list;
  const std::vector<report::ChainOperation> chain = report::parse_chain(report::read_text(path, kLargestList), where);
  const report::Savings savings = report::chain_savings(chain, options.dtype_bytes);
  output.text(report::to_text(savings, chain.size()));
  output.json(report::to_json(savings));
  return kFine;
}

}  // namespace smelt::tool
