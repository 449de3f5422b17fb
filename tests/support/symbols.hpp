// Symbols, written short: "B"_size, "i0"_loop, "parts"_launch.
#pragma once

#include "base/int_expr.hpp"

namespace smelt {

inline Symbol operator""_size(const char* name, size_t length) { return Symbol::size({name, length}); }
inline Symbol operator""_loop(const char* name, size_t length) { return Symbol::loop({name, length}); }
inline Symbol operator""_launch(const char* name, size_t length) { return Symbol::launch({name, length}); }
inline IntExpr sym(Symbol symbol) { return IntExpr::symbol(symbol); }

}  // namespace smelt
