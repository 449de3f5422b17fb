// A value of one of several types, each of which has fields of its own.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace smelt {

// One function for each type, as std::visit takes them: a type without one does not compile.
template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

template <class Kind, class... Kinds>
inline constexpr bool is_one_of = (std::is_same_v<Kind, Kinds> || ...);

[[noreturn]] void throw_other_kind(size_t index);

template <class... Kinds>
struct OneOf {
  std::variant<Kinds...> as;

  template <class Kind>
  requires is_one_of<Kind, Kinds...> OneOf(Kind kind) : as(std::move(kind)) {}

  template <class Kind>
  bool is() const {
    return std::holds_alternative<Kind>(as);
  }
  template <class Kind>
  const Kind* get_if() const {
    return std::get_if<Kind>(&as);
  }
  template <class Kind>
  Kind* get_if() {
    return std::get_if<Kind>(&as);
  }
  // Throws InternalError if it is of another kind.
  template <class Kind>
  const Kind& get() const {
    const Kind* kind = get_if<Kind>();
    if (!kind) throw_other_kind(as.index());
    return *kind;
  }
  template <class Kind>
  Kind& get() {
    return const_cast<Kind&>(std::as_const(*this).template get<Kind>());
  }
  template <class... Cases>
  decltype(auto) match(Cases&&... cases) const {
    return std::visit(Match{std::forward<Cases>(cases)...}, as);
  }
  template <class... Cases>
  decltype(auto) match(Cases&&... cases) {
    return std::visit(Match{std::forward<Cases>(cases)...}, as);
  }
};

}  // namespace smelt
