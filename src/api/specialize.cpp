#include "api/specialize.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "api/layout.hpp"
#include "api/saved.hpp"
#include "base/check.hpp"
#include "graph/build_detail.hpp"
#include "graph/short_sizes.hpp"

namespace smelt::detail {

namespace {

// Letters for the sizes that are open, as a user would choose them: B, N, then B2, N2, ...
class Symbols {
 public:
  IntExpr of(int64_t extent, bool leading) {
    const auto found = known_.find(extent);
    if (found != known_.end()) return found->second;
    int& count = leading ? leading_ : others_;
    const std::string letter = leading ? "B" : "N";
    const Symbol size = Symbol::size(++count == 1 ? letter : fmt::format("{}{}", letter, count));
    return known_.emplace(extent, IntExpr::symbol(size)).first->second;
  }

 private:
  std::map<int64_t, IntExpr> known_;  // equal sizes are one symbol
  int leading_ = 0, others_ = 0;
};

const Options::Pin* pin_of(const Options& options, size_t argument, size_t axis, size_t rank) {
  const Options::Pin* found = nullptr;
  for (const Options::Pin& pin : options.pins) {
    const int at = pin.axis < 0 ? pin.axis + static_cast<int>(rank) : pin.axis;
    if (pin.argument == static_cast<int>(argument) && at == static_cast<int>(axis)) found = &pin;
  }
  return found;
}

std::string text_of(const Data& data) {
  return fmt::format("{}{}", name_of(data.tensor.dtype), data.tensor.dims.empty() ? "" : smelt::str(data.tensor.dims));
}

// Whether the executable for a symbol may serve this number. 1 broadcasts, and is dropped by
// squeeze: another program.
bool may_be_open(int64_t extent) { return extent != 1; }

// 0, 1 to 3, 4 to 15, 16 to 63, ...
constexpr uint64_t kMostClasses = 33;
// Short sizes that a function has executables for.
constexpr size_t kMostShort = 8;
// Executables of a function for arguments with gaps between their rows. Arguments with other gaps
// are copied from then on: their distances may be others in every call.
constexpr int kMostWithGaps = 4;
bool has_gaps(const std::vector<InputType>& types) {
  return std::any_of(types.begin(), types.end(), [](const InputType& t) { return !t.layout.strides.empty(); });
}
uint64_t class_of_size(int64_t size) {
  return (static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(size))) + 1) / 2;
}

}  // namespace

// Gaps travel neither to a GPU nor from it.
static MemoryLayout layout_of(const Data& data, bool gpu) {
  return memory_layout(data.tensor, data.device.is_gpu() == gpu);
}

std::vector<InputType> exact_types(const Arguments& arguments, const Naming& naming, const Device& on) {
  std::vector<InputType> types;
  const std::vector<std::string> names = naming.inputs(arguments.arrays.size(), arguments.lists);
  for (const Data* data : arguments.arrays) {
    const Dims& dims = data->tensor.dims;
    const size_t i = types.size();
    types.push_back({names[i], data->tensor.dtype, Shape(dims.begin(), dims.end()), arguments.is_weak(i),
                     !naming.parameters.empty(), layout_of(*data, on.is_gpu())});
  }
  return types;
}

// A pin on what is not there is a slip.
static void check_pins(const Arguments& arguments, const Options& options, const Naming& naming) {
  for (const Options::Pin& pin : options.pins) {
    const std::string written =
        fmt::format("Options::{}({}, {})", pin.fixed ? "fixed" : "dynamic", pin.argument, pin.axis);
    const size_t count = arguments.arrays.size();
    if (pin.argument < 0 || static_cast<size_t>(pin.argument) >= count)
      throw UserError(
          fmt::format("{}: the call has {} argument{}, counted from 0", written, count, count == 1 ? "" : "s"));
    const Data& data = *arguments.arrays[static_cast<size_t>(pin.argument)];
    const auto rank = static_cast<int>(data.tensor.dims.size());
    if (pin.axis >= rank || pin.axis < -rank)
      throw UserError(fmt::format("{}: {} is {}, which has no axis {}", written,
                                  naming.argument(static_cast<size_t>(pin.argument), arguments.lists), text_of(data),
                                  pin.axis));
  }
}

