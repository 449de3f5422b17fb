// Loops.
//
// A counting loop: the guard jumps over everything when there is nothing to do, so that what was
// hoisted into pre may read memory.
//
//     br nonempty, pre, exit
//   pre:    hoisted
//   loop:   var = phi; body
//   next:   var + 1; br loop or exit
//   exit:
//
// A Vector loop takes `lanes` at a time while they all lie inside the extent, then once more under
// a mask:
//
//     br nonempty, pre, exit
//   pre:    hoisted;                br full steps, main, rest
//   main:   (streaming stores: br wanted, head, loop)
//   loop:   body                    br loop or rest
//   head:   (fetch the lines that are stored in part) br elements before the first whole line, tail, whole
//   whole:
//   stream: body with streaming stores, from the first whole line on;  br stream or rest
//   rest:                           br elements left, tail, exit
//   tail:   body under a mask;      br whole, where it came from head, or exit
//   exit:
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Assign;
using kernel::Loop;
using kernel::LoopKind;
using kernel::Stmt;

static constexpr int64_t kMostUnrolled = 64;

static int begins_of(const Loop& s) { return s.begins == 0 ? s.lanes : s.begins; }

static bool is_power_of_two(int lanes) { return (lanes & (lanes - 1)) == 0; }

void PhasePrinter::bind_variable(const Loop& s, const Value& value) { symbols_[s.var] = value; }

// Whether a run of `body` leaves a local in lanes: what the last statement to change it does.
static std::optional<bool> leaves_lanes(const std::vector<Stmt>& body, kernel::LocalId id, bool in_vector) {
  for (auto s = body.rbegin(); s != body.rend(); ++s) {
    const Loop* vector = kernel::loop_of(*s, LoopKind::Vector);
    if (const auto* inside = kernel::body_of(*s))
      if (const auto inner = leaves_lanes(*inside, id, in_vector || (vector && vector->lanes > 1))) return inner;
    if (const auto* assign = s->get_if<Assign>(); assign && assign->local == id) return in_vector;
    const auto* combine = s->get_if<kernel::Combine>();
    if (combine && (combine->local == id || combine->index_local == id)) return false;
  }
  return std::nullopt;
}

// What the loop changes is not known from before any more, neither in its body nor after it.
void PhasePrinter::enter_loop(const Loop& s, const Changes& changes) {
  forget(changes);
  for (size_t id = 0; id < slots_.size(); ++id) {
    if (!changes[id] || !slots_[id].lanes || slots_[id].declared_in || vector_.loop) continue;
    if (s.kind != LoopKind::Vector && leaves_lanes(s.body, static_cast<int>(id), false).value_or(false))
      slots_[id].in_lanes = true;
  }
}

void PhasePrinter::count_loop(const Loop& s, const Value& begin, const Value& end) {
  const int label = ++labels_;
  Changes changes = no_changes();
  collect_changes(s.body, changes);
  enter_loop(s, changes);
  const bool surely_runs = begin.text == "0" && s.extent.constant().value_or(0) > 0;
  const std::string var = fmt::format("%{}.{}", s.var.name(), label);
  push(!surely_runs, no_changes());
  push(false, changes);
  bind_variable(s, {var, DType::I64, 0, top()});
  const bool rare = rare_;
  rare_ = rare_ || s.rare;
  statements(s.body);
  rare_ = rare;
  const std::string body = pop(), pre = pop();
  line(fmt::format("; loop {} < {}", s.var, comment_text(s.extent.str())));
  if (surely_runs) {
    line(fmt::format("br label %pre{}", label));
  } else {
    const std::string guard = name(top(), fmt::format("icmp slt i64 {}, {}", begin.text, end.text));
    line(fmt::format("br i1 {}, label %pre{}, label %exit{}", guard, label, label));
  }
  scopes_.back().text += fmt::format(
      "pre{0}:\n{1}  br label %loop{0}\nloop{0}:\n"
      "  {2} = phi i64 [ {3}, %pre{0} ], [ {2}.next, %next{0} ]\n{4}  br label %next{0}\nnext{0}:\n"
      "  {2}.next = add nsw i64 {2}, 1\n  {2}.more = icmp slt i64 {2}.next, {5}\n"
      "  br i1 {2}.more, label %loop{0}, label %exit{0}\nexit{0}:\n",
      label, pre, var, begin.text, body, end.text);
}

