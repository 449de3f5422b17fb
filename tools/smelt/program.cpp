#include "program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/check.hpp"
#include "base/nearest.hpp"
#include "graph/short_sizes.hpp"
#include "options.hpp"
#include "report/file.hpp"
#include "report/npy.hpp"
#include "report/units.hpp"
#include "report/view.hpp"

namespace smelt::tool {
namespace {

using report::InputSpec;
using report::printable;

constexpr int64_t kLargestProgram = 16 << 20;

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Shape constant_shape(const Dims& dims) { return {dims.begin(), dims.end()}; }

// A number without a dtype is weak: it takes the dtype of the first array that it could be computed
// with.
DType weak_dtype(const InputSpec& spec, const std::vector<InputSource>& others) {
  if (spec.dtype) return *spec.dtype;
  if (is_bool(spec.number.dtype)) return DType::Bool;
  const bool whole = is_int(spec.number.dtype);
  for (const InputSource& other : others) {
    if (other.spec.kind == InputSpec::Number) continue;
    if (is_float(other.dtype) || (whole && is_int(other.dtype))) return other.dtype;
  }
  return whole ? DType::I64 : DType::F32;
}

// Files and types; numbers keep the dtype that they are given later.
InputSource source_of(const InputSpec& spec) {
  InputSource source{spec, DType::F32, {}};
  if (spec.kind == InputSpec::File) {
    const report::NpyHeader header = report::read_npy_header(spec.path);
    source.dtype = header.dtype;
    source.shape = constant_shape(header.dims);
  } else if (spec.kind == InputSpec::Array) {
    const lang::ArrayType type = lang::parse_type(spec.type, fmt::format("-i {}", spec.name));
    source.dtype = type.dtype;
    source.shape = type.shape;
  }
  return source;
}

std::vector<lang::InputType> types_of(const std::vector<InputSource>& sources) {
  std::vector<lang::InputType> types;
  for (const InputSource& source : sources) types.push_back({source.spec.name, source.dtype, source.shape});
  return types;
}

std::vector<InputSpec> parse_inputs(const std::vector<std::string>& texts) {
  std::vector<InputSpec> specs;
  std::set<std::string> names;
  for (const std::string& text : texts)
    for (InputSpec& spec : report::parse_input_list(text)) {
      if (!names.insert(spec.name).second)
        throw UserError(fmt::format("-i gives the input {} twice\nhelp: keep one of them", spec.name));
      specs.push_back(std::move(spec));
    }
  return specs;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool is_declaration(std::string_view statement) {
  constexpr std::string_view kWord = "input";
  while (!statement.empty() && is_blank(statement.front())) statement.remove_prefix(1);
  return statement.substr(0, kWord.size()) == kWord && statement.size() > kWord.size() &&
         is_blank(statement[kWord.size()]);
}

// Whether the program says what its inputs are; if not, they are those of -i. Statements end with a
// line or a semicolon.
bool declares_inputs(std::string_view text) {
  while (!text.empty()) {
    const size_t line_end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, line_end);
    line = line.substr(0, line.find('#'));
    for (size_t end = 0; end != std::string_view::npos;
         line.remove_prefix(end == std::string_view::npos ? 0 : end + 1)) {
      end = line.find(';');
      if (is_declaration(line.substr(0, end))) return true;
    }
    text.remove_prefix(std::min(line_end + 1, text.size()));
  }
  return false;
}

std::vector<Symbol> unknown_symbols(const Shape& shape, const SizeBinding& sizes) {
  std::vector<Symbol> unknown;
  for (const IntExpr& size : shape) size.collect_symbols(unknown);
  std::erase_if(unknown, [&](Symbol s) { return sizes.count(s) > 0; });
  return unknown;
}

std::string type_text(DType dtype, const Shape& shape) {
  std::string sizes;
  for (const IntExpr& size : shape) sizes += (sizes.empty() ? "" : ",") + size.str();
  return shape.empty() ? std::string(name_of(dtype)) : fmt::format("{}[{}]", name_of(dtype), sizes);
}

// What is given in place of a program by mistake.
void check_program_word(const std::string& program) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (ends_with(program, ".npy") || ends_with(program, ".npz"))
    throw UserError(fmt::format("{} is an array, not a program\nhelp: pass it as an input: smelt run 'x * 2' -i x=@{}",
                                printable(program), printable(program)));
  if (fs::is_directory(program, ignored))
    throw UserError(fmt::format("{} is a folder, not a program\nhelp: name a .smelt file, or write an expression",
                                printable(program)));
  if (!ends_with(program, ".smelt") || fs::exists(program, ignored)) return;
  const fs::path folder = fs::path(program).has_parent_path() ? fs::path(program).parent_path() : fs::path(".");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".smelt") names.push_back(entry.path().filename().string());
  const std::string near = nearest(fs::path(program).filename().string(), names);
  if (near.empty()) return;  // reading it says what is wrong
  throw UserError(fmt::format("there is no file {}\nhelp: did you mean {}?", printable(program),
                              printable((fs::path(program).parent_path() / near).string())));
}

}  // namespace

