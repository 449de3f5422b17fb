// smelt savings: the bytes that fusing a chain saves, from its sizes alone.
#include "report/savings.hpp"

#include <memory>

#include "command.hpp"
#include "report/file.hpp"
#include "report/json.hpp"

namespace smelt::tool {
namespace {

constexpr int64_t kLargestList = 256 << 20;

struct SavingsOptions {
  CommonOptions common;
  std::string list;
  int64_t dtype_bytes = 2;
};

int run_savings(const SavingsOptions& options) {
  const Output output(options.common);
  find_device(options.common);  // the calculator needs none, and yet a wrong name is a mistake
  const std::string path = options.list == "-" ? "/dev/stdin" : options.list;
  const std::string where = options.list == "-" ? "standard input" : options.list;
  const std::vector<report::ChainOperation> chain = report::parse_chain(report::read_text(path, kLargestList), where);
  const report::Savings savings = report::chain_savings(chain, options.dtype_bytes);
  output.text(report::to_text(savings, chain.size()));
  output.json(report::to_json(savings));
  return kFine;
}

}  // namespace

void add_savings(CLI::App& app, int& status) {
  auto options = std::make_shared<SavingsOptions>();
  CLI::App* command =
      app.add_subcommand("savings", "compute what fusing a chain of operations saves, from its sizes alone");
  command
      ->add_option("OPS.json", options->list,
                   "a list of {\"name\", \"input_size\", \"output_size\"}, sizes in elements (- for standard input)")
      ->required()
      ->type_name("");
  command->add_option("--dtype-bytes", options->dtype_bytes, "bytes of an element")
      ->type_name("N")
      ->capture_default_str();
  add_common_options(*command, options->common);
  command->footer(
      "Example:\n"
      "  echo '[{\"name\": \"relu\", \"input_size\": 4096, \"output_size\": 4096},\n"
      "         {\"name\": \"sum\", \"input_size\": 4096, \"output_size\": 1}]' > ops.json\n"
      "  smelt savings ops.json --dtype-bytes 4");
  command->callback([options, &status] { status = run_savings(*options); });
}

}  // namespace smelt::tool
