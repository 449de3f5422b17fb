#include "report/inputs.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/nearest.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

constexpr std::string_view kForms =
    "help: write NAME=@file.npy, NAME=f32[4096,1024] (normal random numbers), NAME=uniform:f32[...], zeros:, ones:, "
    "iota:, "
    "or a number: NAME=4.2";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80); }

bool is_name(std::string_view text) {
  // An item of a list: x[3].
  if (const size_t open = text.find('['); open != std::string_view::npos) {
    const std::string_view number = text.substr(open + 1, text.size() - open - 2);
    if (text.back() != ']' || number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos)
      return false;
    text = text.substr(0, open);
  }
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text)
    if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
  return true;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Split {
  std::string_view left, right;
};
Split split_at_equals(const std::string& text, const std::string& option, std::string_view help) {
  const size_t equals = text.find('=');
  const std::string_view name = trimmed(std::string_view(text).substr(0, equals));
  if (equals == std::string::npos || !is_name(name))
    throw UserError(fmt::format("{} \"{}\" does not begin with NAME=\n{}", option, printable(text), help));
  return {name, trimmed(std::string_view(text).substr(equals + 1))};
}

int64_t positive_size(std::string_view text, const std::string& option, const std::string& whole) {
  const std::optional<Scalar> number = parse_number(text);
  if (!number || number->dtype != DType::I64 || number->i < 0)
    throw UserError(fmt::format("{} \"{}\": \"{}\" is not a size (a whole number, 0 or more)", option, printable(whole),
                                printable(text)));
  return number->i;
}

std::optional<Filler> filler_from_name(std::string_view name) {
  for (const Filler f : {Filler::Normal, Filler::Uniform, Filler::Zeros, Filler::Ones, Filler::Iota})
    if (name_of(f) == name) return f;
  return std::nullopt;
}

