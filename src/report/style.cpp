#include "report/style.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

namespace smelt::report {

Style Style::of(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  Style style;
  style.colour = ::isatty(fd) == 1 && !(no_colour && *no_colour) && terminal && std::string_view(terminal) != "dumb";
  return style;
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  return colour ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

}  // namespace smelt::report
