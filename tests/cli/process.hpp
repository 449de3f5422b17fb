// Runs the built smelt as a user would, and keeps what it said.
#pragma once

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

struct Invocation {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;  // on top of the test's own; NO_COLOR is taken out of that
  std::string input;                               // standard input
  bool terminal = false;                           // standard output and error are a terminal
};

struct Result {
  int status = -1;       // 128 + n when signal n ended it
  std::string out, err;  // on a terminal all is in out

  bool out_has(const std::string& text) const { return out.find(text) != std::string::npos; }
  bool err_has(const std::string& text) const { return err.find(text) != std::string::npos; }
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

Result run(const Invocation& invocation);
// Without waiting for it; in, out and err become its standard input, output and error.
pid_t start(const Invocation& invocation, int in, int out, int err);
Result tool(const std::vector<std::string>& arguments);
// With no compiler to be found: the reference interpreter runs programs.
Result tool_without_llvm(const std::vector<std::string>& arguments);
// The same with --fallback warn after the command.
Result interpreted(std::vector<std::string> arguments);
bool has_llvm();
