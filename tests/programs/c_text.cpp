#include "c_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace smelt::testing {
namespace {

bool is_float_type(const std::string& type) { return type == "float" || type == "double"; }

class CWriter {
 public:
  CWriter(std::string name, std::mt19937_64& random) : name_(std::move(name)), random_(random) {}

  CText write() {
    CText made;
    std::vector<std::string> parameters;
    for (size_t i = 0, n = 1 + pick(3); i < n; ++i) {
      const std::string type = any_type();
      made.parameter_types.push_back(type);
      parameters.push_back(fmt::format("{} a{}", type, i));
      variables_.push_back({type, fmt::format("a{}", i)});
    }
    result_ = any_type();
    std::string body;
    for (size_t s = 0, n = pick(5); s < n; ++s) body += statement(1);
    body += fmt::format("  return {};\n", value(result_, 3));
    made.text = fmt::format("{}{} {}({}) {{\n{}}}\n", pick(6) ? "" : "static inline ", result_, name_,
                            fmt::join(parameters, ", "), body);
    return made;
  }

 private:
  struct Variable {
    std::string type, name;
  };

  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }
  std::string word(std::initializer_list<const char*> list) { return *(list.begin() + pick(list.size())); }
  std::string any_type() {
    return word({"float", "float", "float", "double", "int", "int", "unsigned", "long long", "short", "unsigned char",
                 "bool", "int8_t", "uint64_t"});
  }

  // ---- statements; blocks give back the variables that they declare

  std::string statement(int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    const auto block = [&] {
      const size_t outside = variables_.size();
      std::string text = " {\n";
      for (size_t s = 0, n = 1 + pick(2); s < n; ++s) text += statement(depth + 1);
      variables_.resize(outside);
      return text + indent + "}";
    };
    switch (pick(depth < 3 ? 8 : 4)) {
      case 0:
      case 1: {
        const std::string type = any_type(), name = fmt::format("t{}", declared_++);
        const std::string text = fmt::format("{}{} {} = {};\n", indent, type, name, value(type, 2));
        variables_.push_back({type, name});
        return text;
      }
      case 4: return fmt::format("{}if ({}) return {};\n", indent, condition(1), value(result_, 2));
      case 5: {
        std::string text = fmt::format("{}if ({})", indent, condition(2));
        text += block();
        if (pick(2)) text += " else" + block();
        return text + "\n";
      }
      case 6: {
        const std::string i = fmt::format("i{}", declared_++);
        std::string text = fmt::format("{0}for (int {1} = {2}; {1} < {3}; {4})", indent, i, pick(2), 1 + pick(4),
                                       pick(2) ? "++" + i : i + " += 2");
        counters_.push_back(i);
        text += block();
        counters_.pop_back();
        return text + "\n";
      }
      default: {
        const Variable& target = variables_[pick(variables_.size())];
        if (!is_float_type(target.type) && pick(3) == 0)
          return fmt::format("{}{} {} {};\n", indent, target.name, word({"&=", "|=", "^=", "<<=", ">>="}),
                             fmt::format("({}) & 7", whole(1)));
        if (pick(6) == 0) return fmt::format("{}{}{};\n", indent, target.name, word({"++", "--"}));
        return fmt::format("{}{} {} {};\n", indent, target.name, word({"=", "=", "+=", "-=", "*="}),
                           value(target.type, 2));
      }
    }
  }

  // ---- expressions

  std::string value(const std::string& type, int depth) {
    if (pick(6) == 0)
      return fmt::format("({}){}", type, pick(2) ? "(" + number(depth) + ")" : "(" + whole(depth) + ")");
    return is_float_type(type) ? number(depth) : type == "bool" ? condition(depth) : whole(depth);
  }
  std::string variable(bool floats) {
    if (!floats && !counters_.empty() && pick(4) == 0) return counters_[pick(counters_.size())];
    for (size_t tries = 0; tries < 6; ++tries) {
      const Variable& v = variables_[pick(variables_.size())];
      if (is_float_type(v.type) == floats) return v.name;
    }
    return floats ? word({"1.5f", "0.25f", "2.0", "-3.f", "0x1p-2f", "1e3f", "INFINITY", "0.f"})
                  : word({"1", "3", "7u", "-2", "100", "0x7fff", "5LL", "INT_MAX"});
  }
  std::string condition(int depth) {
    if (depth <= 0 || pick(3) == 0) {
      const bool floats = pick(2);
      const std::string a = floats ? number(depth - 1) : whole(depth - 1), b = pick(2) ? number(0) : whole(0);
      return fmt::format("{} {} {}", a, word({"<", "<=", ">", ">=", "==", "!="}), b);
    }
    switch (pick(5)) {
      case 0: return fmt::format("!({})", condition(depth - 1));
      case 1: return fmt::format("{}({})", word({"isnan", "isinf", "isfinite", "signbit"}), number(depth - 1));
      case 2: return fmt::format("({}) && ({})", condition(depth - 1), condition(depth - 1));
      case 3: return fmt::format("({}) || ({})", condition(depth - 1), condition(depth - 1));
      default: return fmt::format("(bool)({})", whole(depth - 1));
    }
  }
  std::string number(int depth) {
    if (depth <= 0) return pick(4) ? variable(true) : variable(false) + " * 0.5f";
    const auto part = [&] { return number(depth - 1); };
    switch (pick(10)) {
      case 0:
        return fmt::format("{}({})", word({"fabsf", "floorf", "ceilf", "truncf", "rintf", "roundf", "fabs", "tanhf"}),
                           part());
      case 1: return fmt::format("{}({}, {})", word({"fminf", "fmaxf", "copysignf", "fdimf", "fmax"}), part(), part());
      case 2: return fmt::format("sqrtf(fabsf({}))", part());
      case 3: return fmt::format("expf(-fabsf({}))", part());
      case 4: return fmt::format("({} ? {} : {})", condition(depth - 1), part(), part());
      case 5: return fmt::format("-({})", part());
      case 6: return fmt::format("({} {} {})", part(), word({"/", "*"}), whole(depth - 1));
      default: return fmt::format("({} {} {})", part(), word({"+", "-", "*"}), part());
    }
  }
  std::string whole(int depth) {
    if (depth <= 0) return variable(false);
    const auto part = [&] { return whole(depth - 1); };
    switch (pick(10)) {
      case 0: return fmt::format("({} {} (({}) & 7))", part(), word({"<<", ">>"}), part());
      case 1: return fmt::format("({} {} {})", part(), word({"/", "%"}), part());
      case 2: return fmt::format("({} {} {})", part(), word({"&", "|", "^"}), part());
      case 3: return fmt::format("({} ? {} : {})", condition(depth - 1), part(), part());
      case 4: return fmt::format("{}({})", word({"-", "~", "+", "!", "abs"}), part());
      case 5: return fmt::format("({})({})", word({"int", "short", "unsigned", "long long"}), part());
      case 6: return fmt::format("(int){}", variable(true));
      default: return fmt::format("({} {} {})", part(), word({"+", "-", "*"}), part());
    }
  }

  const std::string name_;
  std::mt19937_64& random_;
  std::string result_;
  std::vector<Variable> variables_;
  std::vector<std::string> counters_;
  int declared_ = 0;
};

}  // namespace

CText random_c_function(const std::string& name, std::mt19937_64& random) { return CWriter(name, random).write(); }

}  // namespace smelt::testing
