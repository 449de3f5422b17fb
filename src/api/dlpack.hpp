// Element types and streams as DLPack has them. Internal to the library and its bindings.
#pragma once

#include <memory>
#include <optional>

#include "smelt/dlpack.hpp"

namespace smelt::detail {

// Nothing where smelt has no such type.
std::optional<DType> dtype_from(const dlpack::DataType& type);

// The array that a tensor shows; its memory lives as long as `owner`. Throws UserError as
// from_dlpack() does.
Array array_from(const dlpack::Tensor& from, bool read_only, std::shared_ptr<void> owner);

// The same as to_dlpack() for a consumer in a stream of the array's GPU: that waits for the array,
// and its memory for what is queued there when it is dropped. Of an array in host memory there is
// nothing to wait for.
dlpack::ManagedTensorVersioned* to_dlpack_in(const Array& array, void* stream);
dlpack::ManagedTensor* to_dlpack_legacy_in(const Array& array, void* stream);

}  // namespace smelt::detail
