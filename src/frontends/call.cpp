#include "frontends/call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/check.hpp"
#include "frontends/parser.hpp"

namespace smelt::lang {

namespace {

// What other libraries call the same argument. A name may occur here twice, for different
// functions.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {{"dim", "axis"},
                                                                       {"dims", "axes"},
                                                                       {"dims", "axis"},
                                                                       {"shifts", "shift"},
                                                                       {"is_causal", "causal"},
                                                                       {"attn_mask", "mask"},
                                                                       {"num_classes", "n"},
                                                                       {"a_min", "lo"},
                                                                       {"a_max", "hi"},
                                                                       {"axes", "axis"},
                                                                       {"keepdim", "keepdims"},
                                                                       {"correction", "ddof"},
                                                                       {"min", "lo"},
                                                                       {"max", "hi"},
                                                                       {"fill_value", "value"},
                                                                       {"input", "x"},
                                                                       {"input", "a"},
                                                                       {"other", "y"},
                                                                       {"other", "b"},
                                                                       {"x", "a"},
                                                                       {"y", "b"},
                                                                       {"z", "c"},
                                                                       {"x1", "a"},
                                                                       {"x2", "b"},
                                                                       {"a", "x"},
                                                                       {"target", "targets"},
                                                                       {"negative_slope", "slope"},
                                                                       {"num_groups", "groups"},
                                                                       {"constant_values", "value"},
                                                                       {"diagonal", "k"},
                                                                       {"p", "ord"},
                                                                       {"argnums", "by"},
                                                                       {"inputs", "by"},
                                                                       {"outputs", "values"},
                                                                       {"grad_outputs", "cotangents"}};

// The value of a default as the table writes it.
Value default_value(std::string_view text) {
  if (text == "None") return Value();
  if (text == "True" || text == "False") return Value(Literal(text == "True"));
  if (text.starts_with('\'')) return Value(Text{text.substr(1, text.size() - 2)});
  if (text == "()") return Value::tuple({});
  if (const auto dtype = dtype_named(text)) return Value(*dtype);
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data(), end, integer).ptr == end) return Value::integer(integer);
  double number = 0;
  SMELT_CHECK(std::from_chars(text.data(), end, number).ptr == end, "the table has the default {}", text);
  return Value(Literal(number));
}

std::string counted(size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

}  // namespace

Call::Call(GraphBuilder& builder, const Source& source, const Function& function, std::string_view written, Span span,
           const std::vector<Given>& given)
    : b(builder),
      source_(source),
      function_(function),
      written_(written),
      span_(span),
      slots_(function.parameters.size()) {
  fill(given);
  fill_defaults();
}

Value Call::build() {
  if (function_.row.build) return function_.row.build(*this);
  std::vector<Value> args;
  for (const Slot& slot : slots_) args.push_back(slot.value);
  return apply(b, *function_.op, args, written_);
}

std::string Call::usage() const { return fmt::format("{}({})", written_, function_.row.signature); }

std::string Call::help_for(std::string_view unknown) const {
  if (unknown == "dtype") return fmt::format("cast before or after: {0}(f32(x)), f32({0}(x))", written_);
  if (unknown == "unbiased") return "write ddof=1, or ddof=0 for unbiased=False";
  if (unknown == "minlength") return "write n, the number of bins; what lies outside is left out";
  if (unknown == "kernel_size") return "write size, with a number for each axis: (2, 2) for images";
  return usage();
}

size_t Call::index_of(std::string_view parameter) const {
  for (size_t i = 0; i < slots_.size(); ++i)
    if (function_.parameters[i].name == parameter) return i;
  return slots_.size();
}

void Call::fill(const std::vector<Given>& given) {
  size_t next = 0;
  for (size_t i = 0; i < given.size(); ++i) {
    size_t slot = next;
    if (given[i].name.empty()) {
      if (slot == slots_.size())
        source_.fail(
            given[i].span,
            fmt::format("{} takes at most {}, not {}", written_, counted(slots_.size(), "argument"), given.size()),
            usage());
      if (function_.parameters[slot].rest) {
        fill_rest(slot, given, i);
        if (slot + 1 < slots_.size() && given[i].value.as<Tuple>()) {
          next = slot + 1;
          continue;
        }
        while (i + 1 < given.size() && given[i + 1].name.empty()) ++i;
        next = slots_.size();
        continue;
      }
      ++next;
    } else {
      slot = index_of(given[i].name);
      for (const auto& [other, ours] : kSynonyms)
        if (slot == slots_.size() && other == given[i].name) slot = index_of(ours);
      if (slot == slots_.size())
        source_.fail(given[i].span, fmt::format("{} has no argument {}", written_, quoted(given[i].name)),
                     help_for(given[i].name));
    }
    if (slots_[slot].filled)
      source_.fail(given[i].span,
                   fmt::format("{} gets the argument '{}' twice", written_, function_.parameters[slot].name), usage());
    slots_[slot] = {given[i].value, given[i].span, true};
  }
}

