// Loads and stores.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"
#include "kernel/offset.hpp"

namespace smelt::emit {

using kernel::Access;

// Elements between neighbours of a last step up to which what lies between them is read too.
static constexpr int64_t kMostInTail = 4;

int PhasePrinter::resource_of(const Access& access) const {
  return static_cast<int>(kernel_.locals.size() + (access.scratch ? kernel_.params.size() : 0)) + access.array;
}

Place PhasePrinter::place(const Access& access) const {
  Place p;
  p.resource = resource_of(access);
  const auto array = static_cast<size_t>(access.array);
  if (access.scratch) {
    p.dtype = kernel_.buffers[array].dtype;
    const auto found = buffers_.find(access.array);
    SMELT_CHECK(found != buffers_.end(), "scratch buffer {} is used but not allocated", access.array);
    p.base = found->second;
  } else {
    const kernel::Param& param = kernel_.params[array];
    p.dtype = param.dtype;
    p.base = fmt::format("%p{}", access.array);
    p.always = param.dims.empty();
  }
  p.offset = flat_offset(kernel_, access);
  return p;
}

PhasePrinter::Block PhasePrinter::block_of(const Access& access) {
  const Place p = place(access);
  const std::vector<IntExpr>& dims = kernel_.buffers[static_cast<size_t>(access.array)].dims;
  return {pointer(p, p.offset).text, integer(dims.back() * size_of(p.dtype)).text};
}

// How the lanes of a load lie; nothing where all have one address.
const kernel::LaneAccess* PhasePrinter::form_of(kernel::ExprId id, const Place& p) const {
  // In an interior a local may be one for all lanes that is not in the loop's own body.
  if (!vector_.loop || !varies(p.offset)) return nullptr;
  const kernel::LaneAccess& access = vector_.forms->loads.at(id);
  const bool one = access.form == kernel::LaneAccess::Form::Broadcast && access.holds.empty();
  return one ? nullptr : &access;
}

// The address of element `offset`: one getelementptr per scope, so that what changes fast is added
// last, and a constant after everything, where it folds into the addressing.
Value PhasePrinter::pointer(const Place& place, const IntExpr& offset) {
  const bool still = stands_still(offset);
  const std::string key = fmt::format("pointer {} {}", place.base, offset.str());
  if (const Value* known = still ? recall(key) : nullptr) return *known;
  std::map<int, IntExpr> by_scope;
  IntExpr last;
  for (const IntExpr::Term& term : offset.terms()) {
    const IntExpr part = IntExpr::of_term(term);
    IntExpr& sum = term.atoms.empty() ? last : by_scope[scope_of(part)];
    sum = sum + part;
  }
  Value at{place.base, DType::I64, 0, 0};
  std::string so_far = fmt::format("pointer {}", place.base);
  auto advance = [&](const IntExpr& by) {
    so_far += " + " + by.str();
    if (const Value* known = still ? recall(so_far) : nullptr) {
      at = *known;
      return;
    }
    const Value distance = integer(by);
    const int scope = std::max(at.scope, distance.scope);
    at = define(scope, DType::I64, 0,
                fmt::format("getelementptr {}, ptr {}, i64 {}", memory_type(place.dtype), at.text, distance.text));
    if (still) remember(so_far, at);
  };
  for (const auto& [scope, sum] : by_scope) advance(sum);
  if (!last.is(0)) advance(last);
  if (still && at.text != place.base && so_far != key) remember(key, at);
  return at;
}

// A pointer per lane. Lanes past the extent point where lane 0 does, unless a mask keeps them from
// being used.
Value PhasePrinter::lane_pointers(const Place& place, bool masked) {
  IntExpr uniform, varying;
  const auto step = place.offset.coefficient_of(*vector_.var);
  const bool linear = step && !varies(*step) && !varies(place.offset - *step * IntExpr::symbol(*vector_.var));
  Value distances;
  if (linear) {
    uniform = place.offset;  // of lane 0
    distances = op("mul $T $a, $b", DType::I64, {iota(vector_.lanes, DType::I64), integer(*step)});
  } else {
    for (const IntExpr::Term& term : place.offset.terms()) {
      const IntExpr part = IntExpr::of_term(term);
      IntExpr& sum = varies(part) ? varying : uniform;
      sum = sum + part;
    }
    distances = integer_lanes(varying);
  }
  const Value base = pointer(place, uniform);
  if (vector_.tail && !masked) {
    Value first = constant(DType::I64, 0);
    if (!linear)
      first = define(distances.scope, DType::I64, 0,
                     fmt::format("extractelement {} {}, i64 0", type_of(distances), distances.text));
    distances = op("select $C $a, $T $b, $T $c", DType::I64, {*vector_.tail, distances, first});
  }
  const int scope = std::max(base.scope, distances.scope);
  return define(scope, DType::I64, vector_.lanes,
                fmt::format("getelementptr {}, ptr {}, {} {}", memory_type(place.dtype), base.text, type_of(distances),
                            distances.text));
}

// Lanes of x, then of y, in this order; -1: any.
std::string PhasePrinter::shuffle(int scope, const std::string& type, const std::string& x, const std::string& y,
                                  const std::vector<int64_t>& order) {
  std::string lanes;
  for (const int64_t i : order)
    lanes += fmt::format("{}i32 {}", lanes.empty() ? "" : ", ", i < 0 ? "poison" : std::to_string(i));
  return name(scope, fmt::format("shufflevector {} {}, {} {}, <{} x i32> <{}>", type, x, type, y, order.size(), lanes));
}

std::string PhasePrinter::reversed(int scope, std::string_view element, int lanes, const std::string& x) {
  std::vector<int64_t> order;
  for (int i = lanes; i-- > 0;) order.push_back(i);
  return shuffle(scope, vector_of(element, lanes), x, "poison", order);
}

// A call of llvm.masked.load, store, gather or scatter.
std::string PhasePrinter::masked_call(const std::string& what, std::string_view element, int lanes,
                                      const std::string& pointer, int align, const std::string& mask,
                                      const std::string& value, bool is_store) {
  const bool scattered = what == "gather" || what == "scatter";
  const std::string type = vector_of(element, lanes);
  const std::string pointers = scattered ? vector_of("ptr", lanes) : "ptr";
  const std::string of = fmt::format("{}.{}", suffix(element, lanes), suffix("ptr", scattered ? lanes : 0));
  if (is_store)
    return fmt::format("call void @llvm.masked.{}.{}({} {}, {} {}, i32 {}, <{} x i1> {})", what, of, type, value,
                       pointers, pointer, align, lanes, mask);
  return fmt::format("call {} @llvm.masked.{}.{}({} {}, i32 {}, <{} x i1> {}, {} {})", type, what, of, pointers,
                     pointer, align, lanes, mask, type, value);
}

// All lanes, so many neighbours at a time: where those begin, and how many they are.
PhasePrinter::Parts PhasePrinter::parts_of(int size) const {
  Parts parts;
  for (int first = 0; first < vector_.lanes; first += size)
    parts.emplace_back(first, std::min(size, vector_.lanes - first));
  return parts;
}

// The lanes of parts, zeros for others: `read` names a vector of those from its first lane on.
std::string PhasePrinter::in_parts(int scope, const std::string& element, const Parts& parts,
                                   const std::function<std::string(int first, int count)>& read) {
  const int lanes = vector_.lanes;
  if (parts.size() == 1 && parts[0].second == lanes) return read(0, lanes);
  const bool all = parts.back().first + parts.back().second == lanes;
  std::string result = "zeroinitializer";
  for (const auto& [first, count] : parts) {
    std::vector<int64_t> widened, joined;
    for (int lane = 0; lane < lanes; ++lane) {
      const bool is_new = lane >= first && lane < first + count;
      widened.push_back(is_new ? lane - first : -1);
      joined.push_back(is_new ? lanes + lane : lane);
    }
    const std::string next = shuffle(scope, vector_of(element, count), read(first, count), "poison", widened);
    result = all && first == 0 ? next : shuffle(scope, vector_of(element, lanes), result, next, joined);
  }
  return result;
}

// Some neighbours among the lanes.
std::string PhasePrinter::lanes_of(int scope, std::string_view element, const std::string& x, int first, int count) {
  if (count == vector_.lanes) return x;
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), first);
  return shuffle(scope, vector_of(element, vector_.lanes), x, "poison", order);
}

