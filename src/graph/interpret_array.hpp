// Arrays of the reference interpreter, and how its operations read them.
//
// A value is a Tensor, perhaps a view of another one's memory. Floats of every width are stored as
// F64, integers as themselves, bools as bytes 0 and 1.
#pragma once

#include <vector>

#include "base/tensor.hpp"
#include "graph/graph.hpp"

namespace smelt::reference {

// Elements that an operation handles at a time: small enough for the first-level cache, large
// enough to forget the call.
inline constexpr int64_t kChunk = 1024;

inline DType storage_type(DType dtype) { return is_float(dtype) ? DType::F64 : dtype; }

// Calls f with a value of the C++ type that stores this dtype: double, int8_t ... uint64_t, and
// uint8_t for bool.
template <class F>
decltype(auto) with_storage(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool:
    case DType::U8: return f(uint8_t{});
    case DType::I8: return f(int8_t{});
    case DType::I16: return f(int16_t{});
    case DType::I32: return f(int32_t{});
    case DType::I64: return f(int64_t{});
    case DType::U16: return f(uint16_t{});
    case DType::U32: return f(uint32_t{});
    case DType::U64: return f(uint64_t{});
    default: return f(double{});
  }
}

// Reads a view in row-major order, a run at a time. Its memory may be misaligned.
class Reader {
 public:
  explicit Reader(const TensorView& view);

  // The next n elements: in place where they lie together, otherwise copied into scratch, which is
  // the caller's and always the same.
  const void* next(int64_t n, void* scratch);
  void read(void* into, int64_t n);

  template <class T>
  const T* next_as(int64_t n, T* scratch) {
    return static_cast<const T*>(next(n, scratch));
  }

 private:
  void copy_run(char* into, int64_t run) const;
  void next_row();

  int64_t width_;
  Dims dims_, strides_;  // of the view, with size 1 dropped and neighbours merged; strides in bytes
  Dims index_;
  const char* at_;
  bool direct_ = false;   // contiguous and aligned
  bool uniform_ = false;  // one element, over and over
  int64_t filled_ = 0;
};

// Reads the elements of an array as From, and stores what `f` makes of each.
template <class From, class To, class F>
void each(const TensorView& x, Tensor& out, F f) {
  Reader reader(x);
  From scratch[kChunk];
  To* to = static_cast<To*>(out.data);
  for (int64_t left = out.count(); left > 0; left -= kChunk) {
    const int64_t n = std::min(left, kChunk);
    const From* from = reader.next_as(n, scratch);
    for (int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
    to += n;
  }
}

// A row-major array: the view itself when it is one, else a copy.
Tensor packed(const Tensor& view);
// Copies src over the elements of dst, a view of the same dims whose last dimension is contiguous.
void copy_elements(const TensorView& src, const TensorView& dst);
// An array of one element.
Tensor scalar_array(const Scalar& value);
// The caller's array in storage form.
Tensor load_input(const TensorView& view);

// Evaluates one node. Arguments that nobody else holds may be overwritten.
Tensor elementwise(const Node& node, std::vector<Tensor> args, const Dims& dims);
Tensor cast(const Node& node, DType from, const Tensor& x);
Tensor reduce(const Node& node, const Tensor& x, const Dims& dims);
Tensor scan(const Node& node, const std::vector<Tensor>& args, const Dims& dims);
Tensor iota(const Node& node, const Dims& dims);
Tensor random(const Node& node, const std::vector<Tensor>& args, const Dims& dims);
Tensor reshape(const Tensor& x, const Dims& dims);
Tensor permute(const Node& node, const Tensor& x);
Tensor broadcast(const Tensor& x, const Dims& dims);
Tensor slice(const Node& node, const Tensor& x, const Dims& dims, const SizeBinding& sizes);
Tensor window(const Node& node, const Tensor& x, const Dims& dims);
Tensor extend(const Node& node, const Tensor& x, const Dims& dims, const SizeBinding& sizes);
Tensor pad(const Node& node, const Tensor& x, const Tensor& value, const Dims& dims, const SizeBinding& sizes);
Tensor concat(const Node& node, const std::vector<Tensor>& args, const Dims& dims);
// The rows that a gather or scatter goes to; -1 for those dropped; throws for those that there are
// not.
std::vector<int64_t> resolve_all(const Node& node, const Tensor& indices, int64_t size);
Tensor scatter(const Node& node, const Tensor& x, const Tensor& indices, const Tensor& updates);
Tensor gather(const Node& node, const Tensor& x, const Tensor& indices, const Dims& dims);
// All results of a call of the user's code; `dtypes` are those that the program has for the
// arguments.
std::vector<Tensor> custom(const CustomUse& use, const std::vector<DType>& dtypes, const std::vector<Tensor>& args,
                           const std::vector<Dims>& dims);

}  // namespace smelt::reference