std::string unknown_filler(std::string_view name) {
  std::vector<std::string> names;
  for (const Filler f : {Filler::Normal, Filler::Uniform, Filler::Zeros, Filler::Ones, Filler::Iota})
    names.emplace_back(name_of(f));
  const std::string near = nearest(name, names);
  return fmt::format("there is no filler \"{}\"{}", printable(name, 40),
                     near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// "i32(7)" into its dtype and "7".
bool split_typed_number(std::string_view text, std::optional<DType>& dtype, std::string_view& number) {
  const size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return false;
  dtype = dtype_from_name(trimmed(text.substr(0, open)));
  number = trimmed(text.substr(open + 1, text.size() - open - 2));
  return dtype.has_value();
}

}  // namespace

std::string_view name_of(Filler filler) {
  switch (filler) {
    case Filler::Normal: return "normal";
    case Filler::Uniform: return "uniform";
    case Filler::Zeros: return "zeros";
    case Filler::Ones: return "ones";
    case Filler::Iota: return "iota";
  }
  return "";
}

std::optional<Scalar> parse_number(std::string_view text) {
  const std::string digits(text);
  if (digits == "true" || digits == "True") return Scalar::of_bool(true);
  if (digits == "false" || digits == "False") return Scalar::of_bool(false);
  // strtod alone would take blanks, hexadecimal and "nan(...)" too.
  const size_t sign = !digits.empty() && (digits[0] == '-' || digits[0] == '+') ? 1 : 0;
  const std::string_view rest = std::string_view(digits).substr(sign);
  if (rest == "inf" || rest == "nan") {
    const double value =
        rest == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    return Scalar::of_float(DType::F64, digits[0] == '-' ? -value : value);
  }
  if (rest.empty() || rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  if (rest.find_first_not_of("0123456789") == std::string_view::npos) {
    const long long value = std::strtoll(digits.c_str(), &end, 10);
    if (errno == 0) return Scalar::of_int(DType::I64, value);
    errno = 0;
    const unsigned long long large = std::strtoull(digits.c_str(), &end, 10);
    if (errno == 0 && digits[0] != '-') return Scalar::of_uint(DType::U64, large);
    return std::nullopt;
  }
  const double value = std::strtod(digits.c_str(), &end);
  if (end != digits.c_str() + digits.size()) return std::nullopt;
  return Scalar::of_float(DType::F64, value);
}

InputSpec parse_input(const std::string& text) {
  const Split split = split_at_equals(text, "-i", kForms);
  InputSpec spec;
  spec.name = split.left;
  spec.text = split.right;
  const auto fail = [&](const std::string& what) -> void {
    throw UserError(fmt::format("-i \"{}\": {}\n{}", printable(text), what, kForms));
  };
  if (split.right.empty()) fail("nothing follows the =");
  if (split.right[0] == '@') {
    spec.kind = InputSpec::File;
    spec.path = split.right.substr(1);
    if (spec.path.empty()) fail("no file name follows the @");
    return spec;
  }
  if (const std::optional<Scalar> number = parse_number(split.right)) {
    spec.kind = InputSpec::Number;
    spec.number = *number;
    return spec;
  }
  std::string_view digits;
  if (split_typed_number(split.right, spec.dtype, digits)) {
    const std::optional<Scalar> number = parse_number(digits);
    if (!number) fail(fmt::format("\"{}\" is not a number", printable(digits)));
    spec.kind = InputSpec::Number;
    spec.number = *number;
    spec.number = number_as(spec, *spec.dtype);
    return spec;
  }
  std::string_view type = split.right;
  const size_t colon = type.find(':');
  if (colon != std::string_view::npos) {
    const std::optional<Filler> filler = filler_from_name(trimmed(type.substr(0, colon)));
    if (!filler) fail(unknown_filler(trimmed(type.substr(0, colon))));
    spec.filler = *filler;
    type = trimmed(type.substr(colon + 1));
  }
  if (ends_with(type, ".npy"))
    throw UserError(fmt::format("-i \"{}\": \"{}\" is no type\nhelp: a file name follows an @: -i {}=@{}",
                                printable(text), printable(type), printable(spec.name, 40), printable(type)));
  // What begins like a name is taken for a type; the language knows them.
  if (type.empty() || !is_letter(type[0]))
    fail(fmt::format("\"{}\" is neither a file (@), nor a type, nor a number", printable(type)));
  spec.type = type;
  return spec;
}

std::vector<InputSpec> parse_input_list(const std::string& text) {
  constexpr int64_t kMostItems = 65536;
  const Split split = split_at_equals(text, "-i", kForms);
  // COUNT '*' SPEC {'+' COUNT '*' SPEC}; a number has neither.
  if (split.right.empty() || split.right[0] == '@' || split.right.find('*') == std::string_view::npos ||
      split.left.find('[') != std::string_view::npos)
    return {parse_input(text)};
  std::vector<InputSpec> items;
  for (std::string_view rest = split.right; !rest.empty();) {
    const size_t plus = rest.find('+');
    const std::string_view piece = trimmed(rest.substr(0, plus));
    const size_t star = piece.find('*');
    const int64_t count =
        star == std::string_view::npos ? 1 : positive_size(trimmed(piece.substr(0, star)), "-i", text);
    if (static_cast<int64_t>(items.size()) + count > kMostItems)
      throw UserError(fmt::format("-i \"{}\": a list has at most {} items", printable(text), kMostItems));
    const std::string_view spec = star == std::string_view::npos ? piece : trimmed(piece.substr(star + 1));
    for (int64_t i = 0; i < count; ++i)
      items.push_back(parse_input(fmt::format("{}[{}]={}", split.left, items.size(), spec)));
    rest = plus == std::string_view::npos ? std::string_view() : rest.substr(plus + 1);
  }
  return items;
}

Scalar number_as(const InputSpec& spec, DType dtype) {
  const Scalar& n = spec.number;
  if (is_float(dtype)) {
    if (n.dtype == DType::I64) return Scalar::of_float(dtype, static_cast<double>(n.i));
    if (n.dtype == DType::U64) return Scalar::of_float(dtype, static_cast<double>(n.u));
    return convert(n, dtype);
  }
  const auto misfit = [&](std::string_view why) -> void {
    throw UserError(fmt::format("-i {}={}: {} {}", spec.name, printable(spec.text), name_of(dtype), why));
  };
  if (is_bool(dtype)) {
    if (!is_bool(n.dtype)) misfit("takes true or false");
    return n;
  }
  if (!is_int(n.dtype) && !is_bool(n.dtype)) misfit("takes whole numbers");
  if (is_bool(n.dtype)) return Scalar::of_int(dtype, n.i);
  const bool fits = n.dtype == DType::U64 ? n.u <= max_int(dtype)
                    : n.i < 0             ? is_signed_int(dtype) && n.i >= min_int(dtype)
                                          : static_cast<uint64_t>(n.i) <= max_int(dtype);
  if (!fits)
    misfit(is_signed_int(dtype) ? fmt::format("cannot hold this number, only {} to {}", min_int(dtype), max_int(dtype))
                                : fmt::format("cannot hold this number, only 0 to {}", max_int(dtype)));
  return n.dtype == DType::U64 ? Scalar::of_uint(dtype, n.u) : Scalar::of_int(dtype, n.i);
}

NamedSize parse_size(const std::string& text) {
  const Split split = split_at_equals(text, "--size", "help: write --size B=4096");
  return {std::string(split.left), positive_size(split.right, "--size", text)};
}

SizeSweep parse_sweep(const std::string& text) {
  const Split split = split_at_equals(text, "--sweep", "help: write --sweep B=1024,4096,16384");
  SizeSweep sweep{std::string(split.left), {}};
  for (std::string_view rest = split.right;;) {
    const size_t comma = rest.find(',');
    sweep.sizes.push_back(positive_size(trimmed(rest.substr(0, comma)), "--sweep", text));
    if (comma == std::string_view::npos) return sweep;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace smelt::report