std::vector<InputType> open_types(const Arguments& arguments, const Options& options, const Naming& naming,
                                  const Device& on) {
  check_pins(arguments, options, naming);
  std::set<int64_t> inner;
  for (const Data* data : arguments.arrays)
    for (size_t d = 1; d < data->tensor.dims.size(); ++d) inner.insert(data->tensor.dims[d]);
  std::vector<InputType> types = exact_types(arguments, naming, on);
  Symbols symbols;
  for (size_t i = 0; i < types.size(); ++i) {
    const Dims& dims = arguments.arrays[i]->tensor.dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      bool open = d == 0 && (dims.size() > 1 || !inner.count(dims[d]));
      if (const Options::Pin* pin = pin_of(options, i, d, dims.size())) open = !pin->fixed;
      if (open && may_be_open(dims[d])) types[i].shape[d] = symbols.of(dims[d], d == 0);
    }
  }
  return types;
}

Pattern::Pattern(const std::vector<InputType>& types, bool gpu, bool one_may_be_open, bool copies)
    : gpu_(gpu), one_may_be_open_(one_may_be_open), copies_(copies) {
  std::map<std::string, size_t> symbols;
  for (const InputType& type : types) {
    Input input{type.dtype, type.weak, {}, type.layout};
    for (const IntExpr& size : type.shape) {
      const auto constant = size.constant();
      calculated_ |= !constant && !size.as_symbol();
      input.dims.push_back(
          constant ? *constant : -1 - static_cast<int64_t>(symbols.emplace(size.str(), symbols.size()).first->second));
    }
    inputs_.push_back(std::move(input));
  }
  symbols_ = symbols.size();
}

bool Pattern::takes_layout(const Input& input, const Data& data, Gaps gaps) const {
  const MemoryLayout& layout = input.layout;
  if (copies_ || (layout.row_major() && data.tensor.contiguous())) return true;
  const MemoryLayout found = layout_of(data, gpu_);
  return found == layout || (gaps == Gaps::Copied && layout.row_major() && !found.strides.empty());
}

std::optional<uint64_t> Pattern::class_of(const Arguments& arguments, Gaps gaps) const {
  if (arguments.arrays.size() != inputs_.size()) return std::nullopt;
  constexpr size_t kUsual = 16;
  int64_t few[kUsual];
  std::vector<int64_t> many;
  int64_t* values = few;
  if (symbols_ > kUsual) many.resize(symbols_), values = many.data();
  std::fill_n(values, symbols_, -1);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const Tensor& tensor = arguments.arrays[i]->tensor;
    if (tensor.dtype != input.dtype || tensor.dims.size() != input.dims.size() || arguments.is_weak(i) != input.weak ||
        !takes_layout(input, *arguments.arrays[i], gaps))
      return std::nullopt;
    for (size_t d = 0; d < input.dims.size(); ++d) {
      const int64_t extent = tensor.dims[d];
      int64_t expected = input.dims[d];
      if (expected < 0) {
        if (!one_may_be_open_ && !may_be_open(extent)) return std::nullopt;
        int64_t& value = values[-1 - expected];
        if (value < 0) value = extent;
        expected = value;
      }
      if (extent != expected) return std::nullopt;
    }
  }
  uint64_t found = 0;
  for (size_t s = 0; s < symbols_; ++s) found = found * kMostClasses + class_of_size(values[s]);
  return found;
}

SizeBinding Special::sizes_of(const Arguments& arguments) const {
  if (pattern.calculated()) {
    std::vector<Dims> dims;
    for (size_t i = 0; i < types.size(); ++i)
      dims.push_back(in_order(types[i].layout, arguments.arrays[i]->tensor).dims);
    for (const Array& array : captured) dims.push_back(array.node()->data()->tensor.dims);
    return bind_sizes(program, dims);
  }
  SizeBinding found;
  for (size_t i = 0; i < types.size(); ++i)
    for (size_t d = 0; d < types[i].shape.size(); ++d)
      if (const auto symbol = types[i].shape[d].as_symbol()) found[*symbol] = arguments.arrays[i]->tensor.dims[d];
  return found;
}