// The elements that a vector of pointers points to. LLVM 19 ends in an illegal instruction where it
// has to fill the lanes up to a power of two: other numbers are taken in parts that are one.
std::string PhasePrinter::gather(int scope, const std::string& element, const std::string& pointers, int align,
                                 const std::string& mask) {
  return in_parts(scope, element, parts_of(vector_.lanes & -vector_.lanes), [&](int first, int count) {
    return name(scope, masked_call("gather", element, count, lanes_of(scope, "ptr", pointers, first, count), align,
                                   lanes_of(scope, "i1", mask, first, count), "zeroinitializer", false));
  });
}

// Neighbours in memory under a mask of the program, zeros for others. Where masks are vectors, LLVM
// 14 to 19 read lanes that they find to be masked out only after they have split a load into
// vectors of the machine: loads are split here, and what is known of a mask is hidden from LLVM.
// Where there are no masks, a load is a branch per lane: not if the mask is one for all.
std::string PhasePrinter::load_masked(int scope, DType dtype, const std::string& pointer, const std::string& mask) {
  const std::string memory = memory_type(dtype);
  const int lanes = vector_.lanes, size = size_of(dtype);
  const bool in_vectors = has_masks(dtype) && target_.vector_bits < 512;
  const auto masked = [&](int at, int first, int count) {
    const std::string from =
        first == 0 ? pointer : name(at, fmt::format("getelementptr {}, ptr {}, i64 {}", memory, pointer, first));
    std::string active = lanes_of(at, "i1", mask, first, count);
    if (in_vectors && (count * size == 16 || count * size == 32)) active = hidden(at, active, count, size);
    return name(at, masked_call("load", memory, count, from, size, active, "zeroinitializer", false));
  };
  if (!has_masks(dtype) && !vector_.tail && scope == top()) {
    const std::string type = vector_of(memory, lanes);
    const Value active{mask, DType::Bool, lanes, scope};
    const auto all = [&] { return name(top(), fmt::format("load {}, ptr {}, align {}", type, pointer, size)); };
    const auto some = [&] { return masked(top(), 0, lanes); };
    return either(all_of(active), type, all,
                  [&] { return either(any_of(active), type, some, [] { return std::string("zeroinitializer"); }); });
  }
  const int part = in_vectors ? target_.vector_bits / 8 / size : lanes;
  return in_parts(scope, memory, parts_of(part), [&](int first, int count) { return masked(scope, first, count); });
}

