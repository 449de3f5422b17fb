// Which helpers a text calls, by reading it: what the printers note is compared with.
#pragma once

#include <cctype>
#include <string>

namespace smelt::test {

// Comments do not count.
inline bool calls_helper(const std::string& text, const std::string& name) {
  const auto is_name = [](char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_'; };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size(), line = at == 0 ? at : text.rfind('\n', at - 1) + 1;
    if ((at > 0 && is_name(text[at - 1])) || (end < text.size() && is_name(text[end]))) continue;
    if (text.substr(line, at - line).find("//") == std::string::npos) return true;
  }
  return false;
}

}  // namespace smelt::test
