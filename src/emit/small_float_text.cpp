#include "emit/small_float_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace smelt::emit {

static std::string choice(const SmallFloatSpelling& as, std::string_view condition, std::string_view yes,
                          std::string_view no) {
  if (as.choose) return fmt::format("choose<{}>({}, {}, {})", as.wide, condition, yes, no);
  return fmt::format("({} ? {} : {})", condition, yes, no);
}

// As small_of_bits of smelt/static/expand/small_float.hpp.
std::string from_small_float(DType small, const SmallFloatSpelling& as) {
  const FloatFormat f = float_format(small);
  const int dropped = 23 - f.mantissa, sign = f.sign_bit(), exponent = 126 + f.least;
  const std::string above = fmt::format("rest >= {:#x}u", f.too_large());
  const std::string normal =
      f.has_infinity
          ? fmt::format("(rest << {}) + {}", dropped,
                        choice(as, above, fmt::format("{}u << 23", 2 * exponent), fmt::format("{}u << 23", exponent)))
          : choice(as, above, "0x7fc00000u", fmt::format("(rest << {}) + ({}u << 23)", dropped, exponent));
  const std::string chosen = choice(as, fmt::format("rest < {:#x}u", 1 << f.mantissa),
                                    fmt::format("({}){}(small)", as.wide, as.bits_of), "normal");
  return fmt::format(R"({} float from_{}({} x) {{
  const {} sign = ({})(x & {:#x}u) << {}, rest = x & {:#x}u;
  const float small = (float)(int)rest * {:a}f;
  const {} normal = {};
  return {}(sign | {});
}})",
                     as.begin, name_of(small), as.memory, as.wide, as.wide, sign, 32 - 8 * size_of(small), sign - 1,
                     f.tiny(), as.wide, normal, as.float_of, chosen);
}

// As nearest_small and bits_of_small there.
std::string to_small_float(DType small, const SmallFloatSpelling& as) {
  const FloatFormat f = float_format(small);
  const int dropped = 23 - f.mantissa;
  // Adding a number whose last bit is the step of subnormal numbers leaves how many of them it is
  // in the lowest bits.
  const auto large = static_cast<float>(std::ldexp(f.tiny(), 23));
  const std::string finite =
      choice(as, fmt::format("magnitude < {:#x}u", static_cast<unsigned>(127 + f.least) << 23), "small", "rounded");
  const std::string limit = fmt::format("{:#x}u", f.too_large());
  return fmt::format(R"({} {} to_{}(float x) {{
  const {} bits = ({}){}(x), sign = (bits >> {}) & {:#x}u, magnitude = bits & 0x7fffffffu;
  const {} small = ({}){}({}(x) + {:.1f}f) - {:#x}u;
  const {} rounded = ((magnitude + {:#x}u + ((magnitude >> {}) & 1u)) >> {}) - {:#x}u;
  const {} finite = {}, limited = {};
  return ({})(sign | {});
}})",
                     as.begin, as.memory, name_of(small), as.wide, as.wide, as.bits_of, 32 - 8 * size_of(small),
                     f.sign_bit(), as.wide, as.wide, as.bits_of, as.magnitude, large, std::bit_cast<uint32_t>(large),
                     as.wide, (1 << (dropped - 1)) - 1, dropped, dropped,
                     static_cast<unsigned>(126 + f.least) << f.mantissa, as.wide, finite,
                     choice(as, "finite > " + limit, limit, "finite"), as.memory,
                     choice(as, "x != x", fmt::format("{:#x}u", f.nan()), "limited"));
}

}  // namespace smelt::emit
