// Loads of whole steps that read more, or less, than one element a lane in its place, as their
// forms say (kernel/classify_accesses.hpp): what lies between neighbours at a distance, whole
// pieces that are dealt out, whole lines of the cache, one element for all.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using kernel::LaneAccess;
using Form = LaneAccess::Form;

// The element that each lane takes of whole vectors, one in `step`.
static std::optional<int64_t> phase_of(const LaneAccess& access, int lanes) {
  if (access.step < 2 || access.pieces.size() != 1 || access.pieces[0].lanes.empty()) return std::nullopt;
  const LaneAccess::Piece& all = access.pieces[0];
  const int64_t phase = all.lanes[0].second - all.low;
  const bool whole = all.high - all.low + 1 == access.step * lanes && phase < access.step;
  return whole && static_cast<int>(all.lanes.size()) == lanes ? std::optional(phase) : std::nullopt;
}

// The outermost scope in which all vectors of a load can be read: a loop inside of the vector loop
// that does not move them finds them in registers.
int PhasePrinter::scope_of_load(const Place& p, const LaneAccess& access) const {
  int scope = std::max({p.scope, p.least, scope_of(p.offset), changing_scope(p.resource)});
  for (const LaneAccess::Piece& piece : access.pieces) scope = std::max(scope, scope_of(piece.apart));
  return p.always ? scope : std::max(scope, reading_scope());
}

// Nothing for what load_lanes() reads: neighbours, and gathers. `active`: the lanes that read.
std::optional<std::string> PhasePrinter::load_together(const Place& p, const LaneAccess& access,
                                                       const std::vector<bool>* active) {
  if (access.form == Form::Gather) return std::nullopt;
  const int lanes = vector_.lanes;
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, lanes);
  const bool neighbours = access.form == Form::Strided && (access.step == 1 || access.step == -1);
  if (neighbours && access.holds.empty()) {
    if (access.behind == 0 || !vector_.at_line || !shifts_lanes(p.dtype)) return std::nullopt;
    return load_from_lines(p, access.behind);
  }
  const auto load = [&] {
    if (access.form == Form::Pieces) {
      const auto phase = phase_of(access, lanes);
      return phase ? load_phase(p, access.step, access.pieces[0].low, *phase) : load_pieces(p, access.pieces);
    }
    if (access.form == Form::Broadcast) return load_one(p);
    if (access.form == Form::Apart) return load_apart(p, access.step);
    if (!neighbours) return load_strided(p, access.step);
    return name(here(p), fmt::format("load {}, ptr {}, align {}", type, pointer(p, p.offset).text, size_of(p.dtype)));
  };
  if (access.holds.empty()) return load();
  return either(all_hold(access.holds), type, load, [&] { return load_each(p, active); });
}

Value PhasePrinter::all_hold(const std::vector<IntExpr>& holds) {
  std::optional<Value> all;
  for (const IntExpr& h : holds) {
    const Value here = op("icmp sge $T $a, $b", DType::Bool, {integer(h), constant(DType::I64, 0)});
    all = all ? op("and $T $a, $b", DType::Bool, {*all, here}) : here;
  }
  return *all;
}

// What one of two blocks makes, by a condition.
std::string PhasePrinter::either(const Value& fits, const std::string& type, const std::function<std::string()>& near,
                                 const std::function<std::string()>& far) {
  struct Block {
    std::string result, text, end;  // end: the block that it is at last
  };
  const int label = ++labels_;
  const std::string around = block_;
  const auto in_block = [&](const char* start, const std::function<std::string()>& load) {
    push(false, no_changes());
    block_ = fmt::format("{}{}", start, label);
    std::string result = load();
    return Block{std::move(result), pop(), std::exchange(block_, around)};
  };
  const Block at_near = in_block("near", near), at_far = in_block("far", far);
  block_ = fmt::format("got{}", label);
  line(fmt::format("br i1 {}, label %near{}, label %far{}", fits.text, label, label));
  scopes_.back().text += fmt::format("near{0}:\n{1}  br label %got{0}\nfar{0}:\n{2}  br label %got{0}\ngot{0}:\n",
                                     label, at_near.text, at_far.text);
  return name(top(), fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", type, at_near.result, at_near.end, at_far.result,
                                 at_far.end));
}

std::string PhasePrinter::load_each(const Place& p, const std::vector<bool>* active) {
  const std::vector<bool> all(static_cast<size_t>(vector_.lanes), true);
  const std::string mask = constant_mask(active ? *active : all).text;
  const Value each = lane_pointers(p, active != nullptr);
  return gather(top(), memory_type(p.dtype), each.text, size_of(p.dtype), mask);
}

