/// \file
/// Functions of arrays, compiled once per dtypes, ranks and class of sizes; and programs in text.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/callable.hpp"
#include "smelt/events.hpp"
#include "smelt/explain.hpp"

namespace smelt {

/// Options of compile().
struct SMELT_API Options {
  Device device;             ///< where calls run whose arrays are in host memory; arrays on a GPU run there
  bool fuse = true;          ///< false: one kernel per operation, to compare with
  int threads = 0;           ///< threads of the CPU that a call may use; 0: all of the process
  bool tune = false;         ///< the first call times other schedules, and the fastest is kept on disk
  int max_executables = 64;  ///< that a function keeps; the least recently used one is dropped first
  /// The name of max_executables until the next version.
  struct Most {
    Most() = default;
    /// max_executables
    [[deprecated("use max_executables")]] Most(int count) : count(count) {}  // NOLINT: meant to convert
    int count = 0;                                                           ///< 0: max_executables holds
  };
  Most most;                      ///< \copydoc Most
  std::string name = "function";  ///< how explain() calls it
  std::vector<std::string>
      parameters;  ///< what messages and explain() call the parameters; compile({"x", "gain"}, f) writes it

  /// The size of this axis of this argument, counted from 0, axes below 0 from the end, is built in
  /// (fixed) or open (dynamic), regardless of the policy of compile().
  Options& fixed(int argument, int axis) { return pin(argument, axis, true); }
  Options& dynamic(int argument, int axis) { return pin(argument, axis, false); }  ///< \copydoc fixed

  /// A pinned axis.
  struct Pin {
    int argument;  ///< from 0
    int axis;      ///< from 0; negative ones count from the end
    bool fixed;    ///< built in, else open
  };
  std::vector<Pin> pins;  ///< what fixed() and dynamic() wrote

  std::optional<Fallback> fallback = {};  ///< what happens without a compiler; else what set_fallback() says
  bool captures = true;  ///< false: UserError for a function that uses arrays which are not among its arguments

 private:
  Options& pin(int argument, int axis, bool fixed);
};

/// How Function::source writes.
struct SourceOptions {
  std::string name = "smelt_program";  ///< of the function in the file
};

namespace detail {

// A saved function's file.
struct SavedParameter {
  std::string name;
  bool list = false;
  bool operator==(const SavedParameter&) const = default;
};

struct FunctionState;
struct BoundState;  // a prepared call
struct InputType;
struct Traced;

// What all functions have in common: arrays in one list, in the order of the parameters. `lists`
// has the number of arrays of every parameter that is a vector.
class SMELT_API AnyFunction {
 public:
  using Trace = Callable<std::vector<Array>(std::span<const Array> arguments, std::span<const int> lists)>;
  // `kinds` has a letter for every parameter: 'a' for an array, 'l' for a list.
  AnyFunction(Trace trace, Options options, std::string kinds);
  // From something else than C++; `declared`: the program says itself which of its sizes are open.
  using Build = Callable<Traced(const std::vector<InputType>& types, const std::vector<int>& lists)>;
  AnyFunction(Build build, bool declared, Options options, std::string kinds);

  std::vector<Array> call(const std::vector<Array>& arguments, const std::vector<int>& lists) const;
  // On evaluated arguments, with the memory of each result from `allocate`. It is host memory,
  // unless an argument is on a GPU.
  using Allocate = Callable<Array(DType dtype, const Dims& dims)>;
  std::vector<Array> call(const std::vector<Array>& arguments, const std::vector<int>& lists,
                          const Allocate& allocate) const;
  void call_into(const std::vector<Array>& outputs, const std::vector<Array>& arguments,
                 const std::vector<int>& lists) const;
  detail::Handle<BoundState> bind(const std::vector<Array>* outputs, const std::vector<Array>& arguments,
                                  const std::vector<int>& lists) const;
  Explanation explain(const std::vector<Array>& arguments, const std::vector<int>& lists) const;
  Explanation explain_last() const;
  void expect_kernels(int count) const;
  std::vector<Specialization> specializations() const;
  int compile_count() const;
  std::string source(const std::string& target, const std::vector<Array>& arguments, const std::vector<int>& lists,
                     const SourceOptions& options) const;
  void save(const std::string& path, const std::vector<std::string>& targets,
            const std::vector<SavedParameter>& parameters, int results) const;
  // From what save() wrote; throws UserError when it takes or gives something else.
  static AnyFunction load(const std::string& path, const Options& options, std::vector<SavedParameter>* parameters,
                          int* results);

