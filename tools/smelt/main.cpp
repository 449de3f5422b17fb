// smelt: the command line. docs/cli.md is its manual.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "arguments.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

// Messages of the language carry their place and the word "error" already.
bool says_error(const std::string& message) {
  const std::string first = message.substr(0, message.find('\n'));
  return first.rfind("error: ", 0) == 0 || first.find(": error: ") != std::string::npos;
}

// Some messages end in a line that begins with "help:"; it is indented, under its error.
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

}  // namespace

int fail(int status, const std::string& message) {
  const report::Style style = report::Style::of(STDERR_FILENO);
  std::fflush(stdout);
  const std::string prefix = says_error(message) ? "" : style.bad("error:") + " ";
  fmt::print(stderr, "{}{}", prefix, with_help_indented(message));
  return status;
}

}  // namespace smelt::tool

int main(int argc, char** argv) {
  using namespace smelt;
  using namespace smelt::tool;
  try {
    return run_command_line(argc, argv);
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
