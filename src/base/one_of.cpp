#include "base/one_of.hpp"

#include <fmt/format.h>

#include "smelt/error.hpp"

namespace smelt {

void throw_other_kind(size_t index) {
  throw InternalError(fmt::format("a value is of kind {} of its type, not of the one that is asked for", index));
}

}  // namespace smelt