Program::Program(const ProgramOptions& options, bool fill_missing) : seed_(options.seed) {
  read_text(options.program);
  for (const std::string& text : options.sizes) {
    const report::NamedSize size = report::parse_size(text);
    if (!given_sizes_.emplace(Symbol::size(size.name), size.size).second)
      throw UserError(fmt::format("--size gives {} twice\nhelp: keep one of them", size.name));
  }
  const std::vector<InputSpec> specs = parse_inputs(options.inputs);
  if (declares_inputs(text_)) {
    match_declared(specs, fill_missing);
  } else {
    parse_bare(specs);
  }
  for (const auto& [name, size] : given_sizes_)
    if (!has_size(name)) throw UserError(no_such_size(fmt::format("--size {}={}", name, size), name));
}

Graph Program::graph_for(const Machine& device, SizeBinding sizes, std::optional<Symbol> varying) const {
  if (varying) sizes.erase(*varying);
  return device.is_gpu ? graph_ : with_sizes(graph_, short_sizes(graph_, sizes));
}

void Program::read_text(const std::string& program) {
  std::error_code ignored;
  check_program_word(program);
  const bool named = ends_with(program, ".smelt");
  if (named || (std::filesystem::exists(program, ignored) && !std::filesystem::is_directory(program, ignored))) {
    text_ = report::read_text(program, kLargestProgram);
    file_ = program;
    title_ = std::filesystem::path(program).stem().string();
    return;
  }
  text_ = program;
  file_ = "<expression>";
  title_ = printable(program, 60);
}

void Program::parse_bare(const std::vector<InputSpec>& specs) {
  for (const InputSpec& spec : specs) sources_.push_back(source_of(spec));
  for (InputSource& source : sources_)
    if (source.spec.kind == InputSpec::Number) source.dtype = weak_dtype(source.spec, sources_);
  graph_ = lang::parse_program(text_, file_, types_of(sources_));
  SMELT_CHECK(graph_.inputs.size() == sources_.size(), "{} inputs for {} -i", graph_.inputs.size(), sources_.size());
}

