// The small functions in front of a module: those that it calls. The compiler would read the others for nothing, a millisecond of them.
#include <vector>

#include "emit/c_like.hpp"

namespace smelt::emit::c_like {
namespace {

constexpr std::string_view kFunction = "SMELT_INLINE ";

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// A definition with the comment above it; `name` is empty for what is no function, and stays.
struct Piece {
  std::string text, name;
};

// "SMELT_INLINE float from_f16(unsigned short x)" defines from_f16.
std::string defined(const std::string& text) {
  const size_t at = text.find(kFunction);
  if (at == std::string::npos) return "";
  const size_t end = text.find('(', at);
  size_t begin = end;
  while (begin > at && is_name(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

// A definition ends with the line on which the last of its braces closes.
std::vector<Piece> pieces_of(const std::string& text) {
  std::vector<Piece> pieces;
  std::string piece;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    piece += line;
    const bool comment = line.rfind("//", 0) == 0;
    if (!comment)
      for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    const char last = line.size() > 1 ? line[line.size() - 2] : '\n';
    const bool directive = line[0] == '#' && piece.find(kFunction) == std::string::npos;
    if (depth > 0 || comment || !(last == '}' || last == ';' || last == '\n' || directive)) continue;
    const bool definition = line[0] != '#' && last != '\n';
    pieces.push_back({piece, definition ? defined(piece) : ""});
    piece.clear();
  }
  pieces.push_back({piece, ""});
  return pieces;
}

bool mentions(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_name(text[at - 1])) && (end == text.size() || !is_name(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string only_used(const std::string& functions, const std::string& code) {
  std::vector<Piece> pieces = pieces_of(functions);
  std::string users = code;
  // A function calls those before it.
  for (size_t p = pieces.size(); p-- > 0;)
    if (pieces[p].name.empty() || mentions(users, pieces[p].name))
      users += pieces[p].text;
    else
      pieces[p].text.clear();
  std::string kept;
  for (const Piece& piece : pieces) {
    const bool blank = piece.text == "\n";
    if (blank && (kept.empty() || kept.substr(kept.size() - std::min<size_t>(2, kept.size())) == "\n\n")) continue;
    kept += piece.text;
  }
  return kept;
}

}  // namespace smelt::emit::c_like
