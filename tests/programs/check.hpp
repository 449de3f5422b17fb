// Compiles a program in several ways, runs it, and compares with the reference.
#pragma once

#include <string>

#include "compile/compile.hpp"
#include "generator.hpp"
#include "graph/bounds.hpp"

namespace smelt::testing {

// What the checks looked at: shows that they look at something.
struct Coverage {
  double slowest_ms = 0;  // to compile, and of which program
  uint64_t slowest = 0;
  int64_t runs = 0, in_place = 0, kernels = 0, clamped = 0, elements = 0, exact = 0, undecidable = 0;
};

// Empty when all is right, else what is wrong.
std::string check(const Program& program, const Machine& device, Coverage* coverage = nullptr);
// The smallest part of a failing program that still fails, as text; with its complaint.
std::string shrunk(const Program& program, const Machine& device);
std::string describe(const Program& program);

// Memory with guard bytes on both sides of an array, which starts `offset` elements after an
// aligned address.
class Guarded {
 public:
  Guarded(DType dtype, const Dims& dims, int offset);
  TensorView view() const { return view_; }
  bool intact() const;
  static constexpr int64_t kAround = 192;  // bytes on each side of the view that are part of the guard

 private:
  std::vector<unsigned char> bytes_;
  TensorView view_;
};

// Executable::run_into. On a GPU that is here, with arrays of the GPU: they are next to aligned
// addresses as the guarded ones do, and the bytes around the outputs come back with them.
void run_guarded(const Executable& executable, const std::vector<TensorView>& inputs,
                 const std::vector<Guarded>& outputs);

// Where `got` differs from `expected` by more than its error allows; empty when nowhere.
std::string differences(const TensorView& got, const Bounded& expected, Coverage* coverage = nullptr);

}  // namespace smelt::testing
