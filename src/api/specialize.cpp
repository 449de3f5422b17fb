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

// Short sizes that a function has executables for.
constexpr size_t kMostShort = 8;
// Executables of a function for arguments with gaps between their rows. Arguments with other gaps
// are copied from then on: their distances may be others in every call.
constexpr int kMostWithGaps = 4;
bool has_gaps(const std::vector<InputType>& types) {
  return std::any_of(types.begin(), types.end(), [](const InputType& t) { return !t.layout.strides.empty(); });
}

}  // namespace

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

std::string Specializer::reason_for(const Arguments& arguments, const Device& on) const {
  Difference nearest{-1, "the first call"};
  for (const SpecialPtr& special : all())
    if (Difference d = difference(*special, arguments, on, naming_); d.nearness >= nearest.nearness)
      nearest = std::move(d);
  return nearest.text;
}

}  // namespace smelt::detail
