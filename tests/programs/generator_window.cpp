// Random programs of windows: pools, convolutions, filters, pads of all modes, windows by
// themselves, in chains with elementwise operations and reductions in between.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/language.hpp"
#include "generator.hpp"
#include "generator_draws.hpp"
#include "smelt/error.hpp"

namespace smelt::testing {
namespace {

class WindowGenerator : Draws {
 public:
  explicit WindowGenerator(uint64_t seed) : Draws(seed * 7919 + 13) { program_.seed = seed; }

  Program run() {
    const size_t kind = pick(20);
    program_.data = kind < 11 ? kNormal : kind < 14 ? kWhole : kind < 18 ? kSpecial : kExtreme;
    choose_sizes();
    const DType main = among<DType>({DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16, DType::F64,
                                     DType::I32, DType::I8, DType::U8, DType::Bool});
    add_input(main, dims_);
    if (chance(3)) add_input(main, dims_);
    const size_t wanted = 1 + pick(5);
    for (size_t tries = 0; tries < 12 * wanted && program_.statements.size() < wanted; ++tries) step();
    program_.outputs = {program_.statements.empty() ? program_.inputs[0].name : program_.statements.back().name};
    if (program_.statements.size() > 1 && chance(3)) program_.outputs.push_back(among(program_.statements).name);
    return std::move(program_);
  }

 private:
  struct Value {
    std::string name;
    DType dtype;
    Shape shape;
  };

  void choose_sizes() {
    const size_t rank = among<size_t>({1, 2, 2, 3, 4, 4, 5});
    int64_t budget = 12000;
    for (size_t d = 0; d < rank; ++d) {
      const bool inner = d + 1 == rank;
      int64_t n = inner && rank < 3 ? among<int64_t>({5, 16, 33, 64, 100, 129, 300, 1027})
                                    : among<int64_t>({1, 2, 3, 4, 5, 7, 8, 13, 17, 33});
      while (n > budget) n = among<int64_t>({1, 2, 3});
      if (chance(120)) n = 0;
      budget /= std::max<int64_t>(n, 1);
      dims_.emplace_back(n);
    }
    program_.sizes.push_back({});
    if (chance(2)) return;
    program_.sizes.push_back({});
    const std::vector<std::string> names{"B", "H", "W"};
    size_t used = 0;
    for (size_t d = 0; d < rank; ++d) {
      if (used == names.size() || chance(2)) continue;
      const std::string& name = names[used++];
      program_.sizes[0][Symbol::size(name)] = *dims_[d].constant();
      program_.sizes[1][Symbol::size(name)] = among<int64_t>({2, 3, 6, 9, 18, 40});
      dims_[d] = IntExpr::symbol(Symbol::size(name));
    }
  }

  void add_input(DType dtype, Shape shape) {
    const std::string name = fmt::format("x{}", program_.inputs.size());
    program_.inputs.push_back({name, dtype, shape, 0});
    values_.push_back({name, dtype, std::move(shape)});
  }

  const Value& any() { return chance(3) ? among(values_) : values_.back(); }

  std::string list(size_t n, const std::vector<int64_t>& from) {
    if (n > 1 && chance(3)) n = 1;
    std::string text = "(";
    for (size_t i = 0; i < n; ++i) text += fmt::format("{}, ", among(from));
    return text + ")";
  }
  std::string sizes(size_t n) {
    std::string text = "(";
    for (size_t i = 0; i < n; ++i) text += fmt::format("{}, ", among<int64_t>({1, 2, 2, 3, 3, 3, 4, 5, 7}));
    return text + ")";
  }
  std::string mode() { return among<std::string>({"constant", "edge", "reflect", "symmetric", "wrap"}); }
  // How many of the last axes windows slide along.
  size_t sliding(const Value& a) { return 1 + pick(std::min<size_t>(a.shape.size(), 3)); }
  std::string as_float(const Value& a) { return is_float(a.dtype) ? a.name : fmt::format("f32({})", a.name); }

  std::string pool() {
    const Value a = any();
    if (a.shape.empty()) return a.name;
    const size_t n = sliding(a);
    std::string more;
    if (chance(2)) more += ", stride=" + list(n, {1, 1, 2, 3, 5});
    if (chance(3)) more += ", padding=" + list(n, {0, 1, 1, 2});
    if (chance(2)) {
      if (chance(3)) more += fmt::format(", count_padding={}", chance(2) ? "True" : "False");
      return fmt::format("avg_pool({}, {}{})", as_float(a), sizes(n), more);
    }
    if (chance(4)) more += ", dilation=" + list(n, {1, 2, 3});
    return fmt::format("{}({}, {}{})", chance(3) ? "min_pool" : "max_pool", a.name, sizes(n), more);
  }

  std::string windows() {
    const Value a = any();
    if (a.shape.empty()) return a.name;
    const size_t n = std::min<size_t>(sliding(a), 2);
    std::string more;
    if (n == 1 && chance(2)) more += fmt::format(", axis={}", pick(a.shape.size()));
    if (chance(2)) more += ", stride=" + list(n, {1, 2, 3});
    if (chance(3)) more += ", dilation=" + list(n, {1, 2});
    const std::string made = fmt::format("window({}, {}{})", a.name, sizes(n), more);
    if (chance(8)) return made;
    const std::string over = n == 1 ? "-1" : chance(3) ? "-2" : "(-2, -1)";
    std::string kind = among<std::string>({"sum", "sum", "max", "min", "prod", "any", "all", "argmax", "argmin"});
    if (over[0] == '(' && kind.starts_with("arg")) kind = "max";
    if (is_float(a.dtype) && chance(4)) kind = among<std::string>({"mean", "var", "l2norm"});
    return fmt::format("{}({}, axis={})", kind, made, over);
  }

