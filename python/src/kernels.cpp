// Operations that no formula of the language is: sorting, searching, the next number of a float. They are operations of smelt with
// code of their own, for the CPU; fusion stops at them.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "binding.hpp"

namespace smelt::python {

namespace {

// Calls `f` with a value of the dtype's type.
template <class F>
void for_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool: return f(bool{});
    case DType::I8: return f(int8_t{});
    case DType::I16: return f(int16_t{});
    case DType::I32: return f(int32_t{});
    case DType::I64: return f(int64_t{});
    case DType::U8: return f(uint8_t{});
    case DType::U16: return f(uint16_t{});
    case DType::U32: return f(uint32_t{});
    case DType::U64: return f(uint64_t{});
    case DType::F16: return f(f16{});
    case DType::BF16: return f(bf16{});
    case DType::F32: return f(float{});
    case DType::F64: return f(double{});
  }
}

template <class T>
auto number(T value) {
  if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)
    return static_cast<float>(value);
  else
    return value;
}

// A strict weak order in which nan is the last of all.
template <class T>
bool before(T a, T b) {
  const auto x = number(a), y = number(b);
  if constexpr (std::is_floating_point_v<decltype(x)>) {
    if (std::isnan(x)) return false;
    if (std::isnan(y)) return true;
  }
  return x < y;
}

// The places of a row's elements in their order; equal elements stay in theirs.
template <class T>
void order_of(const T* row, int64_t n, bool descending, std::vector<int64_t>& order) {
  order.resize(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return descending ? before(row[j], row[i]) : before(row[i], row[j]); });
}

Custom sorting(bool places, bool descending) {
  CustomOperation o;
  o.name = std::string(places ? "argsort" : "sort") + (descending ? "_descending" : "");
  o.pure = true;
  if (places)
    o.output = [](const std::vector<Array>& inputs) {
      std::vector<Size> sizes;
      for (int d = 0; d < inputs[0].ndim(); ++d) sizes.push_back(inputs[0].extent(d));
      return CustomType{DType::I64, Sizes(sizes)};
    };
  o.cpu = [places, descending](const CustomCall& call) {
    for_dtype(call.inputs[0].dtype, [&]<class T>(T) {
      const auto x = call.inputs[0].span<T>();
      const int64_t n = call.inputs[0].dims.back();
      std::vector<int64_t> order;
      for (size_t at = 0; at < x.size(); at += static_cast<size_t>(n)) {
        order_of(x.data() + at, n, descending, order);
        if (places) {
          std::copy(order.begin(), order.end(), call.outputs[0].span<int64_t>().data() + at);
        } else {
          T* to = call.outputs[0].span<T>().data() + at;
          for (const int64_t i : order) *to++ = x[at + static_cast<size_t>(i)];
        }
      }
    });
  };
  return Custom(std::move(o));
}

// Where each of the second array's elements would be put into the first, which is in order.
Custom searching(bool right) {
  CustomOperation o;
  o.name = right ? "searchsorted_right" : "searchsorted_left";
  o.pure = true;
  o.output = [](const std::vector<Array>& inputs) { return CustomType{DType::I64, Sizes(inputs[1].extent(0))}; };
  o.cpu = [right](const CustomCall& call) {
    for_dtype(call.inputs[0].dtype, [&]<class T>(T) {
      const auto row = call.inputs[0].span<T>(), wanted = call.inputs[1].span<T>();
      int64_t* to = call.outputs[0].span<int64_t>().data();
      for (const T v : wanted) {
        const auto found = right ? std::upper_bound(row.begin(), row.end(), v, before<T>)
                                 : std::lower_bound(row.begin(), row.end(), v, before<T>);
        *to++ = found - row.begin();
      }
    });
  };
  return Custom(std::move(o));
}

Custom next_after() {
  CustomOperation o;
  o.name = "nextafter";
  o.pure = true;
  o.cpu = [](const CustomCall& call) {
    for_dtype(call.inputs[0].dtype, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        const auto x = call.inputs[0].span<T>(), towards = call.inputs[1].span<T>();
        const auto to = call.outputs[0].span<T>();
        for (size_t i = 0; i < x.size(); ++i) to[i] = std::nextafter(x[i], towards[i]);
      } else {
        throw UserError(std::string("nextafter: no ") + python_name(dtype_of<T>) + "\nhelp: float32 and float64 are");
      }
    });
  };
  return Custom(std::move(o));
}

}  // namespace

void bind_kernels(nb::module_& m) {
  m.def("sort", [](const Array& x, bool descending) {
    static const auto* up = new Custom(sorting(false, false));
    static const auto* down = new Custom(sorting(false, true));
    return wrap((descending ? *down : *up)({x}));
  });
  m.def("argsort", [](const Array& x, bool descending) {
    static const auto* up = new Custom(sorting(true, false));
    static const auto* down = new Custom(sorting(true, true));
    return wrap((descending ? *down : *up)({x}));
  });
  m.def("searchsorted", [](const Array& row, const Array& wanted, bool right) {
    static const auto* at_left = new Custom(searching(false));
    static const auto* at_right = new Custom(searching(true));
    return wrap((right ? *at_right : *at_left)({row, wanted}));
  });
  m.def("nextafter", [](const Array& x, const Array& towards) {
    static const auto* operation = new Custom(next_after());
    return wrap((*operation)({x, towards}));
  });
}

}  // namespace smelt::python
