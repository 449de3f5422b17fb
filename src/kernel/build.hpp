// Builds the expressions of a Kernel: equal expressions become one, constants fold, and operations
// that the target does not have become their expansions (smelt/static/expand/). Val is the value
// type that those expansions are instantiated on.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

class Builder {
 public:
  explicit Builder(Kernel& kernel) : kernel_(kernel) {}

  ExprId constant(const Scalar& value);
  ExprId local(LocalId id);
  ExprId index(const IntExpr& value);  // i64
  // What computes is f32 where memory has a small float: an element is widened after its load, and
  // a value narrowed, with one rounding, before its store.
  ExprId load(Access access, ExprId mask = kNoExpr, ExprId other = kNoExpr);
  Store store(Access access, ExprId value, ExprId mask = kNoExpr, bool streaming = false);
  ExprId from_small(ExprId x);          // small floats to f32, others as they are
  ExprId to_small(ExprId x, DType to);  // f32 to a small float
  // The load that an expression is, widened or not.
  const Load* loaded(ExprId id) const;
  ExprId apply(Op op, std::vector<ExprId> args);       // expanded when the target lacks it
  ExprId cast(ExprId x, DType to, bool wrap = false);  // `to` may be a small float: rounds to it, stays f32
  // An f32 that rounds to small floats as x itself would: f64 and wide integers do not fit an f32.
  ExprId before_small(ExprId x);
  ExprId bitcast(ExprId x, DType to);
  ExprId raw(RawOp op, DType dtype, std::vector<ExprId> args);
  // args: seed, offset, stream. One of `extent` elements.
  ExprId random(philox::Draw draw, std::array<ExprId, 3> args, const IntExpr& element, const IntExpr& extent);

  LocalId new_local(DType dtype, bool is_mutable);
  const Expr& at(ExprId id) const { return kernel_.at(id); }
  DType dtype(ExprId id) const { return at(id).dtype; }
  const Scalar* constant_at(ExprId id) const { return kernel_.constant_at(id); }
  // Whether 2^x and the like are instructions: not in plain C.
  bool has_functions() const { return kernel_.dialect == Dialect::Gpu || kernel_.dialect == Dialect::GpuHalf; }
  bool on_gpu() const { return kernel_.dialect != Dialect::Portable; }
  Kernel& kernel() { return kernel_; }

 private:
  ExprId add(Expr e);
  ExprId expand(Op op, const std::vector<ExprId>& args);
  ExprId expand_for_gpu(Op op, const std::vector<ExprId>& args);
  ExprId gelu_for_half(const std::vector<ExprId>& factors);
  ExprId without_factor(ExprId product, double factor) const;
  ExprId round_to_small(ExprId x, DType to);
  ExprId before_saturation(ExprId x, DType to) const;
  ExprId saturate(ExprId x, DType to);
  ExprId extreme_of_constant(Op op, const std::vector<ExprId>& args);
  // What a float that is not NaN lies between.
  struct Bounds {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  };
  Bounds bounds_of(ExprId id) const {
    const auto found = bounds_.find(id);
    return found == bounds_.end() ? Bounds{} : found->second;
  }
  Kernel& kernel_;
  std::unordered_map<std::string, ExprId> known_;
  std::unordered_map<ExprId, Bounds> bounds_;        // of what was compared with constants
  std::unordered_map<ExprId, ExprId> erf_argument_;  // of what erf became
};

// A size that the launch hands over.
Param size_param(Symbol symbol);

// Statements.
inline Loop loop(LoopKind kind, Symbol var, IntExpr extent, std::vector<Stmt> body, int lanes = 1, int unroll = 1) {
  return {kind, var, std::move(extent), std::move(body), lanes, unroll};
}
inline Let let(LocalId local, ExprId value) { return {local, value}; }
inline Assign assign(LocalId local, ExprId value) { return {local, value}; }
inline Combine combine(LocalId local, Op op, LocalId index_local = -1, int columns = 0) {
  return {local, op, index_local, columns};
}
inline Scan scan(LocalId local, Op op, LocalId carry, ExprId value, ExprId start, bool exclusive,
                 ExprId restarts = kNoExpr, ExprId factor = kNoExpr) {
  return {local, op, carry, value, start, exclusive, restarts, factor, {}};
}
inline Alloc alloc(int buffer) { return {buffer}; }
inline Each each(Symbol var, IntExpr extent, ExprId condition, std::vector<Stmt> body, int lanes) {
  return {var, std::move(extent), condition, std::move(body), lanes};
}
inline Store store_atomic(Access access, Op op, ExprId value, ExprId mask = kNoExpr) {
  return {std::move(access), value, mask, false, op};
}
inline Store append_by(Access cursor, Access list, ExprId value, ExprId mask = kNoExpr) {
  return {std::move(list), value, mask, false, Op::Add, std::move(cursor)};
}

}  // namespace smelt::kernel
