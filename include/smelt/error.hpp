/// \file
/// The errors that smelt throws. Nothing in the library prints or aborts.
#pragma once

#include <stdexcept>
#include <string>

#include "smelt/export.hpp"

namespace smelt {

/// Base of everything that smelt throws.
class SMELT_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An error of the program, the shapes, the data or the machine. The message says what is wrong,
/// where, with the values, and what to do.
class SMELT_API UserError : public Error {
 public:
  using Error::Error;
};

/// A bug in smelt. The message ends with how to report it.
class SMELT_API InternalError : public Error {
 public:
  /// `what` went wrong; how to report it is added.
  explicit InternalError(const std::string& what);
};

}  // namespace smelt
