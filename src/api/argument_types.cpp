// The types of a call's arguments: with sizes that stay open, as an executable takes them, and
// where they are not those of one.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "api/layout.hpp"
#include "api/specialize.hpp"
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

// Whether the executable for a symbol may serve this number. 1 broadcasts, and is dropped by
// squeeze: another program.
bool may_be_open(int64_t extent) { return extent != 1; }

// 0, 1 to 3, 4 to 15, 16 to 63, ...
constexpr uint64_t kMostClasses = 33;
uint64_t class_of_size(int64_t size) {
  return (static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(size))) + 1) / 2;
}

}  // namespace

std::string text_of(const Data& data) {
  return fmt::format("{}{}", name_of(data.tensor.dtype), data.tensor.dims.empty() ? "" : smelt::str(data.tensor.dims));
}

// Gaps travel neither to a GPU nor from it.
MemoryLayout layout_of(const Data& data, bool gpu) { return memory_layout(data.tensor, data.device.is_gpu() == gpu); }

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

Difference difference(const Special& special, const Arguments& arguments, const Device& on, const Naming& naming) {
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

}  // namespace smelt::detail