// x.reshape(2, 3) as x.reshape((2, 3)); one argument stands for itself.
void Call::fill_rest(size_t slot, const std::vector<Given>& given, size_t from) {
  size_t to = from;
  while (to < given.size() && given[to].name.empty()) ++to;
  // A tuple is all of them where another parameter follows.
  if (slot + 1 < slots_.size() && given[from].value.as<Tuple>()) to = from + 1;
  Value value = given[from].value;
  if (to - from > 1) {
    std::vector<Value> items;
    for (size_t i = from; i < to; ++i) items.push_back(given[i].value);
    value = Value::tuple(std::move(items));
  }
  slots_[slot] = {std::move(value), join(given[from].span, given[to - 1].span), true};
}

void Call::fill_defaults() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].filled) continue;
    const Parameter& parameter = function_.parameters[i];
    if (parameter.default_text.empty())
      source_.fail(span_, fmt::format("{} needs the argument '{}'", written_, parameter.name), usage());
    slots_[i] = {default_value(parameter.default_text), span_, true};
  }
}

const Value& Call::value(std::string_view parameter) const {
  const size_t i = index_of(parameter);
  SMELT_CHECK(i < slots_.size(), "{} has no parameter {}", function_.row.name, parameter);
  return slots_[i].value;
}

void Call::fail(std::string_view parameter, const std::string& message, const std::string& help) const {
  source_.fail(slots_[index_of(parameter)].span, message, help);
}

void Call::fail_kind(std::string_view parameter, std::string_view wanted, const std::string& help) const {
  fail(parameter, fmt::format("{}: '{}' is {}, not {}", written_, parameter, wanted, describe(b, value(parameter))),
       help);
}

NodeId Call::array(std::string_view parameter) const { return b.materialize(operand(parameter)); }

std::optional<functions::KnownIndices> Call::known_indices(std::string_view parameter) const {
  if (!value(parameter).as<Tuple>()) return std::nullopt;
  try {
    return lang::known_indices(b, value(parameter));
  } catch (const UserBuildError& e) {
    fail(parameter, fmt::format("{}: {}", written_, e.error.message), e.error.help);
  }
}

NodeId Call::indices(std::string_view parameter) const {
  const auto known = known_indices(parameter);
  return known ? functions::array_of(b, *known) : array(parameter);
}

std::optional<NodeId> Call::optional_array(std::string_view parameter) const {
  if (!given(parameter)) return std::nullopt;
  return array(parameter);
}

std::vector<NodeId> Call::arrays(std::string_view parameter) const {
  const auto* tuple = value(parameter).as<Tuple>();
  if (!tuple) fail_kind(parameter, "a tuple of arrays", fmt::format("as in {}((x, y))", written_));
  std::vector<NodeId> result;
  for (const Value& item : *tuple->items) {
    if (!item.as<Array>() && !item.as<Literal>() && !item.as<Size>())
      fail(parameter, fmt::format("{}: expected arrays, but found {}", written_, describe(b, item)), "");
    result.push_back(as_array(b, item));
  }
  return result;
}

Operand Call::operand(std::string_view parameter) const {
  const Value& v = value(parameter);
  if (!v.as<Array>() && !v.as<Literal>() && !v.as<Size>()) {
    const auto* callable = v.as<Callable>();
    fail_kind(parameter, "an array or a number",
              callable                ? fmt::format("call it: {}(...)", callable->name)
              : !v.as<Tuple>()        ? ""
              : parameter == "weight" ? fmt::format("axes are named by axis: {}(x, weight, axis=(-2, -1))", written_)
                                      : "stack(...) and concat(...) make one array of several");
  }
  // A weak number takes the dtype that the first array is computed in.
  const auto* first = slots_[0].value.as<Array>();
  const DType t = first && !first->weak ? b.dtype(first->node) : DType::F32;
  return as_operand(b, v, is_float(t) ? compute_type(t) : DType::F32);
}

std::optional<Operand> Call::optional_operand(std::string_view parameter) const {
  if (!given(parameter)) return std::nullopt;
  return operand(parameter);
}

int Call::axis_of(std::string_view parameter, const Value& v) const {
  const auto i = as_integer(v);
  if (!i)
    fail(parameter, fmt::format("{}: an axis is an integer, not {}", written_, describe(b, v)),
         v.as<Array>()                              ? usage()
         : v.as<Tuple>() && &v == &value(parameter) ? "one axis, as in axis=-1"
                                                    : "as in axis=-1 or axis=(0, 1)");
  if (*i < -64 || *i > 64)
    fail(parameter, fmt::format("{}: there is no axis {}", written_, *i), "an array has at most 64 axes");
  return static_cast<int>(*i);
}