// A mask that LLVM knows nothing of, in a register of x86; it costs no instruction.
std::string PhasePrinter::hidden(int scope, const std::string& mask, int lanes, int size) {
  const std::string type = vector_of(fmt::format("i{}", 8 * size), lanes);
  const std::string wide = name(scope, fmt::format("sext {} {} to {}", vector_of("i1", lanes), mask, type));
  const std::string same = name(scope, fmt::format("call {} asm \"\", \"=x,0\"({} {})", type, type, wide));
  return name(scope, fmt::format("icmp slt {} {}, zeroinitializer", type, same));
}

Value PhasePrinter::load(kernel::ExprId id, const kernel::Load& e) {
  Place p = place(e.access);
  // What only the interior reads must not be read before its first step.
  if (vector_.inner && !vector_.ordinary.count(id)) p.least = vector_.scope;
  std::optional<Value> mask, other;
  if (e.mask != kernel::kNoExpr) {
    mask = value_of(e.mask);
    other = value_of(e.other);
  }
  const kernel::LaneAccess* access = form_of(id, p);
  if (!access) return load_uniform(p, mask, other);
  // A mask that all whole steps share says which lanes of the pieces are read.
  const auto known = vector_.forms->conditions.find(e.mask);
  const std::vector<bool>* active = known == vector_.forms->conditions.end() ? nullptr : &known->second;
  if (!vector_.tail && (!mask || active)) {
    if (access->holds.empty()) p.at = scope_of_load(p, *access);
    if (const auto raw = load_together(p, *access, active)) {
      const Value value = from_memory(p.dtype, vector_.lanes, here(p), *raw);
      return mask ? op("select $C $a, $T $b, $T $c", value.dtype, {constant_mask(*active), value, *other}) : value;
    }
    p.at.reset();
  }
  if (!vector_.tail && mask && mask->lanes == 0)
    if (const auto value = load_where(p, *access, *mask, *other)) return *value;
  return load_lanes(p, *access, mask, other);
}