 private:
  AnyFunction() = default;
  detail::Handle<FunctionState> state_;
};

// The arguments of a call in one list.
struct SMELT_API Flat {
  std::vector<Array> arrays;
  std::vector<int> lists;
  void add(const Array& array);
  void add(const std::vector<Array>& list);
};
template <class... Arguments>
Flat flatten(const Arguments&... arguments) {
  Flat flat;
  (flat.add(arguments), ...);
  return flat;
}

// The way back: a parameter from the front of the list.
struct SMELT_API Unflatten {
  std::span<const Array> arrays;
  std::span<const int> lists;
  Array array();
  std::vector<Array> list();
  template <class Parameter>
  Parameter take() {
    if constexpr (std::is_same_v<Parameter, Array>)
      return array();
    else
      return list();
  }
};

// What a function may return, as a list and back.
// Array, std::vector<Array>, std::pair, std::tuple and std::array of Array, a pair of Array and
// list.
template <class Result>
struct Results;
template <>
struct SMELT_API Results<Array> {
  static std::vector<Array> list(const Array& a);
  static Array of(const std::vector<Array>& list);
};
template <>
struct Results<std::vector<Array>> {
  static std::vector<Array> list(std::vector<Array> a) { return a; }
  static std::vector<Array> of(std::vector<Array> list) { return list; }
};
template <size_t N>
struct Results<std::array<Array, N>> {
  static std::vector<Array> list(const std::array<Array, N>& a) { return {a.begin(), a.end()}; }
  static std::array<Array, N> of(const std::vector<Array>& list) {
    std::array<Array, N> result;
    for (size_t i = 0; i < N; ++i) result[i] = list.at(i);
    return result;
  }
};
template <class... Parts>
requires(std::is_same_v<Parts, Array>&&...) struct Results<std::tuple<Parts...>> {
  static std::vector<Array> list(const std::tuple<Parts...>& a) {
    return std::apply([](const auto&... parts) { return std::vector<Array>{parts...}; }, a);
  }
  static std::tuple<Parts...> of(const std::vector<Array>& list) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return std::tuple<Parts...>{list.at(I)...}; }
    (std::index_sequence_for<Parts...>());
  }
};
template <>
struct SMELT_API Results<std::pair<Array, Array>> {
  static std::vector<Array> list(const std::pair<Array, Array>& a);
  static std::pair<Array, Array> of(const std::vector<Array>& list);
};
template <>
struct SMELT_API Results<std::pair<Array, std::vector<Array>>> {
  static std::vector<Array> list(const std::pair<Array, std::vector<Array>>& a);
  static std::pair<Array, std::vector<Array>> of(const std::vector<Array>& list);
};

// The number of arrays of a result type; -1: any number.
template <class Result>
constexpr int count_of_results() {
  if constexpr (std::is_same_v<Result, Array>)
    return 1;
  else if constexpr (std::is_same_v<Result, std::vector<Array>>)
    return -1;
  else
    return static_cast<int>(std::tuple_size_v<Result>);
}

