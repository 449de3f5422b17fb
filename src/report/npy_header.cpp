// The header's dictionary: a Python literal of three keys, read by a parser that knows nothing
// else.
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (4096, 1024), }
#include <fmt/format.h>

#include <bit>
#include <optional>

#include "report/npy.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

constexpr size_t kMaxRank = 64;  // NumPy's own limit

struct DictionaryReader {
  std::string_view text;
  const std::string& where;
  size_t at = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{} is not a valid .npy file: {}\nhelp: write it again with numpy.save", where, what));
  }

  void skip_space() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) ++at;
  }
  char peek() {
    skip_space();
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("its header has no '{}' at place {}", c, at));
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (text.substr(at, word.size()) != word) return false;
    at += word.size();
    return true;
  }

  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(fmt::format("its header has no string at place {}", at));
    const size_t end = text.find(quote, ++at);
    if (end == std::string_view::npos || end - at > 256) fail("a string of its header does not end");
    const std::string_view inside = text.substr(at, end - at);
    if (inside.find('\\') != std::string_view::npos) fail("a string of its header holds an escape");
    at = end + 1;
    return inside;
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    fail("fortran_order is neither True nor False");
  }

  int64_t size() {
    skip_space();
    if (at < text.size() && text[at] == '-') fail("its shape holds a negative size");
    const size_t begin = at;
    int64_t value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      if (__builtin_mul_overflow(value, int64_t{10}, &value) || __builtin_add_overflow(value, text[at] - '0', &value))
        fail("its shape holds a size past 64 bits");
    }
    if (at == begin) fail(fmt::format("its shape holds no number at place {}", at));
    if (at < text.size() && text[at] == 'L') ++at;  // Python 2 wrote long integers so
    return value;
  }

  Dims shape() {
    expect('(');
    Dims dims;
    while (!take(')')) {
      if (dims.size() == kMaxRank) fail(fmt::format("its shape has more than {} dimensions", kMaxRank));
      dims.push_back(size());
      if (take(',')) continue;
      if (dims.size() == 1 && peek() == ')') fail("its shape is a number in brackets, not a tuple");
      expect(')');
      break;
    }
    return dims;
  }
};

// "f4" without its byte order.
std::optional<DType> dtype_of(std::string_view code) {
  struct Row {
    std::string_view code;
    DType dtype;
  };
  static constexpr Row rows[] = {{"b1", DType::Bool}, {"i1", DType::I8},  {"i2", DType::I16}, {"i4", DType::I32},
                                 {"i8", DType::I64},  {"u1", DType::U8},  {"u2", DType::U16}, {"u4", DType::U32},
                                 {"u8", DType::U64},  {"f2", DType::F16}, {"f4", DType::F32}, {"f8", DType::F64}};
  for (const Row& row : rows)
    if (row.code == code) return row.dtype;
  return std::nullopt;
}

std::string kind_of(std::string_view code) {
  switch (code.empty() ? '?' : code[0]) {
    case 'O': return "Python objects (pickled)";
    case 'c': return "complex numbers";
    case 'S':
    case 'a': return "byte strings";
    case 'U': return "strings";
    case 'M': return "dates";
    case 'm': return "time spans";
    case 'V': return "raw bytes (bf16 saved by other programs looks like this)";
    case 'f': return fmt::format("floats of {} bytes", code.substr(1));
    default: return "elements of an unknown type";
  }
}

void read_descr(DictionaryReader& in, NpyHeader& header) {
  if (in.peek() == '[') {
    throw UserError(
        fmt::format("{} holds records with named fields, which smelt does not read\n"
                    "help: save one field: numpy.save(path, array['field'])",
                    in.where));
  }
  const std::string_view descr = in.quoted();
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  const char order = has_order ? descr[0] : '=';
  const std::string_view code = has_order ? descr.substr(1) : descr;
  const std::optional<DType> dtype = dtype_of(code);
  if (!dtype) {
    throw UserError(
        fmt::format("{} holds {} (dtype '{}'), which smelt does not read\n"
                    "help: save numbers: numpy.save(path, array.astype('float32'))",
                    in.where, kind_of(code), descr));
  }
  header.dtype = *dtype;
  if (order == '|' && size_of(*dtype) > 1) in.fail(fmt::format("its dtype '{}' has no byte order", descr));
  constexpr char other = std::endian::native == std::endian::little ? '>' : '<';
  header.swapped = order == other && size_of(*dtype) > 1;
}

}  // namespace

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& where) {
  DictionaryReader in{text, where};
  NpyHeader header;
  bool has_descr = false, has_order = false, has_shape = false;
  const auto once = [&](bool& seen, std::string_view key) {
    if (seen) in.fail(fmt::format("its header has the key '{}' twice", key));
    seen = true;
  };
  in.expect('{');
  while (!in.take('}')) {
    const std::string_view key = in.quoted();
    in.expect(':');
    if (key == "descr") {
      once(has_descr, key);
      read_descr(in, header);
    } else if (key == "fortran_order") {
      once(has_order, key);
      header.fortran_order = in.boolean();
    } else if (key == "shape") {
      once(has_shape, key);
      header.dims = in.shape();
    } else {
      in.fail("its header has a key that is none of 'descr', 'fortran_order' and 'shape'");
    }
    if (in.take(',')) continue;
    in.expect('}');
    break;
  }
  if (in.peek() != '\0' || in.at < text.size()) in.fail("its header goes on after the dictionary");
  if (!has_descr || !has_order || !has_shape) in.fail("its header lacks one of 'descr', 'fortran_order' and 'shape'");
  return header;
}

}  // namespace smelt::report
