#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace {

struct Pipe {
  int read = -1, write = -1;
  explicit Pipe(bool terminal) {
    int ends[2];
    const bool made =
        terminal ? ::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) == 0 : ::pipe2(ends, O_CLOEXEC) == 0;
    if (!made) throw std::runtime_error("no pipe");
    read = ends[0];
    write = ends[1];
    ::fcntl(read, F_SETFD, FD_CLOEXEC);
  }
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

// Reads both ends until nobody writes to them.
void drain(int out, int err, Result& result) {
  struct pollfd ends[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* const texts[2] = {&result.out, &result.err};
  int open = err < 0 ? 1 : 2;
  while (open > 0 && ::poll(ends, err < 0 ? 1 : 2, -1) >= 0) {
    for (int i = 0; i < 2; ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      char chunk[4096];
      const ssize_t got = ::read(ends[i].fd, chunk, sizeof chunk);
      if (got > 0) {
        texts[i]->append(chunk, static_cast<size_t>(got));
      } else {  // end of file; on a terminal an error
        ends[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

pid_t start(const Invocation& invocation, int in, int out, int err) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    variables[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  variables.erase("NO_COLOR");
  variables.erase("SMELT_LLVM");
  variables["SMELT_CUDA"] = "/nonexistent/libcuda.so";  // the CPU, wherever the tests run
  variables["TERM"] = "xterm-256color";
  variables["OMP_WAIT_POLICY"] = "passive";  // tests share the processors with other tests
  for (const auto& [name, value] : invocation.environment) variables[name] = value;
  std::vector<std::string> words = {std::string(SMELT_BINARY_DIR) + "/smelt"}, environment;
  words.insert(words.end(), invocation.arguments.begin(), invocation.arguments.end());
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const int ends[] = {in, out, err};
  for (int to = 0; to < 3; ++to) ::posix_spawn_file_actions_adddup2(&actions, ends[to], to);
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, pointers(words).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + words[0] + ": " + std::strerror(failed));
  return child;
}

Result run(const Invocation& invocation) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe out(invocation.terminal), in(false);
  Pipe err(false);
  const pid_t child = start(invocation, in.read, out.write, invocation.terminal ? out.write : err.write);
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  if (!invocation.input.empty() && ::write(in.write, invocation.input.data(), invocation.input.size()) < 0) {
    // it did not want to read; the result says why
  }
  ::close(in.write);
  Result result;
  drain(out.read, err.read, result);
  ::close(out.read);
  ::close(err.read);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

Result tool(const std::vector<std::string>& arguments) { return run({arguments, {}, "", false}); }

Result tool_without_llvm(const std::vector<std::string>& arguments) {
  return run({arguments, {{"SMELT_LLVM", "/nonexistent/libLLVM.so"}}, "", false});
}

Result interpreted(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin() + 1, {"--fallback", "warn"});
  return tool_without_llvm(arguments);
}

bool has_llvm() {
  const Result r = tool({"explain", "x + 1", "-i", "x=f32[4]"});
  return !r.err_has("there is no compiler");
}