void Program::match_declared(const std::vector<InputSpec>& specs, bool fill_missing) {
  std::vector<InputSource> given, numbers;
  for (const InputSpec& spec : specs) (spec.kind == InputSpec::Number ? numbers : given).push_back(source_of(spec));
  // The language compares what is given with what is declared, and says where they differ. A
  // declared f32[...] becomes the shape that is given. Numbers wait until it is known of what dtype
  // they are.
  graph_ = lang::parse_program(text_, file_, types_of(given));
  for (InputSource& number : numbers) {
    for (const NodeId id : graph_.inputs)
      if (graph_.at(id).name == number.spec.name) number.dtype = number.spec.dtype.value_or(graph_.at(id).dtype);
    given.push_back(number);
  }
  if (!numbers.empty()) graph_ = lang::parse_program(text_, file_, types_of(given));
  for (const NodeId id : graph_.inputs) {
    const Node& node = graph_.at(id);
    const auto found =
        std::find_if(given.begin(), given.end(), [&](const InputSource& s) { return s.spec.name == node.name; });
    if (found != given.end()) {
      sources_.push_back(*found);
      continue;
    }
    if (std::any_of(node.shape.begin(), node.shape.end(), [](const IntExpr& size) {
          const auto symbol = size.as_symbol();
          return symbol && symbol->is_open_size();
        })) {
      throw UserError(fmt::format("the input {} takes any shape, and is not given\nhelp: give it one: -i {}={}[1024]",
                                  printable(node.name), printable(node.name, 40), name_of(node.dtype)));
    }
    const std::string type = type_text(node.dtype, node.shape);
    if (!fill_missing) {
      throw UserError(
          fmt::format("the input {} ({}) is not given\nhelp: -i {}=@file.npy, or -i {}={} for random numbers, or "
                      "--fill for all that are not given",
                      printable(node.name), type, printable(node.name, 40), printable(node.name, 40), type));
    }
    InputSource filled{{}, node.dtype, node.shape};
    filled.spec.name = node.name;
    filled.spec.text = filled.spec.type = type;
    sources_.push_back(filled);
  }
}

std::vector<std::string> Program::size_names() const {
  std::vector<Symbol> symbols;
  for (const InputSource& source : sources_)
    for (const IntExpr& size : source.shape) size.collect_symbols(symbols);
  for (const NodeId id : graph_.inputs)
    for (const IntExpr& size : graph_.at(id).shape) size.collect_symbols(symbols);
  std::set<std::string> names;
  for (const Symbol symbol : symbols)
    if (symbol.is_size() && !symbol.is_open_size()) names.insert(symbol.str());
  return {names.begin(), names.end()};
}

std::string Program::no_such_size(const std::string& option, Symbol symbol) const {
  const std::vector<std::string> names = size_names();
  return fmt::format("{}: no input has a size of that name\nhelp: {}{}", option, did_you_mean(symbol.str(), names),
                     names.empty() ? fmt::format("name it in a type: -i x=f32[{},1024]", symbol)
                                   : fmt::format("the inputs have the sizes {}", fmt::join(names, ", ")));
}

bool Program::has_size(Symbol symbol) const {
  const auto mentions = [&](const Shape& shape) {
    return std::any_of(shape.begin(), shape.end(), [&](const IntExpr& size) { return size.mentions(symbol); });
  };
  return std::any_of(sources_.begin(), sources_.end(), [&](const InputSource& s) { return mentions(s.shape); }) ||
         std::any_of(graph_.inputs.begin(), graph_.inputs.end(),
                     [&](NodeId id) { return mentions(graph_.at(id).shape); });
}

std::vector<Dims> Program::dims(const SizeBinding& more) const {
  SizeBinding known = given_sizes_;
  for (const auto& [name, size] : more) known[name] = size;
  // What one input says of the declared sizes serves the next: x: f32[B,C] from a file gives C to
  // scale: f32[C].
  for (bool learned = true; learned;) {
    learned = false;
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Shape& declared = graph_.at(graph_.inputs[i]).shape;
      if (!unknown_symbols(sources_[i].shape, known).empty() || declared.size() != sources_[i].shape.size()) continue;
      for (size_t d = 0; d < declared.size(); ++d) {
        const auto symbol = declared[d].as_symbol();
        if (!symbol || known.count(*symbol)) continue;
        known[*symbol] = sources_[i].shape[d].evaluate(known);
        learned = true;
      }
    }
  }
  std::vector<Dims> all;
  for (const InputSource& source : sources_) {
    const std::vector<Symbol> unknown = unknown_symbols(source.shape, known);
    if (!unknown.empty()) {
      throw UserError(fmt::format("the size {} of the input {} ({}) has no value\nhelp: give it one: --size {}=1024",
                                  unknown[0], printable(source.spec.name, 40), source.spec.text, unknown[0]));
    }
    all.push_back(evaluate(source.shape, known));
    element_count(all.back());  // negative sizes and products past 64 bits are errors here
  }
  return all;
}

