// NumPy's .npy files, versions 1 to 3: https://numpy.org/neps/nep-0001-npy-format.html
//
// A file is untrusted text: nothing in the header is believed before it agrees with the size of the
// file, so memory stays bounded by what is really there. NumPy has no bf16 and no float of 8 bits:
// such arrays are cast to f32 by the program before they are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.hpp"

namespace smelt::report {

struct NpyHeader {
  DType dtype = DType::F32;
  bool swapped = false;        // the bytes of an element are in the other order than this machine's
  bool fortran_order = false;  // the first index runs fastest
  Dims dims;
  int64_t data_offset = 0;  // bytes from the start of the file
};

// Reads and checks the header alone (for programs that need only types).
NpyHeader read_npy_header(const std::string& path);

// Reads the array. Fortran order gives a strided view of the bytes as they are; other byte orders
// are swapped; bools become 0 or 1. Throws UserError that names the path and what is wrong.
Tensor read_npy(const std::string& path);

// Whether NumPy has this dtype. Throws UserError that names the cast to write when it has not.
void check_npy_dtype(DType dtype, const std::string& what);

// Writes version 1.0, row-major; all of the files or, when any fails before its last step, none.
struct NpyOutput {
  std::string path;
  TensorView array;
};
void write_npy(const std::vector<NpyOutput>& outputs);
void write_npy(const std::string& path, const TensorView& array);

// The text of the header's dictionary, parsed; `where` names the file in messages. (For tests;
// read_npy_header calls it.)
NpyHeader parse_npy_dictionary(std::string_view text, const std::string& where);

}  // namespace smelt::report
