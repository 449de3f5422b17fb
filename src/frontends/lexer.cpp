#include "frontends/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace smelt::lang {

namespace {

constexpr std::array<std::string_view, 9> kWords = {"and",    "or",   "not",   "if",  "else",
                                                    "return", "True", "False", "None"};

// Longest first, so that the first that fits is the right one.
constexpr std::array<std::string_view, 43> kOperators = {
    "...", "**=", "//=", "<<=", ">>=", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=",
    "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^=", "&&", "||", "+",  "-",  "*",  "/",  "%",
    "@",   "&",   "|",   "^",   "~",   "<",  ">",  "=",  ",",  ":",  ".",  "!",  ";"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

// The code point that begins here and its bytes; length 0 when this is no UTF-8.
struct CodePoint {
  uint32_t value;
  size_t length;
};
CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) return {0, 0};
  uint32_t value = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    value = value << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  return overlong || surrogate || value > 0x10FFFF ? CodePoint{0, 0} : CodePoint{value, length};
}

// Blocks of Unicode that hold signs rather than letters: they come from word processors, and are no
// part of a name.
bool is_sign(uint32_t c) {
  return (c >= 0x80 && c <= 0xBF && c != 0xAA && c != 0xB5 && c != 0xBA) || c == 0xD7 || c == 0xF7 ||
         (c >= 0x2000 && c <= 0x206F) || (c >= 0x2190 && c <= 0x2BFF) || (c >= 0x3000 && c <= 0x3004) ||
         (c >= 0x3008 && c <= 0x3020) || c == 0xFEFF || (c >= 0xFF01 && c <= 0xFF0F) || (c >= 0xFFF0 && c <= 0xFFFF);
}

