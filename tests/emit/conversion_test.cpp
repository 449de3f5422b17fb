// Every conversion between dtypes, on special values and on every half-precision number, against
// convert() of base.
#include <bit>
#include <cmath>
#include <cstring>

#include "fixture.hpp"
#include "support/symbols.hpp"

namespace smelt::test {

class Conversion : public OnEveryLlvm {};
INSTANTIATE_TEST_SUITE_P(Llvm, Conversion, testing::ValuesIn(libraries()), library_name);

namespace {

struct Bytes {
  DType dtype;
  std::vector<unsigned char> memory;
  Bytes(DType t, size_t count) : dtype(t), memory(count * static_cast<size_t>(size_of(t)), 0xCC) {}
  void* at(size_t i) { return memory.data() + i * static_cast<size_t>(size_of(dtype)); }
  Scalar get(size_t i) { return load_scalar(dtype, at(i)); }
};

constexpr DType kSmallFloats[] = {DType::F8E4M3, DType::F8E5M2, DType::F16, DType::BF16};

// One input, one output, every element cast.
void make_cast(Maker& m, DType from, DType to, bool wrap, int lanes) {
  const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
  const int x = m.input(from, {n}), out = m.output(to, {n});
  const DType target = compute_type(to);
  const ExprId value = m.build.cast(m.load(x, {i}), target, wrap);
  m.phase({grid(1, {vector("i1"_loop, n, {m.build.store(m.at(out, {i}), value)}, lanes)})});
}

std::vector<Scalar> special_values(DType t) {
  std::vector<Scalar> values;
  if (is_bool(t)) return {Scalar::of_bool(false), Scalar::of_bool(true)};
  if (is_int(t)) {
    for (int64_t v : {0, 1, 2, 3, 100, 126, 127, 128, 129, 200, 254, 255, 256, 32767, 32768, 65535, 65536})
      for (int64_t sign : {1, -1}) values.push_back(Scalar::of_int(t, sign * v));
    for (int shift : {31, 32, 53, 62, 63})
      for (int64_t add : {-1, 0, 1})
        values.push_back(Scalar::of_uint(t, (uint64_t{1} << shift) + static_cast<uint64_t>(add)));
    values.push_back(Scalar::of_int(t, min_int(t)));
    values.push_back(Scalar::of_uint(t, max_int(t)));
    return values;
  }
  for (double v : {0.0,
                   0.4,
                   0.5,
                   0.6,
                   0.99,
                   1.0,
                   1.5,
                   2.5,
                   3.5,
                   100.7,
                   126.9,
                   127.0,
                   127.5,
                   128.0,
                   254.9,
                   255.0,
                   255.5,
                   256.0,
                   32767.9,
                   32768.0,
                   65503.0,
                   65519.0,
                   65520.0,
                   65535.0,
                   65536.0,
                   2147483520.0,
                   2147483647.0,
                   2147483648.0,
                   4294967040.0,
                   4294967295.0,
                   4294967296.0,
                   9.2233720368547748e18,
                   9.2233720368547758e18,
                   1.8446744073709550e19,
                   1.8446744073709552e19,
                   1e30,
                   1e300,
                   1e-40,
                   5e-324,
                   6e-8,
                   3e-8,
                   2.98e-8,
                   6.1e-5,
                   1.0009765625,
                   1.00048828125,
                   1.0039062500,
                   1.00390625001,
                   1.01171875,
                   HUGE_VAL})
    for (double sign : {1.0, -1.0}) values.push_back(Scalar::of_float(t, sign * v));
  values.push_back(Scalar::of_float(t, NAN));
  return values;
}

}  // namespace

// One kernel for each source dtype, with an output for every target, saturating and wrapping.
TEST_P(Conversion, EveryPairOfDtypes) {
  for (DType from : kAllDTypes) {
    const std::vector<Scalar> values = special_values(from);
    Maker m;
    const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
    const int x = m.input(from, {n});
    struct Result {
      DType to;
      bool wrap;
      Bytes memory;
    };
    std::vector<Result> results;
    std::vector<Stmt> body;
    for (DType to : kAllDTypes)
      for (bool wrap : {false, true}) {
        if (wrap && !(is_int(from) && is_int(to))) continue;
        results.push_back({to, wrap, Bytes(to, values.size())});
        const int out = m.output(to, {n});
        body.push_back(m.build.store(m.at(out, {i}), m.build.cast(m.load(x, {i}), compute_type(to), wrap)));
      }
    m.phase({grid(1, {vector("i1"_loop, n, body, 8)})});
    Bytes in(from, values.size());
    for (size_t k = 0; k < values.size(); ++k) store_scalar(values[k], in.at(k));
    std::vector<void*> arrays{in.memory.data()};
    for (Result& r : results) arrays.push_back(r.memory.memory.data());
    run(*load(m.kernel), 0, 1, arrays, {static_cast<int64_t>(values.size())});
    for (Result& r : results)
      for (size_t k = 0; k < values.size(); ++k) {
        // A store to half precision rounds an f32; the f32 itself is what the cast gives.
        const Scalar expected = convert(convert(in.get(k), compute_type(r.to), r.wrap), r.to);
        ASSERT_TRUE(r.memory.get(k) == expected) << name_of(from) << " " << in.get(k).str() << " to " << name_of(r.to)
                                                 << ": " << r.memory.get(k).str() << ", expected " << expected.str();
      }
  }
}

TEST_P(Conversion, AllSmallFloats) {
  for (DType half : kSmallFloats)
    for (DType other : {DType::F32, DType::I8, DType::Bool, DType::F16, DType::BF16, DType::F8E4M3, DType::F8E5M2}) {
      Maker m;
      make_cast(m, half, other, false, 32);
      auto module = load(m.kernel);
      const size_t count = size_t{1} << (8 * size_of(half));
      Bytes in(half, count), out(other, count);
      for (size_t k = 0; k < count; ++k) std::memcpy(in.at(k), &k, static_cast<size_t>(size_of(half)));
      run(*module, 0, 1, {in.memory.data(), out.memory.data()}, {static_cast<int64_t>(count)});
      for (size_t k = 0; k < count; ++k) {
        const Scalar expected = convert(in.get(k), other);
        ASSERT_TRUE(out.get(k) == expected)
            << name_of(half) << " " << k << " to " << name_of(other) << ": " << out.get(k).str();
      }
    }
}

// Rounding to small floats: ties, overflow, subnormals and NaN payloads, from f32 bits spread over
// the whole range.
TEST_P(Conversion, RoundingToSmallFloats) {
  for (DType half : kSmallFloats) {
    Maker m;
    make_cast(m, DType::F32, half, false, 16);
    auto module = load(m.kernel);
    std::vector<float> in;
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 0x8001)
      in.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    for (uint32_t high = 0; high < 65536; high += 7)
      for (uint32_t low : {0x7fffu, 0x8000u, 0x8001u, 0x1000u, 0x0fffu})
        in.push_back(std::bit_cast<float>(high << 16 | low));
    if (half != DType::BF16)
      for (uint16_t bits = 0; bits < float_format(half).too_large(); ++bits) {
        // Between this one and the next.
        const float step = std::ldexp(1.0f, -float_format(half).mantissa - 1), x = small_float_value(half, bits);
        const float middle = bits == 0 ? static_cast<float>(float_format(half).tiny() / 2)
                                       : (x + small_float_value(half, static_cast<uint16_t>(bits + 1))) / 2;
        for (const float y : {middle, std::nextafterf(middle, 0), std::nextafterf(middle, 1e6f), x * (1 + step)})
          in.insert(in.end(), {y, -y});
      }
    Bytes out(half, in.size());
    run(*module, 0, 1, {in.data(), out.memory.data()}, {static_cast<int64_t>(in.size())});
    for (size_t k = 0; k < in.size(); ++k)
      ASSERT_TRUE(out.get(k) == Scalar::of_float(half, in[k])) << name_of(half) << " of " << in[k];
  }
}

TEST_P(Conversion, BoolsOfAnyByteAreStoredAsOne) {
  Maker m;
  make_cast(m, DType::Bool, DType::Bool, false, 16);
  auto module = load(m.kernel);
  std::vector<uint8_t> in(256), out(256);
  for (size_t k = 0; k < 256; ++k) in[k] = static_cast<uint8_t>(k);
  run(*module, 0, 1, {in.data(), out.data()}, {256});
  for (size_t k = 0; k < 256; ++k) ASSERT_EQ(out[k], k ? 1 : 0);
}

}  // namespace smelt::test