std::optional<int64_t> Special::short_size(const Arguments& arguments) const {
  for (const auto& [argument, axis] : not_short)
    if (const int64_t size = arguments.arrays[argument]->tensor.dims[axis]; is_short(size)) return size;
  return std::nullopt;
}

std::optional<uint64_t> Special::class_of(const Arguments& arguments, const Device& on, Gaps gaps) const {
  if (arguments.lists != lists || !(on == device)) return std::nullopt;
  const std::optional<uint64_t> found = pattern.class_of(arguments, gaps);
  if (found && short_size(arguments)) return std::nullopt;
  if (found && pattern.calculated()) {
    try {
      sizes_of(arguments);
      return found;
    } catch (const UserError&) {
      return std::nullopt;
    }
  }
  // What the program asks of sizes, such as that a slice lies inside.
  const std::vector<Constraint>& constraints = program.constraints;
  if (!found || constraints.empty()) return found;
  const SizeBinding bound = sizes_of(arguments);
  if (std::all_of(constraints.begin(), constraints.end(), [&](const Constraint& c) { return holds(c, bound); }))
    return found;
  return std::nullopt;
}

Device device_for(const std::vector<const Data*>& arrays, const Device& otherwise) {
  const Data* on_gpu = nullptr;
  const Data* on_host = nullptr;
  for (const Data* data : arrays) {
    // A number in host memory becomes an argument of the kernels.
    if (!data->device.is_gpu() && data->tensor.dims.empty()) continue;
    const Data*& same = data->device.is_gpu() ? on_gpu : on_host;
    if (data->device.is_gpu() && same && !(same->device == data->device))
      throw UserError(fmt::format("arrays on {} and on {} meet\nhelp: move one with to(Device)", same->device.name(),
                                  data->device.name()));
    same = data;
  }
  if (!on_gpu) return otherwise;
  if (on_host)
    throw UserError(fmt::format("an array on {} meets {} in host memory\nhelp: move it with to(Device)",
                                on_gpu->device.name(), text_of(*on_host)));
  return on_gpu->device;
}

SpecialPtr Specializer::look_up(const Arguments& arguments, const Device& on) const {
  const std::shared_lock lock(mutex_);
  for (const Gaps gaps : {Gaps::Read, Gaps::Copied}) {
    if (gaps == Gaps::Copied && !copies_gaps_.load(std::memory_order_relaxed)) break;
    for (const auto& [special, classes] : entries_) {
      const std::optional<uint64_t> sizes = special->class_of(arguments, on, gaps);
      if (!sizes || std::find(classes.begin(), classes.end(), *sizes) == classes.end()) continue;
      special->last_use.store(++clock_, std::memory_order_relaxed);
      return special;
    }
  }
  return nullptr;
}

SpecialPtr Specializer::extend(const Arguments& arguments, const Device& on) {
  const Gaps gaps = copies_gaps_ ? Gaps::Copied : Gaps::Read;
  for (const SpecialPtr& special : all()) {
    const std::optional<uint64_t> sizes = special->class_of(arguments, on, gaps);
    if (!sizes || !special->executable.suits(special->sizes_of(arguments))) continue;
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_)
      if (entry.special == special) entry.classes.push_back(*sizes);
    special->last_use.store(++clock_, std::memory_order_relaxed);
    return special;
  }
  return nullptr;
}

std::vector<SpecialPtr> Specializer::all() const {
  const std::shared_lock lock(mutex_);
  std::vector<SpecialPtr> specials;
  for (const Entry& entry : entries_) specials.push_back(entry.special);
  return specials;
}

SpecialPtr Specializer::latest() const {
  const std::vector<SpecialPtr> specials = all();
  const auto latest = std::max_element(specials.begin(), specials.end(), [](const auto& a, const auto& b) {
    return a->last_use.load(std::memory_order_relaxed) < b->last_use.load(std::memory_order_relaxed);
  });
  return latest == specials.end() ? nullptr : *latest;
}

