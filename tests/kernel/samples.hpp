// Small kernels built by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernel/build.hpp"
#include "kernel/kernel.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {

inline std::vector<IntExpr> row_major(const Shape& dims) {
  std::vector<IntExpr> strides(dims.size());
  IntExpr stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * dims[d];
  }
  return strides;
}

inline Store store(Access access, ExprId value, ExprId mask = kNoExpr, bool streaming = false) {
  return {std::move(access), value, mask, streaming, {}};
}

// A kernel under construction: arrays by the number that accesses use.
struct Sample {
  Kernel kernel;
  Builder build{kernel};
  Sample() { kernel.name = "k0"; }
  Sample(const Sample&) = delete;

  int array(ParamKind kind, DType dtype, Shape dims, std::string note = "") {
    Param p{.kind = kind, .dtype = dtype, .dims = dims, .strides = row_major(dims), .note = std::move(note)};
    kernel.params.push_back(std::move(p));
    return static_cast<int>(kernel.params.size()) - 1;
  }
  int input(DType dtype, Shape dims, std::string note = "") {
    return array(ParamKind::Input, dtype, std::move(dims), std::move(note));
  }
  int output(DType dtype, Shape dims, std::string note = "") {
    return array(ParamKind::Output, dtype, std::move(dims), std::move(note));
  }
  void size(Symbol symbol) { kernel.params.push_back({.kind = ParamKind::Size, .symbol = symbol}); }
  int scratch(DType dtype, std::vector<IntExpr> dims) {
    kernel.buffers.push_back({dtype, std::move(dims)});
    return static_cast<int>(kernel.buffers.size()) - 1;
  }
  ExprId load(int array, std::vector<IntExpr> index, ExprId mask = kNoExpr, ExprId other = kNoExpr) {
    return build.load({false, array, std::move(index)}, mask, other);
  }
  ExprId load_scratch(int buffer, std::vector<IntExpr> index) { return build.load({true, buffer, std::move(index)}); }
  ExprId f32(double value) { return build.constant(Scalar::of_float(DType::F32, value)); }
  ExprId less(const IntExpr& a, const IntExpr& b) { return build.apply(Op::Lt, {build.index(a), build.index(b)}); }
  ExprId at_least(const IntExpr& a, const IntExpr& b) { return build.apply(Op::Ge, {build.index(a), build.index(b)}); }
  ExprId both(ExprId a, ExprId b) { return build.apply(Op::And, {a, b}); }

  void phase(Stmt grid, IntExpr work = 1) { kernel.phases.push_back({{std::move(grid)}, std::move(work)}); }
};

inline Loop grid(Symbol var, IntExpr extent, std::vector<Stmt> body) {
  return loop(LoopKind::Grid, var, std::move(extent), std::move(body));
}
inline Loop vector(Symbol var, IntExpr extent, std::vector<Stmt> body, int lanes = 8) {
  return loop(LoopKind::Vector, var, std::move(extent), std::move(body), lanes);
}
inline Loop serial(Symbol var, IntExpr extent, std::vector<Stmt> body) {
  return loop(LoopKind::Serial, var, std::move(extent), std::move(body));
}
inline If when(ExprId condition, std::vector<Stmt> body) { return {condition, std::move(body)}; }
// The body of the grid loop of a kernel with one phase.
inline std::vector<Stmt>& grid_body(Kernel& kernel) { return kernel.phases[0].body[0].get<Loop>().body; }

// out[i, j] = f(in[at]) for i < B, j < C, with the index of the load given.
inline void fill_pointwise(Sample& s, std::vector<IntExpr> at, Shape in_dims, const Shape& out_dims) {
  for (const IntExpr& dim : out_dims)
    if (auto symbol = dim.as_symbol()) s.size(*symbol);
  const int in = s.input(DType::F32, std::move(in_dims), "x");
  const int out = s.output(DType::F32, out_dims);
  const ExprId value = s.build.apply(Op::Sqrt, {s.load(in, std::move(at))});
  s.phase(grid("i0"_loop, out_dims[0],
               {vector("i1"_loop, out_dims[1], {store({false, out, {sym("i0"_loop), sym("i1"_loop)}}, value)})}));
}

// Rows minus their sums: sum of a row over lanes, the row kept in scratch.
inline void fill_row(Sample& s) {
  s.size("B"_size);
  s.size("C"_size);
  const Shape dims = {sym("B"_size), sym("C"_size)};
  const int in = s.input(DType::F16, dims, "x");
  const int out = s.output(DType::F16, dims, "result");
  const int row = s.scratch(DType::F32, {sym("C"_size)});
  const LocalId sum = s.build.new_local(DType::F32, true);
  const LocalId x = s.build.new_local(DType::F32, false);
  const IntExpr i = sym("i0"_loop), j = sym("i1"_loop), k = sym("i2"_loop);
  s.phase(grid("i0"_loop, sym("B"_size),
               {alloc(row), assign(sum, s.f32(0)),
                vector("i1"_loop, sym("C"_size),
                       {let(x, s.load(in, {i, j})), store({true, row, {j}}, s.build.local(x)),
                        assign(sum, s.build.apply(Op::Add, {s.build.local(sum), s.build.local(x)}))}),
                combine(sum, Op::Add),
                vector("i2"_loop, sym("C"_size),
                       {s.build.store({false, out, {i, k}},
                                      s.build.apply(Op::Sub, {s.load_scratch(row, {k}), s.build.local(sum)}), kNoExpr,
                                      true)})}),
          sym("C"_size));
}

// The first line of what verify() finds at fault, or "" when it passes.
inline std::string fault(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const InternalError& e) {
    const std::string text = e.what();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

}  // namespace smelt::kernel
