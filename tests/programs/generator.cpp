#include "generator.hpp"
#include "generator_draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontends/language.hpp"
#include "generator_random.hpp"
#include "generator_scan.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

// Words of an expression that may be names.
std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else {
      if (!word.empty()) words.insert(word);
      word.clear();
    }
  }
  return words;
}

class Generator : Draws {
 public:
  explicit Generator(uint64_t seed) : Draws(seed) { program_.seed = seed; }

  Program run() {
    const size_t kind = pick(20);
    large_ = kind == 0;
    program_.data = kind < 12 ? kNormal : kind < 15 ? kWhole : kind < 18 ? kSpecial : kExtreme;
    choose_sizes();
    choose_inputs();
    const size_t wanted = large_ ? 1 + pick(4) : 2 + pick(14);
    for (size_t tries = 0; tries < 8 * wanted && program_.statements.size() < wanted; ++tries) step();
    choose_outputs();
    return std::move(program_);
  }

 private:
  struct Value {
    std::string name;
    DType dtype;
    Shape shape;
    bool indices = false;
  };

  std::string word(std::initializer_list<const char*> list) { return *(list.begin() + pick(list.size())); }

  // ---- sizes and inputs
  int64_t small_size() { return among<int64_t>({1, 1, 2, 3, 3, 5, 7, 8, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129}); }
  void choose_sizes() {
    if (large_) {
      dims_ = among<Shape>({{70000},
                            {3, 40000},
                            {40000, 3},
                            {70000, 5},
                            {2, 300, 200},
                            {1000, 129},
                            {600, 1, 70},
                            {1, 100000},
                            {129, 1025},
                            {2, 2, 20000},
                            {700, 4, 33}});
    } else {
      const size_t rank = 1 + pick(4);
      int64_t budget = chance(4) ? 40000 : 6000;
      for (size_t d = 0; d < rank; ++d) {
        int64_t n = chance(16) ? among<int64_t>({1000, 1023, 1025, 257}) : small_size();
        while (n > budget) n = among<int64_t>({1, 2, 3, 5});
        if (chance(80)) n = 0;
        budget /= std::max<int64_t>(n, 1);
        dims_.emplace_back(n);
      }
    }
    program_.sizes.push_back({});
    if (chance(2)) return;
    // Some sizes become symbols, and a second call has other values for them.
    program_.sizes.push_back({});
    const std::vector<Symbol> names{"B"_size, "N"_size, "M"_size};
    size_t used = 0;
    for (IntExpr& d : dims_) {
      if (used == names.size() || chance(2)) continue;
      const Symbol name = names[used++];
      program_.sizes[0][name] = *d.constant();
      const int64_t n = *d.constant();
      program_.sizes[1][name] = n > 1000 ? n / 2 + 1 : chance(10) ? 0 : small_size() % 70 + (chance(8) ? 0 : 1);
      d = sym(name);
    }
  }

  DType some_dtype() {
    return among<DType>({DType::F32, DType::F32, DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16,
                         DType::F64, DType::I32, DType::I64, DType::I8, DType::U8, DType::I16, DType::U16, DType::U32,
                         DType::U64, DType::Bool});
  }

  void add_input(DType dtype, Shape shape, int64_t index_below = 0) {
    const std::string name = fmt::format("x{}", program_.inputs.size());
    program_.inputs.push_back({name, dtype, shape, index_below});
    values_.push_back({name, dtype, std::move(shape), index_below > 0});
  }

  void choose_inputs() {
    const size_t n = 1 + pick(4);
    const DType main = some_dtype();
    for (size_t i = 0; i < n; ++i) {
      Shape shape = dims_;
      if (i > 0 && chance(2)) {
        // What broadcasts against the first: sizes of 1, fewer dimensions, or a scalar.
        for (IntExpr& d : shape)
          if (chance(3)) d = 1;
        const size_t dropped = chance(2) ? pick(shape.size() + 1) : 0;
        shape.erase(shape.begin(), shape.begin() + static_cast<long>(dropped));
      }
      add_input(i == 0 || chance(2) ? main : some_dtype(), shape);
    }
  }