// As the language has it for numbers written in a program: 300 is an error with u8, and not 255.
static void check_numbers(const Special& special, const Arguments& arguments, const Naming& naming) {
  for (const auto& [argument, dtype] : special.number_uses) {
    const Tensor& number = arguments.arrays[argument]->tensor;
    const Scalar value = load_scalar(number.dtype, number.data);
    const Literal literal = is_float(number.dtype) ? Literal(value.as_double()) : Literal(value.as_int());
    try {
      scalar_of(literal, dtype, {});
    } catch (const UserBuildError& e) {
      throw UserError(
          fmt::format("{}: {}\nhelp: cast the array that it meets to a wider dtype, or pass an array in place "
                      "of the number",
                      naming.argument(argument, arguments.lists), e.error.message));
    }
  }
}

SpecialPtr Specializer::find(const Arguments& arguments, const Build& build, bool* compiled) {
  SpecialPtr found = find_or_make(arguments, build, compiled);
  check_numbers(*found, arguments, naming_);
  return found;
}

SpecialPtr Specializer::find_or_make(const Arguments& arguments, const Build& build, bool* compiled) {
  const Device on = device_for(arguments.arrays, options_.device);
  if (compiled) *compiled = false;
  if (SpecialPtr found = look_up(arguments, on)) return found;
  const std::lock_guard one_at_a_time(compiling_);
  if (SpecialPtr found = look_up(arguments, on)) return found;
  if (saved_) return find_saved(arguments, on);
  if (SpecialPtr found = extend(arguments, on)) return found;
  SpecialPtr made = make(arguments, build, on);
  if (compiled) *compiled = true;
  ++compile_count_;
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= static_cast<size_t>(most_executables(options_)))
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.special->last_use.load(std::memory_order_relaxed) < b.special->last_use.load(std::memory_order_relaxed);
    }));
  made->last_use.store(++clock_, std::memory_order_relaxed);
  const uint64_t sizes = made->class_of(arguments, on, Gaps::Copied).value_or(0);
  entries_.push_back({made, {sizes}});
  copies_gaps_ = std::count_if(entries_.begin(), entries_.end(),
                               [](const Entry& entry) { return has_gaps(entry.special->types); }) >= kMostWithGaps;
  return made;
}

// The file's program whose sizes are nearest; it serves them from now on.
SpecialPtr Specializer::find_saved(const Arguments& arguments, const Device& on) {
  const auto distance = [&](const Special& special) {
    double sum = 0;
    for (const auto& [symbol, size] : special.sizes_of(arguments)) {
      const auto chosen = special.sizes.find(symbol);
      if (chosen != special.sizes.end())
        sum += std::abs(std::log2(static_cast<double>(size + 1) / static_cast<double>(chosen->second + 1)));
    }
    // An array in another order is copied.
    for (size_t i = 0; i < special.types.size(); ++i)
      sum += layout_of(*arguments.arrays[i], on.is_gpu()) != special.types[i].layout;
    return sum;
  };
  std::vector<SavedEntry>& programs = saved_entries_[on.name()];
  if (programs.empty())
    for (auto& special : saved_->specials(on)) programs.push_back({std::move(special), false});
  std::optional<size_t> nearest;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (!programs[i].special || !programs[i].special->class_of(arguments, on)) continue;
    if (!nearest || distance(*programs[i].special) < distance(*programs[*nearest].special)) nearest = i;
  }
  if (!nearest) {
    std::vector<std::string> types;
    for (size_t i = 0; i < arguments.arrays.size(); ++i)
      types.push_back((arguments.is_weak(i) ? "a number of " : "") + text_of(*arguments.arrays[i]));
    throw UserError(fmt::format(
        "the saved function{} has no code for {} on {}\n  it has code for {}\nhelp: call the "
        "function with such arrays before save()",
        saved_->name() == Options{}.name ? "" : " " + saved_->name(),
        types.empty() ? "no arguments" : fmt::format("{}", fmt::join(types, ", ")), on.name(), saved_->describe()));
  }
  auto& [special, built] = programs[*nearest];
  if (!built) saved_->compile(*nearest, *special, options_);
  const std::lock_guard lock(mutex_);
  if (!std::exchange(built, true)) entries_.push_back({special, {}});
  for (Entry& entry : entries_)
    if (entry.special == special) entry.classes.push_back(*special->class_of(arguments, on));
  special->last_use.store(++clock_, std::memory_order_relaxed);
  return special;
}

