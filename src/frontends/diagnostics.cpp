#include "frontends/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/build_detail.hpp"

namespace smelt::lang {

// Bytes of the UTF-8 character that begins here; 0 when none does.
static size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}

// One character of the user's text made harmless: it must neither move the cursor nor break the
// terminal's decoding.
static std::string_view harmless(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (lead < 0x20 || lead == 0x7F) return lead == '\t' ? " " : "?";
  if (lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0) return "?";  // C1 controls
  // Marks that reverse or hide text: U+200B..U+200F, U+2028..U+202E, U+2066..U+2069.
  if (character.size() == 3 && lead == 0xE2) {
    const auto second = static_cast<unsigned char>(character[1]), third = static_cast<unsigned char>(character[2]);
    if (second == 0x80 && ((third >= 0x8B && third <= 0x8F) || (third >= 0xA8 && third <= 0xAE))) return "?";
    if (second == 0x81 && third >= 0xA6 && third <= 0xA9) return "?";
  }
  return character;
}

// The characters of a text, harmless, one string each.
static std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const size_t length = character_length(text);
    result.push_back(length ? harmless(text.substr(0, length)) : "?");
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

std::string shown(std::string_view text, size_t limit) {
  const bool cut = text.size() > 4 * limit;
  const auto characters = characters_of(cut ? text.substr(0, 4 * limit) : text);
  std::string result;
  for (size_t i = 0; i < std::min(characters.size(), limit); ++i) result += characters[i];
  return cut || characters.size() > limit ? result + "..." : result;
}

Source::Source(std::string text, std::string file) : text_(std::move(text)), file_(std::move(file)) {
  line_starts_.push_back(0);
  bool ascii = true;
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<uint32_t>(i + 1));
    if (static_cast<unsigned char>(text_[i]) >= 0x80) ascii = false;
  }
  if (ascii) return;
  characters_before_.reserve(text_.size() + 1);
  uint32_t count = 0;
  for (size_t i = 0; i <= text_.size(); ++i) {
    characters_before_.push_back(count);
    // A character is counted at its last byte, so that a place inside one belongs to it.
    if (i < text_.size() && (i + 1 == text_.size() || (static_cast<unsigned char>(text_[i + 1]) & 0xC0) != 0x80))
      ++count;
  }
}

size_t Source::line_of(uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<size_t>(after - line_starts_.begin()) - 1;
}

std::string_view Source::line_text(size_t line) const {
  const size_t begin = line_starts_[line];
  const size_t end = line + 1 < line_starts_.size() ? line_starts_[line + 1] - 1 : text_.size();
  std::string_view text = std::string_view(text_).substr(begin, end - begin);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

int Source::characters(uint32_t begin, uint32_t end) const {
  if (end <= begin) return 0;
  return static_cast<int>(characters_before_.empty() ? end - begin
                                                     : characters_before_[end] - characters_before_[begin]);
}

Origin Source::origin(Span span) const {
  const size_t line = line_of(span.begin);
  const auto line_end = static_cast<uint32_t>(line_starts_[line] + line_text(line).size());
  const uint32_t end = std::max(span.begin, std::min(span.end, line_end));
  return {static_cast<int>(line + 1), characters(line_starts_[line], span.begin) + 1,
          std::max(1, characters(span.begin, end))};
}

std::string Source::note(Span span, const std::string& message) const {
  constexpr size_t kWidth = 100;  // of the excerpt
  constexpr size_t kBefore = 60;  // of it in front of the place
  const Origin at = origin(span);
  const std::string_view line = line_text(static_cast<size_t>(at.line - 1));
  const size_t column = static_cast<size_t>(at.column - 1);
  // Only the bytes near the place are looked at; a character has at most 4.
  const size_t offset = std::min<size_t>(span.begin - line_starts_[static_cast<size_t>(at.line - 1)], line.size());
  size_t first = column > kBefore && line.size() > kWidth ? column - kBefore : 0;
  size_t from = offset;
  for (size_t back = column; back > first && from > 0; --back) do
      --from;
    while (from > 0 && (static_cast<unsigned char>(line[from]) & 0xC0) == 0x80);
  const auto visible = characters_of(line.substr(from, 4 * kWidth));
  std::string excerpt = first ? "..." : "";
  const size_t lead = excerpt.size();
  const size_t count = std::min(visible.size(), kWidth);
  for (size_t i = 0; i < count; ++i) excerpt += visible[i];
  if (visible.size() > kWidth || from + 4 * kWidth < line.size()) excerpt += "...";

  const size_t caret = lead + column - first;
  const size_t room = lead + count > caret ? lead + count - caret : 1;
  const size_t length = std::clamp<size_t>(static_cast<size_t>(at.length), 1, std::max<size_t>(room, 1));
  return fmt::format("{}:{}:{}: {}\n  {}\n  {}^{}", file_, at.line, at.column, message, excerpt,
                     std::string(caret, ' '), std::string(length - 1, '~'));
}

std::string Source::report(Span span, const std::string& message, const std::string& help) const {
  std::string result = note(span, "error: " + message);
  if (!help.empty()) result += "\n  help: " + help;
  return result;
}

void Source::fail(Span span, const std::string& message, const std::string& help) const {
  if (nowhere_) smelt::fail(message, help);
  throw ReportedError(report(span, message, help));
}

}  // namespace smelt::lang
