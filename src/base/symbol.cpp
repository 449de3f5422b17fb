#include "base/symbol.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/check.hpp"

namespace smelt {

Symbol Symbol::of(Kind kind, std::string name, std::array<int, 2> numbers) {
  static std::mutex mutex;
  // Never destroyed: symbols of static storage may outlive any table that is.
  static auto* const entries = new std::map<std::pair<Kind, std::string>, Entry>;
  const std::lock_guard lock(mutex);
  const auto [found, fresh] = entries->try_emplace({kind, std::move(name)});
  const std::string& known = found->first.second;
  if (fresh) found->second = {kind, known, (kind == Kind::Size ? "" : "%") + known, numbers};
  return Symbol(&found->second);
}

Symbol Symbol::size(std::string_view name) { return of(Kind::Size, std::string(name)); }
Symbol Symbol::open_size(int64_t item) { return of(Kind::Size, item < 0 ? "..." : fmt::format("...{}", item), {1}); }
Symbol Symbol::loop(std::string_view name) { return of(Kind::Loop, std::string(name)); }
Symbol Symbol::local(int32_t id) { return of(Kind::Local, fmt::format("v{}", id), {id}); }
Symbol Symbol::launch(std::string_view name) { return of(Kind::Launch, std::string(name)); }
Symbol Symbol::multiplier(size_t number) { return of(Kind::Multiplier, fmt::format("multiplier{}", number)); }
Symbol Symbol::proof(std::string_view name) { return of(Kind::Proof, std::string(name)); }
Symbol Symbol::gathered(size_t number) { return of(Kind::Gathered, fmt::format("picked{}", number)); }
Symbol Symbol::stride(int param, int dimension) {
  return of(Kind::Stride, fmt::format("stride{}_{}", param, dimension), {param, dimension});
}
Symbol Symbol::window(int32_t reduction, int axis) { return of(Kind::Window, fmt::format("w{}_{}", reduction, axis)); }

int Symbol::number(Kind kind, size_t n) const {
  SMELT_CHECK(this->kind() == kind, "{} is a symbol of another kind", str());
  return entry_->numbers[n];
}

bool Symbol::is_before(Symbol other) const {
  const int order = str().compare(other.str());
  return order ? order < 0 : kind() < other.kind();
}

}  // namespace smelt

// Here, since fmt/core.h alone does not define how strings are formatted.
fmt::format_context::iterator fmt::formatter<smelt::Symbol>::format(smelt::Symbol symbol,
                                                                    format_context& context) const {
  return fmt::formatter<fmt::string_view>::format(symbol.str(), context);
}