// Array(Array x, const Array& y) as Array(Array, Array), from what can be called in one way alone.
template <class T>
struct SignatureOf;
template <class Result, class List, size_t... I>
std::type_identity<Result(std::tuple_element_t<I, List>...)> first_of(std::index_sequence<I...>);
template <class List>
constexpr size_t count_without_where() {
  constexpr size_t n = std::tuple_size_v<List>;
  if constexpr (n > 0) return n - std::is_same_v<std::tuple_element_t<n - 1, List>, Where>;
  return n;
}
// Without the place that functions of this library take last, so that compile(relu) is one of them.
template <class Result, class... Parameters>
struct SignatureOf<Result (*)(Parameters...)> {
  using List = std::tuple<std::remove_cvref_t<Parameters>...>;
  using type = typename decltype(first_of<std::remove_cvref_t<Result>, List>(
      std::make_index_sequence<count_without_where<List>()>()))::type;
};
template <class Result, class... Parameters>
struct SignatureOf<Result (*)(Parameters...) noexcept> : SignatureOf<Result (*)(Parameters...)> {};
template <class C, class Result, class... Parameters>
struct SignatureOf<Result (C::*)(Parameters...)> : SignatureOf<Result (*)(Parameters...)> {};
template <class C, class Result, class... Parameters>
struct SignatureOf<Result (C::*)(Parameters...) const> : SignatureOf<Result (*)(Parameters...)> {};
template <class C, class Result, class... Parameters>
struct SignatureOf<Result (C::*)(Parameters...) noexcept> : SignatureOf<Result (*)(Parameters...)> {};
template <class C, class Result, class... Parameters>
struct SignatureOf<Result (C::*)(Parameters...) const noexcept> : SignatureOf<Result (*)(Parameters...)> {};
template <class F>
requires requires { &F::operator(); }
struct SignatureOf<F> : SignatureOf<decltype(&F::operator())> {};

template <class T>
concept Parameter = std::is_same_v<T, Array> || std::is_same_v<T, std::vector<Array>>;
template <class T>
concept Returned = requires(const T& t) {
  Results<T>::list(t);
};

// Calls a function by the arguments of its signature, to which functions of this library add the
// place.
template <class Callable, class... Parameters>
auto apply_traced(Callable& callable, std::tuple<Parameters...> arguments) {
  if constexpr (std::is_invocable_v<Callable&, Parameters...>) {
    return std::apply(callable, std::move(arguments));
  } else {
    const auto placed = [&](auto&&... a) { return callable(std::move(a)..., Where::here()); };
    return std::apply(placed, std::move(arguments));
  }
}

// What keeps a callable from being compiled: nothing, or one of these, which compile() says in a
// line.
enum class Fault : uint8_t { None, NoFunction, ManySignatures, Parameter, Result };
template <class Signature>
struct SignatureFault;
template <class Result, class... Parameters>
struct SignatureFault<Result(Parameters...)> {
  static constexpr Fault value = !(Parameter<Parameters> && ...) ? Fault::Parameter
                                 : !Returned<Result>             ? Fault::Result
                                                                 : Fault::None;
};
template <class F>
constexpr Fault fault_of() {
  if constexpr (requires { typename SignatureOf<F>::type; })
    return SignatureFault<typename SignatureOf<F>::type>::value;
  if constexpr (std::is_class_v<F> && !std::is_convertible_v<F, std::string>) return Fault::ManySignatures;
  return Fault::NoFunction;
}
// In place of a function that was refused: so that its calls are no further errors.
struct Refused {
  template <class... Arguments>
  Array operator()(const Arguments&...) const;
};

// With names for the parameters.
SMELT_API Options named(Options options, std::initializer_list<const char*> parameters);

// 'a' for an array, 'l' for a list.
template <class... Parameters>
std::string kinds_of() {
  return {(std::is_same_v<Parameters, Array> ? 'a' : 'l')...};
}

}  // namespace detail

/// A call whose arrays are fixed (Function::bind): everything is prepared, so that running it costs
/// little more than the kernels. It keeps its arrays alive. One thread at a time may run it; other
/// threads bind their own.
class SMELT_API Bound {
 public:
  /// Reads the arrays as they are now and writes the outputs; no checks, no allocation. On a GPU it
  /// returns when the work is queued. Throws UserError for errors in the data (an index out of
  /// range; on a GPU synchronize() throws).
  void operator()() const;
  /// Waits for a GPU; nothing on the CPU.
  void synchronize() const;
  /// The outputs, in the order of the function's results.
  const std::vector<Array>& outputs() const;
  /// \cond internal
  explicit Bound(detail::Handle<detail::BoundState> state) : state_(std::move(state)) {}
  /// \endcond