int Call::axis(std::string_view parameter) const { return axis_of(parameter, value(parameter)); }

std::optional<int> Call::optional_axis(std::string_view parameter) const {
  if (!given(parameter)) return std::nullopt;
  return axis(parameter);
}

bool Call::no_axes(std::string_view parameter) const {
  const auto* tuple = value(parameter).as<Tuple>();
  return tuple && tuple->items->empty();
}

std::vector<int> Call::axes(std::string_view parameter) const {
  if (!given(parameter)) return {};
  const auto* tuple = value(parameter).as<Tuple>();
  if (!tuple) return {axis(parameter)};
  if (tuple->items->empty())
    fail(parameter, fmt::format("{}: () names no axis", written_), "name at least one, as in axis=-1");
  std::vector<int> result;
  for (const Value& item : *tuple->items) result.push_back(axis_of(parameter, item));
  return result;
}

int64_t Call::integer(std::string_view parameter) const {
  const auto i = as_integer(value(parameter));
  if (!i) fail_kind(parameter, "an integer", "");
  return *i;
}

double Call::number(std::string_view parameter) const {
  const auto number = as_number(value(parameter));
  if (!number) fail_kind(parameter, "a number", "write it as a literal");
  return *number;
}

bool Call::flag(std::string_view parameter) const {
  const auto* literal = value(parameter).as<Literal>();
  if (const auto* flag = literal ? std::get_if<bool>(literal) : nullptr) return *flag;
  fail_kind(parameter, "True or False", "");
}

IntExpr Call::size(std::string_view parameter) const {
  const auto size = as_size(value(parameter));
  if (!size)
    fail_kind(parameter, "an integer or a size",
              "a size is a number, a name such as B, x.shape[0], or + - * // % of these");
  return *size;
}

Shape Call::shape(std::string_view parameter) const {
  const auto* tuple = value(parameter).as<Tuple>();
  if (!tuple) return {size(parameter)};
  Shape shape;
  for (const Value& item : *tuple->items) {
    const auto size = as_size(item);
    if (!size)
      fail(parameter, fmt::format("{}: a size is an integer or a name, not {}", written_, describe(b, item)),
           "a size is a number, a name such as B, x.shape[0], or + - * // % of these");
    shape.push_back(*size);
  }
  return shape;
}

std::vector<int64_t> Call::integers(std::string_view parameter) const {
  if (!given(parameter)) return {};
  const auto* tuple = value(parameter).as<Tuple>();
  std::vector<int64_t> result;
  for (const Value& item : tuple ? *tuple->items : std::vector<Value>{value(parameter)}) {
    const auto i = as_integer(item);
    if (!i) fail_kind(parameter, "an integer or a tuple of them", fmt::format("as in {}=(2, 2)", parameter));
    result.push_back(*i);
  }
  return result;
}

Precision Call::precision() const { return static_cast<Precision>(choice("precision", {"full", "tf32", "bf16x3"})); }

std::optional<ExtendMode> Call::pad_mode(std::string_view parameter) const {
  // The last two are PyTorch's names.
  const size_t mode = choice(parameter, {"constant", "edge", "reflect", "symmetric", "wrap", "replicate", "circular"});
  constexpr ExtendMode kModes[] = {ExtendMode::Edge, ExtendMode::Reflect, ExtendMode::Symmetric,
                                   ExtendMode::Wrap, ExtendMode::Edge,    ExtendMode::Wrap};
  return mode == 0 ? std::nullopt : std::optional(kModes[mode - 1]);
}

DType Call::dtype(std::string_view parameter) const {
  const auto* dtype = value(parameter).as<DType>();
  if (!dtype)
    fail_kind(parameter, "a type",
              as_integer(value(parameter)) && slots_[0].filled && as_integer(slots_[0].value)
                  ? fmt::format("a shape is one argument, as in {}((2, 3))", written_)
                  : "the types are f64 f32 f16 bf16 f8_e4m3 f8_e5m2 i8 i16 i32 i64 u8 u16 u32 u64 bool");
  return *dtype;
}

std::optional<DType> Call::optional_dtype(std::string_view parameter) const {
  if (!given(parameter)) return std::nullopt;
  return dtype(parameter);
}

size_t Call::choice(std::string_view parameter, std::initializer_list<std::string_view> texts) const {
  const auto* text = value(parameter).as<Text>();
  const auto found = text ? std::find(texts.begin(), texts.end(), text->text) : texts.end();
  if (found == texts.end()) fail_kind(parameter, fmt::format("one of '{}'", fmt::join(texts, "', '")), "");
  return static_cast<size_t>(found - texts.begin());
}

}  // namespace smelt::lang
