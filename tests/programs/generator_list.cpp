#include "generator_list.hpp"
#include "support/symbols.hpp"

#include <fmt/format.h>

namespace smelt::testing {
namespace {

class ListGenerator {
 public:
  explicit ListGenerator(uint64_t seed) : random_(seed * 7919 + 17) { program_.seed = seed; }

  Program run() {
    program_.sizes = {{{"N"_size, below(70)}, {"M"_size, 1 + below(9)}},
                      {{"N"_size, 1 + below(3000)}, {"M"_size, 1 + below(40)}},
                      {{"N"_size, 0}, {"M"_size, 1}}};
    program_.data = static_cast<Data>(below(3));
    if (coin()) add_input("s", DType::F32, {});
    const int forms = 1 + static_cast<Data>(below(3));
    for (int f = 0; f < forms; ++f) chain(f, 1 + static_cast<int>(below(5)));
    if (coin()) second_step();
    return std::move(program_);
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool coin() { return below(2) == 0; }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<size_t>(below(static_cast<int64_t>(values.size())))];
  }

  void add_input(const std::string& name, DType dtype, Shape shape) {
    program_.inputs.push_back({name, dtype, std::move(shape)});
  }
  std::string add(const std::string& expression, bool output) {
    const std::string name = fmt::format("t{}", program_.statements.size());
    program_.statements.push_back({name, expression});
    if (output) program_.outputs.push_back(name);
    return name;
  }

  Shape shape() {
    const IntExpr n = sym("N"_size), m = sym("M"_size);
    switch (below(8)) {
      case 0: return {n};
      case 1: return {n, m};
      case 2: return {1};
      case 3: return {0};
      case 4: return {m, 3, n};
      case 5: return {4 * below(40)};
      default: return {1 + below(5000)};
    }
  }

  // One chain over several arrays, each of its own shape.
  void chain(int form, int copies) {
    const DType dtype = one_of(std::vector<DType>{DType::F32, DType::F32, DType::BF16, DType::F16, DType::F64});
    const bool two = coin(), reduces = below(4) == 0;
    const std::vector<std::string> steps = {"sigmoid({})", "abs({}) + 1", "{} * 2 - 0.5",
                                            "relu({})",    "tanh({})",    "-{}"};
    std::vector<std::string> chosen;
    for (int64_t i = 0, n = 1 + below(4); i < n; ++i) chosen.push_back(one_of(steps));
    const bool middle = coin(),
               scaled = dtype == DType::F32 && !program_.inputs.empty() && program_.inputs[0].name == "s";
    const Shape same = shape();
    const bool alike = coin();
    for (int c = 0; c < copies; ++c) {
      const Shape own = alike ? same : shape();
      const std::string x = fmt::format("x{}_{}", form, c), y = fmt::format("y{}_{}", form, c);
      add_input(x, dtype, own);
      if (two) add_input(y, dtype, own);
      std::string value = two ? add(fmt::format("{} + {}", x, y), coin()) : x;
      for (size_t i = 0; i < chosen.size(); ++i)
        value = add(fmt::format(fmt::runtime(chosen[i]), value), middle && i == 0);
      if (scaled) value = add(fmt::format("{} * s", value), false);
      if (reduces) value = add(fmt::format("sum({}, axis=-1)", value), coin());
      program_.outputs.push_back(add(fmt::format("{} + 1", value), false));
      if (!reduces) ends_.push_back({program_.outputs.back(), dtype, own});
    }
  }

  // Work that reads what other work stored.
  void second_step() {
    for (const InputSpec& end : ends_)
      if (coin()) add(fmt::format("exp(-abs(flip({}, axis=-1)))", end.name), true);
  }

  std::mt19937_64 random_;
  Program program_;
  std::vector<InputSpec> ends_;
};

}  // namespace

Program random_list_program(uint64_t seed) { return ListGenerator(seed).run(); }

}  // namespace smelt::testing
