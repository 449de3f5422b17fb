/// \file
/// Functions from files that Function::save and Program::save wrote.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "smelt/compile.hpp"
#include "smelt/program.hpp"

namespace smelt {

/// \cond internal
namespace detail {
// Throws UserError when the file's function takes or returns something else.
SMELT_API AnyFunction load_checked(const std::string& path, const Options& options,
                                   const std::vector<SavedParameter>& parameters, int results);
}  // namespace detail
/// \endcond

/// A function that was saved, load_function<Array(Array, Array)>(path): it runs without libLLVM and
/// NVRTC, for the dtypes, ranks and open sizes that it had executables for when it was saved; other
/// calls throw UserError. It cannot be called on unevaluated arrays. Of `options`, only device,
/// threads and name are used.
///
/// The file contains machine code: load only files that you trust. Throws UserError when it cannot
/// be read, is damaged or truncated, was saved by another version of smelt, does not match
/// `Signature`, or has no code that this machine runs, with the reason.
template <class Signature>
Function<Signature> load_function(const std::string& path, const Options& options = {}) {
  using Loaded = Function<Signature>;
  return Loaded(detail::load_checked(path, options, Loaded::saved_parameters(), Loaded::saved_results()));
}

/// The same for a Program, and for any function, whose parameters then are named x, y, z or x0, x1,
/// ...
SMELT_API Program load_program(const std::string& path, const Options& options = {});

}  // namespace smelt