SizeBinding Program::sizes(const SizeBinding& more) const {
  SizeBinding sizes = bind_sizes(graph_, dims(more));
  for (const auto& [name, size] : given_sizes_) {
    const auto bound = sizes.find(name);
    if (bound != sizes.end() && bound->second != size && !more.count(name))
      throw UserError(fmt::format("--size {}={}, but the inputs say {}={}\nhelp: leave one of them out", name, size,
                                  name, bound->second));
  }
  return sizes;
}

std::vector<Tensor> Program::arrays(const SizeBinding& more) const {
  const std::vector<Dims> all = dims(more);
  std::vector<Tensor> out;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const InputSource& source = sources_[i];
    switch (source.spec.kind) {
      case InputSpec::File: out.push_back(report::read_npy(source.spec.path)); break;
      case InputSpec::Array: out.push_back(report::fill(source.spec.filler, source.dtype, all[i], seed_ + i)); break;
      case InputSpec::Number: {
        Tensor scalar = Tensor::empty(source.dtype, {});
        store_scalar(report::number_as(source.spec, source.dtype), scalar.data);
        out.push_back(scalar);
        break;
      }
    }
    if (out.back().dims != all[i] || out.back().dtype != source.dtype)
      throw UserError(fmt::format("{} changed while it was read", source.spec.path));
  }
  return out;
}

std::vector<std::string> Program::describe_inputs(std::optional<Symbol> varying, const SizeBinding& sizes) const {
  std::vector<std::string> out;
  for (const NodeId id : graph_.inputs) {
    const Node& node = graph_.at(id);
    Shape shape;
    for (const IntExpr& size : node.shape)
      shape.push_back(varying && size.mentions(*varying) ? size : IntExpr(size.evaluate(sizes)));
    out.push_back(fmt::format("{}: {}", printable(node.name, 40), type_text(node.dtype, shape)));
  }
  return out;
}

namespace {

std::string memory_text(__int128 bytes) {
  return report::format_memory(static_cast<int64_t>(std::min<__int128>(bytes, INT64_MAX)));
}

}  // namespace

void check_memory(const Program& program, const std::vector<Dims>& dims, int64_t memory_bytes) {
  const Graph& graph = program.graph();
  const SizeBinding sizes = bind_sizes(graph, dims);
  __int128 bytes = 0;
  for (size_t i = 0; i < dims.size(); ++i) bytes += element_count(dims[i]) * size_of(graph.at(graph.inputs[i]).dtype);
  for (const NodeId id : graph.outputs)
    bytes += element_count(evaluate(graph.at(id).shape, sizes)) * size_of(graph.at(id).dtype);
  if (memory_bytes <= 0 || bytes <= memory_bytes) return;
  throw UserError(
      fmt::format("the inputs and outputs take {}, and this machine has {} of memory\nhelp: use smaller sizes",
                  memory_text(bytes), memory_text(memory_bytes)));
}

void check_reference_memory(const Program& program, const std::vector<Dims>& dims, int64_t memory_bytes) {
  const Graph& graph = program.graph();
  const SizeBinding sizes = bind_sizes(graph, dims);
  __int128 largest = 0;
  for (const Node& node : graph.nodes)
    largest = std::max<__int128>(largest, element_count(evaluate(node.shape, sizes)));
  // The reference holds float64 values: the arguments and the result of one operation, and what
  // later ones need.
  const __int128 bytes = 4 * largest * static_cast<int>(sizeof(double));
  if (memory_bytes <= 0 || bytes <= memory_bytes) return;
  throw UserError(
      fmt::format("the float64 reference would take {} or more, and this machine has {} of memory\n"
                  "help: use smaller sizes, or measure without the check: --no-check",
                  memory_text(bytes), memory_text(memory_bytes)));
}

}  // namespace smelt::tool
