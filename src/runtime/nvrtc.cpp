// libnvrtc: CUDA C++ to code for one architecture, without a toolkit and without a GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/check.hpp"
#include "runtime/gpu.hpp"
#include "runtime/nvrtc_search.hpp"
#include "runtime/shared_library.hpp"

namespace smelt::runtime {
namespace {

constexpr const char* kInstall = "pip install nvidia-cuda-nvrtc";
constexpr const char* kInstall12 = "pip install nvidia-cuda-nvrtc-cu12";
constexpr int kOldestMajor = 11, kMinimalSince = 12090;
constexpr int kSuccess = 0, kCompilationError = 6;  // nvrtcResult

using Status = int;
struct ProgramOpaque;
using Program = ProgramOpaque*;

struct Api {
  explicit Api(SharedLibrary opened) : library(opened) {}
  SharedLibrary library;
  Call<const char*(Status)> error_text{library, "nvrtcGetErrorString"};
  Call<Status(int*, int*)> version{library, "nvrtcVersion"};
  Call<Status(int*)> architecture_count{library, "nvrtcGetNumSupportedArchs"};
  Call<Status(int*)> architectures{library, "nvrtcGetSupportedArchs"};
  Call<Status(Program*, const char*, const char*, int, const char* const*, const char* const*)> create{
      library, "nvrtcCreateProgram"};
  Call<Status(Program*)> destroy{library, "nvrtcDestroyProgram"};
  Call<Status(Program, int, const char* const*)> compile{library, "nvrtcCompileProgram"};
  Call<Status(Program, size_t*)> cubin_size{library, "nvrtcGetCUBINSize"};
  Call<Status(Program, char*)> cubin{library, "nvrtcGetCUBIN"};
  Call<Status(Program, size_t*)> ptx_size{library, "nvrtcGetPTXSize"};
  Call<Status(Program, char*)> ptx{library, "nvrtcGetPTX"};
  Call<Status(Program, size_t*)> log_size{library, "nvrtcGetProgramLogSize"};
  Call<Status(Program, char*)> log{library, "nvrtcGetProgramLog"};
};

// "kernel.cu(12): error: ..." names line 12.
std::map<int, std::string> named_lines(const std::string& log, const std::string& source) {
  std::map<int, std::string> named;
  for (size_t at = log.find("kernel.cu("); at != std::string::npos; at = log.find("kernel.cu(", at + 1))
    if (const int line = std::atoi(log.c_str() + at + 10); line > 0 && named.size() < 8) named[line] = "";
  std::istringstream lines(source);
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number)
    if (const auto it = named.find(number); it != named.end()) it->second = text;
  return named;
}

class OpenedNvrtc final : public Nvrtc {
 public:
  OpenedNvrtc(std::shared_ptr<const Api> api, std::string path, int version)
      : api_(std::move(api)), path_(std::move(path)), version_(version) {}

  int version() const override { return version_; }
  std::string version_text() const override { return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10); }
  std::string path() const override { return path_; }

  std::vector<int> architectures() const override {
    int count = 0;
    check(api_->architecture_count(&count), "list its architectures");
    std::vector<int> all(static_cast<size_t>(std::max(count, 0)));
    check(api_->architectures(all.data()), "list its architectures");
    return all;
  }

  bool supports(int compute, std::string& why) const override {
    const std::vector<int> all = architectures();
    if (std::find(all.begin(), all.end(), compute) != all.end()) return true;
    const bool older = !all.empty() && compute < all.front();
    why = fmt::format("NVRTC {} ({}) does not compile for sm_{}: it supports sm_{}. Install {} one: {}", version_text(),
                      path_, compute, fmt::join(all, ", sm_"), older ? "an older" : "a newer",
                      older ? kInstall12 : kInstall);
    return false;
  }

  std::vector<std::string> arguments(int compute, const NvrtcOptions& options) const override {
    // Of 9.0 with the instructions that no later one has: of matrix units.
    std::vector<std::string> words = {fmt::format("--gpu-architecture=sm_{}{}", compute, compute == 90 ? "a" : ""),
                                      "--std=c++17", options.contract ? "--fmad=true" : "--fmad=false"};
    // Without declarations of textures and of the runtime's functions, which no kernel uses: some
    // milliseconds less.
    if (version_ >= kMinimalSince) words.push_back("--minimal");
    if (options.for_device) words.push_back("--device-as-default-execution-space");
    if (options.lines) words.push_back("--generate-line-info");
    return words;
  }

