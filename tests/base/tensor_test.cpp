#include "base/tensor.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/shape.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using testing::message_of;

TEST(Tensor, ElementCount) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 4}), 12);
  EXPECT_EQ(element_count({3, 0}), 0);
  EXPECT_EQ(message_of([&] { element_count({-1}); }), "shape [-1] has the negative size -1");
  EXPECT_EQ(message_of([&] {
              element_count({int64_t{1} << 40, int64_t{1} << 40});
            }),
            "shape [1099511627776, 1099511627776] has more elements than 64 bits can address");
  EXPECT_EQ(message_of([&] { element_count({INT64_MAX}); }),
            "shape [9223372036854775807] has more elements than 64 bits can address")
      << "its bytes do not fit";
  EXPECT_EQ(message_of([&] { element_count({0, -1}); }), "shape [0, -1] has the negative size -1");
}

TEST(Tensor, EmptyOfAnyShape) {
  const Tensor t = Tensor::zeros(DType::F32, {0, 5});
  EXPECT_EQ(t.count(), 0);
  EXPECT_TRUE(t.contiguous());
  EXPECT_NE(t.data, nullptr);
  // The other sizes of an empty array may be anything.
  EXPECT_EQ(Tensor::empty(DType::F64, {int64_t{1} << 40, 0, int64_t{1} << 40}).count(), 0);
}

TEST(Tensor, MemoryTooLargeIsTheUsersError) {
  EXPECT_EQ(message_of([&] { Tensor::empty(DType::F64, {int64_t{1} << 55}); }),
            "cannot allocate 288230376151711744 bytes for f64[36028797018963968]: use smaller arrays or free memory");
}

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

// Views of every order of axes, with steps, backwards, broadcast, of sizes besides those of tiles.
TEST(Tensor, CopiesOfStridedViewsAreElementByElement) {
  for (const DType dtype : {DType::U8, DType::I16, DType::F32, DType::F64}) {
    const int width = size_of(dtype);
    std::vector<char> memory(static_cast<size_t>(400000 * width));
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 31 + i / 251);
    char* const middle = memory.data() + 200000 * width;
    const std::pair<Dims, Dims> views[] = {
        {{}, {}},
        {{7}, {2}},
        {{33}, {-3}},
        {{31, 33}, {1, 31}},
        {{64, 65}, {-1, 70}},
        {{33, 5}, {0, 1}},
        {{5, 33}, {1, 0}},
        {{2, 40, 3}, {1, 6, 2}},
        {{4, 3, 32}, {3, 1, 12}},
        {{3, 1, 33}, {66, 5, 2}},
        {{0, 4}, {9, 9}},
        {{2, 3, 4, 5}, {60, 1, 15, 3}},
        {{3, 34, 2, 33}, {-2, 6, 1, 300}},
        {{1, 1}, {7, 7}},
    };
    for (const auto& [dims, strides] : views) {
      const Tensor copy = contiguous_copy(TensorView{dtype, dims, strides, middle});
      Dims index(dims.size(), 0);
      for (int64_t i = 0; i < copy.count(); ++i) {
        int64_t offset = 0;
        for (size_t d = 0; d < dims.size(); ++d) offset += index[d] * strides[d];
        ASSERT_EQ(
            std::memcmp(static_cast<char*>(copy.data) + i * width, middle + offset * width, static_cast<size_t>(width)),
            0)
            << name_of(dtype) << ", element " << i;
        for (size_t d = dims.size(); d-- > 0;) {
          if (++index[d] < dims[d]) break;
          index[d] = 0;
        }
      }
    }
  }
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
