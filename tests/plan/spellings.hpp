// Pairs of programs with the same meaning: what they cost must not depend on how they are spelled.
#pragma once

#include <vector>

namespace smelt::testing {

// What takes the place of the size symbols of a program.
struct Sizes {
  const char* large;  // to plan for: memory time dominates
  const char* small;  // for the reference interpreter
};

inline constexpr Sizes kSquare = {"B=4096 C=4096", "B=6 C=8"};
inline constexpr Sizes kOdd = {"B=4095 C=4093", "B=5 C=7"};
inline constexpr Sizes kLong = {"B=1024 C=32768", "B=3 C=16"};
inline constexpr Sizes kCube = {"A=64 B=256 C=1024", "A=2 B=6 C=8"};
inline constexpr Sizes kOddCube = {"A=63 B=127 C=2051", "A=3 B=5 C=7"};

struct Spelling {
  const char* name;
  const char* inputs;  // "x: f32[B, C]; w: f32[C]"
  Sizes sizes;
  const char *a, *b;  // programs after the inputs; without "return", what they return
};

// A pair that does not cost the same on these targets: "gpu", "cpu" or "gpu cpu".
struct Differing : Spelling {
  const char* targets;
  const char* why;
};

extern const std::vector<Spelling> kFunctions;  // functions and definitions, windows, scans, products, others
extern const std::vector<Spelling> kLayouts;    // axes, shapes, slices, concats, gathers
extern const std::vector<Differing> kDiffer;

}  // namespace smelt::testing