  std::string compile(const std::string& source, int compute, const NvrtcOptions& options) const override {
    return build(source, compute, options, api_->cubin_size, api_->cubin);
  }
  std::string ptx(const std::string& source, int compute, const NvrtcOptions& options) const override {
    std::string text = build(source, compute, options, api_->ptx_size, api_->ptx);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

 private:
  void check(Status status, const char* what) const {
    SMELT_CHECK(status == kSuccess, "NVRTC {} ({}) cannot {}: {}", version_text(), path_, what,
                api_->error_text(status));
  }

  std::string log_of(Program program) const {
    size_t size = 0;
    if (api_->log_size(program, &size) != kSuccess || size <= 1) return "";
    std::string text(size, '\0');
    if (api_->log(program, text.data()) != kSuccess) return "";
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
  }

  [[noreturn]] void fail(Status status, Program program, const std::string& source) const {
    const std::string log = log_of(program);
    std::string lines;
    for (const auto& [number, text] : named_lines(log, source)) lines += fmt::format("\n  {:4} | {}", number, text);
    // The library that holds its built-in declarations may be missing next to it: the machine's
    // fault, not the kernel's.
    if (status != kCompilationError && log.find("builtins") != std::string::npos)
      throw UserError(fmt::format("NVRTC {} ({}) is incomplete: {}\nhelp: install it again: {}", version_text(), path_,
                                  log, kInstall));
    throw InternalError(fmt::format("NVRTC {} refuses a kernel ({})\n{}{}", version_text(), api_->error_text(status),
                                    log, lines.empty() ? "" : "\nthe lines that it names:" + lines));
  }

  template <class Size, class Get>
  std::string build(const std::string& source, int compute, const NvrtcOptions& options, const Size& size_of,
                    const Get& get) const {
    Program program = nullptr;
    check(api_->create(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr), "take a program");
    const std::shared_ptr<void> owner(program, [api = api_](void* p) {
      Program done = static_cast<Program>(p);
      api->destroy(&done);
    });
    const std::vector<std::string> words = arguments(compute, options);
    std::vector<const char*> pointers;
    for (const std::string& word : words) pointers.push_back(word.c_str());
    const Status status = api_->compile(program, static_cast<int>(pointers.size()), pointers.data());
    if (status != kSuccess) fail(status, program, source);
    size_t bytes = 0;
    check(size_of(program, &bytes), "hand over its result");
    SMELT_CHECK(bytes > 0, "NVRTC {} made nothing for sm_{}", version_text(), compute);
    std::string result(bytes, '\0');
    check(get(program, result.data()), "hand over its result");
    return result;
  }

  std::shared_ptr<const Api> api_;
  std::string path_;
  int version_;
};

// A compile takes and frees tens of megabytes several times over. glibc hands what is free at the
// top of its heap back to the system once it is 128 KB, and every page of it is found and cleared
// again: a sixth of the time of a small kernel. It learns from the blocks that a program frees:
// after one as large as this it keeps up to twice as much.
void let_heap_keep_what_is_freed() {
  constexpr size_t kLargestThatTeaches = size_t{31} << 20;
  void* volatile block = std::malloc(kLargestThatTeaches);
  std::free(block);
}

std::shared_ptr<Nvrtc> try_open(const std::string& name, int newest_major, std::string& why) {
  const auto api =
      open_functions<Api>(open_library(name, why), name, fmt::format("older than NVRTC {}.2", kOldestMajor), why);
  if (!api) return nullptr;
  int major = 0, minor = 0;
  if (api->version(&major, &minor) != kSuccess || major < kOldestMajor) {
    why = fmt::format("{}: NVRTC {}.{} is too old", name, major, minor);
    return nullptr;
  }
  if (newest_major > 0 && major > newest_major) {
    why = fmt::format("{}: NVRTC {}.{} is too new for the driver, which supports CUDA {}", name, major, minor,
                      newest_major);
    return nullptr;
  }
  let_heap_keep_what_is_freed();
  return std::make_shared<OpenedNvrtc>(api, path_of(api->version.address(), name), major * 1000 + minor * 10);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

namespace {

class AbsentNvrtc final : public Nvrtc {
 public:
  explicit AbsentNvrtc(int version) : version_(version) {}
  int version() const override { return version_; }
  std::string version_text() const override { return fmt::format("{}.{}", version_ / 1000, version_ % 1000 / 10); }
  std::string path() const override { return ""; }
  std::vector<int> architectures() const override { return {}; }
  bool supports(int, std::string&) const override { return true; }
  std::vector<std::string> arguments(int, const NvrtcOptions&) const override { return {}; }
  std::string compile(const std::string&, int, const NvrtcOptions&) const override {
    throw UserError("the file of a saved function lacks code: another build of smelt saved it\nhelp: save it again");
  }
  std::string ptx(const std::string&, int, const NvrtcOptions&) const override {
    throw UserError("a function that was loaded from a file has no PTX\nhelp: compile it again where NVRTC is");
  }

 private:
  int version_;
};

}  // namespace

std::shared_ptr<Nvrtc> Nvrtc::absent(int version) { return std::make_shared<AbsentNvrtc>(version); }

std::shared_ptr<Nvrtc> Nvrtc::open(std::string& why, int newest_major) {
  const char* install = newest_major == 12 ? kInstall12 : kInstall;
  std::vector<std::string> candidates = nvrtc_files({variable, ""});
  const std::vector<std::string> names = nvrtc_names();
  candidates.insert(candidates.end(), names.begin(), names.end());
  const auto open = [&](const std::string& name, std::string& reason) { return try_open(name, newest_major, reason); };
  return search_library(
      {"libnvrtc", "SMELT_NVRTC", std::move(candidates),
       fmt::format("looked in the site-packages of Python environments, in CUDA_HOME and /usr/local/cuda*, "
                   "and for {}",
                   fmt::join(names, ", ")),
       fmt::format("Install it: {}", install), fmt::format(", or install NVRTC: {}", install)},
      open, why);
}

}  // namespace smelt::runtime