  // ---- statements
  const Value& any() {
    // Later values are taken more often, so that chains grow.
    return chance(2) ? values_[values_.size() - 1 - pick(std::min<size_t>(values_.size(), 3))] : among(values_);
  }
  const Value& any_of(DType dtype) {
    for (int tries = 0; tries < 10; ++tries)
      if (const Value& v = any(); v.dtype == dtype) return v;
    return any();
  }
  std::string as(DType dtype, const Value& v) {
    return v.dtype == dtype ? v.name : fmt::format("{}({})", name_of(dtype), v.name);
  }
  std::string literal(DType dtype) {
    if (is_bool(dtype)) return word({"True", "False"});
    if (is_unsigned_int(dtype)) return word({"0", "1", "2", "3", "7", "100"});
    if (is_int(dtype)) return word({"0", "1", "2", "3", "-1", "-2", "7", "-5", "100"});
    return word({"0", "1", "2", "-1", "0.5", "-0.25", "3", "1.5", "0.1", "-0.0", "1e-3", "10"});
  }
  // A value of this dtype, or a number.
  std::string operand(DType dtype) { return chance(5) ? literal(dtype) : as(dtype, any_of(dtype)); }

  std::string elementwise() {
    const Value a = any();
    const DType t = a.dtype;
    const std::string& x = a.name;
    if (chance(3)) return unary(t, x);
    const std::string y = operand(t);
    const bool turned = chance(3);
    const std::string l = turned ? y : x, r = turned ? x : y;
    if (is_bool(t)) return fmt::format("{} {} {}", l, word({"&", "|", "^", "==", "!="}), r);
    switch (pick(is_float(t) ? 9 : 12)) {
      case 0: return fmt::format("{} {} {}", l, word({"<", "<=", ">", ">=", "==", "!="}), r);
      case 1: return fmt::format("{}({}, {})", word({"maximum", "minimum"}), l, r);
      case 2: return fmt::format("{} {} {}", l, word({"//", "%"}), r);
      case 3:
        return is_float(t) ? fmt::format("{}({}, {})", word({"copysign", "fmod"}), l, r)
                           : fmt::format("fmod({}, {})", l, r);
      case 4: return fmt::format("{} {} {}", l, is_float(t) ? "/" : "*", r);
      case 9: return fmt::format("{} {} {}", l, word({"&", "|", "^"}), r);
      case 10: return fmt::format("{} {} ({} & 7)", l, word({"<<", ">>"}), r);
      case 11: return fmt::format("{} {} {}", l, word({"<<", ">>"}), r);
      default: return fmt::format("{} {} {}", l, word({"+", "-", "*"}), r);
    }
  }

  std::string unary(DType t, const std::string& x) {
    if (is_bool(t)) return word({"~", "not "}) + x;
    if (!is_float(t))
      return chance(2) ? fmt::format("{}({})", word({"abs", "sign", "square"}), x) : word({"-", "~"}) + x;
    if (chance(8)) return fmt::format("{}({})", word({"isnan", "isinf", "isfinite"}), x);
    if (chance(6)) return fmt::format("{} ** {}", x, word({"2", "3", "-1", "0.5", "1.7"}));
    if (chance(3))
      return fmt::format("{}({})",
                         word({"exp",  "exp",  "log",  "sin",     "cos",  "tanh", "erf",  "log1p", "exp2",  "expm1",
                               "log2", "atan", "cbrt", "sigmoid", "asin", "erfc", "sinh", "acosh", "log10", "tan"}),
                         x);
    return fmt::format(
        "{}({})",
        word({"abs", "sign", "square", "floor", "ceil", "trunc", "round", "sqrt", "reciprocal", "rsqrt", "-"}), x);
  }

  std::string choice() {
    const Value a = any();
    const std::string c = chance(2) ? as(DType::Bool, any_of(DType::Bool))
                                    : fmt::format("({} {} {})", a.name, word({"<", ">", "=="}), operand(a.dtype));
    const DType t = any().dtype;
    const std::string x = as(t, any_of(t)), y = operand(t);
    return chance(2) ? fmt::format("where({}, {}, {})", c, x, y) : fmt::format("{} if {} else {}", x, c, y);
  }

  std::string conversion() {
    const Value a = any();
    const DType to = some_dtype();
    if (is_int(a.dtype) && is_int(to) && chance(2)) return fmt::format("wrap_cast({}, {})", a.name, name_of(to));
    return fmt::format("{}({})", name_of(to), a.name);
  }

