// Element types as DLPack has them. Internal to the library and its bindings.
#pragma once

#include <optional>

#include "smelt/dlpack.hpp"

namespace smelt::detail {

// Nothing where smelt has no such type.
std::optional<DType> dtype_from(const dlpack::DataType& type);

}  // namespace smelt::detail
