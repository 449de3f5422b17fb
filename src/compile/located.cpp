#include "compile/located.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "compile/state.hpp"

namespace smelt {
namespace {

std::vector<std::string_view> lines_of(const std::string& text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string_view trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : line.substr(first);
}

// The first number of metadata that is free.
int free_number(const std::vector<std::string_view>& lines) {
  int free = 0;
  for (const std::string_view line : lines) {
    int number = 0;
    if (line.size() > 1 && line[0] == '!' &&
        std::from_chars(line.data() + 1, line.data() + line.size(), number).ec == std::errc())
      free = std::max(free, number + 1);
  }
  return free;
}

// An instruction that the printer puts on a line: indented, and no comment.
bool is_instruction(std::string_view line) {
  const std::string_view code = trimmed(line);
  return !code.empty() && code.size() < line.size() && code[0] != ';';
}

std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> numbers;
  for (size_t at = 0; at < text.size();) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error != std::errc()) {
      ++at;
      continue;
    }
    numbers.push_back(number);
    at = static_cast<size_t>(end - text.data());
  }
  return numbers;
}

using Place = std::pair<int, int>;  // line, column

// `.loc FILE LINE COLUMN`, and where the code there was inlined.
struct Location {
  Place at;
  std::optional<Place> inlined_at;
};
Location location_of(std::string_view line) {
  Location location;
  constexpr std::string_view kInlined = "inlined_at";
  const size_t inlined = line.find(kInlined);
  const std::vector<int> own = numbers_in(line.substr(0, std::min(line.find(','), inlined)));
  if (own.size() >= 3) location.at = {own[1], own[2]};
  if (inlined == std::string_view::npos) return location;
  const std::vector<int> outer = numbers_in(line.substr(inlined + kInlined.size()));
  if (outer.size() >= 3) location.inlined_at = Place{outer[1], outer[2]};
  return location;
}

bool starts(std::string_view line, std::string_view with) { return line.substr(0, with.size()) == with; }

}  // namespace

std::string with_locations(const std::string& ir_text) {
  const std::vector<std::string_view> lines = lines_of(ir_text);
  const int first = free_number(lines);
  std::string text, locations;
  int next = first + 4, scope = -1;
  for (size_t n = 0; n < lines.size(); ++n) {
    const std::string_view line = lines[n];
    const int number = static_cast<int>(n) + 1;
    text += line;
    if (starts(line, "define ") && line.back() == '{') {
      scope = next++;
      text.erase(text.size() - 1);
      text += fmt::format("!dbg !{} {{", scope);
      locations += fmt::format(
          "!{0} = distinct !DISubprogram(name: \"f{0}\", scope: !{1}, file: !{1}, line: {2}, type: !{3}, "
          "spFlags: DISPFlagDefinition, unit: !{4})\n",
          scope, first + 1, number, first + 2, first);
    } else if (scope >= 0 && is_instruction(line)) {
      text += fmt::format(", !dbg !{}", next);
      locations += fmt::format("!{} = !DILocation(line: {}, column: 1, scope: !{})\n", next++, number, scope);
    } else if (starts(line, "}")) {
      scope = -1;
    }
    text += '\n';
  }
  return text +
         fmt::format(
             "!llvm.dbg.cu = !{{!{0}}}\n!llvm.module.flags = !{{!{3}}}\n"
             "!{0} = distinct !DICompileUnit(language: DW_LANG_C99, file: !{1}, isOptimized: true, "
             "emissionKind: DebugDirectivesOnly)\n"
             "!{1} = !DIFile(filename: \"kernel.ll\", directory: \".\")\n"
             "!{2} = !DISubroutineType(types: !{{}})\n"
             "!{3} = !{{i32 2, !\"Debug Info Version\", i32 3}}\n",
             first, first + 1, first + 2, first + 3) +
         locations;
}

CodeLines without_locations(const std::string& text) {
  std::map<Place, Place> callers;
  CodeLines made;
  int at = 0;
  bool in_debug = false;  // a section of PTX
  for (const std::string_view line : lines_of(text)) {
    const std::string_view code = trimmed(line);
    if (starts(code, ".loc")) {
      Location location = location_of(code);
      if (location.inlined_at) callers.try_emplace(location.at, *location.inlined_at);
      Place place = location.inlined_at.value_or(location.at);
      std::set<Place> seen;
      for (auto caller = callers.find(place); caller != callers.end() && seen.insert(place).second;
           caller = callers.find(place))
        place = caller->second;
      at = place.first;
      continue;
    }
    if (starts(code, ".section") && code.find(".debug") != std::string_view::npos) in_debug = true;
    if (starts(code, ".cfi_")) continue;
    const bool label = starts(code, ".Ltmp") || starts(code, "$L__tmp") || starts(code, ".Lfunc_begin");
    if (in_debug ||
        (starts(code, ".file") && !numbers_in(code).empty() && code.find('"') != std::string_view::npos &&
         code.find('"') > code.find_first_of("0123456789")) ||
        (label && code.find(':') != std::string_view::npos)) {
      if (in_debug && starts(code, "}")) in_debug = false;
      continue;
    }
    // Between functions, and at directives and labels, there is no instruction.
    const bool plain = code.empty() || code[0] == '.' || code[0] == '#' || code[0] == '{' || code[0] == '}' ||
                       code.back() == ':' || starts(code, "//");
    if (starts(code, ".Lfunc_end") || starts(code, "}")) at = 0;
    made.text.append(line).push_back('\n');
    made.lines.push_back(plain ? 0 : at);
  }
  // Before a section there may be empty lines.
  while (made.lines.size() > 1 && made.text.ends_with("\n\n")) made.text.pop_back(), made.lines.pop_back();
  return made;
}

// Each source is compiled again, with locations. Where that is not the code that runs, it is shown
// without.
CodeLines Executable::code_lines() const {
  const Machine& device = state_->device;
  CodeLines all;
  int offset = 0;
  for (const std::string& source : state_->sources) {
    runtime::NvrtcOptions with_lines = state_->nvrtc;
    with_lines.lines = true;
    const auto ptx = [&](const runtime::NvrtcOptions& options) {
      return device.nvrtc->ptx(source, device.gpu_facts.compute, options);
    };
    const CodeLines plain = without_locations(device.is_gpu ? ptx(state_->nvrtc) : device.llvm->assembly(source));
    CodeLines located =
        without_locations(device.is_gpu ? ptx(with_lines) : device.llvm->assembly(with_locations(source)));
    if (located.text != plain.text) located = plain;
    for (int& line : located.lines)
      if (line > 0) line += offset;
    all.text += located.text;
    all.lines.insert(all.lines.end(), located.lines.begin(), located.lines.end());
    offset += static_cast<int>(std::count(source.begin(), source.end(), '\n'));
  }
  return all;
}

}  // namespace smelt
