// smelt: the command line. docs/cli.md is its manual.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "command.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

// Messages of the language carry their place and the word "error" already.
bool says_error(const std::string& message) {
  const std::string first = message.substr(0, message.find('\n'));
  return first.rfind("error: ", 0) == 0 || first.find(": error: ") != std::string::npos;
}

// Some messages end in a line that begins with "help:"; it stands indented, under its error.
std::string with_help_indented(const std::string& message) {
  std::string out;
  for (size_t at = 0; at <= message.size();) {
    const size_t end = std::min(message.find('\n', at), message.size());
    const std::string line = message.substr(at, end - at);
    if (line.rfind("help:", 0) == 0) out += "  ";
    out += line + '\n';
    at = end + 1;
  }
  return out;
}

int fail(int status, const std::string& message) {
  const report::Style style = report::Style::of(STDERR_FILENO);
  std::fflush(stdout);
  const std::string prefix = says_error(message) ? "" : style.bad("error:") + " ";
  fmt::print(stderr, "{}{}", prefix, with_help_indented(message));
  return status;
}

constexpr const char* kCommands[] = {"run", "bench", "explain", "savings", "devices", "ops"};

int fail_parse(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(std::begin(kCommands), std::end(kCommands), first) != std::end(kCommands);
  if (argc < 2) {
    fmt::print(stderr, "{}", app.help());
    return kUserMistake;
  }
  if (!known && first[0] != '-') {
    return fail(kUserMistake,
                fmt::format("there is no command \"{}\"\nhelp: one of run, bench, explain, savings, devices, ops",
                            report::printable(first, 40)));
  }
  std::string help = fmt::format("help: smelt {}{}--help", known ? first : "", known ? " " : "");
  // An expression such as -x + 1 looks like an option.
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.size() > 1 && word[0] == '-' && word.find_first_of(" (*/+") != std::string::npos &&
        word.find('=') == std::string::npos)
      help = "help: put -- before an expression that begins with a minus: smelt run -i x=f32[8] -- '-x + 1'";
  }
  return fail(kUserMistake, report::printable(e.what(), 400) + "\n" + help);
}

int run(int argc, char** argv) {
  CLI::App app{"smelt: array programs in, few fused kernels out", "smelt"};
  app.set_version_flag("--version", "smelt " SMELT_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  app.footer("Example:\n  smelt run 'softmax(x)' -i x=f32[4,8]\nEvery command has its own --help.");
  int status = kFine;
  add_run(app, status);
  add_bench(app, status);
  add_explain(app, status);
  add_savings(app, status);
  add_devices(app, status);
  add_ops(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    return fail_parse(app, e, argc, argv);
  }
  return status;
}

}  // namespace
}  // namespace smelt::tool

int main(int argc, char** argv) {
  using namespace smelt;
  using namespace smelt::tool;
  try {
    return tool::run(argc, argv);
  } catch (const UserError& e) {
    return fail(kUserMistake, e.what());
  } catch (const InternalError& e) {
    return fail(kBug, e.what());
  } catch (const std::bad_alloc&) {
    return fail(kUserMistake, "there is not enough memory\nhelp: use smaller sizes, or free memory");
  } catch (const std::exception& e) {
    return fail(kBug, InternalError(e.what()).what());
  }
}
