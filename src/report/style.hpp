// Colour for a terminal, nothing for a pipe.
#pragma once

#include <string>
#include <string_view>

namespace smelt::report {

struct Style {
  bool colour = false;

  // Colour when `fd` is a terminal that shows it and NO_COLOR is not set (https://no-color.org).
  static Style of(int fd);

  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }
  std::string bad(std::string_view text) const { return wrap("1;31", text); }
  std::string warn(std::string_view text) const { return wrap("33", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
};

}  // namespace smelt::report
