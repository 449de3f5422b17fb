#include "runtime/nvrtc_search.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace smelt::runtime {

namespace fs = std::filesystem;

namespace {

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// The entries of a folder whose names begin so, the last in the alphabet first: python3.12 before
// python3.11, cuda-13.0 before cuda-12.9.
std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed))
    if (it->path().filename().string().rfind(prefix, 0) == 0) found.push_back(it->path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

class Search {
 public:
  // Libraries whose names begin so, or the program of this name.
  Search(const SearchPlaces& places, std::string wanted, bool program)
      : places_(places), wanted_(std::move(wanted)), program_(program) {}

  std::vector<std::string> run() {
    if (program_) look_among_programs();
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      if (const std::string prefix = places_.environment(variable); !prefix.empty()) {
        look_in_python(places_.root + prefix);
        look_in_folder(fs::path(places_.root + prefix) / kind());
      }
    look_on_path();
    if (const std::string home = places_.environment("HOME"); !home.empty()) {
      look_in_python(places_.root + home + "/.local");
      for (const fs::path& version : entries(places_.root + home + "/.pyenv/versions", "")) look_in_python(version);
    }
    look_in_python(places_.root + "/usr/local");
    look_in_python(places_.root + "/usr");
    look_in_packages(places_.root + "/usr/lib/python3/dist-packages");
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
      if (const std::string home = places_.environment(variable); !home.empty()) look_in_toolkit(places_.root + home);
    look_in_toolkit(places_.root + "/usr/local/cuda");
    for (const fs::path& toolkit : entries(places_.root + "/usr/local", "cuda-")) look_in_toolkit(toolkit);
    look_in_toolkit(places_.root + "/opt/cuda");
    if (program_)
      for (const fs::path& version : entries(places_.root + "/opt/nvidia/nsight-compute", "")) look_in_folder(version);
    return std::move(found_);
  }

 private:
  const char* kind() const { return program_ ? "bin" : "lib"; }

  void look_among_programs() {
    std::istringstream path(places_.environment("PATH"));
    for (std::string folder; std::getline(path, folder, ':');)
      if (!folder.empty()) look_in_folder(places_.root + folder);
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
      if (const std::string home = places_.environment(variable); !home.empty()) look_in_toolkit(places_.root + home);
  }

  // Every python3 of the PATH has its packages next to it; a link stands for the place that it
  // points to.
  void look_on_path() {
    std::istringstream path(places_.environment("PATH"));
    for (std::string folder; std::getline(path, folder, ':');) {
      std::error_code failed;
      const fs::path python = fs::path(places_.root + folder) / "python3";
      if (folder.empty() || !fs::exists(python, failed)) continue;
      look_in_python(python.parent_path().parent_path());
      const fs::path real = fs::canonical(python, failed);
      if (!failed) look_in_python(real.parent_path().parent_path());
    }
  }

  void look_in_python(const fs::path& prefix) {
    for (const fs::path& version : entries(prefix / "lib", "python3"))
      for (const char* packages : {"site-packages", "dist-packages"}) look_in_packages(version / packages);
  }

  // The wheels nvidia-cuda-nvrtc (13 and newer), nvidia-cuda-nvrtc-cu12 and -cu11; triton has
  // programs of the toolkit too.
  void look_in_packages(const fs::path& packages) {
    for (const fs::path& version : entries(packages / "nvidia", "cu1")) look_in_folder(version / kind());
    if (program_) return look_in_folder(packages / "triton" / "backends" / "nvidia" / "bin");
    look_in_folder(packages / "nvidia" / "cuda_nvrtc" / "lib");
  }

  void look_in_toolkit(const fs::path& toolkit) {
    if (program_) return look_in_folder(toolkit / "bin");
    look_in_folder(toolkit / "lib64");
    look_in_folder(toolkit / "targets" / "x86_64-linux" / "lib");
  }

  void look_in_folder(const fs::path& folder) {
    for (const fs::path& file : entries(folder, wanted_)) {
      std::error_code failed;
      if (program_ && file.filename() != wanted_) continue;
      const fs::path real = fs::canonical(file, failed);
      if (failed || contains(seen_, real.string())) continue;
      seen_.push_back(real.string());
      found_.push_back(file.string());
    }
  }

  const SearchPlaces& places_;
  const std::string wanted_;
  const bool program_;
  std::vector<std::string> seen_, found_;
};

}  // namespace

std::vector<std::string> nvrtc_files(const SearchPlaces& places) { return Search(places, "libnvrtc.so.", false).run(); }

std::vector<std::string> tool_files(const SearchPlaces& places, const std::string& name) {
  return Search(places, name, true).run();
}

std::vector<std::string> nvrtc_names() {
  return {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
}

}  // namespace smelt::runtime