// Under a mask that is one for all lanes.
std::optional<Value> PhasePrinter::load_where(const Place& p, const kernel::LaneAccess& access, const Value& mask,
                                              const Value& other) {
  using Form = kernel::LaneAccess::Form;
  const bool between = access.form == Form::Pieces || access.form == Form::Apart ||
                       (access.form == Form::Strided && std::abs(access.step) > 1);
  if (!between || !access.holds.empty()) return std::nullopt;
  const std::string raw = either(
      mask, vector_of(memory_type(p.dtype), vector_.lanes), [&] { return *load_together(p, access, nullptr); },
      [] { return std::string("zeroinitializer"); });
  const Value value = from_memory(p.dtype, vector_.lanes, top(), raw);
  return op("select $C $a, $T $b, $T $c", value.dtype, {splat(mask, vector_.lanes), value, other});
}

Value PhasePrinter::any_of(const Value& mask) { return over_lanes("or", mask); }
Value PhasePrinter::all_of(const Value& mask) { return over_lanes("and", mask); }

Value PhasePrinter::over_lanes(const char* op, const Value& mask) {
  if (mask.lanes == 0) return mask;
  return define(mask.scope, DType::Bool, 0,
                fmt::format("call i1 @llvm.vector.reduce.{}.v{}i1({} {})", op, mask.lanes, type_of(mask), mask.text));
}

// One element for all lanes. Under a mask the address is that of a dummy where nothing may be read;
// so no branch is needed.
Value PhasePrinter::load_uniform(const Place& p, std::optional<Value> mask, const std::optional<Value>& other) {
  Value at = pointer(p, p.offset);
  int scope = at.scope;
  if (mask) {
    const Value any = any_of(*mask);
    scope = std::max(scope, any.scope);
    at = define(scope, DType::I64, 0, fmt::format("select i1 {}, ptr {}, ptr %dummy", any.text, at.text));
  } else if (!p.always) {
    scope = std::max({scope, reading_scope(), p.least});
  }
  scope = std::max(scope, changing_scope(p.resource));
  const std::string memory = memory_type(p.dtype);
  const std::string raw = name(scope, fmt::format("load {}, ptr {}, align {}", memory, at.text, size_of(p.dtype)));
  const Value value = from_memory(p.dtype, 0, scope, raw);
  return mask ? op("select $C $a, $T $b, $T $c", value.dtype, {*mask, value, *other}) : value;
}

// How far apart all lanes are, or 0: no other number that differs between them is in the place.
int64_t PhasePrinter::step_between(const Place& p) const {
  const auto step = p.offset.coefficient_of(vector_.loop->var);
  const auto number = step ? step->constant() : std::nullopt;
  if (!number) return 0;
  const IntExpr rest = p.offset - IntExpr::symbol(vector_.loop->var) * *number;
  const auto varies = [&](Symbol s) {
    const auto at = symbols_.find(s);
    return s == vector_.loop->var || at == symbols_.end() || at->second.lanes != 0;
  };
  return rest.any_symbol(varies) ? 0 : *number;
}

