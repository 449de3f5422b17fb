/// \file
/// Programs in the text of the expression language (docs/language.md), compiled from C++.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "smelt/compile.hpp"

namespace smelt {

/// What compile_text() makes: a function of named arrays. A cheap handle; safe to call from many threads.
class SMELT_API Program {
 public:
  /// An argument by its name.
  using Named = std::pair<std::string, Array>;

  /// The names of the arrays and lists that it takes, in their order.
  const std::vector<std::string>& parameters() const;

  /// Runs it on data and gives its outputs in their order. Throws UserError when an array is missing, unknown, or does not fit.
  std::vector<Array> operator()(std::initializer_list<Named> arguments) const {
    const detail::Flat flat = in_order(arguments);
    return any_.call(flat.arrays, flat.lists);
  }
  /// The same with the arrays in the order of parameters(); an input that is a list takes a std::vector<Array>, or its items are named
  /// "xs[0]", "xs[1]" in the form above.
  template <class... Arguments>
  requires(detail::Parameter<Arguments>&&...) std::vector<Array>
  operator()(const Arguments&... arguments) const {
    const detail::Flat flat =
        checked(detail::flatten(arguments...), {std::is_same_v<Arguments, std::vector<Array>>...});
    return any_.call(flat.arrays, flat.lists);
  }

  /// Outputs into the caller's memory, as Function::into.
  void run_into(std::vector<Array> outputs, std::initializer_list<Named> arguments) const {
    const detail::Flat flat = in_order(arguments);
    any_.call_into(outputs, flat.arrays, flat.lists);
  }
  /// Fixes the arrays for many runs, as Function::bind.
  Bound bind(std::initializer_list<Named> arguments) const {
    const detail::Flat flat = in_order(arguments);
    return Bound(any_.bind(nullptr, flat.arrays, flat.lists));
  }
  /// The same with outputs in the caller's memory.
  Bound bind_into(std::vector<Array> outputs, std::initializer_list<Named> arguments) const {
    const detail::Flat flat = in_order(arguments);
    return Bound(any_.bind(&outputs, flat.arrays, flat.lists));
  }

  /// What a call with these arguments does, and why; compiles when that call would.
  Explanation explain(std::initializer_list<Named> arguments) const {
    const detail::Flat flat = in_order(arguments);
    return any_.explain(flat.arrays, flat.lists);
  }
  /// Throws UserError unless each executable has exactly `count` kernels, as Function::expect_kernels.
  void expect_kernels(int count) const { any_.expect_kernels(count); }
  /// The executables it has.
  std::vector<Specialization> specializations() const { return any_.specializations(); }
  /// How many were compiled.
  int compile_count() const { return any_.compile_count(); }
  /// A source file with this call's program as a function of its own, as Function::source.
  std::string source(const std::string& target, std::initializer_list<Named> arguments,
                     const SourceOptions& options = {}) const {
    const detail::Flat flat = in_order(arguments);
    return any_.source(target, flat.arrays, flat.lists, options);
  }
  /// Writes its executables to a file that load_program() reads, as Function::save.
  void save(const std::string& path, const std::vector<std::string>& targets = {}) const;

  /// \cond internal
  Program(detail::AnyFunction any, std::vector<std::string> parameters, std::vector<bool> lists);
  /// \endcond

 private:
  detail::Flat in_order(std::initializer_list<Named> arguments) const;
  detail::Flat checked(detail::Flat flat, const std::vector<bool>& lists) const;
  detail::AnyFunction any_;
  std::vector<std::string> parameters_;
  std::vector<bool> lists_;  // which of them are
};

/// A program with `input` statements, or an expression whose arrays are `parameters`: compile_text("exp((x + y) * 2)", {"x", "y"}). Sizes
/// that the program names stay open; of an expression the policy of compile() decides. Throws UserError for what is no program, with
/// line and caret as the command line shows it; `options.name` stands for the file.
SMELT_API Program compile_text(const std::string& source, Options options = {});
/// \overload
SMELT_API Program compile_text(const std::string& expression, std::vector<std::string> parameters,
                               Options options = {});

}  // namespace smelt
