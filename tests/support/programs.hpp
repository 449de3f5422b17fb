// Programs that several suites run, by name: the files of tests/support/programs and the workloads
// of bench/common/programs.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace smelt {

// The text, where `types` replace those of the first inputs, in order.
inline std::string shared_program(const std::string& name, const std::vector<std::string>& types = {}) {
  const std::filesystem::path root = SMELT_SOURCE_DIR;
  std::ifstream file;
  for (const char* folder : {"tests/support/programs", "bench/common/programs"})
    if (!file.is_open() && std::filesystem::exists(root / folder / (name + ".smelt")))
      file.open(root / folder / (name + ".smelt"));
  if (!file.is_open()) throw std::runtime_error("no program " + name + " in tests/support/programs");
  std::string text, line;
  size_t inputs = 0;
  while (std::getline(file, line)) {
    if (line.rfind("input ", 0) == 0 && inputs < types.size())
      line = line.substr(0, line.find(':')) + ": " + types[inputs++];
    text += line + "\n";
  }
  if (inputs < types.size()) throw std::runtime_error("program " + name + " has fewer inputs than types");
  return text;
}

}  // namespace smelt