std::string PhasePrinter::load_one(const Place& p) {
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, vector_.lanes);
  const Value at = pointer(p, p.offset);
  const std::string one = name(here(p), fmt::format("load {}, ptr {}, align {}", memory, at.text, size_of(p.dtype)));
  const std::string first = name(here(p), fmt::format("insertelement {} poison, {} {}, i64 0", type, memory, one));
  return name(here(p), fmt::format("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", type, first, type,
                                   vector_.lanes));
}

// One by one, at addresses that the first one's gives.
std::string PhasePrinter::load_apart(const Place& p, int64_t step) {
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, vector_.lanes);
  const Value at = pointer(p, p.offset);
  std::string result = "poison";
  for (int lane = 0; lane < vector_.lanes; ++lane) {
    const std::string there =
        name(here(p), fmt::format("getelementptr {}, ptr {}, i64 {}", memory, at.text, lane * step));
    const std::string one = name(here(p), fmt::format("load {}, ptr {}, align {}", memory, there, size_of(p.dtype)));
    result = name(here(p), fmt::format("insertelement {} {}, {} {}, i64 {}", type, result, memory, one, lane));
  }
  return result;
}

// What lies between neighbours is read too, in whole vectors. Nothing beyond the last lane's
// element is touched: the last vector ends with it, or in a last step all vectors have a mask.
std::string PhasePrinter::load_strided(const Place& given, int64_t step, const Value* active) {
  const int64_t lanes = vector_.lanes;
  const int align = size_of(given.dtype);
  const std::string memory = memory_type(given.dtype), type = vector_of(memory, vector_.lanes);
  Place p = given;
  if (step < 0) {
    p.offset = p.offset + step * (lanes - 1);
    SMELT_CHECK(!active, "lanes {} elements apart under a mask", step);
    return reversed(here(p), memory, vector_.lanes, load_strided(p, -step));
  }
  const bool whole = !vector_.tail && !active;
  const std::optional<Value> any = active ? std::optional(any_of(*active)) : std::nullopt;
  const auto part_of = [&](int64_t lane) { return lane * step / lanes; };
  const auto first_of = [&](int64_t part) {
    return part + 1 < step || !whole ? part * lanes : (lanes - 1) * step + 1 - lanes;
  };
  const auto read = [&](int64_t part) {
    const Value at = pointer(p, p.offset + first_of(part));
    if (whole) return name(here(p), fmt::format("load {}, ptr {}, align {}", type, at.text, align));
    if (active) {  // of every lane its element, where there is a place to read
      std::vector<int64_t> order;
      for (int64_t e = first_of(part); e < first_of(part) + lanes; ++e)
        order.push_back(e % step == 0 ? e / step : lanes);
      const std::string mask = shuffle(top(), vector_of("i1", vector_.lanes), active->text, "zeroinitializer", order);
      const std::string there = name(top(), fmt::format("select i1 {}, ptr {}, ptr %dummy", any->text, at.text));
      return load_masked(top(), p.dtype, there, mask);
    }
    // Elements from here to the last lane's.
    const Value times = op("mul $T $a, $b", DType::I64, {vector_.left, constant(DType::I64, step)});
    const Value left = op("sub $T $a, $b", DType::I64, {times, constant(DType::I64, step - 1 + first_of(part))});
    const Value narrow = convert("trunc", left, DType::I32);
    const Value mask =
        op("icmp slt $T $a, $b", DType::Bool, {iota(vector_.lanes, DType::I32), splat(narrow, vector_.lanes)});
    return name(here(p),
                masked_call("load", memory, vector_.lanes, at.text, align, mask.text, "zeroinitializer", false));
  };
  std::string result;
  for (int64_t part = 0; part < step; ++part) {
    const std::string next = read(part);
    std::vector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t place = lane * step - first_of(part_of(lane));
      order.push_back(part_of(lane) < part ? lane : part_of(lane) > part ? 0 : part == 0 ? place : lanes + place);
    }
    const bool once = part == 0;
    result = shuffle(active ? top() : here(p), type, once ? next : result, once ? "poison" : next, order);
  }
  return result;
}

// One element in `step` of as many vectors. Even and odd elements part first: loads of other phases
// share these vectors.
std::string PhasePrinter::load_phase(const Place& p, int64_t step, int64_t low, int64_t phase) {
  const int64_t lanes = vector_.lanes;
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, vector_.lanes);
  std::vector<std::string> vectors;
  for (int64_t v = 0; v < step; ++v) {
    const Value at = pointer(p, p.offset + low + v * lanes);
    vectors.push_back(name(here(p), fmt::format("load {}, ptr {}, align {}", type, at.text, size_of(p.dtype))));
  }
  for (; step % 2 == 0; step /= 2, phase /= 2) {
    std::vector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) order.push_back(2 * lane + phase % 2);
    std::vector<std::string> half;
    for (size_t v = 0; v < vectors.size(); v += 2)
      half.push_back(shuffle(here(p), type, vectors[v], vectors[v + 1], order));
    vectors = std::move(half);
  }
  std::string result = vectors[0];
  for (int64_t v = 1; v < step; ++v) {
    std::vector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t from = lane * step + phase, of = from / lanes;
      order.push_back(of == v ? lanes + from % lanes : v > 1 ? lane : of == 0 ? from : lane);
    }
    result = shuffle(here(p), type, result, vectors[static_cast<size_t>(v)], order);
  }
  return result;
}