void PhasePrinter::unrolled_loop(const Loop& s) {
  const auto extent = s.extent.constant();
  SMELT_CHECK(extent, "the unrolled loop {} has the extent {}", s.var, s.extent.str());
  if (*extent > kMostUnrolled) return count_loop(s, constant(DType::I64, 0), integer(s.extent));
  Changes changes = no_changes();
  collect_changes(s.body, changes);
  enter_loop(s, changes);
  for (int64_t i = 0; i < *extent; ++i) {
    push(false, changes);
    Value value = constant(DType::I64, i);
    value.scope = top();
    bind_variable(s, value);
    statements(s.body);
    const std::string body = pop();
    scopes_.back().text += body;
  }
}

// Stores that bypass the caches go to whole lines. How many elements lie before the first line of
// the loop's streaming stores, and whether all of them meet a line there and the launch requests
// it. Nothing when the loop has no such stores.
std::optional<PhasePrinter::Stream> PhasePrinter::find_stream(const Loop& s, const Value& extent) {
  std::optional<Stream> stream;
  const DType t = DType::I64;
  const int begins = begins_of(s);
  const auto also = [&](const Value& condition) {
    stream->wanted = op("and $T $a, $b", DType::Bool, {stream->wanted, condition});
  };
  for (const Stmt& inner : s.body) {
    const auto* store = inner.get_if<kernel::Store>();
    if (!store || !store->streaming || store->mask != kernel::kNoExpr) continue;
    const Place p = place(store->access);
    const auto step = p.offset.coefficient_of(s.var);
    const int64_t apart = store->part == 0 ? *store->step : 1;  // elements to a lane
    const int size = size_of(p.dtype), line = line_of(s.lanes * size);
    if (!step || !step->is(apart) || line < 16) continue;
    const IntExpr first = p.offset - IntExpr::symbol(s.var) * apart;
    if (first.any_symbol([&](Symbol symbol) { return symbols_.count(symbol) == 0; })) continue;
    const Value at = pointer(p, first);
    const Value address = define(at.scope, t, 0, fmt::format("ptrtoint ptr {} to i64", at.text));
    const Value bytes = op("mul $T $a, $b", t, {extent, constant(t, size * apart)});
    const auto is_zero = [&](const Value& x) { return op("icmp eq $T $a, $b", DType::Bool, {x, constant(t, 0)}); };
    if (!stream) {
      const Value before =
          op("and $T $a, $b", t, {op("sub $T $a, $b", t, {constant(t, 0), address}), constant(t, line - 1)});
      const Value of_lane = constant(t, size * apart);
      const Value beside = is_power_of_two(size * static_cast<int>(apart))
                               ? op("and $T $a, $b", t, {before, constant(t, size * apart - 1)})
                               : op("urem $T $a, $b", t, {before, of_lane});
      stream = Stream{is_zero(beside), op("udiv $T $a, $b", t, {before, of_lane}), line / size};
      const Value left = op("sub $T $a, $b", t, {extent, stream->head});
      also(op("icmp sge $T $a, $b", DType::Bool, {left, constant(t, s.lanes)}));
      if (begins == s.lanes)
        also(is_zero(stream->head));
      else if (begins > 1)
        also(is_zero(op("and $T $a, $b", t, {stream->head, constant(t, begins - 1)})));
    } else {
      const Value there =
          op("add $T $a, $b", t, {address, op("mul $T $a, $b", t, {stream->head, constant(t, size * apart)})});
      also(is_zero(op("and $T $a, $b", t, {there, constant(t, line - 1)})));
    }
    const Value end = op("add $T $a, $b", t, {address, bytes});
    const Value whole = is_zero(op("and $T $a, $b", t, {end, constant(t, kCacheLine - 1)}));
    // Where steps are parts of lines, a line of which only some bypass the caches is read and
    // written twice.
    if (line < kCacheLine)
      also(is_zero(op("and $T $a, $b", t, {op("or $T $a, $b", t, {address, end}), constant(t, kCacheLine - 1)})));
    const Value there = define(top(), t, 0, fmt::format("getelementptr i8, ptr {}, i64 {}", at.text, bytes.text));
    stream->ends.push_back(name(top(), fmt::format("select i1 {}, ptr %dummy, ptr {}", whole.text, there.text)));
  }
  if (const auto wish = symbols_.find(kernel::kLaunchStream); stream && wish != symbols_.end())
    also(op("icmp ne $T $a, $b", DType::Bool, {wish->second, constant(t, 0)}));
  if (stream && begins == s.lanes) stream->head = constant(t, 0);  // as LLVM does not see
  return stream;
}

