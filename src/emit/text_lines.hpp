// Lines of a text, indented by the blocks that are open.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace smelt::emit {

class TextLines {
 protected:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.append(static_cast<size_t>(2 * indent_), ' ');
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  void open(const std::string& head) {
    line("{}{{", head.empty() ? "" : head + " ");
    ++indent_;
  }
  void close() {
    --indent_;
    line("}}");
  }

  std::string out_;
  int indent_ = 1;
};

}  // namespace smelt::emit
