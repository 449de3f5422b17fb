// What the inputs of a random program hold.
#include <algorithm>
#include <cmath>

#include "generator.hpp"

namespace smelt::testing {
namespace {

double special(std::mt19937_64& random, DType t) {
  const double list[] = {NAN,   HUGE_VAL, -HUGE_VAL,    0.0,           -0.0, 1,      -1,  0.5, -2.5, 1e-40,  -3e-42,
                         1e30,  -1e30,    65504,        0x1p-24,       1e-7, -1e-30, 2.5, 3.5, 127,  -128.5, 128,
                         255.5, 256,      2147483648.0, -2147483649.0, 1e19, 4e9};
  return round_to(t, list[random() % std::size(list)]);
}

Scalar random_float(std::mt19937_64& random, DType t, Data data) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  switch (data) {
    case kWhole: return Scalar::of_float(t, static_cast<double>(random() % 9) - 4);
    case kSpecial:
      if (random() % 12 == 0) return Scalar::of_float(t, special(random, t));
      break;
    case kExtreme:
      if (random() % 2 == 0) return Scalar::of_float(t, special(random, t));
      break;
    default: break;
  }
  return Scalar::of_float(t, unit * 8 - 4);
}

Scalar random_int(std::mt19937_64& random, DType t, Data data) {
  const uint64_t roll = random() % 16;
  if (data >= kSpecial && roll < 4) {
    const Scalar list[] = {Scalar::of_int(t, min_int(t)), Scalar::of_uint(t, max_int(t)), Scalar::of_int(t, -1),
                           Scalar::of_int(t, 0)};
    return list[roll];
  }
  if (roll < 6) return Scalar::of_uint(t, random());  // wraps
  const int64_t small = static_cast<int64_t>(random() % 13) - (is_unsigned_int(t) ? 0 : 6);
  return Scalar::of_int(t, small);
}

}  // namespace

std::vector<Tensor> random_inputs(const Program& program, const Graph& graph, const SizeBinding& sizes) {
  std::vector<Tensor> result;
  for (NodeId id : graph.inputs) {
    const Node& node = graph.at(id);
    const auto spec = std::find_if(program.inputs.begin(), program.inputs.end(),
                                   [&](const InputSpec& s) { return s.name == node.name; });
    std::mt19937_64 random(program.seed * 1000003 + static_cast<uint64_t>(spec - program.inputs.begin()));
    Tensor t = Tensor::empty(node.dtype, evaluate(node.shape, sizes));
    for (int64_t i = 0, n = t.count(); i < n; ++i) {
      Scalar value;
      if (spec->index_below > 0) {
        const int64_t below = spec->index_below, low = is_signed_int(node.dtype) ? -below : 0;
        value = Scalar::of_int(node.dtype, low + static_cast<int64_t>(random() % static_cast<uint64_t>(below - low)));
      } else if (is_bool(node.dtype)) {
        value = Scalar::of_bool(random() % 2);
      } else {
        value = is_float(node.dtype) ? random_float(random, node.dtype, program.data)
                                     : random_int(random, node.dtype, program.data);
      }
      store_scalar(value, static_cast<char*>(t.data) + i * size_of(node.dtype));
    }
    result.push_back(std::move(t));
  }
  return result;
}

}  // namespace smelt::testing
