// Stencil on a GPU.
#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

void Lowering::stencil_gpu() { throw InternalError("not yet"); }

}  // namespace smelt::kernel
