// What messages call the arguments of a function, and what its options may be.
#include <fmt/format.h>

#include "api/specialize.hpp"

namespace smelt::detail {

std::vector<std::string> Naming::given(const std::vector<int>& lists) const {
  std::vector<std::string> names;
  size_t list = 0;
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (kinds[p] == 'a') {
      names.push_back(parameters[p]);
      continue;
    }
    for (int i = 0; i < lists[list]; ++i) names.push_back(fmt::format("{}[{}]", parameters[p], i));
    ++list;
  }
  return names;
}

std::string Naming::argument(size_t array, const std::vector<int>& lists) const {
  const std::vector<std::string> names = given(lists);
  return array < names.size() ? fmt::format("argument {}", names[array]) : fmt::format("argument {}", array);
}

std::vector<std::string> Naming::inputs(size_t count, const std::vector<int>& lists) const {
  std::vector<std::string> names = given(lists);
  if (!names.empty()) return names;
  constexpr std::string_view kNames[] = {"x", "y", "z"};
  for (size_t i = 0; i < count; ++i)
    names.push_back(count <= std::size(kNames) ? std::string(kNames[i]) : fmt::format("x{}", i));
  return names;
}

void Naming::check() const {
  if (!parameters.empty() && parameters.size() != kinds.size())
    throw UserError(fmt::format("Options::parameters: {} name{} for {} parameter{}\nhelp: give a name for each",
                                parameters.size(), parameters.size() == 1 ? "" : "s", kinds.size(),
                                kinds.size() == 1 ? "" : "s"));
}

// The words are those of the command line.
static void check_range(const char* name, int value, int low, int high) {
  if (value < low || value > high)
    throw UserError(fmt::format("Options::{}: {} is not a whole number from {} to {}", name, value, low, high));
}

void check_options(const Options& options) {
  check_range("threads", options.threads, 0, 4096);
  check_range("max_executables", most_executables(options), 1, 1 << 20);
}

int most_executables(const Options& options) {
  return options.most.count != 0 ? options.most.count : options.max_executables;
}

}  // namespace smelt::detail
