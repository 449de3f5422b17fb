// What changed between two texts.
#pragma once

#include <string>
#include <vector>

namespace smelt {

// Lines that only `before` has, with "- " in front, and lines that only `after` has, with "+ ", in
// order. Time and memory grow with the product of the lines between the first and the last
// difference.
std::vector<std::string> changed_lines(const std::string& before, const std::string& after);

}  // namespace smelt
