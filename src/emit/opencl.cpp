#include "emit/opencl.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/opencl_text.hpp"
#include "emit/ptx_text.hpp"
#include "emit/small_float_text.hpp"

namespace smelt::emit {
namespace {

std::string float_to_int(UsedHelpers& used, const std::string& x, DType, DType to) {
  return fmt::format("{}({})", used(fmt::format("saturated_{}", name_of(to))), x);
}

std::string random_word(UsedHelpers& used, int draw, const std::vector<std::string>& args, const std::string& element) {
  return fmt::format("{}({}, {}, {}, {}, (ulong){})", used("random_word"), draw, args[0], args[1], args[2], element);
}

std::string random_words(UsedHelpers& used, int draw, bool whole, const std::vector<std::string>& args,
                         const std::string& first, const std::string& words) {
  return fmt::format("{}({}, {}, {}, {}, {}, (ulong){}, {});", used("random_words"), draw, whole ? "true" : "false",
                     args[0], args[1], args[2], first, words);
}

std::string join(UsedHelpers& used, Op op, DType t, bool scratch, const std::string& element,
                 const std::string& value) {
  const std::string_view function = used(op == Op::Add ? "join_add" : op == Op::Max ? "join_max" : "join_min");
  return fmt::format("{0}((volatile {1} {2}*)&{3}, ({2}){4});", function, scratch ? "__local" : "__global",
                     c_like::type_of(opencl_spellings(), t), element, value);
}

std::string pointer_to(const CLike::Array& a) {
  return fmt::format("__global {}{}*", a.stored ? "" : "const ", a.type);
}

std::string signature(const CLike::Frame& frame) {
  std::string params;
  size_t array = 0;
  for (const std::string& value : frame.parameters) {
    if (!value.empty()) {
      params += value + ", ";
      continue;
    }
    const CLike::Array& a = frame.arrays[array++];
    params += fmt::format("{0}{1} {2}_, const long {2}_at, ", pointer_to(a), a.shared ? "" : " restrict", a.name);
  }
  return fmt::format("__kernel __attribute__((reqd_work_group_size({}, 1, 1)))\nvoid {}({}__local uint4* scratch_)",
                     frame.team.workgroup, frame.name, params);
}

std::string opening(const CLike::Frame& frame) {
  // Memory of a workgroup is as aligned as what its argument points to.
  std::string text = "  __local uchar* const scratch = (__local uchar*)scratch_;\n";
  for (const CLike::Array& a : frame.arrays)
    text += fmt::format("  {0} const {1} = ({0})((__global const uchar*){1}_ + {1}_at);\n", pointer_to(a), a.name);
  return text;
}

// A text with something else for what stands for it.
std::string with(std::string text, std::string_view what, std::string_view instead) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + instead.size()))
    text.replace(at, what.size(), instead);
  return text;
}

// A helper for several types: $T in its text is replaced by each.
HelperList for_types(const std::vector<std::string>& types, const Definition& form) {
  HelperList list;
  for (const std::string& type : types) list.push_back({form.names, with(form.text, "$T", type), form.needs});
  return list;
}

// A compiler that vectorizes loops does so around no call.
constexpr const char* kInlineInLoops =
    "#define SMELT_INLINE static inline __attribute__((overloadable, always_inline))\n";
constexpr const char* kInline = "#define SMELT_INLINE static inline __attribute__((overloadable))\n";

HelperList macros(bool looped) {
  return {
      {{}, looped ? kInlineInLoops : kInline},
      {{"fetched", "choose", "maximum_of_wides", "minimum_of_wides", "square_root", "low_bits_i8", "low_bits_i16",
        "low_bits_u8", "low_bits_u16", "opaque"},
       R"(#pragma OPENCL FP_CONTRACT OFF
#define fetched(p) (*(p))
#define choose(c, a, b) ((c) ? (a) : (b))
#define maximum_of_wides(a, b) ((a) > (b) ? (a) : (b))
#define minimum_of_wides(a, b) ((a) < (b) ? (a) : (b))
#define square_root(x) sqrt(x)
#define low_bits_i8(x) ((char)(x))
#define low_bits_i16(x) ((short)(x))
#define low_bits_u8(x) ((uchar)(x))
#define low_bits_u16(x) ((ushort)(x))
#define opaque(x) (x))",
       {},
       /*always=*/true},
  };
}

HelperList plain_extremes() {
  return {
      {{"maximum_of_ints", "minimum_of_ints", "maximum_of_small", "minimum_of_small", "maximum_of_unsigned",
        "minimum_of_unsigned"},
       R"(#define maximum_of_ints(a, b) max((int)(a), (int)(b))
#define minimum_of_ints(a, b) min((int)(a), (int)(b))
#define maximum_of_small maximum_of_ints
#define minimum_of_small minimum_of_ints
#define maximum_of_unsigned(a, b) max((uint)(a), (uint)(b))
#define minimum_of_unsigned(a, b) min((uint)(a), (uint)(b)))",
       {},
       /*always=*/true},
  };
}

