#include "base/tensor.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/shape.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

TEST(Tensor, ElementCount) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 4}), 12);
  EXPECT_EQ(element_count({3, 0}), 0);
  EXPECT_THROW(element_count({-1}), UserError);
  EXPECT_THROW(element_count({int64_t{1} << 40, int64_t{1} << 40}), UserError);
  EXPECT_THROW(element_count({INT64_MAX}), UserError) << "its bytes do not fit";
  EXPECT_THROW(element_count({0, -1}), UserError);
}

TEST(Tensor, EmptyOfAnyShape) {
  const Tensor t = Tensor::zeros(DType::F32, {0, 5});
  EXPECT_EQ(t.count(), 0);
  EXPECT_TRUE(t.contiguous());
  EXPECT_NE(t.data, nullptr);
  // The other sizes of an empty array may be anything.
  EXPECT_EQ(Tensor::empty(DType::F64, {int64_t{1} << 40, 0, int64_t{1} << 40}).count(), 0);
}

TEST(Tensor, MemoryTooLargeIsTheUsersError) { EXPECT_THROW(Tensor::empty(DType::F64, {int64_t{1} << 55}), UserError); }

TEST(Tensor, Alignment) {
  for (int64_t n : {1, 3, 1000}) EXPECT_EQ(reinterpret_cast<uintptr_t>(Tensor::empty(DType::I8, {n}).data) % 64, 0u);
}

TEST(Tensor, Contiguous) {
  float data[12];
  EXPECT_TRUE((TensorView{DType::F32, {3, 4}, {4, 1}, data}.contiguous()));
  EXPECT_FALSE((TensorView{DType::F32, {4, 3}, {1, 4}, data}.contiguous()));
  EXPECT_TRUE((TensorView{DType::F32, {3, 1, 4}, {4, 99, 1}, data}.contiguous())) << "a size of 1 has no stride";
  EXPECT_FALSE((TensorView{DType::F32, {3, 4}, {0, 1}, data}.contiguous()));
  EXPECT_FALSE((TensorView{DType::F32, {3}, {-1}, data}.contiguous()));
  EXPECT_TRUE((TensorView{DType::F32, {}, {}, data}.contiguous()));
}

std::vector<int32_t> copied(const TensorView& view) {
  const Tensor t = contiguous_copy(view);
  std::vector<int32_t> values(static_cast<size_t>(t.count()));
  if (!values.empty()) std::memcpy(values.data(), t.data, values.size() * 4);
  return values;
}

TEST(Tensor, CopiesOfViews) {
  int32_t data[12];
  std::iota(data, data + 12, 0);
  EXPECT_EQ(copied({DType::I32, {2, 3}, {1, 4}, data}), (std::vector<int32_t>{0, 4, 8, 1, 5, 9})) << "transposed";
  EXPECT_EQ(copied({DType::I32,
                    {3},
                    {
                        -2,
                    },
                    data + 11}),
            (std::vector<int32_t>{11, 9, 7}))
      << "backwards";
  EXPECT_EQ(copied({DType::I32, {2, 2}, {0, 1}, data + 5}), (std::vector<int32_t>{5, 6, 5, 6})) << "repeated";
  EXPECT_EQ(copied({DType::I32, {}, {}, data + 3}), (std::vector<int32_t>{3}));
  EXPECT_EQ(copied({DType::I32, {2, 0}, {1, 1}, data}), (std::vector<int32_t>{}));
  alignas(8) char bytes[16];
  const int32_t value = 77;
  std::memcpy(bytes + 1, &value, 4);
  EXPECT_EQ(copied({DType::I32, {1}, {1}, bytes + 1}), (std::vector<int32_t>{77})) << "misaligned";
}

TEST(Shape, Numbers) {
  const Shape shape = {sym("B"_size), 4, sym("B"_size) + 1};
  EXPECT_EQ(str(shape), "[B, 4, B + 1]");
  EXPECT_EQ(evaluate(shape, {{"B"_size, 3}}), (Dims{3, 4, 4}));
  EXPECT_EQ(count(shape).evaluate({{"B"_size, 3}}), 48);
  EXPECT_EQ(count({}).constant(), 1);
  EXPECT_EQ(str(Dims{}), "[]");
}

}  // namespace
}  // namespace smelt
