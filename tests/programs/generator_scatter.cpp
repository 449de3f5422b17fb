#include "generator_scatter.hpp"
#include "support/symbols.hpp"

#include <fmt/format.h>

namespace smelt::testing {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed * 7919 + 17) { program_.seed = seed; }

  Program run() {
    const DType t = pick_of({DType::F32, DType::F32, DType::F32, DType::F64, DType::BF16, DType::F16, DType::F8E5M2,
                             DType::I32, DType::I64, DType::U8, DType::I16, DType::U32, DType::Bool});
    const DType i = pick_of({DType::I32, DType::I64, DType::I32, DType::U8, DType::I16});
    const bool symbols = pick(2) == 0, wide = pick(3) != 0;
    const int64_t rows = 1 + pick_of({0, 1, 4, 12, 63, 200, 1500}), columns = pick_of({1, 2, 3, 7, 32, 65, 300, 1030});
    const int64_t updates = pick_of({0, 1, 5, 33, 100, 700});
    const int64_t most = columns > 100 ? 200 : 1500;
    const Shape r{symbols ? sym("R"_size) : IntExpr(std::min(rows, most))};
    const Shape c = !wide ? Shape{} : Shape{symbols && pick(2) ? sym("C"_size) : IntExpr(columns)};
    const Shape n = pick(4) == 0 ? Shape{sym("N"_size), IntExpr(2)} : Shape{sym("N"_size)};
    const auto joined = [](Shape a, const Shape& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    program_.inputs = {{"x", t, joined(r, c), 0}, {"i", i, n, 0}, {"u", t, joined(n, c), 0}};
    for (int k = 0; k < 2; ++k) {
      SizeBinding sizes;
      if (symbols) sizes["R"_size] = std::min(rows, most) + k, sizes["C"_size] = columns;
      sizes["N"_size] = k == 0 ? updates : std::max<int64_t>(0, updates - 3 + static_cast<int64_t>(pick(8)));
      program_.sizes.push_back(sizes);
    }
    program_.data = static_cast<Data>(pick(3));
    const bool number = !is_bool(t);
    const std::string x = value("x", t), u = value("u", t);
    const std::string name = number ? word({"scatter", "scatter_add", "scatter_add", "scatter_add", "scatter_mul",
                                            "scatter_max", "scatter_min"})
                                    : "scatter";
    std::string more = fmt::format(", mode='{}'", word({"wrap", "clip", "drop"}));
    if (name == "scatter_add" && pick(3) == 0) more += ", deterministic=False";
    const std::string index = index_text(i);
    add("y", pick(4) == 0 && number && name != "scatter" ? fmt::format("{}({}, {}, 1{})", name, x, index, more)
                                                         : fmt::format("{}({}, {}, {}{})", name, x, index, u, more));
    program_.outputs = {"y"};
    if (pick(3) == 0) {
      add("z", is_float(t) ? word({"relu(y) * 2", "sum(y, axis=0)", "exp(minimum(y, 1))"})
                           : word({"y == x", "max(y, axis=-1)", "y[::-1]"}));
      program_.outputs.push_back("z");
    }
    if (pick(4) == 0 && number) {
      add("w", fmt::format("bincount({}, {})", index, 1 + pick(40)));
      program_.outputs.push_back("w");
    }
    if (pick(4) == 0 && is_float(t)) {
      add("h", fmt::format("histogram(u, {}, -2, 3.5)", 1 + pick(30)));
      program_.outputs.push_back("h");
    }
    return program_;
  }

 private:
  size_t pick(size_t n) { return static_cast<size_t>(random_() % n); }
  const char* word(std::initializer_list<const char*> list) { return *(list.begin() + pick(list.size())); }
  DType pick_of(std::initializer_list<DType> list) { return *(list.begin() + pick(list.size())); }
  int64_t pick_of(std::initializer_list<int64_t> list) { return *(list.begin() + pick(list.size())); }
  void add(const std::string& name, const std::string& expression) {
    program_.statements.push_back({name, expression});
  }

  std::string value(const std::string& name, DType t) {
    if (is_bool(t)) return pick(2) ? name : "~" + name;
    switch (pick(4)) {
      case 0: return is_float(t) ? fmt::format("relu({})", name) : fmt::format("({0} + {0})", name);
      case 1: return fmt::format("maximum({}, 1)", name);
      default: return name;
    }
  }
  std::string index_text(DType t) {
    switch (pick(5)) {
      case 0: return is_signed_int(t) ? "abs(i)" : "i // 3";
      case 1: return "i * 3";
      case 2: return "(i & 3)";
      default: return "i";
    }
  }

  std::mt19937_64 random_;
  Program program_;
};

}  // namespace

Program random_scatter_program(uint64_t seed) { return Maker(seed).run(); }

}  // namespace smelt::testing
