#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
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

[[noreturn]] void become_smelt(const Invocation& invocation, int in, int out, int err) {
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::unsetenv("NO_COLOR");
  ::unsetenv("SMELT_LLVM");
  ::setenv("SMELT_CUDA", "/nonexistent/libcuda.so", 1);  // the CPU, wherever the tests run
  ::setenv("TERM", "xterm-256color", 1);
  ::setenv("OMP_WAIT_POLICY", "passive", 1);  // tests share the processors with other tests
  for (const auto& [name, value] : invocation.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  const std::string path = std::string(SMELT_BINARY_DIR) + "/smelt";
  argv.push_back(const_cast<char*>(path.c_str()));
  for (const std::string& argument : invocation.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  ::_exit(127);
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

Result run(const Invocation& invocation) {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe out(invocation.terminal), in(false);
  Pipe err(false);
  const pid_t child = ::fork();
  if (child == 0) become_smelt(invocation, in.read, out.write, invocation.terminal ? out.write : err.write);
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
