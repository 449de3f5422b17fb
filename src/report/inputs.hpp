// What the user gives for an input on the command line, and the arrays made from it.
//
//   SPEC   := '@' PATH                  a .npy file
//           | [FILLER ':'] TYPE         f32[4096, B]; without a filler: normal
//           | NUMBER | TYPE '(' NUMBER ')'   a scalar: 4.2, -1, true, inf, i32(7)
//           | COUNT '*' SPEC {'+' COUNT '*' SPEC}   the items of a list, x[0], x[1], ...: 64*f32[65536]
//   FILLER := 'normal' | 'uniform' | 'zeros' | 'ones' | 'iota'
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "base/shape.hpp"

namespace smelt::report {

enum class Filler : uint8_t { Normal, Uniform, Zeros, Ones, Iota };
std::string_view name_of(Filler filler);

struct InputSpec {
  enum Kind : uint8_t { File, Array, Number } kind = Array;
  std::string name;                // of the input
  std::string text;                // the SPEC as written, for messages
  std::string path;                // File
  Filler filler = Filler::Normal;  // Array
  std::string type;                // Array: the TYPE as written, for the language to parse
  Scalar number;                   // Number: F64, I64, U64 or Bool as written; of `dtype` when that is given
  std::optional<DType> dtype;      // Number: written out, as in i32(7)
};

// "x=f32[4096,1024]". Throws UserError.
InputSpec parse_input(const std::string& text);
// "xs=64*f32[65536]+8*zeros:f32[100]" is an input for each item, "xs[0]" and so on; else the one
// that parse_input makes.
std::vector<InputSpec> parse_input_list(const std::string& text);
// A number as the command line takes it; nothing when it is none.
std::optional<Scalar> parse_number(std::string_view text);
// The number as an element of dtype. Throws UserError when an integer dtype cannot hold it.
Scalar number_as(const InputSpec& spec, DType dtype);

// "B=4096". Throws UserError.
struct NamedSize {
  std::string name;
  int64_t size = 0;
};
NamedSize parse_size(const std::string& text);
// "B=1024,4096,16384". Throws UserError.
struct SizeSweep {
  std::string name;
  std::vector<int64_t> sizes;
};
SizeSweep parse_sweep(const std::string& text);

// A row-major array of the filler's values, the same for the same seed whatever the number of
// threads.
//   normal   floats: mean 0, deviation 1; integers: deviation 10, rounded, unsigned ones without their sign; bool: a coin
//   uniform  floats: [0, 1); integers: 0 to 99; bool: a coin
//   iota     0, 1, 2, ... in row-major order; integers wrap, floats round; bool: 0, 1, 1, 1, ...
Tensor fill(Filler filler, DType dtype, const Dims& dims, uint64_t seed);

}  // namespace smelt::report
