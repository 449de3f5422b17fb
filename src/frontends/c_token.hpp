// The words of C, for scalar functions that are written in it.
#pragma once

#include <string_view>
#include <vector>

#include "base/scalar.hpp"
#include "frontends/diagnostics.hpp"

namespace smelt::lang {

enum class CTokenKind : uint8_t { Name, Number, Operator, EndOfText };

struct CToken {
  CTokenKind kind;
  Span span;  // in the source that the function is in
  std::string_view text;
  Scalar number;  // of a Number, in the type that C gives it

  bool is(std::string_view word) const { return kind != CTokenKind::EndOfText && text == word; }
};

// Never empty: the last one is EndOfText. Throws at the place of what is no C, or none that a
// scalar function needs.
std::vector<CToken> tokenize_c(const Source& source, Span text);

}  // namespace smelt::lang