// Lane by lane, or neighbours.
Value PhasePrinter::load_lanes(const Place& p, const kernel::LaneAccess& access, std::optional<Value> mask,
                               const std::optional<Value>& other) {
  const int lanes = vector_.lanes, align = size_of(p.dtype);
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, lanes);
  const bool strided = access.form != kernel::LaneAccess::Form::Gather && access.holds.empty();
  const bool backward = strided && access.step == -1, scattered = !backward && !(strided && access.step == 1);
  const bool guarded = mask.has_value();
  const std::optional<Value> for_all = guarded && mask->lanes == 0 ? mask : std::nullopt;
  if (!mask && !scattered && is_known_tail(backward)) {
    const Value at = pointer(p, p.offset);
    const int scope = std::max({at.scope, reading_scope(), p.least, changing_scope(p.resource), vector_.scope});
    return from_memory(p.dtype, lanes, scope, load_known_tail(scope, p.dtype, at.text));
  }
  if (vector_.tail && !mask && !scattered && !has_masks(p.dtype))
    return from_memory(p.dtype, lanes, top(), load_tail(p, backward));
  if (vector_.tail && !mask && strided && access.step >= 2 && access.step <= kMostInTail && lanes >= 16 &&
      has_masks(p.dtype))
    return from_memory(p.dtype, lanes, top(), load_strided(p, access.step));
  // Scattered lanes past the extent read what lane 0 reads: a mask would cost a branch per lane
  // where the target has no gather.
  if (vector_.tail && (!scattered || mask)) mask = both(mask, vector_.tail, lanes);
  if (mask) mask = splat(*mask, lanes);
  if (const int64_t step = scattered && guarded && has_masks(p.dtype) ? step_between(p) : 0;
      step >= 2 && step <= kMostInTail) {
    const Value value = from_memory(p.dtype, lanes, top(), load_strided(p, step, &*mask));
    return op("select $C $a, $T $b, $T $c", value.dtype, {*mask, value, *other});
  }
  IntExpr first = p.offset;
  if (backward) first = first - (lanes - 1);
  Value at = scattered ? lane_pointers(p, guarded) : pointer(p, first);
  // A load of no lane from where no memory is takes a hundred times as long as one from somewhere,
  // as in the rows above an array, or in the half of a roll that another load is for. To ask lanes
  // costs too, at every end of a row.
  if (guarded && (for_all || rare_ || !vector_.tail) && !scattered && !p.always) {
    const Value any = for_all ? *for_all : any_of(*mask);
    at = define(std::max(at.scope, any.scope), DType::I64, 0,
                fmt::format("select i1 {}, ptr {}, ptr %dummy", any.text, at.text));
  }
  int scope = std::max({at.scope, reading_scope(), p.least, changing_scope(p.resource), mask ? mask->scope : 0});
  std::string raw;
  if (scattered) {
    raw = gather(scope, memory, at.text, align, mask ? mask->text : splat(constant(DType::Bool, 1), lanes).text);
  } else if (mask) {
    std::string active = mask->text;
    if (backward) active = reversed(scope, "i1", lanes, active);
    raw = guarded ? load_masked(scope, p.dtype, at.text, active)
                  : name(scope, masked_call("load", memory, lanes, at.text, align, active, "zeroinitializer", false));
  } else {
    raw = name(scope, fmt::format("load {}, ptr {}, align {}", type, at.text, align));
  }
  if (backward) raw = reversed(scope, memory, lanes, raw);
  const Value value = from_memory(p.dtype, lanes, scope, raw);
  // A load under a mask is zero where the mask is not set.
  if (!guarded || (other->lanes == 0 && other->text == constant(value.dtype, 0).text)) return value;
  return op("select $C $a, $T $b, $T $c", value.dtype, {*mask, value, *other});
}

void PhasePrinter::store(const kernel::Store& s) {
  const Place p = place(s.access);
  const Value value = value_of(s.value);
  std::optional<Value> mask;
  if (s.mask != kernel::kNoExpr) mask = value_of(s.mask);
  if (vector_.loop && s.part >= 0)
    store_part(s, p, value, s.streaming && vector_.streaming);
  else if (!vector_.loop || (s.step == 0 && value.lanes == 0))
    store_uniform(p, value, mask);
  else
    store_lanes(p, s.step, value, mask,
                s.streaming && (vector_.tail ? vector_.streams.has_value() : vector_.streaming));
  Changes changes = no_changes();
  changes[static_cast<size_t>(p.resource)] = true;
  forget(changes);
}

