// Arrays, graphs and their values, for tests.
#pragma once

#include <cmath>
#include <vector>

#include "graph/build.hpp"
#include "graph/graph.hpp"
#include "support/arrays.hpp"

namespace smelt::testing {

// Integers beyond 2^53.
inline Tensor int_array(DType dtype, const std::vector<int64_t>& values) {
  Tensor t = Tensor::empty(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i)
    store_scalar(Scalar::of_int(dtype, values[i]),
                 static_cast<char*>(t.data) + static_cast<int64_t>(i) * size_of(dtype));
  return t;
}

inline std::vector<Scalar> scalars(const Tensor& t) {
  EXPECT_TRUE(t.contiguous());
  std::vector<Scalar> values;
  for (int64_t i = 0; i < t.count(); ++i)
    values.push_back(load_scalar(t.dtype, static_cast<const char*>(t.data) + i * size_of(t.dtype)));
  return values;
}

inline std::vector<double> values(const Tensor& t) {
  std::vector<double> all;
  for (const Scalar& s : scalars(t)) all.push_back(s.as_double());
  return all;
}

// Equal to the bit, but all nans are one.
inline ::testing::AssertionResult same(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims)
    return ::testing::AssertionFailure() << name_of(a.dtype) << str(a.dims) << " and " << name_of(b.dtype)
                                         << str(b.dims);
  const auto p = scalars(a), q = scalars(b);
  for (size_t i = 0; i < p.size(); ++i)
    if (!(p[i] == q[i]))
      return ::testing::AssertionFailure() << "element " << i << ": " << p[i].str() << " and " << q[i].str();
  return ::testing::AssertionSuccess();
}

// The only output of a graph.
inline Tensor run(const Graph& graph, const std::vector<TensorView>& inputs) {
  verify(graph);
  auto outputs = interpret(graph, inputs);
  EXPECT_EQ(outputs.size(), 1u);
  return outputs.at(0);
}

inline Literal lit(int64_t value) { return value; }

}  // namespace smelt::testing
