/// \file
/// A function object of any type: std::function for an interface that does not include its header,
/// which costs every file 0.1 s.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "smelt/handle.hpp"

namespace smelt {

namespace detail {
[[noreturn]] SMELT_API void throw_empty_call();
}

/// A function object that is called with `Parameters` and returns `Result`, made from a lambda, a
/// function, or a std::function; it converts to a std::function. Copies share the object. A
/// std::function made of an empty Callable is not empty, since it holds a Callable: ask the
/// Callable.
template <class Signature>
class Callable;
/// \copydoc Callable
template <class Result, class... Parameters>
class Callable<Result(Parameters...)> {
 public:
  Callable() = default;  ///< no function
  /// No function.
  Callable(std::nullptr_t) {}  // NOLINT: meant to convert
  /// The function; none for a null pointer and an empty std::function.
  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, Callable> &&
           std::is_invocable_r_v<Result, std::decay_t<Function>&, Parameters...>)
      Callable(Function&& function) {  // NOLINT: meant to convert
    using Object = std::decay_t<Function>;
    if constexpr (!std::is_function_v<std::remove_reference_t<Function>> && requires { function == nullptr; })
      if (function == nullptr) return;
    auto* holding = new detail::Holding<Object>(std::forward<Function>(function));
    holding_ = {holding, holding};
    call_ = [](detail::Shared* shared, Parameters... arguments) -> Result {
      Object& object = static_cast<detail::Holding<Object>*>(shared)->object;
      if constexpr (std::is_void_v<Result>)
        object(std::forward<Parameters>(arguments)...);
      else
        return object(std::forward<Parameters>(arguments)...);
    };
  }

  /// Calls it. Throws UserError when there is no function.
  Result operator()(Parameters... arguments) const {
    if (!call_) detail::throw_empty_call();
    return call_(holding_.get(), std::forward<Parameters>(arguments)...);
  }
  /// Whether there is a function.
  explicit operator bool() const { return call_ != nullptr; }

 private:
  detail::Handle<detail::Shared> holding_;
  Result (*call_)(detail::Shared*, Parameters...) = nullptr;
};

}  // namespace smelt
