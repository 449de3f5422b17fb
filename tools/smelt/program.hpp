// A PROGRAM and its -i and --size options, made into a graph and the arrays to run it on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "graph/graph.hpp"
#include "report/inputs.hpp"

namespace smelt::tool {

struct ProgramOptions {
  std::string program;
  std::vector<std::string> inputs, sizes;
  uint64_t seed = 0;
};

// Where the array of one input of the graph comes from.
struct InputSource {
  report::InputSpec spec;
  DType dtype = DType::F32;
  Shape shape;  // constants for a file; may have symbols for a type
};

class Program {
 public:
  // With `fill_missing`, a declared input without -i is filled with normal random numbers of its
  // declared type; else it is an error. Throws UserError.
  Program(const ProgramOptions& options, bool fill_missing);

  const std::string& title() const { return title_; }
  const std::string& text() const { return text_; }
  const Graph& graph() const { return graph_; }
  // As it is compiled for calls of these sizes: on a CPU short ones are constants, but for one that
  // is to vary.
  Graph graph_for(const Machine& device, SizeBinding sizes, std::optional<Symbol> varying = {}) const;

  // The dims of every input, in the graph's order; `more` adds to --size. Throws UserError that
  // names a size without a value.
  std::vector<Dims> dims(const SizeBinding& more = {}) const;
  // The sizes of the program's symbols, checked against the program's constraints.
  SizeBinding sizes(const SizeBinding& more = {}) const;
  std::vector<Tensor> arrays(const SizeBinding& more = {}) const;
  // "x: f32[B,1024]": numbers for all sizes but this one.
  std::vector<std::string> describe_inputs(std::optional<Symbol> varying, const SizeBinding& sizes) const;
  // Whether dims() depends on this size.
  bool has_size(Symbol symbol) const;
  // The message for an option that names a size which no input has.
  std::string no_such_size(const std::string& option, Symbol symbol) const;

 private:
  void read_text(const std::string& program);
  void parse_bare(const std::vector<report::InputSpec>& specs);
  std::vector<std::string> size_names() const;
  void match_declared(const std::vector<report::InputSpec>& specs, bool fill_missing);

  std::string title_, text_, file_;
  uint64_t seed_ = 0;
  Graph graph_;
  SizeBinding given_sizes_;
  std::vector<InputSource> sources_;  // in the order of graph_.inputs
};

// Throws UserError when the arrays cannot fit this machine's memory, before any is allocated.
void check_memory(const Program& program, const std::vector<Dims>& dims, int64_t memory_bytes);
// The same for the values of the reference interpreter, roughly.
void check_reference_memory(const Program& program, const std::vector<Dims>& dims, int64_t memory_bytes);

}  // namespace smelt::tool