HelperList f64_helpers() {
  return {
      {{}, R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable)"},
      {{"maximum"}, R"(SMELT_INLINE double maximum(double a, double b) {
  const double equal = as_double(as_long(a) & as_long(b)), above = a > b ? a : b, merged = a == b ? equal : above;
  return a != a ? a : merged;
})"},
      {{"minimum"}, R"(SMELT_INLINE double minimum(double a, double b) {
  const double equal = as_double(as_long(a) | as_long(b)), below = a < b ? a : b, merged = a == b ? equal : below;
  return a != a ? a : merged;
})"},
  };
}

constexpr SmallFloatSpelling kHalf{"SMELT_INLINE", "ushort", "uint", "as_float", "as_uint", "fabs"},
    kByte{"SMELT_INLINE", "uchar", "uint", "as_float", "as_uint", "fabs"};

HelperList function_helpers() {
  return {
      {{}, ""},
      {{"maximum"}, R"(// NaN wins; +0 is above -0. Every choice is one between values at hand, which needs no branch.
SMELT_INLINE float maximum(float a, float b) {
  const float equal = as_float(as_int(a) & as_int(b)), above = a > b ? a : b, merged = a == b ? equal : above;
  return a != a ? a : merged;
})"},
      {{"minimum"}, R"(SMELT_INLINE float minimum(float a, float b) {
  const float equal = as_float(as_int(a) | as_int(b)), below = a < b ? a : b, merged = a == b ? equal : below;
  return a != a ? a : merged;
})"},
      {{"int_quotient"}, R"(// a / d and a % d by d's multiplier m = 2^62 / d + 1: floor(a * m / 2^62).
SMELT_INLINE int int_quotient(int a, long m) {
  const ulong low = (ulong)(uint)a * (uint)m;
  const ulong high = (ulong)(uint)a * (uint)(m >> 32) + (low >> 32);
  return (int)(high >> 30);
})"},
      {{"int_remainder"},
       R"(SMELT_INLINE int int_remainder(int a, int d, long m) { return a - int_quotient(a, m) * d; })",
       {"int_quotient"}},
      {{"from_bf16"}, R"(SMELT_INLINE float from_bf16(ushort x) { return as_float((uint)x << 16); })"},
      {{"to_bf16"}, R"(SMELT_INLINE ushort to_bf16(float x) {
  const uint bits = as_uint(x);
  const uint rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (ushort)(x == x ? rounded : (bits >> 16) | 0x40u);
})"},
      {{"from_f16"}, from_small_float(DType::F16, kHalf)},
      {{"to_f16"}, to_small_float(DType::F16, kHalf)},
      {{"round_f16"},
       R"(SMELT_INLINE float round_f16(float x) { return from_f16(to_f16(x)); })",
       {"from_f16", "to_f16"}},
      {{"round_bf16"},
       R"(SMELT_INLINE float round_bf16(float x) { return from_bf16(to_bf16(x)); })",
       {"from_bf16", "to_bf16"}},
      {{"from_f8_e4m3"}, from_small_float(DType::F8E4M3, kByte)},
      {{"to_f8_e4m3"}, to_small_float(DType::F8E4M3, kByte)},
      {{"from_f8_e5m2"}, from_small_float(DType::F8E5M2, kByte)},
      {{"to_f8_e5m2"}, to_small_float(DType::F8E5M2, kByte)},
  };
}

// Truncated and saturated; NaN becomes 0. Of narrow integers CPUs have no such conversion, and
// their compilers vectorize comparisons instead.
HelperList saturations(const std::vector<std::string>& floats, bool looped) {
  struct Integer {
    const char *name, *type, *least, *most;  // as floats, where these have them
  };
  constexpr Integer kIntegers[] = {{"i8", "char", "-128.0f", "127.0f"},
                                   {"u8", "uchar", "0.0f", "255.0f"},
                                   {"i16", "short", "-32768.0f", "32767.0f"},
                                   {"u16", "ushort", "0.0f", "65535.0f"},
                                   {"i32", "int", "", ""},
                                   {"u32", "uint", "", ""},
                                   {"i64", "long", "", ""},
                                   {"u64", "ulong", "", ""}};
  HelperList list;
  for (const auto& [integer, type, least, most] : kIntegers) {
    const std::string name = fmt::format("saturated_{}", integer);
    const std::string text =
        looped && *least
            ? fmt::format(
                  "SMELT_INLINE {1} {0}($T x) {{\n"
                  "  const $T below = x > {3} ? {3} : x, within = below < {2} ? {2} : below;\n"
                  "  const $T number = x != x ? 0 : within;\n  return ({1})(int)number;\n}}",
                  name, type, least, most)
            : fmt::format("SMELT_INLINE {1} {0}($T x) {{ return x == x ? convert_{1}_sat(x) : ({1})0; }}", name, type);
    append(list, for_types(floats, {{name}, text}));
  }
  return list;
}