// A body once, for the lanes from `start` on. `extent`: only those below it count; nothing: all do.
std::string PhasePrinter::vector_body(const std::vector<Stmt>& body, Value start, const Value* extent, bool streaming) {
  push(false, vector_.changes);
  start.scope = top();
  vector_.start = start;
  vector_.scope = top();
  vector_.streaming = streaming;
  vector_.tail.reset();
  if (extent) {
    // Fewer than `lanes` remain, so narrow numbers do; they make the cheapest mask.
    const Value left = op("sub $T $a, $b", DType::I64, {*extent, start});
    const Value narrow = convert("trunc", left, DType::I32);
    vector_.left = left;
    const int lanes = vector_.lanes;
    vector_.tail = op("icmp ult $T $a, $b", DType::Bool, {iota(lanes, DType::I32), splat(narrow, lanes)});
  }
  vector_.whole = !extent;
  statements(body);
  vector_.whole = false;
  return pop();
}

// As many of n elements as make whole steps.
Value PhasePrinter::whole_steps(const Value& n, int lanes) {
  const DType t = DType::I64;
  if (is_power_of_two(lanes)) return op("and $T $a, $b", t, {n, constant(t, -lanes)});
  return op("sub $T $a, $b", t, {n, op("urem $T $a, $b", t, {n, constant(t, lanes)})});
}

void PhasePrinter::vector_loop(const Loop& s) {
  SMELT_CHECK(!vector_.loop, "Vector loop {} stands inside Vector loop {}", s.var, *vector_.var);
  SMELT_CHECK(s.lanes > 1 && s.forms, "a Vector loop of {} lanes without forms", s.lanes);
  const int label = ++labels_;
  const DType t = DType::I64;
  Changes changes = no_changes();
  collect_changes(s.body, changes);
  const Value extent = integer(s.extent);
  enter_loop(s, changes);
  const auto count = s.extent.constant();
  const bool surely_runs = count.value_or(0) > 0;
  const Value full = count ? constant(t, *count / s.lanes * s.lanes) : whole_steps(extent, s.lanes);
  push(!surely_runs, no_changes());
  vector_ = VectorLoop{};
  vector_.changes = changes;
  const bool anywhere = begins_of(s) == 1;
  const bool brief = rare_ && anywhere;
  // Only after this do expressions depend on the lane; where to stream is one for all.
  const std::optional<Stream> stream = brief || (count && *count < s.lanes) ? std::nullopt : find_stream(s, extent);
  vector_.loop = &s;
  vector_.var = s.var;
  vector_.lanes = s.lanes;
  vector_.forms = s.forms.get();
  if (stream) vector_.streams = stream->wanted;
  const std::string steps = brief        ? short_steps(s, extent, label)
                            : s.interior ? peeled_steps(s, extent, stream, label)
                                         : vector_steps(s, extent, full, stream, label);
  vector_ = VectorLoop{};
  const std::string pre = pop();
  line(fmt::format("; vector loop {} < {}, {} lanes", s.var, comment_text(s.extent.str()), s.lanes));
  if (surely_runs) {
    line(fmt::format("br label %pre{}", label));
  } else {
    const std::string guard = name(top(), fmt::format("icmp sgt i64 {}, 0", extent.text));
    line(fmt::format("br i1 {}, label %pre{}, label %exit{}", guard, label, label));
  }
  scopes_.back().text += fmt::format("pre{}:\n{}{}exit{}:\n", label, pre, steps, label);
}

