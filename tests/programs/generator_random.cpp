#include "generator_random.hpp"

#include <fmt/format.h>

namespace smelt::testing {

std::string draw_expression(std::mt19937_64& random, const std::string& x, DType dtype, const std::string& seed) {
  const auto pick = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto word = [&](std::initializer_list<const char*> list) {
    return std::string(*(list.begin() + pick(list.size())));
  };
  std::string key = !seed.empty() && pick(2) ? seed : word({"0", "7", "-1", "123456789012"});
  if (pick(3) == 0) key += ", " + word({"0", "1", "-1", "4294967295"});
  if (pick(3) == 0) key += ", stream=" + word({"1", "-3", "5000000000"});
  const std::string floats = is_float(dtype) ? x : fmt::format("f32({})", x);
  const std::string kind = word({"f32", "f32", "f64", "f16", "bf16"});
  switch (pick(8)) {
    case 0: return fmt::format("random_bits({}.shape, {})", x, key);
    case 1: return fmt::format("uniform({}.shape, {}, dtype={})", x, key, kind);
    case 2: return fmt::format("normal({}.shape, {}, dtype={})", x, key, kind);
    case 3: return fmt::format("{} + normal({}.shape, {})", floats, x, key);
    case 4:
      return fmt::format("where(bernoulli({0}.shape, {1}, {2}), {0}, 1)", x, word({"0.5", "0.1", "0", "1", "1e-3"}),
                         key);
    case 5: return fmt::format("random_bits((2,) + {}.shape, {})", x, key);
    default: return fmt::format("dropout({}, {}, {})", floats, word({"0.5", "0.1", "0.9"}), key);
  }
}

}  // namespace smelt::testing
