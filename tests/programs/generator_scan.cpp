// Running sums and the like, with what comes before and after them.
#include "generator_scan.hpp"

#include <fmt/format.h>

namespace smelt::testing {

std::string scan_expression(const ScanOf& of, std::mt19937_64& random) {
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto word = [&](std::initializer_list<const char*> list) { return *(list.begin() + pick(list.size())); };
  const bool floats = is_float(of.dtype);
  const int rank = static_cast<int>(of.rank);
  const int axis = rank ? static_cast<int>(pick(of.rank)) - (pick(2) ? rank : 0) : 0;
  const std::string x = of.name;
  std::string more;
  if (pick(3) == 0) more += ", reverse=True";
  if (pick(3) == 0) more += ", exclusive=True";
  if (pick(4) == 0) more += fmt::format(", restart={}", of.condition);
  const std::string name = word({"cumsum", "cumsum", "cumsum", "cummax", "cummin", "cumprod"});
  switch (pick(10)) {
    case 0: return fmt::format("max({}({}, axis={}{}), axis={})", name, x, axis, more, axis);
    case 1: return fmt::format("{0}({1}, axis={2}{3}) - {1}", is_bool(of.dtype) ? "cumsum" : name, x, axis, more);
    case 2: return fmt::format("{0}({0}({1}, axis={2}{3}), axis={2}{3})", name, x, axis, more);
    case 3: return fmt::format("cumsum(where({}, {}, 0), axis={}{})", of.condition, x, axis, more);
    case 4:
      if (floats) return fmt::format("cumsum(softmax({0}, axis={1}), axis={1}{2})", x, axis, more);
      [[fallthrough]];
    case 5:
      if (floats) return fmt::format("cumsum(relu({0}) * 0.5, axis={1}{2}) * 2 + {0}", x, axis, more);
      [[fallthrough]];
    case 6:
      if (floats) return fmt::format("{}({}, axis={})", word({"cummean", "logcumsumexp"}), x, axis);
      [[fallthrough]];
    default: return fmt::format("{}({}, axis={}{})", name, x, axis, more);
  }
}

}  // namespace smelt::testing