HelperList joins(const OpenClTarget& target) {
  HelperList list;
  for (const char* space : {"__global", "__local"}) {
    for (const char* op : {"add", "max", "min"}) {
      const std::string name = fmt::format("join_{}", op);
      const auto calling = [&](const char* atomic) {
        return Definition{
            {name},
            fmt::format("SMELT_INLINE void {}(volatile {} $T* at, $T x) {{ {}_{}(at, x); }}", name, space, atomic, op)};
      };
      append(list, for_types({"int", "uint"}, calling("atomic")));
      if (target.atomics64) append(list, for_types({"long", "ulong"}, calling("atom")));
    }
    // There is no sum of floats: the bits are exchanged until nobody was in between.
    const auto exchanging = [&](const char* type, const char* bits, const char* atomic) {
      return Definition{
          {"join_add"},
          fmt::format("SMELT_INLINE void join_add(volatile {0} {1}* at, {1} x) {{\n"
                      "  {2} was = as_{2}(*at), seen;\n"
                      "  while ((seen = {3}_cmpxchg((volatile {0} {2}*)at, was, as_{2}(as_{1}(was) + x))) != "
                      "was) was = seen;\n}}",
                      space, type, bits, atomic)};
    };
    list.push_back(exchanging("float", "uint", "atomic"));
    if (target.f64 && target.atomics64) list.push_back(exchanging("double", "ulong", "atom"));
  }
  return list;
}

// In front of the driver's own names for them.
HelperList roundings(const OpenClTarget& target) {
  HelperList list;
  const auto add = [&](const char* type, const char* integer, const char* whole) {
    for (Definition& form : rounding_forms()) {
      form.text = with(with(with(form.text, "$T", type), "$I", integer), "$W", whole);
      list.push_back(form);
    }
  };
  add("float", "int", "0x1p23f");
  if (target.f64) add("double", "long", "0x1p52");
  list.push_back({{}, kRoundingNames, {"to_even", "to_floor", "to_ceiling", "to_zero"}});
  return list;
}

HelperList prelude(const OpenClTarget& target, bool looped) {
  std::vector<std::string> types = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float"};
  std::vector<std::string> floats = {"float"};
  HelperList list = macros(looped);
  append(list, target.ptx ? ptx_extremes() : plain_extremes());
  if (target.atomics64)
    list.push_back({{},
                    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
                    "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable"});
  if (target.f64) append(list, f64_helpers()), types.push_back("double"), floats.push_back("double");
  append(list, for_types(types, {{"smaller"}, "SMELT_INLINE $T smaller($T a, $T b) { return a < b ? a : b; }"}));
  append(list, for_types(types, {{"larger"}, "SMELT_INLINE $T larger($T a, $T b) { return a > b ? a : b; }"}));
  for (const char* type : {"int", "long"}) {
    append(list,
           for_types({type},
                     {{"floor_div"},
                      "SMELT_INLINE $T floor_div($T a, $T b) { const $T q = a / b; return a % b < 0 ? q - 1 : q; }"}));
    append(
        list,
        for_types({type}, {{"floor_mod"},
                           "SMELT_INLINE $T floor_mod($T a, $T b) { const $T r = a % b; return r < 0 ? r + b : r; }"}));
  }
  if (looped) append(list, roundings(target));
  append(list, function_helpers());
  append(list, saturations(floats, looped));
  append(list, joins(target));
  return list;
}

// What the kernel computes with that the target lacks.
void check(const kernel::Kernel& kernel, const OpenClTarget& target) {
  const auto is_f64 = [](const auto& x) { return x.dtype == DType::F64; };
  const bool f64 = std::any_of(kernel.exprs.begin(), kernel.exprs.end(), is_f64) ||
                   std::any_of(kernel.params.begin(), kernel.params.end(), is_f64);
  if (f64 && !target.f64)
    throw UserError(
        "the program computes in f64, which this OpenCL device does not have (cl_khr_fp64)\n"
        "help: compute in f32, or choose another device: `smelt devices` lists them");
}

}  // namespace

HelperList opencl_helpers(const kernel::Kernel& kernel, const OpenClTarget& target) {
  HelperList list = prelude(target, kernel.dialect == kernel::Dialect::PlainThread);
  if (c_like::draws(kernel)) append(list, opencl_random_helpers());
  return list;
}

DeviceSource emit_opencl(const kernel::Kernel& kernel, const OpenClTarget& target) {
  check(kernel, target);
  return c_like::print_kernel(kernel, {opencl_spellings()}, opencl_helpers(kernel, target));
}

const CLike& opencl_spellings() {
  static const CLike table = {
      .wide = "long",
      .wide_unsigned = "ulong",
      .wide_suffix = "L",
      .wide_unsigned_suffix = "UL",
      .float_of_unsigned = "as_float",
      .float_of_int = "as_float",
      .double_of_long = "as_double",
      .int_of_float = "as_int",
      .long_of_double = "as_long",
      .suffixed = false,
      .templates = false,
      .thread = "get_local_id(0)",
      .workgroup = "get_group_id(0)",
      .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      .global = "__global ",
      .on_chip = "__local ",
      .shared = "__local ",
      .aligned = "",
      .warps = false,
      .float_to_int = float_to_int,
      .random_word = random_word,
      .random_words = random_words,
      .join = join,
      .begin = "__kernel",
      .signature = signature,
      .opening = opening,
  };
  return table;
}

}  // namespace smelt::emit
