/// \file
/// Programs in the text of the expression language (docs/language.md), compiled from C++.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "smelt/compile.hpp"

namespace smelt {

namespace detail {
// What a program takes, and its arguments in that order. Throws UserError when an array is missing,
// unknown, or no list.
struct SMELT_API ProgramInputs {
  std::vector<std::string> names;
  std::string kinds;  // a letter for each: 'a' for an array, 'l' for a list
  Flat in_order(std::initializer_list<std::pair<std::string, Array>> arguments) const;
  Flat checked(Flat flat, const std::string& given) const;
  template <class... Arguments>
  Flat of(const Arguments&... arguments) const {
    return checked(detail::flatten(arguments...), kinds_of<Arguments...>());
  }
};
}  // namespace detail

/// The result of compile_text(): a function of named arrays. A cheap handle; safe to call from many
/// threads.
class SMELT_API Program {
 public:
  /// An argument by its name.
  using Named = std::pair<std::string, Array>;

  /// The names of the arrays and lists that it takes, in their order.
  const std::vector<std::string>& parameters() const { return inputs_->names; }

  /// Runs it on data and gives its outputs in their order. Throws UserError when an array is
  /// missing, unknown, or does not fit.
  std::vector<Array> operator()(std::initializer_list<Named> arguments) const {
    const detail::Flat flat = inputs_->in_order(arguments);
    return any_.call(flat.arrays, flat.lists);
  }
  /// The same with the arrays in the order of parameters(); an input that is a list takes a
  /// std::vector<Array>, or its items are named "xs[0]", "xs[1]" in the form above.
  template <class... Arguments>
  requires(detail::Parameter<Arguments>&&...) std::vector<Array>
  operator()(const Arguments&... arguments) const {
    const detail::Flat flat = inputs_->of(arguments...);
    return any_.call(flat.arrays, flat.lists);
  }

  /// Outputs into the caller's memory, as Function::into: program.into(y)({{"x", x}}).
  class Into {
   public:
    /// Runs.
    void operator()(std::initializer_list<Named> arguments) const { run(inputs_->in_order(arguments)); }
    /// The same with the arrays in the order of parameters().
    template <class... Arguments>
    requires(detail::Parameter<Arguments>&&...) void operator()(const Arguments&... arguments) const {
      run(inputs_->of(arguments...));
    }
    /// Fixes the arrays for many runs.
    Bound bind(std::initializer_list<Named> arguments) const { return bound(inputs_->in_order(arguments)); }
    /// \overload
    template <class... Arguments>
    requires(detail::Parameter<Arguments>&&...) Bound bind(const Arguments&... arguments)
    const { return bound(inputs_->of(arguments...)); }

   private:
    friend class Program;
    Into(const Program& program, std::vector<Array> outputs)
        : any_(program.any_), inputs_(program.inputs_), outputs_(std::move(outputs)) {}
    void run(const detail::Flat& flat) const { any_.call_into(outputs_, flat.arrays, flat.lists); }
    Bound bound(const detail::Flat& flat) const { return Bound(any_.bind(&outputs_, flat.arrays, flat.lists)); }
    detail::AnyFunction any_;
    detail::Handle<const detail::ProgramInputs> inputs_;
    std::vector<Array> outputs_;
  };
  /// \copydoc Into
  template <class... Outputs>
  requires(std::is_same_v<Outputs, Array>&&...) Into into(const Outputs&... outputs)
  const { return Into(*this, {outputs...}); }
  /// \copydoc Into
  Into into(std::vector<Array> outputs) const { return Into(*this, std::move(outputs)); }

  /// Fixes the arrays for many runs, as Function::bind.
  Bound bind(std::initializer_list<Named> arguments) const {
    const detail::Flat flat = inputs_->in_order(arguments);
    return Bound(any_.bind(nullptr, flat.arrays, flat.lists));
  }
  /// \overload
  template <class... Arguments>
  requires(detail::Parameter<Arguments>&&...) Bound bind(const Arguments&... arguments)
  const {
    const detail::Flat flat = inputs_->of(arguments...);
    return Bound(any_.bind(nullptr, flat.arrays, flat.lists));
  }
  /// into(outputs)(arguments)
  [[deprecated("use into(outputs)(arguments)")]] void run_into(std::vector<Array> outputs,
                                                               std::initializer_list<Named> arguments) const {
    into(std::move(outputs))(arguments);
  }
  /// into(outputs).bind(arguments)
  [[deprecated("use into(outputs).bind(arguments)")]] Bound bind_into(std::vector<Array> outputs,
                                                                      std::initializer_list<Named> arguments) const {
    return into(std::move(outputs)).bind(arguments);
  }

  /// What a call with these arguments does, and why; compiles when that call would.
  Explanation explain(std::initializer_list<Named> arguments) const {
    const detail::Flat flat = inputs_->in_order(arguments);
    return any_.explain(flat.arrays, flat.lists);
  }
  /// Throws UserError unless each executable has exactly `count` kernels, as
  /// Function::expect_kernels.
  void expect_kernels(int count) const { any_.expect_kernels(count); }
  /// The executables it has.
  std::vector<Specialization> specializations() const { return any_.specializations(); }
  /// How many were compiled.
  int compile_count() const { return any_.compile_count(); }
  /// A source file with this call's program as a function of its own, as Function::source.
  std::string source(const std::string& target, std::initializer_list<Named> arguments,
                     const SourceOptions& options = {}) const {
    const detail::Flat flat = inputs_->in_order(arguments);
    return any_.source(target, flat.arrays, flat.lists, options);
  }
  /// Writes its executables to a file that load_program() reads, as Function::save.
  void save(const std::string& path, const std::vector<std::string>& targets = {}) const;

  /// \cond internal
  Program(detail::AnyFunction any, detail::Handle<const detail::ProgramInputs> inputs)
      : any_(std::move(any)), inputs_(std::move(inputs)) {}
  /// \endcond

 private:
  detail::AnyFunction any_;
  detail::Handle<const detail::ProgramInputs> inputs_;
};

/// A program with `input` statements, or an expression whose arrays are `parameters`:
/// compile_text("exp((x + y) * 2)", {"x", "y"}). Sizes that the program names stay open; of an
/// expression the policy of compile() decides. Throws UserError for an invalid program, with line
/// and caret as on the command line, where `options.name` is the name of the file.
SMELT_API Program compile_text(const std::string& source, Options options = {});
/// \overload
SMELT_API Program compile_text(const std::string& expression, std::vector<std::string> parameters,
                               Options options = {});

}  // namespace smelt