// Both ends of a loop of streaming stores are plain stores to parts of lines. The first line has
// been stored to by the row before; the last one comes from memory while the loop runs.
std::string PhasePrinter::fetch_ends(const Stream& stream) {
  std::string text;
  for (const std::string& end : stream.ends) {
    const std::string call = fmt::format("call void @llvm.prefetch.p0(ptr {}, i32 1, i32 3, i32 1)", end);
    declarations_.insert(declaration_for(call));
    text += "  " + call + "\n";
  }
  return text;
}

// The loop of streaming stores. Where rows of scratch are read in lines, it is there twice:
// steps may begin at lines of what is stored that are no lines of the scratch.
std::string PhasePrinter::stream_steps(const Loop& s, int label, const FullSteps& steps) {
  streams_ = true;
  if (!reads_lines()) return full_steps(s, "stream", label, steps);
  FullSteps chosen = steps;
  chosen.from = "choose";
  return fmt::format(
             "stream{0}:\n  br label %choose{0}\nchoose{0}:\n"
             "  %choose{0}.beyond = and i64 {1}, {2}\n"
             "  %choose{0}.no = icmp eq i64 %choose{0}.beyond, 0\n  br i1 %choose{0}.no, label %lines{0}, label "
             "%plain{0}\n",
             label, steps.begin, kernel::kLineElements - 1) +
         full_steps(s, "lines", label, chosen) + full_steps(s, "plain", label, chosen);
}

// A loop over the steps of all lanes from `begin`, in the block `from`, to `end`; it goes on to the
// label `after`.
std::string PhasePrinter::full_steps(const Loop& s, const std::string& kind, int label, const FullSteps& steps) {
  const std::string var = fmt::format("%{}.{}{}", s.var.name(), kind, label);
  vector_.at_line = kind == "loop" || kind == "lines";
  const std::string body =
      vector_body(vector_.inner ? s.interior->body : s.body, {var, DType::I64, 0, 0}, nullptr, kind != "loop");
  vector_.at_line = false;
  return fmt::format(
      "{0}{1}:\n  {2} = phi i64 [ {7}, %{8}{1} ], [ {2}.next, %{0}next{1} ]\n{3}  br label %{0}next{1}\n{0}next{1}:\n"
      "  {2}.next = add nsw i64 {2}, {4}\n  {2}.more = icmp slt i64 {2}.next, {5}\n"
      "  br i1 {2}.more, label %{0}{1}, label %{6}{1}\n",
      kind, label, var, body, s.lanes, steps.end, steps.after, steps.begin, steps.from);
}

// Everything between pre and exit.
std::string PhasePrinter::vector_steps(const Loop& s, const Value& extent, const Value& full,
                                       const std::optional<Stream>& stream, int label) {
  const auto count = s.extent.constant();
  const bool has_full = !count || *count >= s.lanes;
  const bool has_tail = !count || *count % s.lanes;
  const std::string after = has_tail ? "rest" : "exit";
  std::string text;
  if (!has_full) {
    text = fmt::format("  br label %{}{}\n", after, label);
  } else {
    const std::string loop = full_steps(s, "loop", label, {"0", "main", full.text, after});
    if (stream && std::count(loop.begin(), loop.end(), '\n') < kMostStreamedLines)
      return streamed_steps(s, extent, full, *stream, label);
    text = some_steps(s, full, label, after) + fmt::format("  br label %loop{}\n", label) + loop;
  }
  if (!has_tail) return text;
  if (count) vector_.known = *count % s.lanes;
  const std::string body = vector_body(s.body, full, &extent, false);
  vector_.known.reset();
  if (count) return text + fmt::format("rest{0}:\n{1}  br label %exit{0}\n", label, body);
  return text + fmt::format(
                    "rest{0}:\n  %rest{0}.some = icmp slt i64 {1}, {2}\n"
                    "  br i1 %rest{0}.some, label %tail{0}, label %exit{0}\ntail{0}:\n{3}  br label %exit{0}\n",
                    label, full.text, extent.text, body);
}

