// What a pass does to the text of a kernel.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/line_diff.hpp"
#include "kernel/kernel.hpp"

namespace smelt::kernel {

using Lines = std::vector<std::string>;

// The lines that a pass changes, without their indentation. What it makes is verified.
template <class Run>
Lines changes(Kernel& kernel, Run run) {
  const std::string before = print(kernel);
  const bool changed = run(kernel);
  verify(kernel);
  Lines lines;
  for (const std::string& line : changed_lines(before, print(kernel)))
    lines.push_back(line.substr(0, 2) + line.substr(line.find_first_not_of(' ', 2)));
  EXPECT_TRUE(changed || lines.empty()) << "a pass that changes something says so";
  return lines;
}

// Those about loops and statements.
inline Lines without_variants(Lines lines) {
  std::erase_if(lines, [](const std::string& line) { return line.compare(2, 8, "variant ") == 0; });
  return lines;
}

}  // namespace smelt::kernel
