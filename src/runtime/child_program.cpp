#include "runtime/child_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "runtime/nvrtc_search.hpp"
#include "smelt/error.hpp"

extern char** environ;  // NOLINT: what POSIX calls it

namespace smelt::runtime {

namespace fs = std::filesystem;

namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// Both outputs of the child go to `out`. 0, or the error.
int spawn(pid_t& child, int out, const std::vector<char*>& argv, const std::vector<char*>& envp) {
  posix_spawn_file_actions_t actions;
  if (const int error = ::posix_spawn_file_actions_init(&actions)) return error;
  int error = ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions, out, 2);
  if (error == 0) error = ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Whether "NAME=value" is one of these. Of two variables of a name, some programs take the first
// and some the last.
bool names_one_of(const std::vector<std::pair<std::string, std::string>>& environment, std::string_view variable) {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const auto& entry) { return variable.substr(0, variable.find('=')) == entry.first; });
}

ssize_t read_again(int fd, char* to, size_t bytes) {
  for (;;)
    if (const ssize_t got = ::read(fd, to, bytes); got >= 0 || errno != EINTR) return got;
}

}  // namespace

ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<std::string> words = {program}, variables;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const auto& [name, value] : environment) variables.push_back(fmt::format("{}={}", name, value));
  for (char** variable = environ; *variable; ++variable)
    if (!names_one_of(environment, *variable)) variables.emplace_back(*variable);
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw UserError(fmt::format("cannot make a pipe to {}: {}", program, std::strerror(errno)));
  pid_t child = 0;
  const int failed = spawn(child, ends[1], argv, envp);
  ::close(ends[1]);
  ChildResult result;
  char chunk[4096];
  for (ssize_t got; failed == 0 && (got = read_again(ends[0], chunk, sizeof chunk)) > 0;)
    result.output.append(chunk, static_cast<size_t>(got));
  ::close(ends[0]);
  if (failed == EAGAIN || failed == ENOMEM)
    throw UserError(fmt::format("cannot start {}: {}", program, std::strerror(failed)));
  if (failed != 0) {
    result.status = 127;
    return result;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code failed;
  const fs::path place = fs::temp_directory_path(failed);
  path_ = ((failed ? fs::path("/tmp") : place) / "smelt-XXXXXX").string();
  if (!::mkdtemp(path_.data()))
    throw UserError(fmt::format("cannot make a folder for temporary files, {}: {}\nhelp: TMPDIR names another place",
                                path_, std::strerror(errno)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code failed;
  fs::remove_all(path_, failed);
}

std::vector<std::string> find_cuda_tool(const std::string& name) {
  const auto environment = [](const char* variable) -> std::string {
    const char* value = std::getenv(variable);
    return value ? value : "";
  };
  std::vector<std::string> usable;
  for (const std::string& file : tool_files({environment, ""}, name))
    if (::access(file.c_str(), X_OK) == 0) usable.push_back(file);
  return usable;
}

}  // namespace smelt::runtime
