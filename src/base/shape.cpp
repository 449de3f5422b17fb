#include "base/shape.hpp"

namespace smelt {

std::string str(const Shape& shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + shape[d].str();
  return text + "]";
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  IntExpr stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride = stride * shape[d]) strides[d] = stride;
  return strides;
}

IntExpr count(const Shape& shape) {
  IntExpr product = 1;
  for (const IntExpr& size : shape) product = product * size;
  return product;
}

Dims evaluate(const Shape& shape, const SizeBinding& sizes) {
  Dims dims;
  for (const IntExpr& size : shape) dims.push_back(size.evaluate(sizes));
  return dims;
}

}  // namespace smelt
