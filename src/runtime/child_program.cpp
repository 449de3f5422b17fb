#include "runtime/child_program.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

}  // namespace

ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      const std::vector<std::pair<std::string, std::string>>& environment) {
  // All that allocates comes before the fork: other threads may hold the allocator's lock at that moment.
  std::vector<std::string> words = {program}, variables;
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (const auto& [name, value] : environment) variables.push_back(fmt::format("{}={}", name, value));
  for (char** variable = environ; *variable; ++variable)
    variables.emplace_back(*variable);  // the first of a name counts
  const std::vector<char*> argv = pointers(words), envp = pointers(variables);
  int ends[2];
  if (::pipe(ends) != 0) throw UserError("cannot make a pipe to " + program);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execve(program.c_str(), argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  ChildResult result;
  char chunk[4096];
  for (ssize_t got; child > 0 && (got = ::read(ends[0], chunk, sizeof chunk)) > 0;)
    result.output.append(chunk, static_cast<size_t>(got));
  ::close(ends[0]);
  if (child < 0) throw UserError("cannot start " + program);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TemporaryFolder::TemporaryFolder() : path_((fs::temp_directory_path() / "smelt-XXXXXX").string()) {
  if (!::mkdtemp(path_.data())) throw UserError("cannot make a folder for temporary files: " + path_);
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