 private:
  detail::Handle<detail::BoundState> state_;
};

template <class Signature>
class Function;

/// The compiled form of a C++ function of arrays: called like it, but with data. A cheap handle;
/// safe to call from many threads.
template <detail::Returned Result, detail::Parameter... Parameters>
class Function<Result(Parameters...)> {
 public:
  /// As compile(callable, options).
  template <class Callable>
  explicit Function(Callable callable, Options options = {})
      : any_(
            [callable](std::span<const Array> arrays, std::span<const int> lists) mutable {
              detail::Unflatten from{arrays, lists};
              std::tuple<Parameters...> arguments{from.take<Parameters>()...};  // braces: from left to right
              return detail::Results<Result>::list(detail::apply_traced(callable, std::move(arguments)));
            },
            std::move(options), detail::kinds_of<Parameters...>()) {}

  /// Runs the function on data, compiling first when no executable supports these dtypes, ranks and
  /// sizes. When an argument is unevaluated nothing runs: the function becomes part of the
  /// expression, and the result is unevaluated too. Throws UserError when the arrays do not fit the
  /// function, with the message of the operation that rejects them.
  Result operator()(const Parameters&... arguments) const {
    const detail::Flat flat = detail::flatten(arguments...);
    return detail::Results<Result>::of(any_.call(flat.arrays, flat.lists));
  }

  /// Outputs into the caller's memory: norm.into(y)(x, g, b). The arrays hold data (Array::borrow,
  /// Array::empty) of the dtype and shape that the function returns, else UserError; they may have
  /// any strides but 0, and may overlap the inputs.
  class Into {
   public:
    /// Runs.
    void operator()(const Parameters&... arguments) const {
      const detail::Flat flat = detail::flatten(arguments...);
      any_.call_into(outputs_, flat.arrays, flat.lists);
    }
    /// Fixes the arrays for many runs.
    Bound bind(const Parameters&... arguments) const {
      const detail::Flat flat = detail::flatten(arguments...);
      return Bound(any_.bind(&outputs_, flat.arrays, flat.lists));
    }

   private:
    friend class Function;
    Into(detail::AnyFunction any, std::vector<Array> outputs) : any_(std::move(any)), outputs_(std::move(outputs)) {}
    detail::AnyFunction any_;
    std::vector<Array> outputs_;
  };
  /// \copydoc Into
  template <class... Outputs>
  requires(std::is_same_v<Outputs, Array>&&...) Into into(const Outputs&... outputs)
  const { return Into(any_, {outputs...}); }
  /// \copydoc Into
  Into into(std::vector<Array> outputs) const { return Into(any_, std::move(outputs)); }

  /// Fixes the arguments, and makes outputs (Bound::outputs), for many runs on the same memory.
  Bound bind(const Parameters&... arguments) const {
    const detail::Flat flat = detail::flatten(arguments...);
    return Bound(any_.bind(nullptr, flat.arrays, flat.lists));
  }

  /// What a call with these arguments does, and why. Compiles when that call would; does not run.
  Explanation explain(const Parameters&... arguments) const {
    const detail::Flat flat = detail::flatten(arguments...);
    return any_.explain(flat.arrays, flat.lists);
  }
  /// The same for the latest call. Throws UserError when there was none.
  Explanation explain() const requires(sizeof...(Parameters) > 0) { return any_.explain_last(); }
  /// Throws UserError, with every decision against fusion and its reason, unless each executable
  /// has exactly `count` kernels; also when there is none yet.
  void expect_kernels(int count) const { any_.expect_kernels(count); }
  /// The executables it has, in the order in which they were compiled.
  std::vector<Specialization> specializations() const { return any_.specializations(); }
  /// How many were compiled, including those that were dropped since.
  int compile_count() const { return any_.compile_count(); }

