// Operations that no formula of the language is: sorting, searching, the next number of a float.
// They are operations of smelt with code of their own, for the CPU; fusion stops at them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "stacks.hpp"

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
    case DType::F8E4M3: return f(f8_e4m3{});
    case DType::F8E5M2: return f(f8_e5m2{});
    case DType::F16: return f(f16{});
    case DType::BF16: return f(bf16{});
    case DType::F32: return f(float{});
    case DType::F64: return f(double{});
  }
}

template <class T>
auto number(T value) {
  if constexpr (std::is_class_v<T>)  // small floats
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

// Unsigned numbers in the order of the elements, every nan the last. Ones for a float are never a
// number's.
template <class T>
auto key_of(T value, bool merge_zeros) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<uint8_t>(value);
  } else if constexpr (std::is_integral_v<T>) {
    using Key = std::make_unsigned_t<T>;
    constexpr Key sign = std::is_signed_v<T> ? Key(Key{1} << (sizeof(T) * 8 - 1)) : Key{0};
    return static_cast<Key>(static_cast<Key>(value) ^ sign);
  } else {
    using Key = std::conditional_t<
        sizeof(T) == 1, uint8_t,
        std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
    constexpr Key sign = Key(Key{1} << (sizeof(T) * 8 - 1));
    if (std::isnan(number(value))) return static_cast<Key>(~Key{0});
    Key bits = std::bit_cast<Key>(value);
    if (merge_zeros && bits == sign) bits = 0;
    return static_cast<Key>(bits & sign ? ~bits : bits | sign);
  }
}

// The way back; of ones it is a nan.
template <class T, class Key>
T value_of(Key key) {
  constexpr Key sign = Key(Key{1} << (sizeof(T) * 8 - 1));
  if constexpr (std::is_same_v<T, bool>)
    return key != 0;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::is_signed_v<T> ? key ^ sign : key);
  else
    return std::bit_cast<T>(static_cast<Key>(key & sign ? key & ~sign : ~key));
}

// Sorts keys by their bytes, the lowest first, and with them their places where there are some;
// equal keys keep their order.
template <class Key>
void sort_by_bytes(std::vector<Key>& keys, std::vector<uint32_t>* places) {
  constexpr size_t kBytes = sizeof(Key), kDigits = 256;
  const size_t n = keys.size();
  std::vector<std::array<uint32_t, kDigits>> counts(kBytes);
  for (const Key key : keys)
    for (size_t b = 0; b < kBytes; ++b) ++counts[b][(key >> (8 * b)) & 0xff];
  std::vector<Key> other(n);
  std::vector<uint32_t> other_places(places ? n : 0);
  for (size_t b = 0; b < kBytes; ++b) {
    if (n && counts[b][(keys[0] >> (8 * b)) & 0xff] == n) continue;  // all have the same
    std::array<uint32_t, kDigits> at{};
    std::partial_sum(counts[b].begin(), counts[b].end() - 1, at.begin() + 1);
    for (size_t i = 0; i < n; ++i) {
      const uint32_t to = at[(keys[i] >> (8 * b)) & 0xff]++;
      other[to] = keys[i];
      if (places) other_places[to] = (*places)[i];
    }
    keys.swap(other);
    if (places) places->swap(other_places);
  }
}

// Below this many elements counting bytes takes longer than comparing.
constexpr int64_t kFew = 64;

template <class T>
void sort_row(const T* row, int64_t n, bool descending, T* to) {
  using Key = decltype(key_of(T{}, false));
  std::vector<Key> keys(static_cast<size_t>(n));
  for (size_t i = 0; i < keys.size(); ++i) {
    const Key key = key_of(row[i], false);
    keys[i] = descending ? static_cast<Key>(~key) : key;
  }
  if (n < kFew || n > UINT32_MAX)
    std::sort(keys.begin(), keys.end());
  else
    sort_by_bytes<Key>(keys, nullptr);
  for (const Key key : keys) *to++ = value_of<T>(descending ? static_cast<Key>(~key) : key);
}

// The places of a row's elements in their order; equal elements stay in theirs.
template <class T>
void order_row(const T* row, int64_t n, bool descending, int64_t* to) {
  using Key = decltype(key_of(T{}, true));
  if (n < kFew || n > UINT32_MAX) {
    std::iota(to, to + n, int64_t{0});
    std::stable_sort(
        to, to + n, [&](int64_t i, int64_t j) { return descending ? before(row[j], row[i]) : before(row[i], row[j]); });
    return;
  }
  std::vector<Key> keys(static_cast<size_t>(n));
  std::vector<uint32_t> places(static_cast<size_t>(n));
  std::iota(places.begin(), places.end(), 0u);
  for (size_t i = 0; i < keys.size(); ++i) {
    const Key key = key_of(row[i], true);
    keys[i] = descending ? static_cast<Key>(~key) : key;
  }
  sort_by_bytes(keys, &places);
  std::copy(places.begin(), places.end(), to);
}

Custom sorting(bool places, bool descending) {
  CustomOperation o;
  o.name = std::string(places ? "argsort" : "sort") + (descending ? "_descending" : "");
  o.on_host = o.pure = true;
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
      if (x.empty()) return;
      for_each_of(call, static_cast<int64_t>(x.size()) / n, 20.0 * static_cast<double>(n), [&](int64_t row) {
        const int64_t at = row * n;
        if (places)
          order_row(x.data() + at, n, descending, call.outputs[0].span<int64_t>().data() + at);
        else
          sort_row(x.data() + at, n, descending, call.outputs[0].span<T>().data() + at);
      });
    });
  };
  return Custom(std::move(o));
}

// Where each of the second array's elements would be put into the first, which is in order.
Custom searching(bool right) {
  CustomOperation o;
  o.name = right ? "searchsorted_right" : "searchsorted_left";
  o.on_host = o.pure = true;
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
  o.on_host = o.pure = true;
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
