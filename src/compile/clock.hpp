// How long each stage of the compiler takes.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "compile/compile.hpp"

namespace smelt {

class Clock {
 public:
  explicit Clock(std::vector<StageTime>& times) : times_(times) {}
  // Runs one stage and notes how long it took.
  template <class F>
  auto stage(const std::string& name, F&& f) {
    const auto start = std::chrono::steady_clock::now();
    auto result = f();
    times_.push_back(
        {name, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count()});
    return result;
  }

 private:
  std::vector<StageTime>& times_;
};

}  // namespace smelt
