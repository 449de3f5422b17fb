/// \file
/// Gradients in reverse mode, of functions and of values that are not calculated yet. They are
/// values like any others: they fuse with the values that they depend on, may be compiled, and have
/// gradients themselves.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "smelt/compile.hpp"

namespace smelt {

/// The derivative of `value`, a float of rank 0, with respect to every element of `by`, with the
/// dtype and shape of `by`, which is a float. `value` is unevaluated; `by` is data or a value that
/// it depends on. Intermediate values that are evaluated are constants, as in every expression:
/// take the gradient before eval(), or use gradient(f, argument), where nothing can be evaluated in
/// between. Throws UserError when `value` is no such number, does not depend on `by`, or has an
/// operation without a derivative between them. docs/numerics.md lists the derivatives at points
/// where there are several.
SMELT_API Array gradient(const Array& value, const Array& by);
/// The same with respect to several arrays, in one sweep.
SMELT_API std::vector<Array> gradient(const Array& value, const std::vector<Array>& by);
/// \overload
inline std::vector<Array> gradient(const Array& value, std::initializer_list<Array> by) {
  return gradient(value, std::vector<Array>(by));
}

/// The product of cotangents with the derivatives of values (a vector-Jacobian product): for each
/// of `by` the sum over the values of cotangent times derivative. Values and cotangents come in
/// pairs of one shape; a cotangent takes the dtype of its value. A value that does not depend on
/// `by` is a constant; when no value does, UserError.
SMELT_API std::vector<Array> vjp(const std::vector<Array>& values, const std::vector<Array>& by,
                                 const std::vector<Array>& cotangents);

namespace detail {

// The value of a function at these arrays, and its gradients by some of them. `function` is called
// once, with arrays without data.
struct SMELT_API Differentiated {
  Array value;
  std::vector<Array> gradients;
};
SMELT_API Differentiated differentiate(const Callable<Array(const std::vector<Array>&)>& function,
                                       const std::vector<Array>& arrays, const std::vector<bool>& by);

// Which arrays of a flat list are those of some parameters. `counts`: how many each parameter has.
SMELT_API std::vector<bool> chosen(const std::vector<size_t>& counts, const std::vector<int>& arguments);

template <class Signature>
class Derivative;

// The function, and its value and gradients as one.
template <class... Parameters>
class Derivative<Array(Parameters...)> {
 public:
  using Of = Callable<Array(Parameters...)>;
  Derivative(Of function, std::vector<int> arguments)
      : function_(std::move(function)), arguments_(std::move(arguments)) {}

  Differentiated operator()(const Parameters&... arguments) const {
    const Flat flat = detail::flatten(arguments...);
    const std::vector<int>& lists = flat.lists;
    const auto on_list = [&](const std::vector<Array>& arrays) {
      Unflatten from{arrays, lists};
      std::tuple<Parameters...> taken{from.take<Parameters>()...};  // braces: from left to right
      return apply_traced(function_, std::move(taken));
    };
    return differentiate(on_list, flat.arrays, chosen({count(arguments)...}, arguments_));
  }

 private:
  static size_t count(const Array&) { return 1; }
  static size_t count(const std::vector<Array>& list) { return list.size(); }

  Of function_;
  std::vector<int> arguments_;
};

template <class Signature>
struct GradientTypes;
template <class Result, class... Parameters>
struct GradientTypes<Result(Parameters...)> {
  static_assert(std::is_same_v<Result, Array>, "gradients are of functions that return one Array");
  static_assert((Parameter<Parameters> && ...), "parameters are Array or std::vector<Array>");
  static constexpr bool lists = (std::is_same_v<Parameters, std::vector<Array>> || ...);
  using Gradient = std::conditional_t<lists, std::vector<Array>, Array>;
  using One = Callable<Gradient(Parameters...)>;
  using Several = Callable<std::vector<Array>(Parameters...)>;
  using ValueAndOne = Callable<std::pair<Array, Gradient>(Parameters...)>;
  using ValueAndSeveral = Callable<std::pair<Array, std::vector<Array>>(Parameters...)>;

