#include "frontends/c_function.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "frontends/c_run.hpp"
#include "graph/build_detail.hpp"

namespace smelt::lang {

namespace {

constexpr size_t kMaxText = 64 << 10;

struct Named {
  std::string_view text;
  DType dtype;
};
constexpr Named kNamed[] = {{"float", DType::F32},    {"double", DType::F64},   {"bool", DType::Bool},
                            {"_Bool", DType::Bool},   {"int8_t", DType::I8},    {"int16_t", DType::I16},
                            {"int32_t", DType::I32},  {"int64_t", DType::I64},  {"uint8_t", DType::U8},
                            {"uint16_t", DType::U16}, {"uint32_t", DType::U32}, {"uint64_t", DType::U64},
                            {"size_t", DType::U64}};
constexpr std::string_view kIgnored[] = {"static",     "inline",          "constexpr", "extern",
                                         "__device__", "__forceinline__", "__host__",  "__inline__"};

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The words of int in any order: unsigned long long, long unsigned int, ...
struct IntegerWords {
  int longs = 0;
  bool is_short = false, is_char = false, is_unsigned = false, any = false;

  bool take(std::string_view word) {
    if (word == "long")
      ++longs;
    else if (word == "short")
      is_short = true;
    else if (word == "char")
      is_char = true;
    else if (word == "unsigned")
      is_unsigned = true;
    else if (word != "int" && word != "signed")
      return false;
    return any = true;
  }
  DType dtype() const {
    if (is_char) return is_unsigned ? DType::U8 : DType::I8;
    if (is_short) return is_unsigned ? DType::U16 : DType::I16;
    if (longs > 0) return is_unsigned ? DType::U64 : DType::I64;
    return is_unsigned ? DType::U32 : DType::I32;
  }
};

}  // namespace

std::optional<CType> read_type(const Source& source, const std::vector<CToken>& tokens, size_t& at) {
  size_t i = at;
  CType type;
  IntegerWords words;
  bool is_void = false;
  std::optional<DType> named;
  for (; i + 1 < tokens.size() && tokens[i].kind == CTokenKind::Name; ++i) {
    const std::string_view word = tokens[i].text;
    if (word == "const") {
      type.is_const = true;
    } else if (is_among(word, kIgnored)) {
    } else if (!named && !is_void && words.take(word)) {
    } else if (!named && !words.any && !is_void && word == "void") {
      is_void = true;
    } else if (const auto* found =
                   std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& n) { return n.text == word; });
               found != std::end(kNamed) && !named && !is_void && !(words.any && word != "double")) {
      if (words.any) source.fail(tokens[i].span, "there is no long double", "write double");
      named = found->dtype;
    } else {
      break;
    }
  }
  if (!named && !words.any && !is_void) return std::nullopt;
  if (tokens[i].is("*") || tokens[i].is("&"))
    source.fail(tokens[i].span, "a scalar function takes no pointers", "it is called for every element: take a number");
  if (!is_void) type.dtype = named ? *named : words.dtype();
  at = i;
  return type;
}

std::string_view c_name_of(DType dtype) {
  if (dtype == DType::I32) return "int";
  if (dtype == DType::U32) return "unsigned";
  if (dtype == DType::I64) return "long long";
  for (const Named& n : kNamed)
    if (n.dtype == dtype) return n.text;
  return name_of(dtype);
}

CFunction::CFunction(const Source& source, Span text) : source_(source) {
  if (text.end - text.begin > kMaxText)
    source.fail({text.begin, text.begin + 1}, fmt::format("a scalar function has at most {} bytes", kMaxText), "");
  tokens_ = tokenize_c(source, text);
  size_t at = 0;
  const auto expect = [&](std::string_view what) {
    if (!tokens_[at].is(what))
      source.fail(tokens_[at].span, fmt::format("expected '{}'", what),
                  "a scalar function is written float f(float x, float y) { return ...; }");
    ++at;
  };
  const auto name = [&](std::string_view what) {
    if (tokens_[at].kind != CTokenKind::Name)
      source.fail(tokens_[at].span, fmt::format("expected {}", what),
                  "a scalar function is written float f(float x, float y) { return ...; }");
    return tokens_[at++];
  };
  const auto result = read_type(source, tokens_, at);
  if (!result)
    source.fail(tokens_[at].span, "expected the type of the result",
                "a scalar function is written float f(float x, float y) { return ...; }");
  if (!result->dtype) source.fail(tokens_[0].span, "a scalar function returns a number", "give it a type: float");
  result_ = *result->dtype;
  name_ = name("the function's name");
  expect("(");
  while (true) {
    const size_t begin = at;
    const auto type = read_type(source, tokens_, at);
    if (!type || !type->dtype)
      source.fail(tokens_[begin].span, type ? "a scalar function takes at least one number" : "expected a type",
                  "as in float x; the types are float double bool int unsigned long long, int8_t to uint64_t");
    const CToken parameter = name("the parameter's name");
    for (const CParameter& p : parameters_)
      if (p.name == parameter.text)
        source.fail(parameter.span, fmt::format("two parameters are called {}", quoted(parameter.text)), "");
    parameters_.push_back({parameter.text, *type->dtype});
    if (!tokens_[at].is(",")) break;
    ++at;
  }
  expect(")");
  expect("{");
  body_ = at;
  // On numbers of these types, only to see that all is well.
  GraphBuilder scratch;
  CRunner runner(source_, tokens_, scratch);
  for (const CParameter& p : parameters_)
    runner.declare(p.name, {p.dtype, scratch.input(std::string(p.name), p.dtype, {}), std::nullopt});
  runner.run(*this, body_, result_);
}

std::string CFunction::signature() const {
  std::vector<std::string> texts;
  for (const CParameter& p : parameters_) texts.push_back(fmt::format("{} {}", c_name_of(p.dtype), shown(p.name)));
  return fmt::format("{} {}({})", c_name_of(result_), shown(name_.text), fmt::join(texts, ", "));
}

// Numbers take the parameter's type; arrays must hold nothing that it does not.
static NodeId converted(GraphBuilder& b, const CFunction& f, const CParameter& p, const Value& value) {
  if (const auto* literal = value.as<Literal>()) return b.materialize(Operand(*literal), p.dtype);
  const NodeId node = as_array(b, value, p.dtype);
  const bool weak = value.as<Size>() || (value.as<Array>() && value.as<Array>()->weak);
  const DType given = b.dtype(node);
  if (weak || given == p.dtype || promote(given, p.dtype) == p.dtype) return b.cast(node, p.dtype);
  fail(fmt::format("{} takes {} as {} ({}), not {}", shown(f.name()), shown(p.name), c_name_of(p.dtype),
                   name_of(p.dtype), describe(b.at(node))),
       fmt::format("write {}", cast_text(b, Operand(node), p.dtype)));
}

Value CFunction::build(GraphBuilder& b, std::span<const Value> arguments) const {
  if (arguments.size() != parameters_.size())
    fail(fmt::format("{} takes {} argument{}, not {}", shown(name()), parameters_.size(),
                     parameters_.size() == 1 ? "" : "s", arguments.size()),
         signature());
  CRunner runner(source_, tokens_, b);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const NodeId node = converted(b, *this, parameters_[i], arguments[i]);
    runner.declare(parameters_[i].name, {parameters_[i].dtype, node, std::nullopt});
    shapes.push_back(b.shape(node));
  }
  // It is called for every element, also of arguments that it does not use.
  return Value::array(b.broadcast_to(runner.run(*this, body_, result_), b.broadcast_shapes(shapes)));
}

}  // namespace smelt::lang
