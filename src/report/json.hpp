// What every JSON file of smelt has in common.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/shape.hpp"

namespace smelt::report {

// JSON has no NaN and no infinity: they are written as the strings "nan", "inf" and "-inf".
inline nlohmann::ordered_json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// {"B": 4096}
inline nlohmann::ordered_json sizes_json(const SizeBinding& sizes) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [symbol, size] : sizes) json[symbol.str()] = size;
  return json;
}

// Indented, with a newline at the end; what is no UTF-8 in a user's text is replaced.
inline std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace smelt::report