// A piece longer than a vector is read in whole ones, of which the last ends with it.
std::string PhasePrinter::load_pieces(const Place& p, const std::vector<LaneAccess::Piece>& pieces) {
  const int align = size_of(p.dtype);
  const int64_t lanes = vector_.lanes;
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, vector_.lanes);
  std::string result = "poison";
  std::vector<int64_t> order(static_cast<size_t>(lanes), -1);
  const auto add = [&](const std::string& read, int64_t count, const std::vector<int64_t>& from) {
    const std::string whole = vector_of(memory, static_cast<int>(count));
    const bool first = result == "poison";
    std::string own = read;
    if (first || count != lanes) own = shuffle(here(p), whole, read, "poison", from);
    for (size_t lane = 0; lane < from.size(); ++lane) {
      const auto here = static_cast<int64_t>(lane);
      if (from[lane] >= 0) order[lane] = first ? here : lanes + (count != lanes ? here : from[lane]);
    }
    result = first ? own : shuffle(here(p), type, result, own, order);
    for (size_t lane = 0; lane < from.size(); ++lane)
      if (order[lane] >= 0) order[lane] = static_cast<int64_t>(lane);
  };
  for (const LaneAccess::Piece& piece : pieces) {
    const int64_t all = piece.high - piece.low + 1, count = std::min(all, lanes), vectors = (all + count - 1) / count;
    for (int64_t v = 0; v < vectors; ++v) {
      const int64_t begin = piece.low + std::min(v * count, all - count);
      std::vector<int64_t> from(static_cast<size_t>(lanes), -1);
      bool any = false;
      for (const auto& [lane, number] : piece.lanes)
        if ((number - piece.low) / count == v) from[static_cast<size_t>(lane)] = number - begin, any = true;
      if (!any) continue;
      const Value at = pointer(p, p.offset + piece.apart + begin);
      const std::string whole = vector_of(memory, static_cast<int>(count));
      add(name(here(p), fmt::format("load {}, ptr {}, align {}", whole, at.text, align)), count, from);
    }
  }
  return result;
}

// Shuffles of two vectors by a number of lanes are one instruction from AVX-512 on, for these
// elements.
bool PhasePrinter::shifts_lanes(DType dtype) const {
  return target_.triple.rfind("x86_64", 0) == 0 && target_.vector_bits >= 8 * kernel::kLineBytes &&
         (size_of(dtype) == 4 || size_of(dtype) == 8);
}

// Whether the loop's steps read rows of scratch in whole lines where they begin at lines.
bool PhasePrinter::reads_lines() const {
  return std::any_of(vector_.forms->loads.begin(), vector_.forms->loads.end(), [&](const auto& load) {
    return load.second.behind != 0 && shifts_lanes(kernel_.at(load.first).dtype);
  });
}

// In whole steps that begin at lines, from whole lines. All that is read lies in lines in which
// lanes lie, and rows of scratch are whole lines.
std::string PhasePrinter::load_from_lines(const Place& p, int64_t behind) {
  const int lanes = vector_.lanes;
  const int64_t line = kernel::kLineBytes / size_of(p.dtype);
  // Towards the nearer line: the other reads of the row are there too.
  const int64_t by = behind > line / 2 ? behind - line : behind;
  const std::string element = memory_type(p.dtype), wide = vector_of(element, lanes);
  const auto read = [&](int64_t from, int64_t count) {
    return name(here(p), fmt::format("load {}, ptr {}, align {}", vector_of(element, static_cast<int>(count)),
                                     pointer(p, p.offset + from).text, size_of(p.dtype)));
  };
  const std::string own = read(-by, lanes), beside = read(by < 0 ? -by - line : lanes - by, line);
  std::vector<int64_t> widened, order;
  for (int64_t i = 0; i < lanes; ++i) {
    widened.push_back(by > 0 ? (i < line ? i : -1) : (i < lanes - line ? -1 : i - (lanes - line)));
    order.push_back(by > 0 ? i + by : lanes + by + i);
  }
  const std::string others = shuffle(here(p), vector_of(element, static_cast<int>(line)), beside, "poison", widened);
  return by > 0 ? shuffle(here(p), wide, own, others, order) : shuffle(here(p), wide, others, own, order);
}

}  // namespace smelt::emit
