/// \file
/// The functions of arrays, which are those of the expression language: same names, same meanings,
/// one implementation. docs/language.md has their other names. All but those that make arrays are
/// methods too: x.sum(-1) is sum(x, -1).
///
/// All of them
/// - give an unevaluated value: nothing is calculated before eval(), or before a compiled function
///   runs;
/// - take arrays and numbers, which broadcast as in NumPy and promote as the Array API standard
///   says;
/// - compute f16 and bf16 in f32, and round where a value is stored;
/// - throw UserError at once for dtypes, shapes or axes that do not fit, with them, the place of
///   the call and what to do.
#pragma once

#include "smelt/functions_math.hpp"
#include "smelt/functions_movement.hpp"
#include "smelt/functions_product.hpp"
#include "smelt/functions_reduce.hpp"
