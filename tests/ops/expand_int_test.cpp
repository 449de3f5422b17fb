// The expansions on integers against the host meaning.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/scalar.hpp"
#include "ops/expand/on_host.hpp"

namespace smelt {
namespace {

// A result as evaluate_int gives it.
template <class T>
uint64_t as_bits(expand::Int<T> value) {
  return std::is_signed_v<T> ? static_cast<uint64_t>(static_cast<int64_t>(value.value))
                             : static_cast<uint64_t>(value.value);
}
uint64_t as_bits(bool value) { return value; }

template <class T, class R>
void check(Op op, DType dtype, T a, T b, R computed) {
  const uint64_t args[] = {as_bits(expand::Int<T>{a}), as_bits(expand::Int<T>{b})};
  const uint64_t wanted = evaluate_int(op, dtype, std::span(args, static_cast<size_t>(info(op).arity)));
  ASSERT_EQ(as_bits(computed), wanted) << name_of(op) << " of " << name_of(dtype) << " " << +a << ", " << +b;
}

template <class T>
void check_all(DType dtype, T a, T b) {
  if (testing::Test::HasFailure()) return;  // one is enough
  [[maybe_unused]] const expand::Int<T> va{a}, vb{b};
#define SMELT_OP(id, ...)                                                        \
  if constexpr (!std::is_same_v<decltype(expand::on_int::id(va, vb, va)), None>) \
    if (accepts(Op::id, dtype)) check(Op::id, dtype, a, b, expand::on_int::id(va, vb, va));
#include "ops/ops.def"
#undef SMELT_OP
}

template <class T>
void check_every_pair(DType dtype) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) check_all(dtype, static_cast<T>(a), static_cast<T>(b));
}

template <class T>
void check_sample(DType dtype) {
  std::vector<T> values;
  for (int k = -9; k <= 9; ++k) values.push_back(static_cast<T>(k));
  for (int bit = 3; bit < static_cast<int>(8 * sizeof(T)); ++bit)
    for (int k = -1; k <= 1; ++k) values.push_back(static_cast<T>((uint64_t{1} << bit) + static_cast<uint64_t>(k)));
  for (T k : {sizeof(T) * 8 - 1, sizeof(T) * 8, sizeof(T) * 8 + 1}) values.push_back(k);
  std::mt19937_64 random(7);
  for (int k = 0; k < 40; ++k) values.push_back(static_cast<T>(random()));
  for (T a : values)
    for (T b : values) check_all(dtype, a, b);
}

TEST(ExpandInt, EveryPairI8) { check_every_pair<int8_t>(DType::I8); }
TEST(ExpandInt, EveryPairU8) { check_every_pair<uint8_t>(DType::U8); }
TEST(ExpandInt, I16) { check_sample<int16_t>(DType::I16); }
TEST(ExpandInt, U16) { check_sample<uint16_t>(DType::U16); }
TEST(ExpandInt, I32) { check_sample<int32_t>(DType::I32); }
TEST(ExpandInt, U32) { check_sample<uint32_t>(DType::U32); }
TEST(ExpandInt, I64) { check_sample<int64_t>(DType::I64); }
TEST(ExpandInt, U64) { check_sample<uint64_t>(DType::U64); }

}  // namespace
}  // namespace smelt
