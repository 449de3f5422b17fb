#include "function_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "frontends/function_table.hpp"
#include "ops/op.hpp"
#include "smelt/error.hpp"

namespace smelt::api_test {
namespace {

using lang::Function;
using lang::Parameter;

// `std` is the name of a namespace.
std::string cpp_name(std::string_view name) { return name == "std" ? "stddev" : std::string(name); }

std::string dtype_constant(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return "DType::" + text;
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// How a parameter is written in the declaration: "const Axes& axis = -1".
std::string declaration(const Function& f, const Parameter& p) {
  const std::string_view name = p.name;
  const bool none = p.default_text == "None";
  const std::string otherwise = p.default_text.empty() ? "" : none ? " = {}" : fmt::format(" = {}", p.default_text);
  if (name == "dtype") {
    if (none) return "std::optional<DType> dtype = {}";
    return p.default_text.empty() ? "DType dtype" : fmt::format("DType dtype = {}", dtype_constant(p.default_text));
  }
  if (name == "keepdims") return "KeepDims keep = {}";
  if (name == "reverse") return "const ScanOptions& how = {}";
  if (name == "axis" && (f.group == "Scans" || one_of(f.row.name, {"cross_entropy", "concat", "stack", "batchnorm"})))
    return fmt::format("Axis axis{}", otherwise);
  if (one_of(name, {"axis1", "axis2"})) return fmt::format("Axis {}{}", name, otherwise);
  if (one_of(name, {"axis", "axes", "source", "destination"})) return fmt::format("const Axes& {}{}", name, otherwise);
  const bool attention = f.row.name == "scaled_dot_product_attention";
  if (attention && one_of(name, {"q", "k", "v", "mask"})) return fmt::format("const Array& {}{}", name, otherwise);
  if (name == "causal") return "bool causal = false";
  if (name == "subscripts") return "std::string_view subscripts";
  if (name == "operands") return "const std::vector<Array>& operands";
  if (one_of(name, {"ddof", "k"})) return fmt::format("int64_t {}{}", name, otherwise);
  if (name == "ord") return fmt::format("double ord{}", otherwise);
  if (one_of(name, {"stride", "padding", "dilation"}))
    return fmt::format("const Sizes& {}{}", name, none ? " = {}" : otherwise);
  if (name == "count_padding") return "bool count_padding = true";
  if (one_of(name, {"shape", "reps", "shift", "size"})) return fmt::format("const Sizes& {}{}", name, otherwise);
  if (one_of(name, {"groups", "repeats", "n"})) return fmt::format("const Size& {}{}", name, otherwise);
  if (name == "interleaved") return "bool interleaved = false";
  if (name == "deterministic") return "bool deterministic = true";
  if (one_of(name, {"low", "high"})) return fmt::format("double {}", name);
  if (name == "index" && f.row.name == "slice_update") return "const Indices& index";
  if (one_of(name, {"parts", "index", "bins"})) return fmt::format("int64_t {}", name);
  if (name == "base") return "double base = 10000";
  if (name == "m") return "const std::optional<Size>& m = {}";
  if (name == "pad_width") return "const PadWidth& pad_width";
  if (name == "arrays") return "const std::vector<Array>& arrays";
  if (name == "approximate") return "Approximate approximate = Approximate::None";
  if (name == "precision") return "Precision precision = Precision::Full";
  if (name == "reduction") return "Reduction reduction = Reduction::Mean";
  if (name == "mode" && one_of(f.row.name, {"pad", "filter"}))
    return fmt::format("PadMode mode = PadMode::{}", f.row.name == "pad" ? "Constant" : "Edge");
  if (name == "mode") return "OutOfRange mode = OutOfRange::Raise";
  if (one_of(name, {"x",          "y",         "a",       "b",        "c",      "condition", "targets", "mean",
                    "var",        "indices",   "eps",     "slope",    "alpha",  "scale",     "delta",   "value",
                    "kernel",     "lo",        "hi",      "weight",   "bias",   "start",     "stop",    "step",
                    "zero_point", "p",         "seed",    "offset",   "stream", "table",     "ids",     "cos",
                    "sin",        "positions", "updates", "segments", "weights"}))
    return fmt::format("const Array& {}{}", name, otherwise);
  throw InternalError(fmt::format("no C++ type for the parameter {} of {}", name, f.row.name));
}

// What the table's own words, which are Python's, do not say in C++: shapes, dtypes, sources.
struct Note {
  std::string_view name, doc, more;  // an empty doc: the table's
};
constexpr std::string_view kSame = "Gives the shape and dtype of x.";
constexpr std::string_view kReduce = "axis: one, several, or {} for all; they are dropped, or kept with size 1.";
constexpr Note kNotes[] = {
    {"sin", "", "Radians."},
    {"cos", "", "Radians."},
    {"tan", "", "Radians."},
    {"asin", "", "Radians, in [-pi/2, pi/2]; nan outside of [-1, 1]."},
    {"acos", "", "Radians, in [0, pi]; nan outside of [-1, 1]."},
    {"atan", "", "Radians, in [-pi/2, pi/2]."},
    {"atan2", "", "Radians, in [-pi, pi]."},
    {"where", "x where condition is true, else y", ""},
    {"logical_and", "", "Arrays that broadcast, of any dtype; gives Bool."},
    {"logical_or", "", "Arrays that broadcast, of any dtype; gives Bool."},
    {"logical_xor", "", "Arrays that broadcast, of any dtype; gives Bool."},
    {"logical_not", "", "Any dtype; gives Bool."},
    {"clamp", "minimum(maximum(x, lo), hi); nan stays nan; a bound of {} does not bound", "Numbers; bounds broadcast."},
    {"relu", "", "Numbers. Gives the shape and dtype of x."},
    {"leaky_relu", "", "Floats."},
    {"elu", "", "Floats. Clevert et al. 2015."},
    {"gelu", "x * (1 + erf(x / sqrt(2))) / 2; Approximate::Tanh is gelu_tanh", "Floats. Hendrycks & Gimpel 2016."},
    {"gelu_tanh", "", "Floats. Hendrycks & Gimpel 2016."},
    {"sigmoid", "", "Floats; 0 or 1 far out, never nan."},
    {"silu", "", "Floats. Elfwing et al. 2017."},
    {"softplus", "", "Floats."},
    {"mish", "", "Floats. Misra 2019."},
    {"hardswish", "", "Floats. Howard et al. 2019."},
    {"quantize_int8", "", "Floats; scale and zero_point broadcast. Halves round to even. Gives I8 in the shape of x."},
    {"dequantize", "", "Integers; scale and zero_point broadcast."},
    {"lerp", "", "Floats that broadcast."},
    {"sum", "", kReduce},
    {"prod", "", kReduce},
    {"max", "largest element; nan if there is one", kReduce},
    {"min", "smallest element; nan if there is one", kReduce},
    {"any", "", kReduce},
    {"all", "", kReduce},
    {"argmax", "index of the first largest element, or of the first nan; of the flattened array without an axis",
     "Gives I64."},
    {"argmin", "index of the first smallest element, or of the first nan; of the flattened array without an axis",
     "Gives I64."},
    {"mean", "", kReduce},
    {"var", "", kReduce},
    {"std", "", "Called std in the expression language. axis: as in var()."},
    {"logsumexp", "", kReduce},
    {"norm",
     "sum(abs(x)**ord) ** (1/ord) of all elements or along axes; ord may be infinite, and 0 counts what is not 0",
     kReduce},
    {"l2norm", "", kReduce},
    {"softmax", "", kSame},
    {"log_softmax", "", kSame},
    {"layernorm", "", "Ba et al. 2016. Gives the shape and dtype of x."},
    {"rmsnorm", "", "Zhang & Sennrich 2019. Gives the shape and dtype of x."},
    {"groupnorm", "", "Wu & He 2018. Gives the shape and dtype of x."},
    {"batchnorm", "", "Ioffe & Szegedy 2015. Gives the shape and dtype of x."},
    {"cross_entropy",
     "-log_softmax(x) at the target class; targets: integers, the shape of x without the axis; out of range: nan",
     "Gives the dtype of x: one number, or with Reduction::None the shape of targets."},
    {"cumsum", "running sum along an axis, from the start or as `how` says; integers as in sum()", ""},
    {"cumprod", "running product along an axis, from the start or as `how` says; integers as in sum()", ""},
    {"cummax", "largest element so far along an axis; nan from the first nan on", ""},
    {"cummin", "smallest element so far along an axis; nan from the first nan on", ""},
    {"mse", "(x - targets)**2, and its mean",
     "Gives the dtype of x: one number, or with Reduction::None the broadcast shape."},
    {"huber", "with d = abs(x - targets): d*d/2 where d <= delta, else delta * (d - delta/2), and its mean",
     "Huber 1964. Gives the dtype of x: one number, or with Reduction::None the broadcast shape."},
    {"transpose", "axes in another order; without axes: reversed, as x.T()", ""},
    {"pad",
     "value around x, or x extended; 1 on all sides, {1, 2} before and after every axis, {{0, 0}, {1, 2}} for each "
     "axis",
     ""},
    {"slice_update", "x in which x[index] is the value: `x[index] = value` of NumPy",
     "The value broadcasts to x[index]; for arrays as indices see scatter() and where(). Gives the shape and dtype of "
     "x."},
    {"take",
     "x[indices] along the axis, or of the flattened x; indices below 0 count from the end; out of range: an error "
     "when it runs, "
     "the nearest, or modulo",
     "Gives the shape of x with the axis replaced by the shape of indices."},
    {"scatter",
     "x with x[indices] = updates along the axis; of several updates of one element the last wins; indices as in "
     "take(), or those out of range are discarded",
     "updates: the shape of x with the axis replaced by the shape of indices, or one that broadcasts to it."},
    {"scatter_add",
     "x with x[indices] += updates along the axis, with every duplicate, as numpy.add.at; not deterministic: on a GPU "
     "floats are added in any order, which is faster",
     "indices and updates: as in scatter()."},
    {"bincount", "how often each of 0 .. n-1 is in x, as I64, or the sum of their weights; others are left out", ""},
    {"histogram",
     "how many elements lie in each of the bins of equal width from low to high, as I64; nan and what is outside are "
     "left "
     "out",
     ""},
    {"segment_sum",
     "the sum of the rows of x that belong to each of the segments 0 .. n-1; rows of no such segment are left out",
     "Gives [n] and the other sizes of x."},
    {"arange", "start, start + step, ... below stop; arange(n) starts at 0",
     "Integers give I64, floats F32. The step is not 0."},
    {"full", "an array of one value", "Without a dtype that of the value: I64, F32 or Bool."},
    {"astype", "saturating cast",
     "Floats round half to even; floats to integers truncate and saturate, nan gives 0; everything but 0 is true."},
    {"random_bits",
     "random words of 32 bits: Philox4x32-10 of the counter (offset + i / 4, stream) and the key seed, for element i",
     "Gives U32. seed, offset and stream are integers without axes; arrays of U64 are arguments of a compiled "
     "function, numbers are constants."},
    {"uniform", "", "Never 1. seed, offset, stream: as in random_bits()."},
    {"normal", "", "Box & Muller 1958. seed, offset, stream: as in random_bits()."},
    {"bernoulli", "", "p broadcasts. Gives Bool. seed, offset, stream: as in random_bits()."},
    {"dropout", "0 where bernoulli() of the same seed, offset and stream is true, else x / (1 - p)",
     "Floats. Gives the shape and dtype of x."},
    {"matmul",
     "matrix product: sums of products over the last axis of x and the last but one of y; axes in front broadcast. F16 "
     "and BF16 add up in F32 and are rounded once; integers wrap; Precision::Tf32 or Bf16x3: products of F32 may be "
     "off "
     "by 2^-10 or 2^-14",
     "x: [.., m, k], y: [.., k, n], gives [.., m, n]; a vector is a row as x, a column as y. Gives the promoted "
     "dtype."},
    {"linear", "", "x: [.., in]. Gives [.., out] in the promoted dtype."},
    {"einsum", "", "Gives the promoted dtype; several arrays are multiplied from the first to the last."},
    {"dot", "", "Gives the promoted dtype."},
    {"vecdot", "", "Gives the promoted dtype."},
    {"outer", "", "Gives [elements of x, elements of y]."},
    {"scaled_dot_product_attention",
     "softmax(matmul(q, k transposed) * scale + mask), times v; a Bool mask says which keys are seen, causal those up "
     "to the row; "
     "without scale 1 / sqrt of the last axis; more heads of q (axis -3) than of k share theirs",
     "q: [.., rows, n], k: [.., keys, n], v: [.., keys, m]. Gives [.., rows, m] in the dtype of q; 0 in rows that see "
     "no key. Vaswani "
     "et al. 2017."},
    {"reshape", "the same elements, row by row, in another shape; one size may be -1", "Moves no data."},
};

const Note* note_of(std::string_view name) {
  const auto found = std::find_if(std::begin(kNotes), std::end(kNotes), [&](const Note& n) { return n.name == name; });
  return found == std::end(kNotes) ? nullptr : found;
}

std::string dtypes_of(TypeRule rule) {
  switch (rule) {
    case TypeRule::Numeric: return "Integers and floats.";
    case TypeRule::Float: return "Floats.";
    case TypeRule::Integer: return "Integers.";
    case TypeRule::Bits: return "Integers and Bool.";
    case TypeRule::Any: return "Any dtype.";
    case TypeRule::Compare: return "Any dtype; gives Bool.";
    case TypeRule::Test: return "Integers and floats; gives Bool.";
    case TypeRule::Select: return "condition is Bool, x and y of any dtype.";
  }
  return "";
}

std::string error_of(const OpInfo& op) {
  if (op.max_ulp_f32 == 0 && op.max_ulp_f64 == 0) return "";
  if (op.max_ulp_f32 == 0.5 && op.max_ulp_f64 == 0.5) return " Correctly rounded.";
  return fmt::format(" Error at most {} ULP (f32), {} (f64).", op.max_ulp_f32, op.max_ulp_f64);
}

// A text as Doxygen comment lines of at most 100 columns.
std::string comment(const std::string& text) {
  std::string result, line = "///";
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (line.size() + 1 + word.size() > 100) result += line + "\n", line = "///";
    line += " " + word;
    at = end + 1;
  }
  return result + line + "\n";
}

std::string sentence(std::string_view text) {
  std::string s(text);
  return s.empty() || s.back() == '.' ? s : s + ".";
}

std::string documentation(const Function& f) {
  const Note* note = note_of(f.row.name);
  std::string text = sentence(note && !note->doc.empty() ? note->doc : f.row.doc);
  if (f.op) text += " " + dtypes_of(info(*f.op).rule) + error_of(info(*f.op));
  if (note && !note->more.empty()) text += " " + std::string(note->more);
  return comment(text);
}

std::string text_of(const Parameter& p) {
  if (p.name == "keepdims") return "keep";
  if (one_of(p.name, {"reverse", "exclusive", "restart"})) return fmt::format("how.{}", p.name);
  return std::string(p.name);
}

// What a C++ function declares, `where` last.
struct Declared {
  std::vector<std::string> parameters, names;  // "const Axes& axis = -1", "axis"
};

Declared declared_of(const Function& f) {
  std::vector<const Parameter*> declared;
  for (const Parameter& p : f.parameters) declared.push_back(&p);
  // keepdims before ddof: var(x, -1, keepdims).
  std::stable_sort(declared.begin(), declared.end(),
                   [](const Parameter* a, const Parameter* b) { return a->name != "ddof" && b->name == "ddof"; });
  // These two are in the options that `reverse` declares.
  std::erase_if(declared, [](const Parameter* p) { return p->name == "exclusive" || p->name == "restart"; });
  Declared result;
  for (const Parameter* p : declared) {
    result.parameters.push_back(declaration(f, *p));
    result.names.push_back(p->name == "keepdims" ? "keep" : p->name == "reverse" ? "how" : std::string(p->name));
  }
  result.parameters.push_back("Where where = Where::here()");
  result.names.push_back("where");
  return result;
}

std::string definition(const Function& f) {
  std::vector<std::string> arguments;
  for (const Parameter& p : f.parameters) arguments.push_back(text_of(p));
  return fmt::format("{}inline Array {}({}) {{ return detail::call(\"{}\", {{{}}}, where); }}\n", documentation(f),
                     cpp_name(f.row.name), fmt::join(declared_of(f).parameters, ", "), f.row.name,
                     fmt::join(arguments, ", "));
}

// Functions whose first argument is an array are its methods.
bool is_method(const Function& f) {
  return f.row.name != "arange" && declaration(f, f.parameters[0]).starts_with("const Array& ");
}

std::string declaration_of_method(const Function& f) {
  Declared d = declared_of(f);
  d.parameters.erase(d.parameters.begin());
  std::string text;
  for (std::string& p : d.parameters) {
    // Elements are those of Self, whose type is complete where a default stands for one.
    // ScanOptions has no default here, since it is not.
    if (p.starts_with("const Array& ")) p.replace(6, 5, "Self");
    if (!text.empty()) text += ", ";
    text += p == "const ScanOptions& how = {}" ? std::string("const ScanOptions& how") : p;
  }
  const std::string name = cpp_name(f.row.name);
  std::string made = fmt::format("  Self {}({}) const;  ///< {}()\n", name, text, name);
  if (const size_t at = made.find("Axis axis = -1, const ScanOptions& how"); at != std::string::npos) {
    made.replace(at, 14, "Axis axis");
    made += fmt::format("  Self {}(Axis axis = -1, Where where = Where::here()) const;  ///< \\overload\n", name);
  }
  return made;
}

std::string definition_of_method(const Function& f) {
  Declared d = declared_of(f);
  d.parameters.erase(d.parameters.begin());
  d.names[0] = "self()";
  bool scan = false;
  for (std::string& p : d.parameters) {
    if (p.starts_with("const Array& ")) p.replace(6, 5, "Self");
    scan |= p.starts_with("const ScanOptions& ");
    p.resize(std::min(p.size(), p.find(" =")));
  }
  const std::string name = cpp_name(f.row.name);
  std::string made =
      fmt::format("template <class Self>\nSelf Methods<Self>::{}({}) const {{ return smelt::{}({}); }}\n", name,
                  fmt::join(d.parameters, ", "), name, fmt::join(d.names, ", "));
  if (scan)
    made += fmt::format(
        "template <class Self>\nSelf Methods<Self>::{0}(Axis axis, Where where) const {{ return smelt::{0}(self(), "
        "axis, {{}}, where); }}\n",
        name);
  return made;
}

constexpr const char* kWritten = "Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1)";

constexpr const char* kPartHead = R"(#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/call.hpp"

namespace smelt {
)";

// The headers that functions.hpp includes, and what each has besides its functions.
struct Part {
  std::string_view name, what, head, tail;
  std::vector<std::string_view> groups;
};

constexpr std::string_view kScanOptions = R"(
/// How cumsum() and the like run: cumsum(x, -1, {.reverse = true}).
struct ScanOptions {
  bool reverse = false;    ///< from the end of the axis to its start
  bool exclusive = false;  ///< of what comes before an element, without itself
  Array restart = {};      ///< Bool, broadcast to x: true where the running value restarts
};
)";

constexpr std::string_view kReduceTail = R"(
/// The larger, element by element: maximum(x, y).
template <class Other>
  requires std::is_same_v<Other, Array>
Array max(const Array& x, const Other& y, Where where = Where::here()) { return detail::call("maximum", {x, y}, where); }
/// The smaller, element by element: minimum(x, y).
template <class Other>
  requires std::is_same_v<Other, Array>
Array min(const Array& x, const Other& y, Where where = Where::here()) { return detail::call("minimum", {x, y}, where); }
/// The largest element along an axis, nan if there is one, and the index of the first; in one pass.
inline std::pair<Array, Array> max_and_argmax(const Array& x, Axis axis = -1, KeepDims keep = {}, Where where = Where::here()) {
  return {max(x, axis, keep, where), argmax(x, axis, keep, where)};
}
)";

