// What generators of random programs draw with: the same draws in the same order are the same
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace smelt::testing {

class Draws {
 protected:
  explicit Draws(uint64_t seed) : random_(seed) {}

  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }
  bool chance(size_t one_in) { return pick(one_in) == 0; }
  template <class T>
  const T& among(const std::vector<T>& list) {
    return list[pick(list.size())];
  }

  std::mt19937_64 random_;
};

}  // namespace smelt::testing