namespace {

std::string types_text(const std::vector<InputType>& types) {
  std::vector<std::string> texts;
  for (const InputType& type : types) texts.push_back(type.str());
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Casts that the user wrote saturate, and are none of these.
std::vector<NumberUse> number_uses(const Graph& graph, const std::vector<InputType>& types) {
  std::vector<NumberUse> uses;
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::Cast || node.label == "astype" || node.label == "cast" || node.label == "wrap_cast")
      continue;
    const auto input = std::find(graph.inputs.begin(), graph.inputs.end(), node.args[0]);
    const auto i = static_cast<size_t>(input - graph.inputs.begin());
    if (i < types.size() && types[i].weak) uses.push_back({i, node.dtype});
  }
  return uses;
}

std::shared_ptr<Special> compile_for(std::vector<InputType> types, const Arguments& arguments, const Build& build,
                                     const Device& on, const Options& options, bool declared,
                                     const std::set<SizeBinding>& fixed) {
  auto special = std::make_shared<Special>();
  Traced traced = build(types, arguments.lists);
  special->number_uses = number_uses(traced.graph, types);
  std::vector<Dims> dims;
  for (const Data* data : arguments.arrays) dims.push_back(data->tensor.dims);
  for (const Array& array : traced.captured) dims.push_back(array.node()->data()->tensor.dims);
  CompileOptions o;
  o.fuse = options.fuse;
  o.threads = options.threads;
  o.tune = options.tune;
  o.program = options.name;
  o.fallback = options.fallback;
  special->sizes = o.sizes =
      bind_sizes(traced.graph, dims);  // a slice that leaves the array at these sizes throws here
  if (declared && !on.is_gpu()) {
    const SizeBinding known = short_sizes(traced.graph, o.sizes);
    if (fixed.size() < kMostShort || fixed.count(known)) {
      special->short_sizes = known;
      traced.graph = with_sizes(traced.graph, known);
      for (size_t i = 0; i < types.size(); ++i) {
        const Shape& shape = traced.graph.at(traced.graph.inputs[i]).shape;
        if (shape.size() >= 2 && shape.back().as_symbol()) special->not_short.emplace_back(i, shape.size() - 1);
      }
    }
  }
  for (Array& array : traced.captured)
    if (array.ndim() > 0) array = array.to(on);
  if (declared)  // the program's own types
    for (size_t i = 0; i < types.size(); ++i) types[i].shape = traced.graph.at(traced.graph.inputs[i]).shape;
  // The user's own code takes arrays that are row-major.
  const bool copies = std::any_of(traced.graph.nodes.begin(), traced.graph.nodes.end(),
                                  [](const Node& node) { return node.kind == NodeKind::Custom; });
  std::vector<MemoryLayout> layouts;
  for (InputType& type : types) {
    if (copies) type.layout = {};
    layouts.push_back(type.layout);
  }
  traced.graph = with_input_layouts(traced.graph, layouts);
  special->program = traced.graph;
  special->fuse = options.fuse;
  special->threads = options.threads;
  special->executable = smelt::compile(traced.graph, machine_of(on), o);
  special->types = std::move(types);
  special->pattern = Pattern(special->types, on.is_gpu(), declared, copies);
  special->lists = arguments.lists;
  special->device = on;
  special->captured = std::move(traced.captured);
  special->places = std::move(traced.places);
  special->facts.types = types_text(special->types);
  special->facts.kernels = static_cast<int>(special->executable.plan().groups.size());
  special->facts.compile_ms = special->executable.compile_ms();
  return special;
}

}  // namespace

