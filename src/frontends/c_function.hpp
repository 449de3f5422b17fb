// Scalar functions in C's expression subset: locals, arithmetic, comparisons, choices, casts, calls
// of math.h, if and else with returns, loops whose number of turns is known. Such a text becomes
// operations of the graph, and nothing else: no word of it reaches the source of a kernel.
// docs/language.md is the manual.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/c_token.hpp"
#include "frontends/value.hpp"

namespace smelt::lang {

struct CParameter {
  std::string_view name;
  DType dtype;
};

class CFunction {
 public:
  // Reads and checks the function that is this part of the source, which must outlive it. Errors
  // point into it.
  CFunction(const Source& source, Span text);

  std::string_view name() const { return name_.text; }
  Span name_span() const { return name_.span; }
  const std::vector<CParameter>& parameters() const { return parameters_; }
  DType result() const { return result_; }

  // The operations that it becomes on these arguments, which convert as C does where nothing is
  // lost. Throws UserBuildError.
  Value build(GraphBuilder& b, std::span<const Value> arguments) const;

  // "float swish(float x, float beta)"
  std::string signature() const;

 private:
  friend class CRunner;

  const Source& source_;
  std::vector<CToken> tokens_;
  CToken name_{};
  std::vector<CParameter> parameters_;
  DType result_{};
  size_t body_ = 0;  // the token after its '{'
};

// "float", as C calls it.
std::string_view c_name_of(DType dtype);

}  // namespace smelt::lang
