// Errors in the user's text: what, the line, a caret under the place, and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "smelt/error.hpp"

namespace smelt::lang {

// A place in the text, in bytes.
struct Span {
  uint32_t begin = 0, end = 0;
};
inline Span join(Span a, Span b) { return {a.begin, b.end}; }

// An error that has its place and its form already.
class ReportedError : public UserError {
 public:
  using UserError::UserError;
};

// A text with its lines found once, so that any place is looked up fast even in one line of a
// megabyte.
class Source {
 public:
  Source(std::string text, std::string file);
  // No text: errors are thrown as UserBuildError, with no place.
  Source() : nowhere_(true) {}

  std::string_view text() const { return text_; }
  std::string_view text(Span span) const { return text().substr(span.begin, span.end - span.begin); }
  Origin origin(Span span) const;  // columns and lengths in characters, as editors count them
  // "file:line:column: error: message", the line, the caret, the help.
  std::string report(Span span, const std::string& message, const std::string& help) const;
  // "file:line:column: message", the line, the caret.
  std::string note(Span span, const std::string& message) const;
  [[noreturn]] void fail(Span span, const std::string& message, const std::string& help = "") const;

 private:
  size_t line_of(uint32_t offset) const;          // from 0
  std::string_view line_text(size_t line) const;  // without the line's end
  int characters(uint32_t begin, uint32_t end) const;

  bool nowhere_ = false;
  std::string text_, file_;
  std::vector<uint32_t> line_starts_;
  std::vector<uint32_t> characters_before_;  // per byte; empty when the text is ASCII
};

// The user's text as a message may show it: no control characters, no broken UTF-8, at most `limit`
// characters.
std::string shown(std::string_view text, size_t limit = 40);
// 'text', shortened.
inline std::string quoted(std::string_view text) { return "'" + shown(text) + "'"; }

}  // namespace smelt::lang
