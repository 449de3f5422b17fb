#include "kernel/offset.hpp"

#include "base/check.hpp"
#include "kernel/text.hpp"

namespace smelt::kernel {

IntExpr flat_offset(const Kernel& kernel, const Access& access) {
  const auto array = static_cast<size_t>(access.array);
  const std::vector<IntExpr> strides =
      access.scratch ? row_major_strides(kernel.buffers[array].dims) : kernel.params[array].strides;
  SMELT_CHECK(strides.size() == access.index.size(), "{} is indexed by {} indices, but has {} strides",
              access_text(kernel, access), access.index.size(), strides.size());
  IntExpr offset;
  for (size_t d = 0; d < strides.size(); ++d) offset = offset + access.index[d] * strides[d];
  // A flat loop over several dimensions splits its variable into indices; their sum is the variable
  // again.
  return recombine(offset);
}

int64_t constant_term(const IntExpr& e) {
  for (const IntExpr::Term& t : e.terms())
    if (t.atoms.empty()) return t.coefficient;
  return 0;
}

}  // namespace smelt::kernel
