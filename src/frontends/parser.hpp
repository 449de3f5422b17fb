// Tokens into a program. The grammar is in docs/language.md.
#pragma once

#include "frontends/ast.hpp"

namespace smelt::lang {

// How deep parentheses, signs, powers and conditionals may nest.
inline constexpr int kMaxDepth = 200;
inline constexpr size_t kMaxExpressions = 500'000;
// The most items of a list.
inline constexpr int64_t kMostItems = 65'536;

Program parse(const Source& source);
// The whole text is one type: "f32[B, 1024]".
ArrayType parse_whole_type(const Source& source);

// "f32", or a longer name: "float32".
std::optional<DType> dtype_named(std::string_view name);

}  // namespace smelt::lang