  /// A source file with this call's program as a separate function, which does not need smelt, as
  /// `smelt emit` writes it. `target` is "cpp" (C++17, for CPUs), "cuda" (for nvcc, for the GPU at
  /// hand), an architecture, "sm_90" (the same for GPUs elsewhere), or "opencl" (its kernels in
  /// OpenCL C). The comment at the top says what the function takes and how to compile it. Throws
  /// UserError for another target, and where its compiler is missing.
  std::string source(const std::string& target, const Parameters&... arguments,
                     const SourceOptions& options = {}) const {
    const detail::Flat flat = detail::flatten(arguments...);
    return any_.source(target, flat.arrays, flat.lists, options);
  }

  /// Writes all executables that it has, with their code, to a file that load_function() reads
  /// without a compiler (smelt/saved.hpp). By default for the devices that they were compiled for;
  /// else for these `targets`: "cpu" (this machine's), "x86-64", "x86-64-v2", "x86-64-v3",
  /// "x86-64-v4", "sm_90" and the like. Throws UserError when nothing is compiled yet, for
  /// operations of the user's own code, and when the file cannot be written; an existing file is
  /// then unchanged.
  void save(const std::string& path, const std::vector<std::string>& targets = {}) const {
    any_.save(path, targets, saved_parameters(), saved_results());
  }

  /// \cond internal
  explicit Function(detail::AnyFunction any) : any_(std::move(any)) {}
  static int saved_results() { return detail::count_of_results<Result>(); }
  static std::vector<detail::SavedParameter> saved_parameters() {
    return {{"", std::is_same_v<Parameters, std::vector<Array>>}...};
  }
  /// \endcond

 private:
  detail::AnyFunction any_;
};

/// Compiles a function of arrays, a lambda or a plain function, into one that runs as few kernels.
/// Parameters are Array or std::vector<Array>; it returns Array, a std::pair, std::tuple,
/// std::array or std::vector of them, or a pair of an Array and a vector. Nothing is compiled
/// before the
/// first call: then, and again for every executable, the callable is traced: it is called with
/// arrays that have dtypes and shapes but no data. So it cannot branch on data, and arrays that it
/// captures are bound at that time; their memory is read by every call.
///
/// One executable supports many sizes. Of an argument of rank 2 and more the first size is left
/// open and the others are built in, since kernels are fastest when they know the length of a row;
/// the size of an argument of rank 1 is open unless it equals an inner size of another argument;
/// first sizes that are equal are one size; 1 is built in, because it broadcasts. Sizes far from
/// those of the call that an executable was compiled for get another one, when other kernels are
/// better for them. Where the callable needs to know an open size, all sizes are built in.
/// Options::fixed and Options::dynamic override that. Function::specializations lists what was
/// compiled and why.
template <class Callable>
auto compile(Callable&& callable, Options options = {}) {
  using F = std::decay_t<Callable>;
  constexpr detail::Fault fault = detail::fault_of<F>();
  static_assert(fault != detail::Fault::NoFunction,
                "compile() takes a function of arrays; compile_text() takes programs in text");
  static_assert(fault != detail::Fault::ManySignatures,
                "compile() must know the parameters: write Array x, or std::vector<Array> xs, in place of auto");
  static_assert(fault != detail::Fault::Parameter,
                "a parameter of what is compiled is Array or std::vector<Array>: write Array x in place of float x");
  static_assert(fault != detail::Fault::Result,
                "what is compiled returns Array, or a std::pair, std::tuple, std::array or std::vector of Array");
  if constexpr (fault == detail::Fault::None)
    return Function<typename detail::SignatureOf<F>::type>(std::forward<Callable>(callable), std::move(options));
  else
    return detail::Refused{};
}
/// The same with names for the parameters, which messages and explain() show: compile({"x",
/// "gain"}, f). Throws UserError when there is not a name for each.
template <class F>
auto compile(std::initializer_list<const char*> parameters, F&& function, Options options = {}) {
  return compile(std::forward<F>(function), detail::named(std::move(options), parameters));
}

}  // namespace smelt
