// Random programs of the expression language, with inputs for them. The same seed gives the same
// program and the same data.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace smelt::testing {

struct Statement {
  std::string name, expression;
  // What defines a function is as it is.
  bool defines() const { return expression.starts_with("def ") || expression.starts_with("cfunction "); }
  std::string text() const { return defines() ? expression : name + " = " + expression; }
};

// What an input holds, beyond its type.
struct InputSpec {
  std::string name;
  DType dtype;
  Shape shape;
  int64_t index_below = 0;  // not 0: valid indices into an axis of this size
};

// What inputs hold: small numbers; whole ones; now and then a special value (nan, infinities, -0,
// subnormal, huge); every other one special.
enum Data { kNormal, kWhole, kSpecial, kExtreme };

struct Program {
  uint64_t seed = 0;
  std::vector<InputSpec> inputs;
  std::vector<Statement> statements;
  std::vector<std::string> outputs;
  std::vector<SizeBinding> sizes;  // the same executable runs at each of them
  Data data = kNormal;

  std::string text() const;  // only the statements that the outputs need
};

Program random_program(uint64_t seed);
Program random_stencil_program(uint64_t seed);   // generator_stencil.cpp: chains of shifted reads
Program random_window_program(uint64_t seed);    // windows and what is built on them
Program random_function_program(uint64_t seed);  // def and cfunction
Program random_product_program(uint64_t seed);   // matmul, einsum, attention and what surrounds them
// One tensor per input that the text declares, in that order.
std::vector<Tensor> random_inputs(const Program& program, const Graph& graph, const SizeBinding& sizes);

}  // namespace smelt::testing
