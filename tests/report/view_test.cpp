#include "report/view.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/arrays.hpp"

namespace smelt::report {
namespace {

Tensor counting(const Dims& dims) {
  std::vector<double> values(static_cast<size_t>(element_count(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return array(DType::I32, dims, values);
}

TEST(ShortView, SmallArraysAreWhole) {
  EXPECT_EQ(short_view(array(DType::F32, {}, {0.1})), "0.1");
  EXPECT_EQ(short_view(array(DType::F32, {3}, {1, -0.5, 1e10})), "[         1,       -0.5, 1.0000e+10]");
  EXPECT_EQ(short_view(array(DType::Bool, {2}, {1, 0})), "[ true, false]");
  EXPECT_EQ(short_view(counting({2, 2})), "[[0, 1],\n [2, 3]]");
  EXPECT_EQ(short_view(counting({2, 1, 2})), "[[[0, 1]],\n\n [[2, 3]]]");
  EXPECT_EQ(short_view(counting({8})), "[0, 1, 2, 3, 4, 5, 6, 7]");
  EXPECT_EQ(short_view(array(DType::F64, {4}, {NAN, INFINITY, -INFINITY, -0.0})), "[ nan,  inf, -inf,   -0]");
}

TEST(ShortView, LongDimensionsAreCut) {
  EXPECT_EQ(short_view(counting({1000})), "[  0,   1,   2, ..., 997, 998, 999]");
  const std::string text = short_view(counting({10, 10}));
  EXPECT_EQ(text.substr(0, text.find('\n')), "[[ 0,  1,  2, ...,  7,  8,  9],");
  EXPECT_NE(text.find("\n ...,\n"), std::string::npos) << text;
}

TEST(ShortView, EmptyAndDeepArraysStayShort) {
  EXPECT_EQ(short_view(counting({0})), "[]");
  EXPECT_EQ(short_view(counting({3, 0})), "[]");
  EXPECT_LT(short_view(counting({7, 7, 7, 7, 7})).size(), 6000u);
}

TEST(ShortView, FollowsStrides) {
  Tensor t = counting({2, 3});
  TensorView flipped = t;
  flipped.dims = {3, 2};
  flipped.strides = {1, -3};
  flipped.data = static_cast<int32_t*>(t.data) + 3;
  EXPECT_EQ(short_view(flipped), "[[3, 0],\n [4, 1],\n [5, 2]]");
  EXPECT_EQ(statistics_of(flipped).mean, 2.5);
}

TEST(ArrayStatistics, MinMeanMax) {
  const ArrayStatistics s = statistics_of(array(DType::F32, {4}, {3, -1, 2, 0}));
  EXPECT_EQ(s.min.f, -1);
  EXPECT_EQ(s.max.f, 3);
  EXPECT_EQ(s.mean, 1);
  EXPECT_EQ(s.nans, 0);
  Tensor big = array(DType::U64, {2}, {0, 0});
  static_cast<uint64_t*>(big.data)[1] = UINT64_MAX;
  EXPECT_EQ(statistics_of(big).max.u, UINT64_MAX);
}

TEST(ArrayStatistics, NanAndInfinity) {
  for (const std::vector<double>& values : {std::vector<double>{NAN, 1, 2}, {1, NAN, 2}, {1, 2, NAN}}) {
    const ArrayStatistics s = statistics_of(array(DType::F32, {3}, values));
    EXPECT_TRUE(std::isnan(s.min.f) && std::isnan(s.max.f) && std::isnan(s.mean));
    EXPECT_EQ(s.nans, 1);
  }
  const ArrayStatistics s = statistics_of(array(DType::F32, {2}, {INFINITY, 1}));
  EXPECT_EQ(s.mean, INFINITY);
  EXPECT_EQ(s.infinities, 1);
  EXPECT_EQ(statistics_of(array(DType::F32, {0}, {})).count, 0);
}

TEST(DescribeType, IsTheLanguagesOwnForm) {
  EXPECT_EQ(describe_type(DType::F32, {4096, 1024}), "f32[4096,1024]");
  EXPECT_EQ(describe_type(DType::I8, {}), "i8");
}

}  // namespace
}  // namespace smelt::report
