// The methods of arrays: the functions.
#include "api/methods_math.hpp"
#include "api/methods_movement.hpp"
#include "api/methods_product.hpp"
#include "api/methods_reduce.hpp"

namespace smelt {

template <class Self>
std::vector<Self> Methods<Self>::split(int64_t parts, Axis axis, Where where) const {
  return smelt::split(self(), parts, axis, where);
}
template <class Self>
std::pair<Self, Self> Methods<Self>::max_and_argmax(Axis axis, KeepDims keep, Where where) const {
  return smelt::max_and_argmax(self(), axis, keep, where);
}

template class Methods<Array>;

}  // namespace smelt
