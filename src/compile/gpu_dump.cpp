// What a GPU runs, as text: PTX by NVRTC, machine instructions by NVIDIA's tools where they are.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "compile/state.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

namespace fs = std::filesystem;

// The first program of these that is there; empty when none is.
std::string find_program(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  const char* home = std::getenv("CUDA_HOME");
  std::string folders = path ? path : "";
  if (home && *home) folders += std::string(":") + home + "/bin";
  folders += ":/usr/local/cuda/bin";
  for (const std::string& name : names)
    for (size_t at = 0; at < folders.size();) {
      const size_t end = std::min(folders.find(':', at), folders.size());
      const std::string file = folders.substr(at, end - at) + "/" + name;
      if (end > at && ::access(file.c_str(), X_OK) == 0) return file;
      at = end + 1;
    }
  return "";
}

// What a program says when it is given a file.
std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe(ends) != 0) throw UserError("cannot make a pipe to " + program);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    ::close(ends[1]);
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  char chunk[4096];
  for (ssize_t got; (got = ::read(ends[0], chunk, sizeof chunk)) > 0;) text.append(chunk, static_cast<size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw UserError(fmt::format("{} failed: {}", program, text.substr(0, 2000)));
  return text;
}

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "smelt-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) throw UserError("cannot make a folder for temporary files: " + path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code failed;
    fs::remove_all(path_, failed);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string dump_ptx(const Executable::State& state) {
  std::string text;
  for (const std::string& source : state.sources)
    text += state.device.nvrtc->ptx(source, state.device.gpu_facts.compute, state.nvrtc);
  return text;
}

std::string dump_sass(const Executable::State& state) {
  const std::string program = find_program({"nvdisasm", "cuobjdump"});
  if (program.empty())
    throw UserError(
        "machine instructions of a GPU need nvdisasm or cuobjdump of the CUDA toolkit, and neither is on the PATH\n"
        "help: pip install nvidia-cuda-nvdisasm, or look at --dump ptx");
  const TemporaryFolder folder;
  std::string text;
  for (const std::string& source : state.sources) {
    const std::string file = folder.path() + "/kernel.cubin";
    std::ofstream(file, std::ios::binary)
        << state.device.nvrtc->compile(source, state.device.gpu_facts.compute, state.nvrtc);
    const bool nvdisasm = fs::path(program).filename() == "nvdisasm";
    text +=
        output_of(program, nvdisasm ? std::vector<std::string>{"-c", file} : std::vector<std::string>{"-sass", file});
  }
  return text;
}

}  // namespace smelt
