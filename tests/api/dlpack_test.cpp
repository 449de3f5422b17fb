// DLPack: what goes out comes in, and deleters run once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <numeric>

#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

// A tensor of another library.
struct Foreign {
  std::vector<float> data = std::vector<float>(12);
  std::vector<int64_t> shape = {2, 3}, strides = {1, 4};
  dlpack::ManagedTensorVersioned versioned{};
  dlpack::ManagedTensor legacy{};
  int deleted = 0;

  Foreign() {
    std::iota(data.begin(), data.end(), 0.f);
    const dlpack::Tensor tensor{
        data.data(), {dlpack::DeviceType::Cpu, 0}, 2, {dlpack::Code::Float, 32, 1}, shape.data(), strides.data(), 4};
    versioned.version = {1, 0};
    versioned.manager_ctx = legacy.manager_ctx = this;
    versioned.tensor = legacy.tensor = tensor;
    versioned.deleter = [](dlpack::ManagedTensorVersioned* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
    legacy.deleter = [](dlpack::ManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
};

TEST(Dlpack, ComesInPlaceAndIsDeletedOnce) {
  Foreign foreign;
  {
    const Array x = from_dlpack(&foreign.versioned);
    EXPECT_EQ(x.str(), "f32[2, 3]");
    EXPECT_EQ(x.data(), foreign.data.data() + 1);
    EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 5, 9, 2, 6, 10}));
    Array y = x + 1;
    eval(y);
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 6, 10, 3, 7, 11}));
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_EQ(foreign.deleted, 1);
  { const Array x = from_dlpack(&foreign.legacy); }
  EXPECT_EQ(foreign.deleted, 2);
}

TEST(Dlpack, MissingStridesAreRowMajorAndFlagsAreHonoured) {
  Foreign foreign;
  foreign.versioned.tensor.strides = nullptr;
  foreign.versioned.tensor.byte_offset = 0;
  foreign.versioned.flags = dlpack::kReadOnly;
  Array x = from_dlpack(&foreign.versioned);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_THAT(message_of([&] { x.mutable_span<float>(); }),
              HasSubstr("mutable_span(): f32[2, 3] is memory that must not be written"));
  auto* out = to_dlpack(x);
  EXPECT_EQ(out->flags, dlpack::kReadOnly);
  out->deleter(out);
  EXPECT_THAT(
      message_of([&] { to_dlpack_legacy(x); }),
      HasSubstr(
          "to_dlpack_legacy(): f32[2, 3] is memory that must not be written, which DLPack before 1.0 cannot say"));
}

TEST(Dlpack, WhatItRefusesIsDeletedToo) {
  Foreign foreign;
  foreign.versioned.version.major = 2;
  EXPECT_THAT(message_of([&] { from_dlpack(&foreign.versioned); }),
              HasSubstr("from_dlpack(): the tensor is of DLPack 2.0, and smelt reads 1.x"));
  EXPECT_EQ(foreign.deleted, 1);
  foreign.versioned.version.major = 1;
  foreign.versioned.tensor.dtype = {dlpack::Code(5), 64, 1};
  EXPECT_THAT(message_of([&] { from_dlpack(&foreign.versioned); }),
              HasSubstr("from_dlpack(): an array of complex numbers cannot be read"));
  foreign.versioned.tensor.dtype = {dlpack::Code::Float, 32, 4};
  EXPECT_THAT(message_of([&] { from_dlpack(&foreign.versioned); }),
              HasSubstr("from_dlpack(): no element type of smelt has DLPack's code 2, 32 bits and 4 lanes"));
  foreign.versioned.tensor.dtype = {dlpack::Code::Float, 32, 1};
  foreign.versioned.tensor.device.type = dlpack::DeviceType(7);
  EXPECT_THAT(message_of([&] { from_dlpack(&foreign.versioned); }),
              HasSubstr("from_dlpack(): the array is on a device of DLPack's type 7"));
  EXPECT_EQ(foreign.deleted, 4);
  EXPECT_THAT(message_of([&] { from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)); }),
              HasSubstr("from_dlpack(): a null pointer is no array"));
}

TEST(Dlpack, GoesOutAndOutlivesTheArray) {
  for (const DType dtype : {DType::Bool, DType::I8, DType::U16, DType::I64, DType::F8E4M3, DType::F8E5M2, DType::F16,
                            DType::BF16, DType::F64}) {
    dlpack::ManagedTensorVersioned* out = nullptr;
    {
      Array x = astype(Array::from({0, 1, 2, 3}, {2, 2}), dtype);
      EXPECT_THAT(message_of([&] { to_dlpack(x); }), HasSubstr("is not evaluated yet"));  // not evaluated
      eval(x);
      out = to_dlpack(x);
    }
    EXPECT_EQ(out->version.major, 1u);
    EXPECT_EQ(out->tensor.dtype.bits, 8 * size_of(dtype));
    Array back = from_dlpack(out);  // deletes `out` at its end
    EXPECT_EQ(back.dtype(), dtype);
    Array sum_of = sum(astype(back, DType::I64));
    eval(sum_of);
    EXPECT_EQ(sum_of.item<int64_t>(), dtype == DType::Bool ? 3 : 6);
  }
  auto* empty = to_dlpack_legacy(Array::empty({0, 3}, DType::F32));
  EXPECT_EQ(empty->tensor.data, nullptr);
  EXPECT_EQ(from_dlpack(empty).shape(), (Dims{0, 3}));
}

}  // namespace
}  // namespace smelt
