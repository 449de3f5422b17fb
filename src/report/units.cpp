#include "report/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace smelt::report {
namespace {

std::string scaled(int64_t bytes, double base, const std::array<const char*, 5>& units) {
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  // 999.95 would print as 1000.0
  for (; std::fabs(value) >= base * 0.99995 && unit + 1 < units.size(); ++unit) value /= base;
  return unit == 0 ? fmt::format("{} {}", bytes, units[0]) : fmt::format("{:.1f} {}", value, units[unit]);
}

// Bytes of the UTF-8 sequence that starts here; 0 when it is broken.
size_t sequence_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  if (length > 2) {  // overlong forms, surrogates, past U+10FFFF, and the two non-characters that XML refuses
    const unsigned char second = byte(at + 1);
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second >= 0xa0) return 0;
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second >= 0x90) return 0;
    if (first == 0xef && second == 0xbf && byte(at + 2) >= 0xbe) return 0;
  }
  return length;
}

}  // namespace

std::string format_bytes(int64_t bytes) { return scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB"}); }
std::string format_memory(int64_t bytes) { return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }

std::string format_count(int64_t count) {
  std::string digits = fmt::format("{}", count);
  const size_t sign = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > 3 + sign; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string format_significant(double value, int digits) {
  if (!std::isfinite(value) || value == 0) return fmt::format("{}", value);
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  if (before > 7 || before < -4) return fmt::format("{:.{}e}", value, digits - 1);
  return fmt::format("{:.{}f}", value, std::max(0, digits - before));
}

std::string format_ms(double ms, double scale) {
  const double shown = scale > 0 ? scale : ms;
  if (!(shown > 0)) return "0";
  const int decimals = shown < 0.1 ? 5 : shown < 1 ? 4 : shown < 1000 ? 2 : 0;
  return fmt::format("{:.{}f}", ms, decimals);
}

std::string format_error(double error) { return error == 0 ? "0" : fmt::format("{:.1e}", error); }

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); ++characters) {
    if (characters == limit) return out + "...";
    const size_t length = sequence_length(text, at);
    const auto first = static_cast<unsigned char>(text[at]);
    const bool control = first < 0x20 || first == 0x7f ||
                         (first == 0xc2 && length == 2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
    if (length == 0 || control) {
      out += '?';
    } else {
      out += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return width;
}

}  // namespace smelt::report
