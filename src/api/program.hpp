// From values to a graph: all that some arrays need, in one program.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "api/node.hpp"
#include "graph/input_layouts.hpp"

namespace smelt::detail {

// What some values need, arguments before their users, and the data among it in the order in which
// it is met.
struct Needed {
  std::vector<NodePtr> steps;                                  // with an expression, and literals and sizes
  std::vector<std::shared_ptr<const Expression>> expressions;  // of the steps, taken once; empty for literals
  std::vector<NodePtr> data;
};
Needed needed_by(const std::vector<Array>& outputs);

// The type of an input: sizes are numbers or symbols.
struct InputType {
  std::string name;
  DType dtype{};
  Shape shape;
  bool weak = false;         // a number: an f64 or i64 of rank 0 that takes the dtype of what it meets
  bool named = false;        // by the user
  MemoryLayout layout = {};  // the program has an input that lies so
  std::string str() const;   // "f32[B, 1024]", "f32[B, 1024] that lies as [1024, B]", "... with strides [2048, 1]"
};

// The arrays that stand for the parameters of a function while it is traced.
std::vector<Array> placeholders_for(const std::vector<InputType>& types);

// Parameters come first among the inputs, then the data. `data` has a type for every array of
// `needed.data`.
Graph build_graph(const Needed& needed, const std::vector<Array>& outputs, const std::vector<Array>& placeholders,
                  const std::vector<InputType>& parameters, const std::vector<InputType>& data);

// Builds the steps; `values` has those of data and placeholders, and gets those of all.
void replay(GraphBuilder& builder, const Needed& needed, std::unordered_map<const ArrayNode*, lang::Value>& values);

struct NamedBody {
  std::string name;
  Needed needed;
  Array result;
  std::vector<NodePtr> placeholders;  // per argument; of numbers empty
};

// Where the steps are written, those of named bodies among them: as many for equal structures.
std::vector<Origin> places_of(const Needed& needed);

// Equal texts: the same steps on the same arrangement of data, whatever its dtypes, ranks and
// sizes.
std::string structure_of(const Needed& needed, const std::vector<Array>& outputs);

}  // namespace smelt::detail
