// Functions of NumPy, PyTorch and JAX that smelt does not have: such a name is no typing error, and
// there is another way to write it, or none.
#pragma once

#include <string_view>

namespace smelt::lang {

// What to do instead; empty for other names.
std::string_view instead_of(std::string_view name);

}  // namespace smelt::lang