// To main where there is a full step, else to `after`; ends in the label of main.
std::string PhasePrinter::some_steps(const Loop& s, const Value& full, int label, const std::string& after) {
  if (s.extent.constant()) return fmt::format("  br label %main{0}\nmain{0}:\n", label);
  return fmt::format(
      "  %main{0}.some = icmp sgt i64 {1}, 0\n  br i1 %main{0}.some, label %main{0}, label %{2}{0}\nmain{0}:\n", label,
      full.text, after);
}

// The same with a loop of streaming stores besides the plain one. The body under a mask serves both
// ends: what it covers, and where it goes on, are in slots.
std::string PhasePrinter::streamed_steps(const Loop& s, const Value& extent, const Value& full, const Stream& stream,
                                         int label) {
  const std::string start = fmt::format("%start{}", label), stop = fmt::format("%stop{}", label),
                    again = fmt::format("%again{}", label), L = std::to_string(label);
  define_stack(start, "i64");
  define_stack(stop, "i64");
  define_stack(again, "i1");
  streams_ = true;
  std::string text = fmt::format("  store i64 {}, ptr {}\n", full.text, start) + some_steps(s, full, label, "rest");
  text += fmt::format("  br i1 {}, label %head{}, label %loop{}\n", stream.wanted.text, L, L);
  text += full_steps(s, "loop", label, {"0", "main", full.text, "rest"});
  text += fmt::format(
      "head{0}:\n{5}  store i64 0, ptr {1}\n  store i64 {2}, ptr {3}\n  store i1 true, ptr {4}\n"
      "  %head{0}.some = icmp sgt i64 {2}, 0\n  br i1 %head{0}.some, label %tail{0}, label %whole{0}\n",
      L, start, stream.head.text, stop, again, fetch_ends(stream));
  // Steps of another number than a power of two begin where the array does: find_stream sees to it.
  const std::string steps = is_power_of_two(s.lanes)
                                ? fmt::format("  %left{0} = sub i64 {1}, {2}\n  %steps{0} = and i64 %left{0}, -{3}\n",
                                              L, extent.text, stream.head.text, s.lanes)
                                : fmt::format("  %steps{} = add i64 {}, 0\n", L, full.text);
  text += fmt::format(
      "whole{0}:\n{1}  %end{0} = add i64 {2}, %steps{0}\n"
      "  store i64 %end{0}, ptr {3}\n  br label %stream{0}\n",
      L, steps, stream.head.text, start);
  text += stream_steps(s, label, {stream.head.text, "whole", fmt::format("%end{}", L), "rest"});
  text += fmt::format(
      "rest{0}:\n  store i64 {1}, ptr {2}\n  store i1 false, ptr {3}\n  %rest{0}.start = load i64, ptr {4}\n"
      "  %rest{0}.some = icmp slt i64 %rest{0}.start, {1}\n  br i1 %rest{0}.some, label %tail{0}, label %exit{0}\n",
      L, extent.text, stop, again, start);
  const Value from{fmt::format("%tail{}.start", L), DType::I64, 0, 0};
  const Value to{fmt::format("%tail{}.stop", L), DType::I64, 0, top()};
  text += fmt::format("tail{0}:\n  {1} = load i64, ptr {2}\n  {3} = load i64, ptr {4}\n", L, from.text, start, to.text,
                      stop);
  text += vector_body(s.body, from, &to, false);
  text += fmt::format("  %tail{0}.again = load i1, ptr {1}\n  br i1 %tail{0}.again, label %whole{0}, label %exit{0}\n",
                      L, again);
  return text;
}

}  // namespace smelt::emit