void PhasePrinter::store_uniform(const Place& p, const Value& value, std::optional<Value> mask) {
  Value at = pointer(p, p.offset);
  int scope = 0;
  const std::string bits = to_memory(p.dtype, value, scope);
  if (mask) {
    if (mask->lanes) {
      const Value active = both(mask, vector_.tail, mask->lanes);
      mask = any_of(active);
    }
    at = define(std::max(at.scope, mask->scope), DType::I64, 0,
                fmt::format("select i1 {}, ptr {}, ptr %dummy", mask->text, at.text));
  }
  line(fmt::format("store {} {}, ptr {}, align {}", memory_type(p.dtype), bits, at.text, size_of(p.dtype)));
}

void PhasePrinter::store_lanes(const Place& p, std::optional<int64_t> step, const Value& value,
                               std::optional<Value> mask, bool streaming) {
  const int lanes = vector_.lanes, align = size_of(p.dtype);
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, lanes);
  const bool backward = step == -1, scattered = !backward && step != 1;
  int scope = 0;
  std::string bits = to_memory(p.dtype, splat(value, lanes), scope);
  if (!mask && !scattered && is_known_tail(backward)) return store_known_tail(p.dtype, pointer(p, p.offset).text, bits);
  if (vector_.tail && !mask && !scattered && !has_masks(p.dtype)) return store_tail(p, backward, bits);
  if (vector_.tail && !mask && streaming && step == 1 && lanes * align >= kCacheLine) return store_tail_lines(p, bits);
  if (vector_.tail) mask = both(mask, vector_.tail, lanes);
  if (mask) mask = splat(*mask, lanes);
  if (scattered && !mask && step && *step != 0) return store_strided(p, *step, bits);
  if (scattered) {
    const Value at = step == 0 ? splat_pointer(pointer(p, p.offset), lanes) : lane_pointers(p, true);
    const std::string active = mask ? mask->text : splat(constant(DType::Bool, 1), lanes).text;
    return line(masked_call("scatter", memory, lanes, at.text, align, active, bits, true));
  }
  IntExpr first = p.offset;
  if (backward) {
    first = first - (lanes - 1);
    bits = reversed(scope, memory, lanes, bits);
  }
  const Value at = pointer(p, first);
  if (mask) {
    std::string active = mask->text;
    if (backward) active = reversed(mask->scope, "i1", lanes, active);
    return line(masked_call("store", memory, lanes, at.text, align, active, bits, true));
  }
  if (streaming && !backward)
    return line(
        fmt::format("store {} {}, ptr {}, align {}, !nontemporal !0", type, bits, at.text, line_of(lanes * align)));
  line(fmt::format("store {} {}, ptr {}, align {}", type, bits, at.text, align));
}

// One by one: the instruction that scatters took twice as long on Zen 5.
void PhasePrinter::store_strided(const Place& p, int64_t step, const std::string& bits) {
  const Value at = pointer(p, p.offset);
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, vector_.lanes);
  for (int lane = 0; lane < vector_.lanes; ++lane) {
    const std::string one = name(top(), fmt::format("extractelement {} {}, i64 {}", type, bits, lane));
    const std::string there =
        name(top(), fmt::format("getelementptr {}, ptr {}, i64 {}", memory, at.text, lane * step));
    line(fmt::format("store {} {}, ptr {}, align {}", memory, one, there, size_of(p.dtype)));
  }
}

Value PhasePrinter::splat_pointer(const Value& at, int lanes) {
  const std::string type = vector_of("ptr", lanes);
  const std::string one = name(at.scope, fmt::format("insertelement {} poison, ptr {}, i64 0", type, at.text));
  return define(at.scope, DType::I64, lanes,
                fmt::format("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", type, one, type, lanes));
}

}  // namespace smelt::emit
