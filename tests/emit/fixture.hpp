// Kernels built by hand, printed, compiled by every libLLVM of this system, and run.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "emit/llvm.hpp"
#include "kernel/build.hpp"
#include "kernel/classify_accesses.hpp"
#include "kernel/partition_loops.hpp"
#include "runtime/cpu.hpp"
#include "support/symbols.hpp"

namespace smelt::test {

using kernel::Access;
using kernel::Builder;
using kernel::ExprId;
using kernel::Kernel;
using kernel::LocalId;
using kernel::LoopKind;
using kernel::Param;
using kernel::ParamKind;
using kernel::Stmt;

// A kernel under construction.
struct Maker {
  Kernel kernel;
  Builder build{kernel};

  Maker() { kernel.name = "k0"; }
  Maker(const Maker&) = delete;
  int array(ParamKind kind, DType dtype, Shape dims) {
    Param p;
    p.kind = kind;
    p.dtype = dtype;
    p.dims = dims;
    p.strides.resize(dims.size());
    IntExpr stride = 1;
    for (size_t d = dims.size(); d-- > 0; stride = stride * dims[d]) p.strides[d] = stride;
    p.note = fmt::format("array {}", kernel.params.size());
    kernel.params.push_back(p);
    return static_cast<int>(kernel.params.size()) - 1;
  }
  int input(DType dtype, Shape dims) { return array(ParamKind::Input, dtype, std::move(dims)); }
  int output(DType dtype, Shape dims) { return array(ParamKind::Output, dtype, std::move(dims)); }
  IntExpr size(Symbol symbol) {
    Param p;
    p.kind = ParamKind::Size;
    p.symbol = symbol;
    kernel.params.push_back(p);
    return sym(symbol);
  }
  int scratch(DType dtype, std::vector<IntExpr> dims) {
    kernel.buffers.push_back({dtype, std::move(dims), kernel::Scope::Workgroup});
    return static_cast<int>(kernel.buffers.size()) - 1;
  }
  static Access at(int array, std::vector<IntExpr> index) { return {false, array, std::move(index)}; }
  static Access in_scratch(int buffer, std::vector<IntExpr> index) { return {true, buffer, std::move(index)}; }
  ExprId load(int array, std::vector<IntExpr> index) { return build.load(at(array, std::move(index))); }
  ExprId f32(double x) { return build.constant(Scalar::of_float(DType::F32, x)); }
  ExprId i64(int64_t x) { return build.constant(Scalar::of_int(DType::I64, x)); }
  ExprId op(Op op, std::vector<ExprId> args) { return build.apply(op, std::move(args)); }
  void phase(std::vector<Stmt> body) { kernel.phases.push_back({std::move(body), 1}); }
};

inline Stmt grid(IntExpr extent, std::vector<Stmt> body) {
  return kernel::loop(LoopKind::Grid, "i0"_loop, std::move(extent), std::move(body));
}
inline Stmt vector(Symbol var, IntExpr extent, std::vector<Stmt> body, int lanes = 16) {
  return kernel::loop(LoopKind::Vector, var, std::move(extent), std::move(body), lanes);
}
inline Stmt serial(Symbol var, IntExpr extent, std::vector<Stmt> body) {
  return kernel::loop(LoopKind::Serial, var, std::move(extent), std::move(body));
}
inline Stmt unrolled(Symbol var, IntExpr extent, std::vector<Stmt> body) {
  return kernel::loop(LoopKind::Unrolled, var, std::move(extent), std::move(body));
}

// Memory with guard bytes on both sides, offset by some bytes from a line of the cache.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count, size_t misalign = 0)
      : count_(count), misalign_(misalign), bytes_(count * sizeof(T) + 2 * kGuard + 64, kFill) {}
  T* data() {
    const auto start = reinterpret_cast<uintptr_t>(bytes_.data()) + kGuard;
    return reinterpret_cast<T*>((start + 63) / 64 * 64 + misalign_ * sizeof(T));
  }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return count_; }
  bool guards_intact() {
    const auto* first = reinterpret_cast<const unsigned char*>(data());
    const auto* last = first + count_ * sizeof(T);
    for (const unsigned char* b = bytes_.data(); b < bytes_.data() + bytes_.size(); ++b)
      if ((b < first || b >= last) && *b != kFill) return false;
    return true;
  }

 private:
  static constexpr size_t kGuard = 192;
  static constexpr unsigned char kFill = 0xA5;
  size_t count_, misalign_;
  std::vector<unsigned char> bytes_;
};

// One libLLVM; "" is the one that is found first.
class OnEveryLlvm : public testing::TestWithParam<std::string> {
 protected:
  static std::shared_ptr<runtime::Llvm> open(const std::string& library) {
    static std::map<std::string, std::shared_ptr<runtime::Llvm>> opened;
    auto& llvm = opened[library];
    if (llvm) return llvm;
    setenv("SMELT_LLVM", library.c_str(), 1);
    std::string why;
    llvm = runtime::Llvm::open(why);
    unsetenv("SMELT_LLVM");
    if (!llvm) throw std::runtime_error(why);
    return llvm;
  }
  // `vector_bits` 0: the host's. Fewer make the text of lesser machines, which runs here too.
  std::string text(Kernel kernel, int vector_bits = 0) {
    kernel::partition_loops(kernel);
    kernel::classify_accesses(kernel);
    auto llvm = open(GetParam());
    if (!vector_bits) vector_bits = runtime::read_cpu_facts().vector_bits;
    return emit::emit_llvm(kernel, {llvm->triple(), llvm->version(), vector_bits, slow_division});
  }
  bool slow_division = false;  // of the machine that text is made for
  std::shared_ptr<runtime::Module> load(const Kernel& kernel, int vector_bits = 0) {
    return open(GetParam())->load(text(kernel, vector_bits));
  }

  // Runs a phase over [0, count).
  static void run(const runtime::Module& module, int phase, int64_t count, std::vector<void*> arrays,
                  std::vector<int64_t> sizes, void* scratch = nullptr) {
    module.function(fmt::format("k0_p{}", phase))(0, count, arrays.data(), sizes.data(), static_cast<char*>(scratch));
  }
};

// Every libLLVM of the system by its usual names; $SMELT_LLVM alone when it is set.
inline std::vector<std::string> libraries() {
  if (const char* chosen = std::getenv("SMELT_LLVM"); chosen && *chosen) return {chosen};
  std::vector<std::string> found;
  for (int v = 16; v <= 22; ++v)
    for (const std::string& name : {fmt::format("libLLVM.so.{}.1", v), fmt::format("libLLVM-{}.so.1", v)})
      if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        found.push_back(name);
        break;
      }
  return found;
}

inline std::string library_name(const testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (char c : info.param.substr(info.param.rfind('/') + 1))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

inline const std::vector<size_t> kOddSizes = {0, 1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 1023, 1025};

}  // namespace smelt::test