  std::string padded() {
    const Value a = any();
    std::string pairs;
    for (size_t d = 0; d < a.shape.size(); ++d)
      pairs += fmt::format("({}, {}), ", among<int64_t>({0, 0, 1, 2}), among<int64_t>({0, 0, 1, 3}));
    return a.shape.empty() ? a.name
                           : fmt::format("pad({}, {}, mode='{}')", a.name,
                                         chance(2) ? std::string("1") : "(" + pairs + ")", mode());
  }

  std::string convolution() {
    const Value a = any();
    if (a.shape.size() < 3 || a.shape.size() > 5 || !is_float(a.dtype)) return filtered();
    const auto channels = a.shape[1].constant();
    if (!channels || *channels == 0 || *channels > 17) return filtered();
    const size_t n = a.shape.size() - 2;
    int64_t groups = 1;
    if (chance(3)) groups = *channels;
    if (groups == 1 && *channels % 2 == 0 && chance(3)) groups = 2;
    Shape weight{among<int64_t>({1, 2, 3, 8}) * groups, *channels / groups};
    for (size_t d = 0; d < n; ++d) weight.emplace_back(among<int64_t>({1, 2, 3, 3, 5}));
    const std::string name = a.name;
    add_input(a.dtype, weight);
    const std::string w = values_.back().name;
    values_.pop_back();  // a weight, nothing else
    std::string more;
    if (chance(2)) more += ", padding=" + list(n, {0, 1, 2});
    if (chance(3)) more += ", stride=" + list(n, {1, 2, 3});
    if (chance(4)) more += ", dilation=" + list(n, {1, 2});
    if (groups > 1) more += fmt::format(", groups={}", groups);
    return fmt::format("conv({}, {}{})", name, w, more);
  }

  std::string filtered() {
    const Value a = any();
    if (a.shape.empty() || is_bool(a.dtype)) return a.name;
    Shape shape;
    for (size_t n = sliding(a); n > 0; --n) shape.emplace_back(among<int64_t>({1, 2, 3, 3, 5}));
    const std::string name = a.name;
    add_input(a.dtype, shape);
    const std::string k = values_.back().name;
    values_.pop_back();
    return chance(3) ? fmt::format("correlate({}, {})", name, k)
                     : fmt::format("filter({}, {}, mode='{}')", name, k, mode());
  }

  std::string elementwise() {
    const Value a = any();
    const std::string x = as_float(a);
    switch (pick(8)) {
      case 0: return fmt::format("relu({})", x);
      case 1: return fmt::format("{0} * {0} + 1", a.name);
      case 2: return fmt::format("{} < {}", a.name, values_.front().name);
      case 3: return fmt::format("{} + {}", x, as_float(among(values_)));
      case 4: return fmt::format("tanh({})", x);
      case 5: return fmt::format("abs({} - 1)", x);
      default: return fmt::format("maximum({}, {})", x, as_float(among(values_)));
    }
  }

  std::string rest() {
    const Value a = any();
    const std::string x = as_float(a);
    if (a.shape.empty()) return x;
    const auto axis = static_cast<int>(pick(a.shape.size()));
    switch (pick(8)) {
      case 0: return fmt::format("softmax({}, axis={})", x, axis);
      case 1: return fmt::format("layernorm({}, axis=-1)", x);
      case 2: return fmt::format("sum({}, axis={})", x, axis);
      case 3: return fmt::format("{0} - mean({0}, axis={1}, keepdims=True)", x, axis);
      case 4: return fmt::format("transpose({})", a.name);
      case 5: return fmt::format("{}[{}]", a.name, chance(2) ? "1:" : "::-1");
      case 6: return fmt::format("max({}, axis={})", a.name, axis);
      default: return fmt::format("concat(({0}, {0}), axis={1})", a.name, axis);
    }
  }

  std::string expression() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2: return pool();
      case 3: return windows();
      case 4:
      case 5: return convolution();
      case 6: return filtered();
      case 7: return padded();
      case 8:
      case 9: return elementwise();
      case 10: return windows();
      default: return rest();
    }
  }

  // Adds a statement when it is a legal program with all statements before it, at all of its
  // sizes, and small enough.
  void step() {
    const size_t inputs = program_.inputs.size();
    Statement statement{fmt::format("v{}", program_.statements.size()), expression()};
    program_.statements.push_back(statement);
    program_.outputs = {statement.name};
    try {
      const Graph graph = lang::parse_program(program_.text(), "random.smelt");
      const Node& node = graph.at(graph.outputs[0]);
      int64_t largest = 0;
      bool fits = true;
      for (const SizeBinding& sizes : program_.sizes) {
        for (const Constraint& c : graph.constraints) fits = fits && holds(c, sizes);
        if (fits)
          for (const Node& n : graph.nodes) largest = std::max(largest, element_count(evaluate(n.shape, sizes)));
      }
      if (fits && largest <= 150000 && node.shape.size() <= 6) {
        values_.push_back({statement.name, node.dtype, node.shape});
        return;
      }
    } catch (const UserError&) {
      // What does not fit is simply not part of this program.
    }
    program_.statements.pop_back();
    program_.inputs.resize(inputs);
  }

  Program program_;
  Shape dims_;
  std::vector<Value> values_;
};

}  // namespace

Program random_window_program(uint64_t seed) { return WindowGenerator(seed).run(); }

}  // namespace smelt::testing
