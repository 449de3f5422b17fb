/// \file
/// DLPack in and out: arrays of NumPy, PyTorch, JAX and others without a copy.
///
/// The structures are those of dlpack.h 1.x, declared here again so that no header of another
/// project is needed; they have the same layout, so a pointer to DLManagedTensorVersioned may be
/// cast to dlpack::ManagedTensorVersioned* and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "smelt/array.hpp"

namespace smelt::dlpack {

/// DLDeviceType, those that smelt knows.
enum class DeviceType : int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, CudaManaged = 13 };
/// DLDevice
struct Device {
  DeviceType type;  ///< what kind of memory
  int32_t id;       ///< 0 for host memory
};
/// DLDataTypeCode, those that smelt knows.
enum class Code : uint8_t { Int = 0, UInt = 1, Float = 2, Bfloat = 4, Bool = 6, Float8E4m3fn = 10, Float8E5m2 = 12 };
/// DLDataType
struct DataType {
  Code code;       ///< what the bits mean
  uint8_t bits;    ///< of one element
  uint16_t lanes;  ///< 1
};
/// DLTensor
struct Tensor {
  void* data;            ///< null for arrays without elements
  Device device;         ///< where data is
  int32_t ndim;          ///< number of axes
  DataType dtype;        ///< of the elements
  int64_t* shape;        ///< ndim sizes
  int64_t* strides;      ///< ndim strides in elements; null: row-major
  uint64_t byte_offset;  ///< from data to the first element
};
/// DLPackVersion
struct Version {
  uint32_t major;  ///< of the layout
  uint32_t minor;  ///< of what values enumerations may have
};
/// DLManagedTensorVersioned
struct ManagedTensorVersioned {
  Version version;                                ///< 1.x
  void* manager_ctx;                              ///< the producer's
  void (*deleter)(ManagedTensorVersioned* self);  ///< frees the tensor and what it keeps; may be null
  uint64_t flags;                                 ///< kReadOnly, kIsCopied
  Tensor tensor;                                  ///< the array
};
/// DLManagedTensor, of DLPack before 1.0, which has no flag for read-only memory.
struct ManagedTensor {
  Tensor tensor;                         ///< the array
  void* manager_ctx;                     ///< the producer's
  void (*deleter)(ManagedTensor* self);  ///< frees the tensor and what it keeps; may be null
};

inline constexpr uint64_t kReadOnly = 1;  ///< the consumer must not write
inline constexpr uint64_t kIsCopied = 2;  ///< nobody else sees the memory

static_assert(sizeof(Device) == 8 && sizeof(DataType) == 4 && sizeof(Version) == 8);
static_assert(sizeof(void*) != 8 ||
              (sizeof(Tensor) == 48 && offsetof(Tensor, device) == 8 && offsetof(Tensor, ndim) == 16 &&
               offsetof(Tensor, dtype) == 20 && offsetof(Tensor, shape) == 24 && offsetof(Tensor, strides) == 32 &&
               offsetof(Tensor, byte_offset) == 40));
static_assert(sizeof(void*) != 8 ||
              (sizeof(ManagedTensorVersioned) == 80 && offsetof(ManagedTensorVersioned, manager_ctx) == 8 &&
               offsetof(ManagedTensorVersioned, deleter) == 16 && offsetof(ManagedTensorVersioned, flags) == 24 &&
               offsetof(ManagedTensorVersioned, tensor) == 32));
static_assert(sizeof(void*) != 8 || (sizeof(ManagedTensor) == 64 && offsetof(ManagedTensor, manager_ctx) == 48 &&
                                     offsetof(ManagedTensor, deleter) == 56));

}  // namespace smelt::dlpack

namespace smelt {

/// The array in place, in host memory or on a CUDA GPU. It takes ownership of `managed`: its
/// deleter is called once, when the last array that uses the memory is destroyed, or immediately
/// when this throws. Throws UserError for another major version, for a device or an element type
/// that smelt does not have, and for a null pointer. On a GPU the data must be ready in smelt's
/// stream: synchronise the producer before.
SMELT_API Array from_dlpack(dlpack::ManagedTensorVersioned* managed);
/// \overload
SMELT_API Array from_dlpack(dlpack::ManagedTensor* managed);

/// The data in place, which lives until the consumer calls the deleter, independently of the array.
/// Read-only memory has the flag kReadOnly. Throws UserError when the array is not evaluated.
SMELT_API dlpack::ManagedTensorVersioned* to_dlpack(const Array& array);
/// The same for consumers from before DLPack 1.0. Throws UserError for read-only memory, too.
SMELT_API dlpack::ManagedTensor* to_dlpack_legacy(const Array& array);

}  // namespace smelt
