// Which of some names a mistyped word most likely means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smelt {

// Empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace smelt