  std::string axes_of(const Value& a) {
    if (a.shape.empty() || chance(6)) return "None";
    const int rank = static_cast<int>(a.shape.size());
    std::vector<int> axes;
    for (int d = 0; d < rank; ++d)
      if (chance(2)) axes.push_back(d);
    if (axes.size() <= 1) {
      const int d = static_cast<int>(pick(a.shape.size()));
      return fmt::format("{}", chance(2) ? d : d - rank);
    }
    std::string list;
    for (int d : axes) list += fmt::format("{}, ", d);
    return "(" + list + ")";
  }

  // Sums of f32 and the like; prod is left to what stays in range.
  std::string reduction_name(const Value& a) {
    if (is_bool(a.dtype)) return word({"any", "all", "sum"});
    return word({"sum", "sum", "sum", "max", "min", "prod", "any", "all", "argmax", "argmin"});
  }
  std::string reduction() {
    const Value a = any();
    const std::string name =
        is_float(a.dtype) && chance(3) ? word({"mean", "var", "std", "l2norm", "norm", "mean"}) : reduction_name(a);
    std::string axes = axes_of(a);
    if (name.substr(0, 3) == "arg" && axes[0] == '(') axes = "None";
    std::string more;
    if (name == "norm") more = fmt::format(", ord={}", word({"1", "2"}));
    if (name == "var" && chance(3)) more = ", ddof=1";
    const std::string keep = chance(2) ? ", keepdims=True" : "";
    return fmt::format("{}({}, axis={}{}{})", name, a.name, axes, keep, more);
  }

  // A row's values against its own reduction: what stays on chip.
  std::string epilogue() {
    const Value a = any();
    if (is_bool(a.dtype) || a.shape.empty()) return reduction();
    const std::string axes = axes_of(a);
    if (is_float(a.dtype) && chance(2)) {
      const std::string axis = axes == "None" ? "-1" : axes;
      switch (pick(9)) {
        case 5: return fmt::format("softmax({}, axis={})", a.name, axis);
        case 6: return fmt::format("log_softmax({}, axis={})", a.name, axis);
        case 7: return fmt::format("logsumexp({}, axis={})", a.name, axes);
        case 8: return fmt::format("{0} - logsumexp({0}, axis={1}, keepdims=True)", a.name, axes);
        case 0: return fmt::format("layernorm({}, axis={})", a.name, axis);
        case 1: return fmt::format("rmsnorm({}, axis={})", a.name, axis);
        case 2: return fmt::format("{0} / (sum(abs({0}), axis={1}, keepdims=True) + 1)", a.name, axes);
        case 3: return fmt::format("({0} - mean({0}, axis={1}, keepdims=True)) * 0.5", a.name, axes);
        default:
          return fmt::format("sum({0} - max({0}, axis={1}, keepdims=True), axis={1}{2})", a.name, axes,
                             chance(2) ? ", keepdims=True" : "");
      }
    }
    return fmt::format("{0} {2} {3}({0}, axis={1}, keepdims=True)", a.name, axes, word({"-", "+", "<", ">=", "*"}),
                       word({"max", "min"}));
  }

  std::string scan() {
    const Value a = any();
    const std::string condition = chance(2)
                                      ? as(DType::Bool, any_of(DType::Bool))
                                      : fmt::format("({} {} {})", a.name, word({"<", ">", "=="}), operand(a.dtype));
    return scan_expression({a.name, a.dtype, a.shape.size(), condition}, random_);
  }

  std::string slice_item(const IntExpr& size) {
    const int64_t n = size.constant().value_or(3);
    if (chance(3)) return ":";
    if (chance(5)) return chance(2) ? "0" : "-1";
    if (n > 8 && chance(3)) {
      const int64_t from = static_cast<int64_t>(pick(static_cast<size_t>(n / 2)));
      return fmt::format("{}:{}", from, from + 1 + static_cast<int64_t>(pick(static_cast<size_t>(n / 2))));
    }
    return word({"::-1", "1:", ":-1", "::2", "1::2", "::-2", "-1:0:-1", "::3", "-2::-1", "1:-1"});
  }