// What was probably meant by such a sign.
std::string_view meant_by(uint32_t c) {
  switch (c) {
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2212: return "-";
    case 0xD7:
    case 0x22C5:
    case 0x2217:
    case 0xB7: return "*";
    case 0xF7:
    case 0x2215:
    case 0x2044: return "/";
    case 0x2018:
    case 0x2019: return "'";
    case 0x201C:
    case 0x201D: return "\"";
    case 0x2026: return "...";
    case 0x2264: return "<=";
    case 0x2265: return ">=";
    case 0x2260: return "!=";
    case 0xB2: return "**2";
    case 0xB3: return "**3";
    case 0xA0:
    case 0x2009:
    case 0x202F:
    case 0x3000: return " ";
    default: return "";
  }
}

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text()) {}

  std::vector<Token> run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark
    while (at_ < text_.size()) next();
    if (!open_.empty())
      source_.fail(open_.back(), fmt::format("'{}' is never closed", source_.text(open_.back())),
                   "add the bracket that closes it");
    push(TokenKind::EndOfText, at_);
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Span span_from(size_t begin) const { return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)}; }
  void push(TokenKind kind, size_t begin, Literal literal = int64_t{0}) {
    tokens_.push_back({kind, span_from(begin), text_.substr(begin, at_ - begin), literal});
  }

  void next() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r')
      ++at_;
    else if (c == '\n')
      end_of_line();
    else if (c == '#')
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (is_digit(c) || (c == '.' && is_digit(peek(1))))
      number();
    else if (is_name_start(c))
      name();
    else if (c == '"' || c == '\'')
      string();
    else if (c == '(' || c == '[' || c == '{' || c == ')' || c == ']' || c == '}')
      bracket();
    else
      op();
  }

  void end_of_line() {
    ++at_;
    if (open_.empty())
      tokens_.push_back(
          {TokenKind::EndOfLine, {static_cast<uint32_t>(at_ - 1), static_cast<uint32_t>(at_)}, {}, int64_t{0}});
  }

  void bracket() {
    const size_t begin = at_;
    const char c = text_[at_++];
    if (c == '{' || c == '}')
      source_.fail(span_from(begin), fmt::format("'{}' has no meaning here", c), "use ( ) or [ ]");
    if (c == '(' || c == '[') {
      open_.push_back(span_from(begin));
    } else if (open_.empty()) {
      source_.fail(span_from(begin), fmt::format("'{}' closes nothing", c),
                   "remove it, or add the bracket that opens it");
    } else {
      const char opened = text_[open_.back().begin];
      if ((opened == '(') != (c == ')'))
        source_.fail(span_from(begin), fmt::format("'{}' does not close '{}'", c, opened),
                     fmt::format("'{}' was opened on line {}", opened, source_.origin(open_.back()).line));
      open_.pop_back();
    }
    push(TokenKind::Operator, begin);
  }

  void op() {
    const size_t begin = at_;
    const std::string_view rest = text_.substr(at_);
    for (std::string_view candidate : kOperators)
      if (rest.starts_with(candidate)) {
        at_ += candidate.size();
        push(candidate == ";" ? TokenKind::EndOfLine : TokenKind::Operator, begin);
        return;
      }
    ++at_;
    const std::string help = text_[begin] == '\\' ? "a line goes on inside parentheses" : "";
    if (text_[begin] >= 0 && text_[begin] < ' ') fail_sign(static_cast<uint32_t>(text_[begin]), begin);
    source_.fail(span_from(begin), fmt::format("unexpected character '{}'", shown(text_.substr(begin, 1))), help);
  }

  void name() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) {
      const auto [value, length] = decode(text_.substr(at_));
      const size_t here = at_;
      at_ += std::max<size_t>(length, 1);
      if (length == 0) source_.fail(span_from(here), "the text is not UTF-8 here", "save the file as UTF-8");
      if (value >= 0x80 && is_sign(value)) fail_sign(value, here);
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    push(is_reserved(word) ? TokenKind::Word : TokenKind::Name, begin);
  }

  [[noreturn]] void fail_sign(uint32_t value, size_t begin) {
    const std::string_view meant = meant_by(value);
    source_.fail(span_from(begin), fmt::format("unexpected character U+{:04X}", value),
                 meant == " "    ? "write a plain space"
                 : meant.empty() ? ""
                                 : fmt::format("write {}", meant));
  }

  void string() {
    const size_t begin = at_;
    const char quote = text_[at_++];
    if (peek() == quote && peek(1) == quote) return long_string(begin, quote);
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') ++at_;
    if (peek() != quote)
      source_.fail({static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1)}, "this quote is never closed",
                   "end the string on the same line");
    ++at_;
    push(TokenKind::String, begin);
    tokens_.back().text = text_.substr(begin + 1, at_ - begin - 2);
  }

  // Three quotes at each end: over several lines.
  void long_string(size_t begin, char quote) {
    at_ += 2;
    const size_t end = text_.find(std::string(3, quote), at_);
    if (end == std::string_view::npos)
      source_.fail({static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 3)}, "these quotes are never closed",
                   "end the string with the same three quotes");
    at_ = end + 3;
    push(TokenKind::String, begin);
    tokens_.back().text = text_.substr(begin + 3, end - begin - 3);
  }

  // Digits of a base, with single underscores between them.
  void digits(size_t begin, int base) {
    const auto fits = [&](char c) {
      if (base == 16) return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      return c >= '0' && c < '0' + base;
    };
    bool last_was_digit = false;
    while (fits(peek()) || peek() == '_') {
      const bool digit = peek() != '_';
      ++at_;
      if (!digit && !(last_was_digit && fits(peek()))) fail_number(begin, "'_' is allowed between two digits only");
      last_was_digit = digit;
    }
    if (!last_was_digit) fail_number(begin, "digits are missing");
  }

  [[noreturn]] void fail_number(size_t begin, const std::string& help) {
    while (is_name_part(peek())) ++at_;
    source_.fail(span_from(begin), fmt::format("{} is not a number", quoted(text_.substr(begin, at_ - begin))), help);
  }

  std::string without_underscores(size_t begin) const {
    std::string plain(text_.substr(begin, at_ - begin));
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    return plain;
  }

  void number() {
    const size_t begin = at_;
    const char mark = static_cast<char>(peek(1) | 0x20);
    if (peek() == '0' && (mark == 'x' || mark == 'b' || mark == 'o')) {
      at_ += 2;
      digits(begin, mark == 'x' ? 16 : mark == 'b' ? 2 : 8);
      integer(begin, 2, mark == 'x' ? 16 : mark == 'b' ? 2 : 8);
      return;
    }
    if (is_digit(peek())) digits(begin, 10);
    bool floating = false;
    if (peek() == '.' && !(peek(1) == '.' && peek(2) == '.')) {
      floating = true;
      ++at_;
      if (is_digit(peek())) digits(begin, 10);
    }
    if ((peek() | 0x20) == 'e') {
      floating = true;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!is_digit(peek())) fail_number(begin, "an exponent has digits, as in 1e-5");
      digits(begin, 10);
    }
    floating ? decimal(begin) : integer(begin, 0, 10);
  }

  void check_end(size_t begin) {
    if (is_name_part(peek())) fail_number(begin, "a name does not begin with a digit, and a product needs *");
  }

  void integer(size_t begin, size_t skip, int base) {
    check_end(begin);
    const std::string plain = without_underscores(begin + skip);
    if (base == 10 && plain.size() > 1 && plain[0] == '0' && plain.find_first_not_of('0') != std::string::npos)
      fail_number(begin, "an integer does not begin with 0; octal numbers are written 0o17");
    int64_t value = 0;
    const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
    if (error == std::errc::result_out_of_range)
      unsigned_integer(begin, plain, base);
    else
      push(TokenKind::Number, begin, value);
  }

  void unsigned_integer(size_t begin, const std::string& plain, int base) {
    uint64_t bits = 0;
    const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), bits, base);
    if (error == std::errc::result_out_of_range)
      source_.fail(span_from(begin), fmt::format("{} does not fit 64 bits", shown(source_.text(span_from(begin)))),
                   "integers have at most 64 bits; a float may be larger: 1e20");
    push(TokenKind::Unsigned, begin, static_cast<int64_t>(bits));
  }

  void decimal(size_t begin) {
    check_end(begin);
    const std::string plain = without_underscores(begin);
    double value = 0;
    const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    if (error == std::errc::result_out_of_range) value = std::strtod(plain.c_str(), nullptr);  // inf, or nearly 0
    if (std::isinf(value))
      source_.fail(span_from(begin),
                   fmt::format("{} is larger than every float", shown(source_.text(span_from(begin)))), "write inf");
    push(TokenKind::Number, begin, value);
  }

  const Source& source_;
  std::string_view text_;
  size_t at_ = 0;
  std::vector<Span> open_;
  std::vector<Token> tokens_;
};

}  // namespace

bool is_reserved(std::string_view word) { return std::find(kWords.begin(), kWords.end(), word) != kWords.end(); }

std::vector<Token> tokenize(const Source& source) { return Lexer(source).run(); }

}  // namespace smelt::lang
