// The GPU of the tests, and NVRTC where `make test` has put it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "runtime/gpu.hpp"
#include "support/fake_cuda/fake_cuda.hpp"

namespace smelt::testing {

// Sets an environment variable for one test.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    setenv(name_.c_str(), value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (old_)
      setenv(name_.c_str(), old_->c_str(), 1);
    else
      unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> old_;
};

// The state of the fake driver, as new.
inline fake_cuda::State& fresh_fake() {
  void* library = dlopen(SMELT_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  auto* state = reinterpret_cast<fake_cuda::State* (*)()>(dlsym(library, "fake_cuda_state"))();
  *state = {};
  return *state;
}

inline std::shared_ptr<runtime::Gpu> open_fake() {
  const Variable chosen("SMELT_CUDA", SMELT_FAKE_CUDA);
  std::string why;
  auto gpu = runtime::Gpu::open(0, why);
  if (!gpu) throw std::runtime_error(why);
  return gpu;
}

// NVRTC of this machine, or the one that scripts/setup.sh has put into build/nvrtc.
inline std::shared_ptr<runtime::Nvrtc> open_nvrtc(std::string& why) {
  if (auto nvrtc = runtime::Nvrtc::open(why)) return nvrtc;
  std::error_code failed;
  const std::filesystem::path place = std::filesystem::path(SMELT_SOURCE_DIR) / "build" / "nvrtc";
  for (std::filesystem::recursive_directory_iterator it(place, failed), end; !failed && it != end; it.increment(failed))
    if (it->path().filename().string().rfind("libnvrtc.so.", 0) == 0) {
      const Variable chosen("SMELT_NVRTC", it->path().string());
      if (auto nvrtc = runtime::Nvrtc::open(why)) return nvrtc;
    }
  return nullptr;
}

}  // namespace smelt::testing