  std::string movement() {
    const Value a = any();
    const std::string& x = a.name;
    const size_t rank = a.shape.size();
    const auto axis = [&] { return rank ? static_cast<int>(pick(rank)) : 0; };
    switch (pick(18)) {
      case 0:
      case 1: {
        std::string items;
        for (const IntExpr& size : a.shape) {
          if (chance(8)) items += "None, ";
          items += slice_item(size) + ", ";
        }
        return items.empty() ? x : fmt::format("{}[{}]", x, items.substr(0, items.size() - 2));
      }
      case 2: return x + ".T";
      case 3: {
        std::vector<int> order;
        for (size_t d = 0; d < rank; ++d) order.push_back(static_cast<int>(d));
        std::shuffle(order.begin(), order.end(), random_);
        std::string list;
        for (int d : order) list += fmt::format("{}, ", d);
        return rank ? fmt::format("transpose({}, ({}))", x, list) : x;
      }
      case 4: return fmt::format("{}.reshape(-1)", x);
      case 5: {
        // One axis split in two, or two made one.
        std::string sizes;
        const size_t at = rank ? pick(rank) : 0;
        for (size_t d = 0; d < rank; ++d) {
          if (d == at && chance(2) && d + 1 < rank) {
            sizes += "-1, ";
            ++d;
          } else if (d == at) {
            const int64_t n = a.shape[d].constant().value_or(0);
            const char* factor = n > 0 && n % 8 == 0 ? "8, -1, " : n > 0 && n % 3 == 0 ? "-1, 3, " : "1, -1, ";
            sizes += factor;
          } else {
            sizes += fmt::format("{}.shape[{}], ", x, d);
          }
        }
        return rank ? fmt::format("reshape({}, ({}))", x, sizes) : x;
      }
      case 6: return chance(3) ? fmt::format("flip({})", x) : fmt::format("flip({}, axis={})", x, axis());
      case 7:
      case 8: {
        const Value b = chance(2) ? a : any_of(a.dtype);
        return fmt::format("concat(({}, {}), axis={})", x, as(a.dtype, b), axis());
      }
      case 9: return fmt::format("pad({}, {}, value={})", x, word({"1", "(0, 2)", "(3, 0)"}), literal(a.dtype));
      case 10:
        return chance(3) ? fmt::format("roll({}, {})", x, word({"1", "-2", "5"}))
                         : fmt::format("roll({}, {}, axis={})", x, word({"1", "-1", "3"}), axis());
      case 11: return take();
      case 12: return fmt::format("expand_dims({}, axis={})", x, axis());
      case 13: return fmt::format("stack(({}, {}), axis={})", x, as(a.dtype, any_of(a.dtype)), axis());
      case 14: return fmt::format("{}({})", word({"tril", "triu"}), x);
      case 15: return fmt::format("{}({}, 2, axis={})", word({"repeat"}), x, axis());
      case 16: return rank ? fmt::format("tile({}, 2)", x) : x;
      default: return fmt::format("broadcast_to({}, (2,) + {}.shape)", x, x);
    }
  }

  std::string take() {
    const Value a = any();
    if (a.shape.empty()) return a.name;
    const int axis = static_cast<int>(pick(a.shape.size()));
    if (chance(2)) {
      // Any integers, brought into range.
      const Value indices = any();
      if (indices.shape.size() + a.shape.size() > 5) return a.name;
      const std::string i = is_int(indices.dtype) ? indices.name : fmt::format("i64({})", indices.name);
      const bool along = indices.shape == a.shape && chance(2);
      return fmt::format("{}({}, {}, axis={}, mode='{}')", along ? "take_along_axis" : "take", a.name, i, axis,
                         word({"clip", "wrap"}));
    }
    const auto n = a.shape[static_cast<size_t>(axis)].constant();
    if (!n || *n == 0 || a.shape.size() > 4) return a.name;
    const DType t = among<DType>({DType::I64, DType::I32, DType::I8, DType::U8});
    if (*n > 100) return a.name;
    const std::string name = a.name;
    add_input(t, {among<int64_t>({1, 2, 5, 33})}, *n);
    return fmt::format("take({}, {}, axis={})", name, values_.back().name, axis);
  }

