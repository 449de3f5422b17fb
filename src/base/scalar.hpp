// One element of any dtype, held exactly, and conversions between dtypes as smelt defines them.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.hpp"

namespace smelt {

// Floats of every width are held as double (exact); signed integers and bool as int64; unsigned as
// uint64.
struct Scalar {
  DType dtype = DType::F32;
  double f = 0;
  int64_t i = 0;
  uint64_t u = 0;

  static Scalar of_float(DType dtype, double value);  // rounds to dtype
  static Scalar of_int(DType dtype, int64_t value);   // wraps to dtype; any dtype: converts
  static Scalar of_uint(DType dtype, uint64_t value);
  static Scalar of_bool(bool value);

  double as_double() const;
  int64_t as_int() const;   // of an integer or bool; wraps u64
  bool as_bool() const;     // NaN and every number but zero are true
  std::string str() const;  // shortest text that reads back the same: "1.5", "-3", "true", "nan", "-inf"

  friend bool operator==(const Scalar& a,
                         const Scalar& b);  // same dtype and same bits (NaN equals NaN, -0 is not 0)
};

// Rounds a double to the nearest value of a float dtype.
double round_to(DType dtype, double value);

// Float to integer truncates and saturates, NaN becomes 0; integer to integer saturates when `wrap`
// is false, else keeps the low bits; anything to bool is "is not zero".
Scalar convert(const Scalar& value, DType to, bool wrap = false);

// Reads and writes one element in memory (unaligned allowed).
Scalar load_scalar(DType dtype, const void* at);
void store_scalar(const Scalar& value, void* at);

// The smallest and largest finite value of an integer dtype, for u64 its low bits as int64.
int64_t min_int(DType dtype);
uint64_t max_int(DType dtype);

}  // namespace smelt
