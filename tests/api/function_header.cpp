#include "function_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "frontends/function_table.hpp"
#include "function_notes.hpp"
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
  if (one_of(name, {"indices", "ids", "segments"}) && f.row.name != "one_hot")
    return fmt::format("const IndexList& {}", name);
  if (one_of(name, {"x",          "y",         "a",       "b",        "c",      "condition", "targets", "mean",
                    "var",        "indices",   "eps",     "slope",    "alpha",  "scale",     "delta",   "value",
                    "kernel",     "lo",        "hi",      "weight",   "bias",   "start",     "stop",    "step",
                    "zero_point", "p",         "seed",    "offset",   "stream", "table",     "ids",     "cos",
                    "sin",        "positions", "updates", "segments", "weights"}))
    return fmt::format("const Array& {}{}", name, otherwise);
  throw InternalError(fmt::format("no C++ type for the parameter {} of {}", name, f.row.name));
}

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

std::string declaration(const Function& f) {
  return fmt::format("{}SMELT_API Array {}({});\n", documentation(f), cpp_name(f.row.name),
                     fmt::join(declared_of(f).parameters, ", "));
}

std::string definition(const Function& f) {
  std::vector<std::string> arguments, parameters;
  for (const Parameter& p : f.parameters) arguments.push_back(text_of(p));
  for (const std::string& p : declared_of(f).parameters) parameters.push_back(p.substr(0, p.find(" =")));
  return fmt::format("Array {}({}) {{ return detail::call(\"{}\", {{{}}}, where); }}\n", cpp_name(f.row.name),
                     fmt::join(parameters, ", "), f.row.name, fmt::join(arguments, ", "));
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
#include "smelt/choices.hpp"

namespace smelt {
)";

// The headers that functions.hpp includes, and what each has besides its functions.
struct Part {
  std::string_view name, what, head, tail, definitions;
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
Array max(const Array& x, const Other& y, Where where = Where::here()) { return maximum(x, y, where); }
/// The smaller, element by element: minimum(x, y).
template <class Other>
  requires std::is_same_v<Other, Array>
Array min(const Array& x, const Other& y, Where where = Where::here()) { return minimum(x, y, where); }
/// The largest element along an axis, nan if there is one, and the index of the first; in one pass.
SMELT_API std::pair<Array, Array> max_and_argmax(const Array& x, Axis axis = -1, KeepDims keep = {}, Where where = Where::here());
)";

constexpr std::string_view kReduceDefinitions = R"(
std::pair<Array, Array> max_and_argmax(const Array& x, Axis axis, KeepDims keep, Where where) {
  return {max(x, axis, keep, where), argmax(x, axis, keep, where)};
}
)";

constexpr std::string_view kProductTail = R"(
/// Sums of products over the last axes of x and as many first ones of y.
SMELT_API Array tensordot(const Array& x, const Array& y, int64_t axes = 2, Where where = Where::here());
/// Sums of products over pairs of axes: the first named axis of x with the first of y, and so on.
SMELT_API Array tensordot(const Array& x, const Array& y, const Axes& of_x, const Axes& of_y, Where where = Where::here());
)";

constexpr std::string_view kProductDefinitions = R"(
Array tensordot(const Array& x, const Array& y, int64_t axes, Where where) {
  return detail::call("tensordot", {x, y, axes}, where);
}
Array tensordot(const Array& x, const Array& y, const Axes& of_x, const Axes& of_y, Where where) {
  return detail::call("tensordot", {x, y, detail::Argument::tuple(std::vector<Axes>{of_x, of_y})}, where);
}
)";

constexpr std::string_view kMovementTail = R"(
/// The equal parts of x along an axis.
SMELT_API std::vector<Array> split(const Array& x, int64_t parts, Axis axis = 0, Where where = Where::here());
/// A saturating cast to the dtype of a C++ type: cast<f16>(x). astype() has the rules.
template <Element T>
Array cast(const Array& x, Where where = Where::here()) { return astype(x, dtype_of<T>, where); }
)";

constexpr std::string_view kMovementDefinitions = R"(
std::vector<Array> split(const Array& x, int64_t parts, Axis axis, Where where) {
  std::vector<Array> result;
  for (int64_t i = 0; i < parts; ++i) result.push_back(part(x, parts, i, axis, where));
  return result;
}
)";

const std::vector<Part>& parts() {
  static const auto* made = new std::vector<Part>{
      {"math", "Functions of elements", "", "", "", {"Elementwise", "Activations and quantisation"}},
      {"reduce",
       "Reductions, scans, norms and losses",
       kScanOptions,
       kReduceTail,
       kReduceDefinitions,
       {"Reductions", "Scans", "Normalisation and losses"}},
      {"product", "Matrix products and attention", "", kProductTail, kProductDefinitions, {"Products"}},
      {"movement",
       "Functions that move, make, gather, scatter and draw elements",
       "",
       kMovementTail,
       kMovementDefinitions,
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
      if (f.group == group && !by_hand(f)) text += declaration(f);
  }
  return text + std::string(part.tail) + "\n}  // namespace smelt\n";
}

std::string definitions_text(const Part& part) {
  std::string text = fmt::format(R"(// {}.
// {}.
#include "smelt/functions_{}.hpp"

#include "smelt/call.hpp"

namespace smelt {{

)",
                                 part.what, kWritten, part.name);
  for (const std::string_view group : part.groups)
    for (const Function& f : lang::functions())
      if (f.group == group && !by_hand(f)) text += definition(f);
  return text + std::string(part.definitions) + "\n}  // namespace smelt\n";
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
    files.emplace(fmt::format("src/api/functions_{}.cpp", part.name), definitions_text(part));
    files.emplace(fmt::format("src/api/methods_{}.hpp", part.name), methods_text(part));
  }
  return files;
}

}  // namespace smelt::api_test