constexpr std::string_view kProductTail = R"(
/// Sums of products over the last axes of x and as many first ones of y.
inline Array tensordot(const Array& x, const Array& y, int64_t axes = 2, Where where = Where::here()) {
  return detail::call("tensordot", {x, y, axes}, where);
}
/// Sums of products over pairs of axes: the first named axis of x with the first of y, and so on.
inline Array tensordot(const Array& x, const Array& y, const Axes& of_x, const Axes& of_y, Where where = Where::here()) {
  return detail::call("tensordot", {x, y, detail::Argument::tuple(std::vector<Axes>{of_x, of_y})}, where);
}
)";

constexpr std::string_view kMovementTail = R"(
/// The equal parts of x along an axis.
inline std::vector<Array> split(const Array& x, int64_t parts, Axis axis = 0, Where where = Where::here()) {
  std::vector<Array> result;
  for (int64_t i = 0; i < parts; ++i) result.push_back(part(x, parts, i, axis, where));
  return result;
}
/// A saturating cast to the dtype of a C++ type: cast<f16>(x). astype() has the rules.
template <Element T>
Array cast(const Array& x, Where where = Where::here()) { return astype(x, dtype_of<T>, where); }
)";

const std::vector<Part>& parts() {
  static const auto* made = new std::vector<Part>{
      {"math", "Functions of elements", "", "", {"Elementwise", "Activations and quantisation"}},
      {"reduce",
       "Reductions, scans, norms and losses",
       kScanOptions,
       kReduceTail,
       {"Reductions", "Scans", "Normalisation and losses"}},
      {"product", "Matrix products and attention", "", kProductTail, {"Products"}},
      {"movement",
       "Functions that move, make, gather, scatter and draw elements",
       "",
       kMovementTail,
       {"Movement", "Windows", "Creation and casts", "Gathers and parts", "Scatters", "Random numbers", "Gradients"}}};
  return *made;
}

