#include "api/dlpack.hpp"

#include <fmt/format.h>

#include "api/node.hpp"

namespace smelt {

namespace {

dlpack::DataType type_of(DType dtype) {
  const auto code = is_bool(dtype)           ? dlpack::Code::Bool
                    : dtype == DType::BF16   ? dlpack::Code::Bfloat
                    : dtype == DType::F8E4M3 ? dlpack::Code::Float8E4m3fn
                    : dtype == DType::F8E5M2 ? dlpack::Code::Float8E5m2
                    : is_float(dtype)        ? dlpack::Code::Float
                    : is_signed_int(dtype)   ? dlpack::Code::Int
                                             : dlpack::Code::UInt;
  return {code, static_cast<uint8_t>(8 * size_of(dtype)), 1};
}

}  // namespace

std::optional<DType> detail::dtype_from(const dlpack::DataType& type) {
  for (const DType dtype : kAllDTypes) {
    const dlpack::DataType known = type_of(dtype);
    if (type.code == known.code && type.bits == known.bits && type.lanes == known.lanes) return dtype;
  }
  return std::nullopt;
}

namespace {

Device device_of(const dlpack::Device& device) {
  switch (device.type) {
    case dlpack::DeviceType::Cpu:
    case dlpack::DeviceType::CudaHost: return Device::cpu();
    case dlpack::DeviceType::Cuda:
    case dlpack::DeviceType::CudaManaged: {
      Device gpu = Device::cuda(device.id);
      if (!gpu.usable())
        throw UserError(
            fmt::format("from_dlpack(): the array is on {}, which cannot be used: {}", gpu.name(), gpu.missing()));
      return gpu;
    }
  }
  throw UserError(
      fmt::format("from_dlpack(): the array is on a device of DLPack's type {}\nhelp: smelt takes host memory (1, 3) "
                  "and CUDA (2, 13)",
                  static_cast<int32_t>(device.type)));
}

}  // namespace

Array detail::array_from(const dlpack::Tensor& from, bool read_only, std::shared_ptr<void> owner) {
  const auto dtype = detail::dtype_from(from.dtype);
  constexpr dlpack::Code kComplex{5};
  if (!dtype && from.dtype.code == kComplex)
    throw UserError(
        "from_dlpack(): an array of complex numbers cannot be read\nhelp: x.real and x.imag are arrays of floats");
  if (!dtype)
    throw UserError(
        fmt::format("from_dlpack(): no element type of smelt has DLPack's code {}, {} bits and {} lanes"
                    "\nhelp: convert it first; bool, integers of 8 to 64 bits and floats are supported",
                    static_cast<int>(from.dtype.code), from.dtype.bits, from.dtype.lanes));
  if (from.ndim < 0 || (from.ndim > 0 && !from.shape))
    throw UserError(fmt::format("from_dlpack(): a tensor of {} axes without a shape", from.ndim));
  Tensor tensor;
  tensor.dtype = *dtype;
  tensor.dims.assign(from.shape, from.shape + from.ndim);
  const bool empty = element_count(tensor.dims) == 0;
  if (!empty && !from.data) throw UserError("from_dlpack(): the address of the data is null");
  tensor.strides = from.strides ? Dims(from.strides, from.strides + from.ndim) : contiguous_strides(tensor.dims);
  tensor.data = static_cast<char*>(from.data) + (from.data ? from.byte_offset : 0);
  tensor.memory = std::move(owner);
  return Array(detail::make_node(detail::Data{std::move(tensor), device_of(from.device), read_only}));
}

namespace {

// Calls the deleter with its last copy.
template <class Managed>
std::shared_ptr<void> owner_of(Managed* managed) {
  if (!managed) throw UserError("from_dlpack(): a null pointer is no array");
  return std::shared_ptr<void>(managed, [](void* p) {
    auto* m = static_cast<Managed*>(p);
    if (m->deleter) m->deleter(m);
  });
}

// What an exported tensor keeps alive.
template <class Managed>
struct Exported {
  Managed managed{};
  Array array;
  Dims dims, strides;
};

template <class Managed>
Exported<Managed>* exported(const Array& array, const char* asked_by) {
  const detail::Data* data = detail::node_of(array, asked_by)->data();
  if (!data)
    throw UserError(fmt::format("{}: {} is not evaluated yet\nhelp: call eval(x) first", asked_by, array.str()));
  auto e = std::make_unique<Exported<Managed>>();
  e->array = array;
  e->dims = data->tensor.dims;
  e->strides = data->tensor.strides;
  dlpack::Tensor& tensor = e->managed.tensor;
  tensor.data = element_count(e->dims) > 0 ? data->tensor.data : nullptr;
  tensor.device = {dlpack::DeviceType::Cpu, 0};
  if (data->device.is_gpu()) {
    const std::string& name = data->device.name();
    const size_t colon = name.find(':');
    tensor.device = {dlpack::DeviceType::Cuda, colon == std::string::npos ? 0 : std::stoi(name.substr(colon + 1))};
  }
  tensor.ndim = static_cast<int32_t>(e->dims.size());
  tensor.dtype = type_of(data->tensor.dtype);
  tensor.shape = e->dims.data();
  tensor.strides = e->strides.data();
  e->managed.manager_ctx = e.get();
  e->managed.deleter = [](Managed* self) { delete static_cast<Exported<Managed>*>(self->manager_ctx); };
  return e.release();
}

}  // namespace

Array from_dlpack(dlpack::ManagedTensorVersioned* managed) {
  const std::shared_ptr<void> owner = owner_of(managed);
  if (managed->version.major != 1)
    throw UserError(fmt::format("from_dlpack(): the tensor is of DLPack {}.{}, and smelt reads 1.x",
                                managed->version.major, managed->version.minor));
  return detail::array_from(managed->tensor, (managed->flags & dlpack::kReadOnly) != 0, owner);
}

Array from_dlpack(dlpack::ManagedTensor* managed) {
  const std::shared_ptr<void> owner = owner_of(managed);
  return detail::array_from(managed->tensor, false, owner);
}

namespace {

// Its memory may be in use when it is dropped, and nobody knows where.
void escape(const Array& array) {
  if (array.evaluated() && array.device().is_gpu()) note_escape(array.node()->data()->tensor);
}

void hand_over(const Array& array, void* stream) {
  if (!array.evaluated() || !array.device().is_gpu()) return;
  note_use(array.node()->data()->tensor, static_cast<runtime::StreamHandle>(stream));
}

dlpack::ManagedTensorVersioned* versioned(const Array& array) {
  auto* e = exported<dlpack::ManagedTensorVersioned>(array, "to_dlpack()");
  e->managed.version = {1, 1};
  e->managed.flags = array.node()->data()->read_only ? dlpack::kReadOnly : 0;
  return &e->managed;
}

dlpack::ManagedTensor* legacy(const Array& array) {
  if (array.evaluated() && array.node()->data()->read_only)
    throw UserError(
        fmt::format("to_dlpack_legacy(): {} is memory that must not be written, which DLPack before 1.0 cannot say"
                    "\nhelp: x.copy() may be written",
                    array.str()));
  return &exported<dlpack::ManagedTensor>(array, "to_dlpack_legacy()")->managed;
}

}  // namespace

dlpack::ManagedTensorVersioned* to_dlpack(const Array& array) {
  escape(array);
  return versioned(array);
}

dlpack::ManagedTensor* to_dlpack_legacy(const Array& array) {
  escape(array);
  return legacy(array);
}

dlpack::ManagedTensorVersioned* detail::to_dlpack_in(const Array& array, void* stream) {
  hand_over(array, stream);
  return versioned(array);
}

dlpack::ManagedTensor* detail::to_dlpack_legacy_in(const Array& array, void* stream) {
  hand_over(array, stream);
  return legacy(array);
}

}  // namespace smelt