SpecialPtr Specializer::make(const Arguments& arguments, const Build& build, const Device& on) const {
  const std::string reason = reason_for(arguments, on);
  std::string why_exact;
  std::vector<InputType> open = open_types(arguments, options_, naming_, on),
                         exact = exact_types(arguments, naming_, on);
  if (copies_gaps_)
    for (std::vector<InputType>* types : {&open, &exact})
      for (InputType& type : *types)
        if (!type.layout.strides.empty()) type.layout = {};
  const bool is_open = std::any_of(open.begin(), open.end(), [](const InputType& type) {
    return std::any_of(type.shape.begin(), type.shape.end(), [](const IntExpr& size) { return !size.constant(); });
  });
  if (is_open && !declared_) {
    try {
      const auto special = compile_for(open, arguments, build, on, options_, declared_, {});
      special->facts.reason = reason;
      return special;
    } catch (const UserError& e) {
      why_exact = e.what();
    }
  }
  std::set<SizeBinding> fixed;  // what stands for short sizes elsewhere
  for (const SpecialPtr& other : all())
    if (!other->short_sizes.empty()) fixed.insert(other->short_sizes);
  const auto special = compile_for(exact, arguments, build, on, options_, declared_, fixed);
  special->facts.reason = reason;
  special->facts.exact = why_exact;
  return special;
}

// What distinguishes arguments from those of an executable, and how near they are: the more agrees,
// the nearer.
struct Difference {
  int nearness;
  std::string text;
};

static Difference difference(const Special& special, const Arguments& arguments, const Device& on,
                             const Naming& naming) {
  if (!(special.device == on))
    return {0, fmt::format("the arrays are on {}, not on {}", on.name(), special.device.name())};
  if (special.lists != arguments.lists || special.types.size() != arguments.arrays.size())
    return {1, fmt::format("there are {} arrays, not {}", arguments.arrays.size(), special.types.size())};
  Difference found{2, ""};
  SizeBinding sizes;
  for (size_t i = 0; i < special.types.size(); ++i) {
    const InputType& type = special.types[i];
    const Tensor& tensor = arguments.arrays[i]->tensor;
    bool agrees =
        tensor.dtype == type.dtype && tensor.dims.size() == type.shape.size() && arguments.is_weak(i) == type.weak;
    found.nearness += agrees;
    for (size_t d = 0; d < tensor.dims.size() && d < type.shape.size(); ++d) {
      const auto constant = type.shape[d].constant();
      const auto symbol = type.shape[d].as_symbol();
      const int64_t expected = constant ? *constant
                               : symbol ? sizes.emplace(*symbol, tensor.dims[d]).first->second
                                        : tensor.dims[d];
      const bool same = expected == tensor.dims[d] && (constant || may_be_open(tensor.dims[d]));
      found.nearness += same;
      agrees &= same;
    }
    const MemoryLayout layout = layout_of(*arguments.arrays[i], on.is_gpu());
    if (agrees && found.text.empty() && layout != type.layout) {
      InputType now = type;
      now.layout = layout;
      found.text = fmt::format("{} is {}{}, not {}{}", naming.argument(i, arguments.lists), now.str(),
                               layout.row_major() ? " row by row" : "", type.str(),
                               type.layout.row_major() ? " row by row" : "");
    }
    if (!agrees && found.text.empty())
      found.text = fmt::format("{} is {}, not {}", naming.argument(i, arguments.lists),
                               arguments.is_weak(i) ? "a number" : text_of(*arguments.arrays[i]), type.str());
  }
  if (const auto size = special.short_size(arguments); found.text.empty() && size)
    found.text = fmt::format("rows of {} are short: their length is a constant of the kernels", *size);
  if (found.text.empty() && special.class_of(arguments, on)) {
    std::string chosen, now;
    for (const auto& [symbol, size] : special.sizes_of(arguments)) {
      chosen += fmt::format("{}{} = {}", chosen.empty() ? "" : ", ", symbol, special.sizes.at(symbol));
      now += fmt::format("{}{} = {}", now.empty() ? "" : ", ", symbol, size);
    }
    found.text = fmt::format("the kernels for {} were chosen for {}; others are better for {}", special.facts.types,
                             chosen, now);
  }
  if (found.text.empty()) found.text = "the sizes of the call do not fit the program for " + special.facts.types;
  return found;
}

std::string Specializer::reason_for(const Arguments& arguments, const Device& on) const {
  Difference nearest{-1, "the first call"};
  for (const SpecialPtr& special : all())
    if (Difference d = difference(*special, arguments, on, naming_); d.nearness >= nearest.nearness)
      nearest = std::move(d);
  return nearest.text;
}

}  // namespace smelt::detail
