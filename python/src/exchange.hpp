// How tensors of another library are reached without a capsule each: DLPackExchangeAPI of dlpack.h
// 1.3.
#pragma once

#include <cstdint>

#include "binding.hpp"
#include "smelt/dlpack.hpp"

namespace smelt::python {

struct ExchangeApi {
  dlpack::Version version;
  ExchangeApi* previous;
  void* allocate;
  int (*managed_from_object)(void* object, dlpack::ManagedTensorVersioned** tensor);
  int (*managed_to_object)(dlpack::ManagedTensorVersioned* tensor, void** object);
  int (*tensor_from_object)(void* object, dlpack::Tensor* tensor);
  int (*current_stream)(dlpack::DeviceType type, int32_t id, void** stream);
};

// The exchange API of a type of tensors; null: it has none of version 1.
inline const ExchangeApi* find_exchange(nb::handle type) {
  if (PyObject_HasAttrString(type.ptr(), "__dlpack_c_exchange_api__") != 1) return nullptr;
  const nb::object capsule = type.attr("__dlpack_c_exchange_api__");
  auto* api = static_cast<ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (!api) throw nb::python_error();
  while (api && api->version.major != 1) api = api->previous;
  return api && api->managed_from_object && api->tensor_from_object && api->managed_to_object && api->current_stream
             ? api
             : nullptr;
}

// The same of the type of an argument, found once for each.
const ExchangeApi* exchange_of_object(PyObject* object);

// Whether a tensor requires a gradient: such a one is refused, with a message, where there is time.
bool needs_gradient(PyObject* tensor);

}  // namespace smelt::python