  std::string function() {
    const Value a = any();
    const DType t = is_float(a.dtype) ? a.dtype : DType::F32;
    const std::string x = as(t, a), y = as(t, any_of(t));
    switch (pick(14)) {
      case 12: return fmt::format("{}({})", word({"gelu", "silu", "softplus", "mish", "gelu_tanh", "elu"}), x);
      case 13: return fmt::format("{}({}, {})", word({"atan2", "hypot"}), x, y);
      case 0: return fmt::format("relu({})", x);
      case 1: return fmt::format("leaky_relu({}, 0.1)", x);
      case 2: return fmt::format("clamp({}, {}, {})", a.name, is_unsigned_int(a.dtype) ? "1" : "-1", "2");
      case 3: return fmt::format("hardswish({})", x);
      case 4: return fmt::format("quantize_int8({}, 0.1, 3)", x);
      case 5: return fmt::format("lerp({}, {}, 0.25)", x, y);
      case 6: return fmt::format("fma({}, {}, {})", x, y, operand(t));
      case 7: return fmt::format("mse({}, {})", x, y);
      case 8: return fmt::format("huber({}, {}, reduction='{}')", x, y, word({"mean", "sum", "none"}));
      case 9: return fmt::format("{} * {} + {}", x, y, operand(t));
      case 10: return fmt::format("dequantize(i8({}), 0.5, 2)", x);
      default: return fmt::format("logical_{}({}, {})", word({"and", "or", "xor"}), a.name, any().name);
    }
  }

  std::string creation() {
    const Value a = any();
    if (!chance(3)) return draw_expression(random_, a.name, a.dtype, seed());
    if (a.shape.empty()) return fmt::format("{} + 1", a.name);
    return fmt::format("{} {} {}(arange({}.shape[-1]))", as(DType::F32, a), word({"+", "*"}), "f32", a.name);
  }

  // An integer of the program, for draws.
  std::string seed() {
    const Value v = any();
    return is_int(v.dtype) ? fmt::format("sum({})", v.name) : "";
  }

  std::string expression() {
    switch (pick(24)) {
      case 0:
      case 1:
      case 2: return conversion();
      case 3:
      case 4:
      case 5: return reduction();
      case 6:
      case 7: return epilogue();
      case 8:
      case 9: return choice();
      case 10:
      case 11:
      case 12:
      case 13:
      case 14: return movement();
      case 15:
      case 16:
      case 17: return function();
      case 18: return chance(2) ? creation() : scan();
      default: return elementwise();
    }
  }

  // Adds a statement when it is a legal program with all statements before it, and small enough.
  void step() {
    const size_t inputs = program_.inputs.size();
    Statement statement{fmt::format("v{}", program_.statements.size()), expression()};
    program_.statements.push_back(statement);
    program_.outputs = {statement.name};
    const size_t known = values_.size();
    try {
      const Graph graph = lang::parse_program(program_.text(), "random.smelt");
      const Node& node = graph.at(graph.outputs[0]);
      int64_t largest = 0;
      for (const SizeBinding& sizes : program_.sizes)
        for (const Node& n : graph.nodes) largest = std::max(largest, element_count(evaluate(n.shape, bound(sizes))));
      if (largest <= (large_ ? 400000 : 100000) && node.shape.size() <= 6 && graph.nodes.size() < 200) {
        values_.push_back({statement.name, node.dtype, node.shape});
        return;
      }
    } catch (const UserError&) {
      // What does not fit is simply not part of this program.
    }
    values_.resize(std::min(known, values_.size()));
    program_.statements.pop_back();
    if (program_.inputs.size() > inputs) {
      program_.inputs.resize(inputs);
      values_.pop_back();
    }
  }
  static SizeBinding bound(const SizeBinding& sizes) { return sizes; }

  void choose_outputs() {
    program_.outputs.clear();
    const auto& all = program_.statements;
    if (all.empty()) {
      program_.outputs = {program_.inputs[0].name};
      return;
    }
    program_.outputs.push_back(all.back().name);
    for (size_t more = pick(3); more > 0; --more) program_.outputs.push_back(among(all).name);
  }

  Program program_;
  bool large_ = false;
  Shape dims_;
  std::vector<Value> values_;
};

}  // namespace

std::string Program::text() const {
  std::set<std::string> needed(outputs.begin(), outputs.end());
  std::vector<std::string> lines;
  for (auto s = statements.rbegin(); s != statements.rend(); ++s) {
    if (!needed.count(s->name)) continue;
    lines.push_back(s->text());
    for (const std::string& word : words_of(s->expression)) needed.insert(word);
  }
  std::string all;
  for (const InputSpec& input : inputs) {
    if (!needed.count(input.name)) continue;
    all +=
        fmt::format("input {}: {}{}\n", input.name, name_of(input.dtype), input.shape.empty() ? "" : str(input.shape));
  }
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) all += *line + "\n";
  all += "return ";
  for (size_t o = 0; o < outputs.size(); ++o) all += (o ? ", " : "") + outputs[o];
  return all + "\n";
}

Program random_program(uint64_t seed) { return Generator(seed).run(); }

}  // namespace smelt::testing
