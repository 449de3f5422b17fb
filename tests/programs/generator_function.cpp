// Random programs with functions of the user's: `def` in the language, scalar functions in C, and
// both calling what there is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "c_text.hpp"
#include "frontends/language.hpp"
#include "generator.hpp"
#include "generator_draws.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

class FunctionGenerator : Draws {
 public:
  explicit FunctionGenerator(uint64_t seed) : Draws(seed * 6007 + 5) { program_.seed = seed; }

  Program run() {
    const size_t kind = pick(20);
    program_.data = kind < 11 ? kNormal : kind < 14 ? kWhole : kind < 18 ? kSpecial : kExtreme;
    choose_sizes();
    const std::vector<DType> dtypes{DType::F32,    DType::F32, DType::F32, DType::F16, DType::BF16,
                                    DType::F8E5M2, DType::F64, DType::I32, DType::I64, DType::U32,
                                    DType::I8,     DType::U8,  DType::Bool};
    for (size_t i = 0, n = 1 + pick(3); i < n; ++i) add_input(among(dtypes));
    const size_t wanted = 1 + pick(4);
    for (size_t tries = 0; tries < 12 * wanted && made_ < wanted; ++tries) step();
    if (made_ == 0) program_.outputs = {program_.inputs[0].name};
    return std::move(program_);
  }

 private:
  struct Function {
    std::string name;
    std::vector<std::string> types;  // of C; empty strings: of a def
  };

  void choose_sizes() {
    for (size_t d = 0, rank = pick(4); d < rank; ++d)
      dims_.emplace_back(among<int64_t>({0, 1, 2, 3, 5, 8, 13, 17, 33, 40}) * (chance(40) ? 0 : 1));
    program_.sizes.push_back({});
    if (dims_.empty() || chance(2)) return;
    program_.sizes.push_back({});
    program_.sizes[0]["B"_size] = *dims_[0].constant();
    program_.sizes[1]["B"_size] = among<int64_t>({1, 2, 7, 70});
    dims_[0] = sym("B"_size);
  }

  void add_input(DType dtype) {
    const std::string name = fmt::format("x{}", program_.inputs.size());
    Shape shape = dims_;
    if (!shape.empty() && chance(4)) shape.erase(shape.begin());  // broadcast
    if (chance(8)) shape.clear();
    program_.inputs.push_back({name, dtype, shape, 0});
    values_.push_back(name);
  }

  // ---- def: expressions of the language over its parameters

  std::string operand(const std::vector<std::string>& names) {
    return chance(4) ? among<std::string>({"2", "0.5", "-1.25", "3", "1e-3"}) : among(names);
  }
  std::string expression(const std::vector<std::string>& names, int depth) {
    if (depth == 0) return operand(names);
    const auto part = [&] {
      return expression(names, depth - 1 - static_cast<int>(pick(2) % static_cast<size_t>(depth)));
    };
    switch (pick(12)) {
      case 0: return fmt::format("where({} > {}, {}, {})", part(), operand(names), part(), part());
      case 1: return fmt::format("({} if {} else {})", part(), among<std::string>({"True", "1 < 2", "False"}), part());
      case 2:
        return fmt::format("{}({})", among<std::string>({"abs", "tanh", "exp", "sqrt", "relu", "sigmoid", "floor"}),
                           part());
      case 3: return fmt::format("max({}, {})", part(), part());
      case 4: return fmt::format("{} - mean({}, axis=-1, keepdims=True)", part(), part());
      case 5: return fmt::format("softmax({})", part());
      case 6: return fmt::format("f32({})", part());
      case 7:
        if (!functions_.empty()) return call(among(functions_), names);
        [[fallthrough]];
      default:
        return fmt::format("({} {} {})", part(), among<std::string>({"+", "-", "*", "/", "//", "%"}), operand(names));
    }
  }
  std::string def(const std::string& name) {
    std::vector<std::string> parameters, declared, types;
    for (size_t i = 0, n = 1 + pick(3); i < n; ++i) {
      parameters.push_back(fmt::format("p{}", i));
      types.emplace_back();
      declared.push_back(parameters.back() + (i > 0 && i + 1 == n && chance(2) ? "=0.75" : ""));
    }
    std::string text = fmt::format("def {}({}):\n", name, fmt::join(declared, ", "));
    std::vector<std::string> names = parameters;
    for (size_t s = 0, n = pick(3); s < n; ++s) {
      text += fmt::format("  t{} = {}\n", s, expression(names, 2));
      names.push_back(fmt::format("t{}", s));
    }
    text += fmt::format("  return {}", expression(names, 3));
    made_function_ = {name, types};
    return text;
  }
  std::string in_c(const std::string& name) {
    const CText made = random_c_function(name, random_);
    made_function_ = {name, made.parameter_types};
    return fmt::format("cfunction '''\n{}'''", made.text);
  }

  std::string call(const Function& f, const std::vector<std::string>& names) {
    std::vector<std::string> arguments;
    for (const std::string& type : f.types) {
      const std::string value = operand(names);
      const bool floats = type == "float" || type == "double";
      const std::string cast = type == "bool" ? "bool" : type == "double" ? "f64" : floats ? "f32" : "i32";
      arguments.push_back(type.empty() || chance(3) ? value : fmt::format("{}({})", cast, value));
    }
    return fmt::format("{}({})", f.name, fmt::join(arguments, ", "));
  }

  // A function, unless there is one to call again, and a call. Both or none.
  void step() {
    const std::vector<Statement> before = program_.statements;
    const std::vector<std::string> outputs = program_.outputs;
    const bool again = !functions_.empty() && chance(3);
    if (!again) {
      const std::string name = fmt::format("f{}", functions_.size());
      program_.statements.push_back({name, chance(3) ? def(name) : in_c(name)});
    }
    const std::string value = fmt::format("v{}", made_);
    program_.statements.push_back({value, call(again ? among(functions_) : made_function_, values_)});
    program_.outputs = {value};
    if (made_ > 0 && chance(3)) program_.outputs.push_back(fmt::format("v{}", pick(made_)));
    try {
      const Graph graph = lang::parse_program(program_.text(), "random.smelt");
      bool fits = graph.nodes.size() < 4000;
      for (const SizeBinding& sizes : program_.sizes)
        for (const Constraint& c : graph.constraints) fits = fits && holds(c, sizes);
      if (fits) {
        ++made_;
        values_.push_back(value);
        if (!again) functions_.push_back(made_function_);
        return;
      }
    } catch (const UserError&) {
      // What does not fit is simply not part of this program.
    }
    program_.statements = before;
    program_.outputs = outputs;
  }

  Program program_;
  Shape dims_;
  std::vector<std::string> values_;
  std::vector<Function> functions_;
  Function made_function_;
  size_t made_ = 0;
};

}  // namespace

Program random_function_program(uint64_t seed) { return FunctionGenerator(seed).run(); }

}  // namespace smelt::testing
