/// \file
/// Your own operations, written for one element: in C, or as a C++ lambda. They are fused and
/// vectorised like those of smelt/functions.hpp, and explain() shows their names.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/callable.hpp"
#include "smelt/handle.hpp"

namespace smelt {

namespace detail {
struct ScalarState;
SMELT_API Array elementwise(std::string name, const Callable<Array(std::span<const Array>)>& function,
                            const std::vector<Array>& arguments);
// An array, whatever the parameter.
template <class Arrays>
using ArrayFor = const Array&;
}  // namespace detail

/// A function of numbers written in C; on arrays it is applied element by element, and they
/// broadcast.
class SMELT_API ScalarFunction {
 public:
  /// What scalar_function() reads: one function of the subset of C. Throws UserError, with line,
  /// column and caret, for any other text.
  explicit ScalarFunction(std::string text);

  const std::string& name() const;  ///< as the text calls it
  /// "float swish(float x, float beta)"
  std::string signature() const;

  /// An unevaluated array of the type that the function returns. Arguments convert to the types of
  /// the parameters where nothing is lost; else UserError says which cast to write.
  template <class... Arrays>
  Array operator()(const Arrays&... arguments) const {
    return call({Array(arguments)...});
  }
  /// The same for a list.
  Array call(const std::vector<Array>& arguments) const;

 private:
  detail::Handle<const detail::ScalarState> state_;
};

/// Reads one function of C's expression subset:
///
///     const auto swish = smelt::scalar_function(R"(float swish(float x, float beta) {
///       float t = x * beta;
///       return t / (1.0f + expf(-t));
///     })");
///     const smelt::Array y = swish(x, 1.5);
///
/// It has locals, arithmetic, comparisons, `?:`, `&&`, `||`, `!`, casts, calls of math.h, if and
/// else, and for with a known number of turns (docs/language.md, "Functions in C"). The text
/// becomes operations, never source: any text is safe to pass. Throws UserError with line, column
/// and caret for what is no such function.
SMELT_API ScalarFunction scalar_function(std::string text);

/// Applies a C++ function of one element to all elements, as one named operation:
///
///     const Array y = smelt::elementwise("softsign", [](const Array& x) { return x / (1 + abs(x)); }, a);
///
/// The function is called once, with arrays of rank 0 that stand for the elements, and is traced.
/// It may use operators, elementwise functions and numbers; throws UserError when it uses others,
/// or arrays that are not its arguments. A plain C++ function of arrays needs none of this: it is
/// traced without a name.
template <class F, class... Arrays>
Array elementwise(std::string name, F&& function, const Arrays&... arguments) {
  constexpr bool takes_arrays = std::is_invocable_v<F&, detail::ArrayFor<Arrays>...>;
  static_assert(takes_arrays,
                "the function of elementwise() takes an Array for each argument: write Array x in place of float x");
  const auto on_list = [&]<size_t... I>(std::span<const Array> a, std::index_sequence<I...>)->Array {
    if constexpr (takes_arrays) {
      static_assert(std::is_convertible_v<decltype(function(a[I]...)), Array>,
                    "the function of elementwise() returns an Array, or a number");
      return function(a[I]...);
    }
  };
  return detail::elementwise(std::move(name),
                             [&](std::span<const Array> a) { return on_list(a, std::index_sequence_for<Arrays...>()); },
                             {Array(arguments)...});
}

}  // namespace smelt
