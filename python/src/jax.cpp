// Compiled functions as handlers of XLA's foreign function interface, which jax.ffi calls.
#include <mutex>
#include <string_view>

#include "api/dlpack.hpp"
#include "binding.hpp"
#include "function.hpp"
#include "xla_ffi.hpp"

namespace smelt::python {

namespace {

// Functions by their numbers. Programs of XLA that call them may live as long as the process, and
// so do they.
struct Known {
  std::mutex mutex;
  std::vector<std::unique_ptr<FunctionObject>> functions;
};
Known& known() {
  static auto* const found = new Known;
  return *found;
}

const FunctionObject& function_of(const xla::Attributes& attributes) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const std::string_view name(attributes.names[i]->data, attributes.names[i]->size);
    if (name != "function" || attributes.kinds[i] != xla::kScalarAttribute) continue;
    const auto& scalar = *static_cast<const xla::Scalar*>(attributes.values[i]);
    if (scalar.type != xla::Type::S64) break;
    const auto number = static_cast<size_t>(*static_cast<const int64_t*>(scalar.value));
    const std::lock_guard lock(known().mutex);
    if (number < known().functions.size()) return *known().functions[number];
  }
  throw InternalError("a call by jax.ffi that names no function of this process");
}

dlpack::DataType type_of(xla::Type type) {
  using dlpack::Code;
  switch (type) {
    case xla::Type::Pred: return {Code::Bool, 8, 1};
    case xla::Type::S8: return {Code::Int, 8, 1};
    case xla::Type::S16: return {Code::Int, 16, 1};
    case xla::Type::S32: return {Code::Int, 32, 1};
    case xla::Type::S64: return {Code::Int, 64, 1};
    case xla::Type::U8: return {Code::UInt, 8, 1};
    case xla::Type::U16: return {Code::UInt, 16, 1};
    case xla::Type::U32: return {Code::UInt, 32, 1};
    case xla::Type::U64: return {Code::UInt, 64, 1};
    case xla::Type::F16: return {Code::Float, 16, 1};
    case xla::Type::F32: return {Code::Float, 32, 1};
    case xla::Type::F64: return {Code::Float, 64, 1};
    case xla::Type::BF16: return {Code::Bfloat, 16, 1};
    case xla::Type::F8E5M2: return {Code::Float8E5m2, 8, 1};
    case xla::Type::F8E4M3FN: return {Code::Float8E4m3fn, 8, 1};
  }
  throw UserError("smelt has no dtype for XLA's type " + std::to_string(static_cast<int>(type)));
}

// As DLPack describes it, which names the device too.
Array array_of(const xla::Buffer& buffer, const dlpack::Device& device, bool read_only) {
  const auto rank = static_cast<int32_t>(buffer.rank);
  const dlpack::Tensor tensor{buffer.data, device, rank, type_of(buffer.type), buffer.dims, nullptr, 0};
  return detail::array_from(tensor, read_only, nullptr);
}

std::vector<Array> arrays_of(const xla::Buffers& buffers, const dlpack::Device& device, bool read_only) {
  std::vector<Array> arrays;
  for (int64_t i = 0; i < buffers.size; ++i) arrays.push_back(array_of(*buffers.buffers[i], device, read_only));
  return arrays;
}

void execute(const xla::CallFrame& frame, const dlpack::Device& device) {
  const FunctionObject& function = function_of(frame.attributes);
  const std::vector<Array> results = arrays_of(frame.results, device, false);
  function.any.call_into(results, arrays_of(frame.arguments, device, true), {});
}

// The GPU and the stream that XLA runs the call in; the call only queues its kernels there.
void execute_on_gpu(const xla::CallFrame& frame) {
  xla::OrdinalGetArgs ordinal{sizeof(xla::OrdinalGetArgs), nullptr, frame.context, 0};
  if (frame.api->struct_size >= sizeof(xla::Api) && frame.api->get_ordinal(&ordinal))
    throw InternalError("XLA does not say on which GPU it runs");
  xla::StreamGetArgs stream{sizeof(xla::StreamGetArgs), nullptr, frame.context, nullptr};
  if (frame.api->get_stream(&stream)) throw InternalError("XLA does not say in which stream it runs");
  const Device device = Device::cuda(ordinal.ordinal);
  if (!device.usable()) throw UserError(device.missing());
  const StreamScope scope(Stream(device, stream.stream));
  execute(frame, {dlpack::DeviceType::Cuda, ordinal.ordinal});
}

xla::Error* failure(const xla::CallFrame& frame, xla::Code code, const std::string& message) {
  xla::ErrorCreateArgs arguments{sizeof(xla::ErrorCreateArgs), nullptr, message.c_str(), code};
  return frame.api->create_error(&arguments);
}

// When a handler is registered XLA asks it for the version that it is written for.
bool asked_for_version(xla::CallFrame& frame) {
  if (!frame.extension || frame.extension->type != xla::kMetadataExtension) return false;
  xla::Metadata& metadata = *reinterpret_cast<xla::MetadataExtension*>(frame.extension)->metadata;
  metadata.version.major = frame.api->version.major;
  metadata.version.minor = frame.api->version.minor;
  metadata.traits = 0;
  return true;
}

template <bool kGpu>
xla::Error* handle(xla::CallFrame* frame) {
  if (asked_for_version(*frame) || frame->stage != xla::Stage::Execute) return nullptr;
  try {
    if constexpr (kGpu)
      execute_on_gpu(*frame);
    else
      execute(*frame, {dlpack::DeviceType::Cpu, 0});
    return nullptr;
  } catch (nb::python_error& e) {
    const nb::gil_scoped_acquire gil;
    return failure(*frame, xla::Code::InvalidArgument, e.what());
  } catch (const UserError& e) {
    return failure(*frame, xla::Code::InvalidArgument, e.what());
  } catch (const std::exception& e) {
    return failure(*frame, xla::Code::Internal, e.what());
  }
}

}  // namespace

void bind_jax(nb::module_& m) {
  // The number that calls name the function by.
  m.def("ffi_register", [](const FunctionObject& function) {
    const std::lock_guard lock(known().mutex);
    known().functions.push_back(std::make_unique<FunctionObject>(function));
    return known().functions.size() - 1;
  });
  m.def("ffi_handler",
        [](bool gpu) { return nb::capsule(reinterpret_cast<const void*>(gpu ? &handle<true> : &handle<false>)); });
}

}  // namespace smelt::python