// Functions with several results are written by hand; C++ has loops instead of range(); slice() of
// a subscript is in index.hpp, gradients of functions are in gradient.hpp.
bool by_hand(const Function& f) {
  return one_of(f.row.name,
                {"split", "tensordot", "max_and_argmax", "slice", "range", "gradient", "value_and_gradient", "vjp"});
}

std::string part_text(const Part& part) {
  std::string text = fmt::format("/// \\file\n/// {}: a part of smelt/functions.hpp.\n/// {}.\n{}{}", part.what,
                                 kWritten, kPartHead, part.head);
  for (const std::string_view group : part.groups) {
    text += fmt::format("\n// ---- {}\n\n", group);
    for (const Function& f : lang::functions())
      if (f.group == group && !by_hand(f)) text += definition(f);
  }
  return text + std::string(part.tail) + "\n}  // namespace smelt\n";
}

std::string methods_header() {
  std::string text = fmt::format(R"(/// \file
/// The functions of smelt/functions.hpp as methods of an array: x.sum(-1) is sum(x, -1).
/// {}.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/choices.hpp"
#include "smelt/dtype.hpp"
#include "smelt/index.hpp"

namespace smelt {{

struct ScanOptions;

/// The methods of Array, which is Self. Each is the function of its name, called with the array.
template <class Self>
class SMELT_API Methods {{
 public:
)",
                                 kWritten);
  for (const Function& f : lang::functions())
    if (!by_hand(f) && is_method(f)) text += declaration_of_method(f);
  return text +
         R"(  std::vector<Self> split(int64_t parts, Axis axis = 0, Where where = Where::here()) const;  ///< split()
  std::pair<Self, Self> max_and_argmax(Axis axis = -1, KeepDims keep = {}, Where where = Where::here()) const;  ///< max_and_argmax()

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace smelt
)";
}

std::string methods_text(const Part& part) {
  std::string text = fmt::format(R"(// {} as methods.
// {}.
#pragma once

#include "smelt/functions.hpp"

namespace smelt {{

)",
                                 part.what, kWritten);
  for (const std::string_view group : part.groups)
    for (const Function& f : lang::functions())
      if (f.group == group && !by_hand(f) && is_method(f)) text += definition_of_method(f);
  return text + "\n}  // namespace smelt\n";
}

}  // namespace

std::map<std::string, std::string> function_files() {
  for (const Function& f : lang::functions())
    if (std::none_of(parts().begin(), parts().end(), [&](const Part& part) {
          return std::find(part.groups.begin(), part.groups.end(), f.group) != part.groups.end();
        }))
      throw InternalError(fmt::format("no part of functions.hpp has the group {}", f.group));
  std::map<std::string, std::string> files{{"include/smelt/methods.hpp", methods_header()}};
  for (const Part& part : parts()) {
    files.emplace(fmt::format("include/smelt/functions_{}.hpp", part.name), part_text(part));
    files.emplace(fmt::format("src/api/methods_{}.hpp", part.name), methods_text(part));
  }
  return files;
}

}  // namespace smelt::api_test
