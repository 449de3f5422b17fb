// Events on their way to the callback of the user.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "smelt/events.hpp"

namespace smelt::runtime {

// Whether anybody listens: what describes an event need not be put together for nobody.
bool has_listener();
void emit(const Event& event);

// Milliseconds since it was made.
class Stopwatch {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace smelt::runtime
