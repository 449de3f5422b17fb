// The fillers. Random numbers are a function of the seed and the element's place, so threads need
// not agree on anything.
#include <bit>
#include <cmath>
#include <cstring>

#include "report/inputs.hpp"
#include "runtime/cpu.hpp"

namespace smelt::report {
namespace {

// splitmix64: every bit of the result depends on every bit of the argument.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct Random {
  uint64_t key;
  explicit Random(uint64_t seed) : key(mix(seed ^ 0x736d656c74u)) {}
  uint64_t bits(int64_t at) const { return mix(key + static_cast<uint64_t>(at) * 0xd1342543de82ef95u); }
  double uniform(int64_t at) const { return static_cast<double>(bits(at) >> 11) * 0x1p-53; }
};

// Elements 2p and 2p + 1: a pair of independent normal numbers from a pair of uniform ones (Box and
// Muller).
struct Pair {
  double even, odd;
};
Pair normal_pair(const Random& random, int64_t p) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform(2 * p)));
  const double angle = 2 * M_PI * random.uniform(2 * p + 1);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// Stores a number the way the filler's table in inputs.hpp says.
void store(DType dtype, char* at, double value, double integer_scale) {
  switch (dtype) {
    case DType::F64: std::memcpy(at, &value, 8); return;
    case DType::F32: {
      const auto narrow = static_cast<float>(value);
      std::memcpy(at, &narrow, 4);
      return;
    }
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::F16:
    case DType::BF16: return store_scalar(Scalar::of_float(dtype, value), at);
    default: break;
  }
  const double scaled = value * integer_scale;
  store_scalar(Scalar::of_int(dtype, static_cast<int64_t>(is_unsigned_int(dtype) ? std::fabs(scaled) : scaled)), at);
}

void fill_normal(const Tensor& array, const Random& random, int64_t begin, int64_t end) {
  const int size = size_of(array.dtype);
  char* data = static_cast<char*>(array.data);
  const bool whole = !is_float(array.dtype);
  const auto put = [&](int64_t i, double v) {
    store(array.dtype, data + i * size, whole ? std::nearbyint(v * 10) : v, 1);
  };
  for (int64_t i = begin; i < end; ++i) {
    if (i % 2 == 1) {
      put(i, normal_pair(random, i / 2).odd);
      continue;
    }
    const Pair pair = normal_pair(random, i / 2);
    put(i, pair.even);
    if (i + 1 < end) put(++i, pair.odd);
  }
}

void fill_range(const Tensor& array, Filler filler, const Random& random, int64_t begin, int64_t end) {
  const int size = size_of(array.dtype);
  char* data = static_cast<char*>(array.data);
  for (int64_t i = begin; i < end; ++i) {
    char* at = data + i * size;
    if (is_bool(array.dtype) && filler != Filler::Iota) {
      *at = static_cast<char>(random.bits(i) >> 63);
    } else if (filler == Filler::Uniform) {
      store(array.dtype, at, random.uniform(i), 100);
    } else if (is_bool(array.dtype)) {
      *at = i != 0;
    } else {
      store_scalar(Scalar::of_int(array.dtype, i), at);
    }
  }
}

}  // namespace

Tensor fill(Filler filler, DType dtype, const Dims& dims, uint64_t seed) {
  if (filler == Filler::Zeros) return Tensor::zeros(dtype, dims);
  Tensor array = Tensor::empty(dtype, dims);
  const Random random(seed);
  const Scalar one = dtype == DType::Bool ? Scalar::of_bool(true) : Scalar::of_int(dtype, 1);
  const auto piece = [&](int, int64_t begin, int64_t end) {
    if (filler == Filler::Ones) {
      char* data = static_cast<char*>(array.data);
      for (int64_t i = begin; i < end; ++i) store_scalar(one, data + i * size_of(dtype));
    } else if (filler == Filler::Normal && !is_bool(dtype)) {
      fill_normal(array, random, begin, end);
    } else {
      fill_range(array, filler, random, begin, end);
    }
  };
  runtime::parallel_for(runtime::read_cpu_facts().threads, array.count(), 4096, piece);
  return array;
}

}  // namespace smelt::report
