#include "frontends/c_token.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace smelt::lang {

namespace {

// Longest first.
constexpr std::string_view kCOperators[] = {"<<=", ">>=", "...", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
                                            "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "++", "--", "->", "+",  "-",
                                            "*",   "/",   "%",   "<",  ">",  "=",  "!",  "~",  "&",  "|",  "^",  "?",
                                            ":",   ";",   ",",   "(",  ")",  "{",  "}",  "[",  "]",  "."};

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_decimal(c); }

class CLexer {
 public:
  CLexer(const Source& source, Span text) : source_(source), text_(source.text(text)), first_(text.begin) {}

  std::vector<CToken> run() {
    while (at_ < text_.size()) next();
    tokens_.push_back({CTokenKind::EndOfText, span_from(at_), {}, {}});
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Span span_from(size_t begin) const {
    return {first_ + static_cast<uint32_t>(begin), first_ + static_cast<uint32_t>(at_)};
  }

  void next() {
    const size_t begin = at_;
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      at_ += 2;
      if (end == std::string_view::npos)
        source_.fail(span_from(begin), "this comment is never closed", "end it with */");
      at_ = end + 2;
    } else if (is_decimal(c) || (c == '.' && is_decimal(peek(1)))) {
      number();
    } else if (starts_name(c)) {
      while (continues_name(peek())) ++at_;
      tokens_.push_back({CTokenKind::Name, span_from(begin), text_.substr(begin, at_ - begin), {}});
    } else {
      op();
    }
  }

  void op() {
    const size_t begin = at_;
    for (const std::string_view candidate : kCOperators)
      if (text_.substr(at_).starts_with(candidate)) {
        at_ += candidate.size();
        tokens_.push_back({CTokenKind::Operator, span_from(begin), candidate, {}});
        return;
      }
    ++at_;
    const char c = text_[begin];
    source_.fail(span_from(begin), fmt::format("unexpected character '{}'", shown(text_.substr(begin, 1))),
                 c == '#'                ? "there is no preprocessor: write constants as numbers"
                 : c == '"' || c == '\'' ? "a scalar function has numbers only"
                                         : "");
  }

  [[noreturn]] void fail_number(size_t begin, const std::string& help) {
    while (continues_name(peek()) || peek() == '.') ++at_;
    source_.fail(span_from(begin), fmt::format("{} is not a number", quoted(text_.substr(begin, at_ - begin))), help);
  }

  void number() {
    const size_t begin = at_;
    const bool hex = peek() == '0' && (peek(1) | 0x20) == 'x';
    if (hex) at_ += 2;
    bool floating = false;
    const auto is_part = [&](char c) {
      return is_decimal(c) || (hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f') || c == '.';
    };
    const char exponent = hex ? 'p' : 'e';
    while (true) {
      const char c = peek();
      if (is_part(c)) {
        floating |= c == '.';
        ++at_;
      } else if ((c | 0x20) == exponent) {
        floating = true;
        ++at_;
        if (peek() == '+' || peek() == '-') ++at_;
      } else {
        break;
      }
    }
    const size_t end = at_;
    while (continues_name(peek())) ++at_;
    std::string suffix(text_.substr(end, at_ - end));
    for (char& c : suffix) c = static_cast<char>(c | 0x20);
    const std::string_view digits = text_.substr(begin, end - begin);
    const Scalar value = floating ? decimal(begin, digits, hex, suffix) : integer(begin, digits, hex, suffix);
    tokens_.push_back({CTokenKind::Number, span_from(begin), text_.substr(begin, at_ - begin), value});
  }

  Scalar decimal(size_t begin, std::string_view digits, bool hex, const std::string& suffix) {
    if (!suffix.empty() && suffix != "f") fail_number(begin, "floats are 1.0f (float) and 1.0 (double)");
    const std::string_view plain = hex ? digits.substr(2) : digits;
    const auto read = [&](auto value) -> double {
      const auto format = hex ? std::chars_format::hex : std::chars_format::general;
      const auto [stop, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value, format);
      if (stop != plain.data() + plain.size()) fail_number(begin, "as in 1.5, 2.0f, 1e-5f");
      if (error == std::errc::result_out_of_range) {
        const double approximately = std::strtod(std::string(digits).c_str(), nullptr);
        if (std::fabs(approximately) > 1) fail_number(begin, "it is larger than every number of its type");
        return static_cast<decltype(value)>(approximately);  // nearly 0
      }
      return value;
    };
    return suffix == "f" ? Scalar::of_float(DType::F32, read(0.0f)) : Scalar::of_float(DType::F64, read(0.0));
  }

  // The first type of C's list that holds it; int has 32 bits, long and long long 64.
  Scalar integer(size_t begin, std::string_view digits, bool hex, const std::string& suffix) {
    const bool is_unsigned = suffix.find('u') != std::string::npos, is_long = suffix.find('l') != std::string::npos;
    std::string rest = suffix;
    if (const size_t u = rest.find('u'); u != std::string::npos) rest.erase(u, 1);
    if (!rest.empty() && rest != "l" && rest != "ll")
      fail_number(begin, rest == "f" ? "a float has a point: 1.0f" : "suffixes of integers are u, l and ll");
    const bool octal = !hex && digits.size() > 1 && digits[0] == '0';
    const std::string_view plain = digits.substr(hex ? 2 : 0);
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value,
                                               hex     ? 16
                                               : octal ? 8
                                                       : 10);
    if (error == std::errc::result_out_of_range) fail_number(begin, "it does not fit 64 bits");
    if (stop != plain.data() + plain.size() || plain.empty())
      fail_number(begin, octal ? "octal digits are 0 to 7" : "");
    for (const DType dtype : {DType::I32, DType::U32, DType::I64, DType::U64}) {
      const bool takes = value <= max_int(dtype) && !(is_long && size_of(dtype) < 8) &&
                         (is_signed_int(dtype) ? !is_unsigned : is_unsigned || hex || octal);
      if (takes) return Scalar::of_uint(dtype, value);
    }
    fail_number(begin, "it does not fit a signed integer: add the suffix u");
  }

  static bool is_signed_int(DType dtype) { return dtype == DType::I32 || dtype == DType::I64; }

  const Source& source_;
  std::string_view text_;
  uint32_t first_;
  size_t at_ = 0;
  std::vector<CToken> tokens_;
};

}  // namespace

std::vector<CToken> tokenize_c(const Source& source, Span text) { return CLexer(source, text).run(); }

}  // namespace smelt::lang