  static Gradient of(std::vector<Array> gradients) {
    if constexpr (lists)
      return gradients;
    else
      return gradients.at(0);
  }
};

template <class Callable>
concept Differentiable = requires {
  typename SignatureOf<Callable>::type;
};

}  // namespace detail

/// The gradient of a function as a function of the same parameters, with respect to argument number
/// `argument`, counted from 0.
///
///     auto loss = [](Array w, Array x, Array y) { return mse(sum(x * w, -1), y); };
///     auto step = compile(
///         [=](Array w, Array x, Array y) { return w - 0.1 * gradient(loss)(w, x, y); });
///
/// The function returns one float of rank 0; its parameters are Array or std::vector<Array>. It is
/// called with arrays that have dtypes and shapes but no data, as compile() calls it; an array that
/// it captures is a constant. An argument that it does not use has the gradient 0. The result is an
/// Array, or, when one of the parameters is a list, a std::vector<Array> with the gradients of all
/// arrays of the argument. A number as an argument, f(2.0), counts as an f32. When it is called,
/// throws UserError for an argument that is not a float, and in the cases of gradient(value, by).
template <detail::Differentiable Callable>
auto gradient(Callable function, int argument = 0) {
  using Signature = typename detail::SignatureOf<Callable>::type;
  using Types = detail::GradientTypes<Signature>;
  detail::Derivative<Signature> derivative(std::move(function), {argument});
  return typename Types::One([derivative = std::move(derivative)](const auto&... arguments) {
    return Types::of(derivative(arguments...).gradients);
  });
}
/// With respect to several arguments: the gradients for all their arrays in one list, in the order
/// of the parameters.
template <detail::Differentiable Callable>
auto gradient(Callable function, std::vector<int> arguments) {
  using Signature = typename detail::SignatureOf<Callable>::type;
  detail::Derivative<Signature> derivative(std::move(function), std::move(arguments));
  return typename detail::GradientTypes<Signature>::Several(
      [derivative = std::move(derivative)](const auto&... arguments) { return derivative(arguments...).gradients; });
}
/// \overload
template <detail::Differentiable Callable>
auto gradient(Callable function, std::initializer_list<int> arguments) {
  return gradient(std::move(function), std::vector<int>(arguments));
}

/// The value of the function and its gradient: a std::pair of the two, which are calculated
/// together.
///
///     const auto [loss, slope] = compile(value_and_gradient(f))(w, x, y);
template <detail::Differentiable Callable>
auto value_and_gradient(Callable function, int argument = 0) {
  using Signature = typename detail::SignatureOf<Callable>::type;
  using Types = detail::GradientTypes<Signature>;
  detail::Derivative<Signature> derivative(std::move(function), {argument});
  return typename Types::ValueAndOne([derivative = std::move(derivative)](const auto&... arguments) {
    detail::Differentiated made = derivative(arguments...);
    return std::pair(std::move(made.value), Types::of(std::move(made.gradients)));
  });
}
/// By several arguments.
template <detail::Differentiable Callable>
auto value_and_gradient(Callable function, std::vector<int> arguments) {
  using Signature = typename detail::SignatureOf<Callable>::type;
  detail::Derivative<Signature> derivative(std::move(function), std::move(arguments));
  return typename detail::GradientTypes<Signature>::ValueAndSeveral(
      [derivative = std::move(derivative)](const auto&... arguments) {
        detail::Differentiated made = derivative(arguments...);
        return std::pair(std::move(made.value), std::move(made.gradients));
      });
}
/// \overload
template <detail::Differentiable Callable>
auto value_and_gradient(Callable function, std::initializer_list<int> arguments) {
  return value_and_gradient(std::move(function), std::vector<int>(arguments));
}

}  // namespace smelt
