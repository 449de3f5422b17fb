// The expression language: text in, Graph out. docs/language.md is its manual.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "smelt/error.hpp"

namespace smelt::lang {

// The type of an input as the caller gives it, for a bare expression that declares none, and to
// check declared ones.
struct InputType {
  std::string name;
  DType dtype;
  Shape shape;
};

// Parses and builds. `text` is a program (statements) or one bare expression, whose free names are
// looked up in `inputs`, in the order given. `file` is for messages only ("<expression>" for a
// quoted one). Throws UserError with the message ready to print:
//
//   norm.smelt:3:18: error: cannot broadcast f32[B, 8] with f32[B, 4]
//     return x + y * 2
//            ^~~~~~~~~
//     help: ...
Graph parse_program(const std::string& text, const std::string& file, const std::vector<InputType>& inputs = {});

// The inputs that a program declares, in order; none in a program that takes those of its caller.
// Throws as above for what is no program.
struct DeclaredInput {
  std::string name;
  bool open = false;   // f32[..., C]: of any rank
  bool list = false;   // list[f32[N], 8]: the inputs "xs[0]" to "xs[7]"
  int64_t count = -1;  // of a list; -1: as many as are given, from "xs[0]" on
};
std::vector<DeclaredInput> declared_inputs(const std::string& text, const std::string& file);

// "f32[B, 1024]" or "f32" (a scalar). Throws UserError as above, with `what` named as the place.
struct ArrayType {
  DType dtype;
  Shape shape;
};
ArrayType parse_type(const std::string& text, const std::string& what);

}  // namespace smelt::lang
