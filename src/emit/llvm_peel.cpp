// Vector loops with an interior (kernel/partition_loops.hpp): whole steps run its body, the
// elements before and after share one body under a mask.
//
//     br nonempty, pre, exit
//   pre:    hoisted; `first` and `last`: where such steps begin and end;   br elements before the first, edge, middle
//   edge:   body under a mask, for the lanes of start .. stop;             br more of them, edge, edged
//   edged:                                                                 br at the end of the extent, exit, middle
//   middle:                                                                br streaming stores wanted, ends, loop
//   ends:   fetch the lines that are stored in part;                       br stream
//   loop:   body;                                                          br loop or rest
//   stream: body with streaming stores;                                    br stream or rest
//   rest:   start .. stop are the elements left;                           br any, edge, exit
//   exit:
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::ExprId;
using kernel::Loop;
using kernel::Stmt;

// Ends are short, so narrow vectors do, unless the body leaves something in wide ones, or what
// differs between lanes is known of steps that begin at multiples of them.
int PhasePrinter::edge_lanes(const Loop& s) const {
  const std::function<bool(const std::vector<Stmt>&)> assigns = [&](const std::vector<Stmt>& body) {
    return std::any_of(body.begin(), body.end(), [&](const Stmt& inner) {
      const auto* inside = kernel::body_of(inner);
      return inner.is<kernel::Assign>() || inner.is<kernel::Each>() || (inside && assigns(*inside));
    });
  };
  return assigns(s.body) || s.begins == s.lanes ? s.lanes : std::min(s.lanes, std::max(4, target_.vector_bits / 32));
}

// The body under a mask from the label edge on, which leads to the label `after`: for the elements
// from start to stop.
std::string PhasePrinter::edge_steps(const Loop& s, int label, const std::string& after) {
  const DType t = DType::I64;
  const std::string L = std::to_string(label), start = "%start" + L;
  const Value from{fmt::format("%edge{}.start", L), t, 0, 0}, to{fmt::format("%edge{}.stop", L), t, 0, top()};
  const int lanes = vector_.lanes = edge_lanes(s);
  std::string text = fmt::format(
      "edge{0}:\n  {1} = load i64, ptr {2}\n  {3}.all = load i64, ptr %stop{0}\n  {1}.next = add i64 {1}, {4}\n"
      "  {3}.less = icmp slt i64 {1}.next, {3}.all\n  {3} = select i1 {3}.less, i64 {1}.next, i64 {3}.all\n"
      "  store i64 {1}.next, ptr {2}\n",
      L, from.text, start, to.text, lanes);
  text += vector_body(s.body, from, &to, false);
  vector_.lanes = s.lanes;
  return text + fmt::format("  br i1 {}.less, label %edge{}, label %{}\n", to.text, L, after);
}

// All of it under a mask.
std::string PhasePrinter::short_steps(const Loop& s, const Value& extent, int label) {
  const std::string L = std::to_string(label);
  define_stack("%start" + L, "i64");
  define_stack("%stop" + L, "i64");
  return fmt::format("  store i64 0, ptr %start{0}\n  store i64 {1}, ptr %stop{0}\n  br label %edge{0}\n", L,
                     extent.text) +
         edge_steps(s, label, "exit" + L);
}

std::string PhasePrinter::peeled_steps(const Loop& s, const Value& extent, const std::optional<Stream>& stream,
                                       int label) {
  const DType t = DType::I64;
  const kernel::Interior& interior = *s.interior;
  const Value inner_first = integer(interior.first), inner_last = integer(interior.last);
  visit_below(kernel_, expressions_of(s.body),
              [&](ExprId id, const kernel::Expr&) { return vector_.ordinary.insert(id).second; });
  const std::string L = std::to_string(label), start = "%start" + L, stop = "%stop" + L;
  define_stack(start, "i64");
  define_stack(stop, "i64");
  const auto rounded = [&](const Value& x, int64_t to) {  // up
    return op("and $T $a, $b", t, {op("add $T $a, $b", t, {x, constant(t, to - 1)}), constant(t, -to)});
  };
  Value first = rounded(inner_first, edge_lanes(s));
  if (stream) {  // with a line of the streaming stores
    const Value beyond = op("sub $T $a, $b", t, {inner_first, stream->head});
    const Value none = op("call $T @llvm.smax.$V($T $a, $T $b)", t, {beyond, constant(t, 0)});
    const int64_t line = std::max<int64_t>(stream->line, s.begins);
    const Value there = op("add $T $a, $b", t, {stream->head, rounded(none, line)});
    first = op("select $C $a, $T $b, $T $c", t, {stream->wanted, there, first});
  }
  const Value length = op("sub $T $a, $b", t, {inner_last, first});
  Value any = op("icmp sge $T $a, $b", DType::Bool, {length, constant(t, s.lanes)});
  for (const IntExpr& h : interior.holds) {
    const Value here = op("icmp sge $T $a, $b", DType::Bool, {integer(h), constant(t, 0)});
    any = op("and $T $a, $b", DType::Bool, {any, here});
  }
  const Value last = op("add $T $a, $b", t, {first, op("and $T $a, $b", t, {length, constant(t, -s.lanes)})});
  first = op("select $C $a, $T $b, $T $c", t, {any, first, extent});

  std::string text = fmt::format(
      "  store i64 0, ptr {1}\n  store i64 {2}, ptr {3}\n  %before{0} = icmp sgt i64 {2}, 0\n"
      "  br i1 %before{0}, label %edge{0}, label %middle{0}\n",
      L, start, first.text, stop);
  text += edge_steps(s, label, "edged" + L);
  text += fmt::format(
      "edged{0}:\n  %done{0} = icmp eq i64 %edge{0}.stop.all, {1}\n  br i1 %done{0}, label %exit{0}, label "
      "%middle{0}\n",
      L, extent.text);
  vector_.inner = true;
  const std::string loop = full_steps(s, "loop", label, {first.text, "middle", last.text, "rest"});
  const bool streams = stream && std::count(loop.begin(), loop.end(), '\n') < kMostStreamedLines;
  if (streams) {
    text += fmt::format("middle{0}:\n  br i1 {1}, label %ends{0}, label %loop{0}\nends{0}:\n{2}  br label %stream{0}\n",
                        L, stream->wanted.text, fetch_ends(*stream)) +
            loop;
    text += stream_steps(s, label, {first.text, "ends", last.text, "rest"});
    streams_ = true;
  } else {
    text += fmt::format("middle{0}:\n  br label %loop{0}\n", L) + loop;
  }
  vector_.inner = false;
  return text + fmt::format(
                    "rest{0}:\n  store i64 {1}, ptr {2}\n  store i64 {3}, ptr {4}\n"
                    "  %behind{0} = icmp slt i64 {1}, {3}\n  br i1 %behind{0}, label %edge{0}, label %exit{0}\n",
                    L, last.text, start, extent.text, stop);
}

}  // namespace smelt::emit
