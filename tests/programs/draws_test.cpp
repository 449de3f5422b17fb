// Random numbers: the published answers, the same ones however a program is fused, and as many of
// each kind as there should be. Seeds are fixed, so that no test depends on luck.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/philox.hpp"
#include "run.hpp"

namespace smelt::testing {
namespace {

Tensor word(uint64_t value) {
  Tensor t = Tensor::empty(DType::U64, {});
  *static_cast<uint64_t*>(t.data) = value;
  return t;
}

const std::string kSeed = "input seed: u64\n";

std::vector<double> drawn(const std::string& expression, uint64_t seed) {
  return numbers(run(kSeed + "return " + expression + "\n", {word(seed)}));
}

TEST(Draws, KnownAnswers) {
  NEEDS_LLVM();
  const std::string program =
      "input seed: u64\ninput offset: u64\ninput stream: u64\nreturn random_bits((6), seed, offset, stream)\n";
  const auto words = [&](uint64_t key, uint64_t low, uint64_t high) {
    return numbers(run(program, {word(key), word(low), word(high)}));
  };
  const uint64_t ones = ~uint64_t{0};
  const auto expect = [](std::vector<double> got, std::vector<double> wanted) {
    got.resize(4);
    EXPECT_EQ(got, wanted);
  };
  expect(words(0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect(words(ones, ones, ones), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect(words(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// What lanes, tiles, tails, views and other readers do not change.
TEST(Draws, TheSameNumbersHoweverFused) {
  NEEDS_LLVM();
  const Tensor seed = word(0x123456789abcdef);
  for (const char* program : {
           "return random_bits((101), seed), random_bits((100003), seed, 5), random_bits((0), seed), random_bits((1), "
           "seed)",
           "r = random_bits((37, 53), seed)\nreturn r, r.T, r[3:30:2, 5:], r.flip(1), r.sum(axis=0), r.sum(axis=1), r "
           "+ 1",
           "r = random_bits((64, 256), seed, stream=9)\nreturn r.T.reshape(-1), r[:, 1:5], r[7], concat((r, r[:, :3]), "
           "1)",
           "return pad(random_bits((5, 7), seed), 3), random_bits((4, 6), seed)[:, None, :] + random_bits((3, 1), "
           "seed, 1)",
           "r = random_bits((6, 4096), seed)\nreturn f32(r) - max(f32(r), axis=1, keepdims=True), (r & 255).sum()",
           "r = random_bits((3000, 130), seed)\nreturn sum(r, axis=0), max(r, axis=0), r[:, ::-1].max(axis=1)",
           "return take(random_bits((50), seed), random_bits((200), seed, 3) % 50, mode='wrap')",
           "return random_bits((9), seed, -1), random_bits((9), seed, -2), random_bits((9), -1, seed, seed)",
       })
    EXPECT_TRUE(right(kSeed + program + "\n", {seed})) << program;
}

TEST(Draws, FloatsOfEveryFormat) {
  NEEDS_LLVM();
  for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
    const std::string type = dtype;
    EXPECT_TRUE(right(kSeed + "return uniform((3, 37), seed, dtype=" + type +
                          "), uniform((515), seed, 2, dtype=" + type + ") * 2 - 1\n",
                      {word(3)}));
    EXPECT_TRUE(right(kSeed + "return normal((3, 37), seed, dtype=" + type + "), normal((515), seed, 2, dtype=" + type +
                          ").reshape(5, 103).T\n",
                      {word(4)}));
  }
}

TEST(Draws, SizesAreSymbols) {
  NEEDS_LLVM();
  std::vector<Tensor> keep;
  std::vector<std::vector<TensorView>> calls;
  const Tensor seed = word(77);
  for (const Dims& dims : std::vector<Dims>{{1, 1}, {3, 5}, {16, 64}, {7, 1023}, {5, 1024}, {2, 40000}, {0, 4}})
    keep.push_back(noise(DType::F32, dims));
  for (const Tensor& t : keep) calls.push_back({t, seed});
  const std::string inputs = "input x: f32[B, C]\ninput seed: u64\n";
  EXPECT_TRUE(right(inputs + "return dropout(relu(x), 0.3, seed), x + normal(x.shape, seed, 1)\n", calls));
  calls.pop_back();  // rows without elements have no maximum
  EXPECT_TRUE(right(inputs + "return softmax(dropout(x, 0.5, seed)), dropout(softmax(x), 0.1, seed)\n", calls));
  EXPECT_TRUE(right(
      inputs + "return sum(x * f32(bernoulli(x.shape, 0.5, seed)), axis=0), uniform(x.shape, seed)[:, 1:]\n", calls));
}

// Arrays that are next to aligned addresses.
TEST(Draws, UnalignedRows) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {33, 1001});
  EXPECT_TRUE(right(
      "input x: f32[B, C]\ninput seed: u64\ny = x[1:, 3:]\nreturn dropout(y, 0.25, seed), y * normal(y.shape, seed)\n",
      {x, word(5)}));
}

TEST(Draws, DropoutKeepsItsPromises) {
  NEEDS_LLVM();
  const std::string inputs = "input x: f32[N]\ninput seed: u64\ninput p: f32\n";
  const Tensor x = filled(DType::F32, {1000}, 3), seed = word(8);
  const auto got = run_all(inputs + "return dropout(x, p, seed), bernoulli(x.shape, p, seed), dropout(x, 0.25, seed)\n",
                           {x, seed, scalar(DType::F32, 0.25)});
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(number(got[0], i), number(got[1], i) ? 0.0 : 4.0);
    EXPECT_EQ(number(got[2], i), number(got[0], i));
  }
  const Tensor nan = filled(DType::F32, {1000}, kNan);
  for (const double p : {0.0, 1.0}) {
    const auto edges = run_all(inputs + "return dropout(x, p, seed)\n", {x, seed, scalar(DType::F32, p)});
    EXPECT_EQ(numbers(edges[0]), std::vector<double>(1000, p == 0 ? 3.0 : 0.0));
  }
  // What is dropped is 0, whatever it was.
  EXPECT_EQ(numbers(run(inputs + "return dropout(x, 1, seed) + 0 * p\n", {nan, seed, scalar(DType::F32, 1)})),
            std::vector<double>(1000, 0.0));
  EXPECT_TRUE(right("input q: f32[7, 1]\ninput seed: u64\nreturn bernoulli((7, 300), q, seed)\n",
                    {array(DType::F32, {7, 1}, {0, 1, 0.5, kNan, -1, 2, 1e-9}), seed}));
}

// 32 bits of probability: neighbours of the threshold fall on their sides.
TEST(Draws, BernoulliIsExact) {
  NEEDS_LLVM();
  const auto words = drawn("random_bits((64), seed)", 21);
  for (const double w : {words[0], words[13]}) {
    const auto below = drawn(fmt::format("bernoulli((64), {:.17g}, seed)", w * 0x1p-32), 21);
    const auto above = drawn(fmt::format("bernoulli((64), {:.17g}, seed)", (w + 0.5) * 0x1p-32), 21);
    for (size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(below[i], words[i] < w);
      EXPECT_EQ(above[i], words[i] <= w);
    }
  }
}

TEST(Draws, AnotherSeedOffsetOrStreamGivesOtherNumbers) {
  NEEDS_LLVM();
  const auto first = drawn("random_bits((400), seed)", 1);
  EXPECT_EQ(first, drawn("random_bits((400), seed)", 1));
  for (const auto& [expression, seed] :
       std::vector<std::pair<std::string, uint64_t>>{{"random_bits((400), seed)", 2},
                                                     {"random_bits((400), seed, 100)", 1},
                                                     {"random_bits((400), seed, stream=1)", 1},
                                                     {"random_bits((400), seed)", uint64_t{1} << 32}}) {
    const auto other = drawn(expression, seed);
    int same = 0;
    for (size_t i = 0; i < first.size(); ++i) same += first[i] == other[i];
    EXPECT_LE(same, 1) << expression;
  }
  // An offset skips four words for each one.
  const auto later = drawn("random_bits((200), seed, 50)", 1);
  EXPECT_TRUE(std::equal(later.begin(), later.end(), first.begin() + 200));
}

// ---- statistics, at the seeds that are here

constexpr int kMany = 1 << 18;

double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double covariance(const std::vector<double>& v, size_t lag, double mean) {
  double sum = 0;
  for (size_t i = lag; i < v.size(); ++i) sum += (v[i] - mean) * (v[i - lag] - mean);
  return sum / static_cast<double>(v.size() - lag);
}

// The largest distance between the distribution of the numbers and the one that they should have,
// times the root of their count.
template <class Distribution>
double kolmogorov(std::vector<double> v, const Distribution& below) {
  std::sort(v.begin(), v.end());
  double most = 0;
  const double n = static_cast<double>(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    const double p = below(v[i]), at = static_cast<double>(i);
    most = std::max({most, p - at / n, (at + 1) / n - p});
  }
  return most * std::sqrt(n);
}

double chi_square(const std::vector<int>& buckets, double expected) {
  double sum = 0;
  for (int b : buckets) sum += (b - expected) * (b - expected) / expected;
  return sum;
}

TEST(Draws, UniformNumbersAreEven) {
  NEEDS_LLVM();
  for (const uint64_t seed : {1u, 2u, 3u}) {
    const auto u = drawn(fmt::format("uniform(({}), seed)", kMany), seed);
    const double n = kMany, mean = mean_of(u);
    EXPECT_GE(*std::min_element(u.begin(), u.end()), 0);
    EXPECT_LT(*std::max_element(u.begin(), u.end()), 1);
    EXPECT_NEAR(mean, 0.5, 4 * std::sqrt(1 / (12 * n)));
    EXPECT_NEAR(covariance(u, 0, mean), 1.0 / 12, 4 * std::sqrt(1 / (180 * n)));
    for (const size_t lag : {1, 2, 3, 4, 5, 8, 64, 1024})
      EXPECT_NEAR(covariance(u, lag, mean) * 12, 0, 4.5 / std::sqrt(n)) << lag;
    std::vector<int> buckets(256), pairs(256);
    for (size_t i = 0; i < u.size(); ++i) ++buckets[static_cast<size_t>(u[i] * 256)];
    for (size_t i = 0; i + 1 < u.size(); i += 2)
      ++pairs[static_cast<size_t>(u[i] * 16) * 16 + static_cast<size_t>(u[i + 1] * 16)];
    // 255 degrees of freedom: the mean is 255, the deviation 22.6.
    EXPECT_NEAR(chi_square(buckets, n / 256), 255, 4 * 22.6);
    EXPECT_NEAR(chi_square(pairs, n / 512), 255, 4 * 22.6);
    EXPECT_LT(kolmogorov(u, [](double x) { return x; }), 1.95);  // passed by 999 of 1000 samples
  }
}

TEST(Draws, BitsAreBalanced) {
  NEEDS_LLVM();
  const auto words = drawn(fmt::format("random_bits(({}), seed)", kMany), 99);
  std::vector<int> ones(32), changes(32);
  for (size_t i = 0; i < words.size(); ++i) {
    const auto w = static_cast<uint32_t>(words[i]);
    const auto before = static_cast<uint32_t>(words[i ? i - 1 : words.size() - 1]);
    for (size_t b = 0; b < 32; ++b) {
      ones[b] += w >> b & 1;
      changes[b] += (w ^ before) >> b & 1;
    }
  }
  const double deviation = std::sqrt(kMany) / 2;
  for (size_t b = 0; b < 32; ++b) {
    EXPECT_NEAR(ones[b], kMany / 2, 4 * deviation) << "bit " << b;
    EXPECT_NEAR(changes[b], kMany / 2, 4 * deviation) << "bit " << b;
  }
}

TEST(Draws, NormalNumbersAreNormal) {
  NEEDS_LLVM();
  const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  for (const char* dtype : {"f32", "f64"}) {
    const auto z = drawn(fmt::format("normal(({}), seed, dtype={})", kMany, dtype), 17);
    const double n = kMany, mean = mean_of(z), variance = covariance(z, 0, mean);
    EXPECT_NEAR(mean, 0, 4 / std::sqrt(n));
    EXPECT_NEAR(variance, 1, 4 * std::sqrt(2 / n));
    double third = 0, fourth = 0;
    for (double x : z) third += x * x * x, fourth += x * x * x * x;
    EXPECT_NEAR(third / n, 0, 4 * std::sqrt(15 / n));
    EXPECT_NEAR(fourth / n, 3, 4 * std::sqrt(96 / n));
    // Neighbours come of one radius and one angle.
    for (const size_t lag : {1, 2, 3, 4}) EXPECT_NEAR(covariance(z, lag, mean), 0, 4.5 / std::sqrt(n)) << lag;
    EXPECT_LT(kolmogorov(z, below), 1.95) << dtype;
    EXPECT_GT(*std::max_element(z.begin(), z.end()), 3.9);
  }
}

TEST(Draws, BernoulliHitsItsRate) {
  NEEDS_LLVM();
  for (const double p : {0.001, 0.1, 0.5, 0.9}) {
    const double rate = mean_of(drawn(fmt::format("bernoulli(({}), {}, seed)", kMany, p), 5));
    EXPECT_NEAR(rate, p, 4 * std::sqrt(p * (1 - p) / kMany));
  }
}

// Streams of one seed, and neighbouring seeds, have nothing to do with each other.
TEST(Draws, StreamsAreIndependent) {
  NEEDS_LLVM();
  const auto a = drawn(fmt::format("uniform(({}), seed)", kMany), 6);
  for (const auto& b : {drawn(fmt::format("uniform(({}), seed, stream=1)", kMany), 6),
                        drawn(fmt::format("uniform(({}), seed)", kMany), 7)}) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - 0.5) * (b[i] - 0.5);
    EXPECT_NEAR(sum / kMany * 12, 0, 4.5 / std::sqrt(kMany));
  }
}

// A new seed is an argument, not another kernel.
TEST(Draws, OneExecutableServesEverySeed) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {1000});
  const std::vector<Tensor> seeds = {word(1), word(2), word(~uint64_t{0})};
  std::vector<std::vector<TensorView>> calls;
  for (const Tensor& s : seeds) calls.push_back({x, s});
  EXPECT_TRUE(right("input x: f32[N]\ninput seed: u64\nreturn dropout(x, 0.5, seed)\n", calls));
  for (const char* type : {"i64", "u32", "i32", "u8"})
    EXPECT_TRUE(right(fmt::format("input seed: {}\nreturn random_bits((100), seed, seed, seed)\n", type),
                      {scalar(dtype_from_name(type).value(), 100)}));
}

}  // namespace
}  // namespace smelt::testing
