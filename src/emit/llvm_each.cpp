// Each: of a block of elements those of which the condition holds are listed, a vector at a time,
// then the body runs for the list. Which elements those are is as good as random, so that a branch
// for each would be guessed wrong again and again; listing them takes none.
//
//     br nonempty, pre, exit
//   pre:    hoisted
//   loop:   var = phi;  br all lanes inside, whole, part
//   whole:  list those of which the condition holds
//   part:   the same of the lanes inside
//   asked:                    br block full or no more elements, full, next
//   full:   br list not empty, listed, cleared
//   listed: element = first of the block + list[k]; body; br k + 1 < found, listed, cleared
//   cleared: found = 0
//   next:   var + lanes; br loop or exit
//   exit:
#include <fmt/format.h>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using kernel::Each;

namespace {

constexpr int kBlock = 512;  // elements, a multiple of all numbers of lanes; their list stays in the first-level cache

}  // namespace

// Lists those of `places`, at %list, of which `holds` is true; %found counts them.
void PhasePrinter::list_places(const Value& places, const Value& holds, int label) {
  const int lanes = holds.lanes, scope = top();
  const std::string list = fmt::format("%list{}", label);
  const std::string found = name(scope, fmt::format("load i64, ptr %found{}", label));
  const auto address = [&](const std::string& at) {
    return name(scope, fmt::format("getelementptr i32, ptr {}, i64 {}", list, at));
  };
  if (has_compress(lanes)) {
    const std::string type = type_of(places);
    const std::string chosen = name(
        scope, fmt::format("call {0} @llvm.x86.avx512.mask.compress.v{1}i32({0} {2}, {0} zeroinitializer, {3} {4})",
                           type, lanes, places.text, type_of(holds), holds.text));
    line(fmt::format("store {} {}, ptr {}, align 4", type, chosen, address(found)));
    const std::string bits = fmt::format("i{}", lanes);
    const std::string packed = name(scope, fmt::format("bitcast {} {} to {}", type_of(holds), holds.text, bits));
    const std::string count = name(scope, fmt::format("call {0} @llvm.ctpop.{0}({0} {1})", bits, packed));
    const std::string more = name(scope, fmt::format("zext {} {} to i64", bits, count));
    line(fmt::format("store i64 {}, ptr %found{}", name(scope, fmt::format("add i64 {}, {}", found, more)), label));
    return;
  }
  // Every lane is written after those found before it; one of which the condition does not hold,
  // the next overwrites.
  std::string at = found;
  for (int lane = 0; lane < lanes; ++lane) {
    const std::string place =
        name(scope, fmt::format("extractelement {} {}, i64 {}", type_of(places), places.text, lane));
    line(fmt::format("store i32 {}, ptr {}", place, address(at)));
    const std::string bit = name(scope, fmt::format("extractelement {} {}, i64 {}", type_of(holds), holds.text, lane));
    at = name(scope, fmt::format("add i64 {}, {}", at, name(scope, fmt::format("zext i1 {} to i64", bit))));
  }
  line(fmt::format("store i64 {}, ptr %found{}", at, label));
}

bool PhasePrinter::has_compress(int lanes) const {
  return target_.vector_bits >= 512 && lanes == 16 && target_.triple.rfind("x86_64", 0) == 0;
}

// Lists the lanes from `var` on of which the condition holds; `extent`: only those below it.
std::string PhasePrinter::each_condition(const Each& s, const std::string& var, const Changes& changes,
                                         const Value* extent, int label) {
  // As in a Vector loop over the same elements.
  const kernel::Loop loop{kernel::LoopKind::Vector, s.var, s.extent, {}, s.lanes};
  vector_ = VectorLoop{};
  vector_.loop = &loop;
  vector_.var = s.var;
  vector_.lanes = s.lanes;
  vector_.forms = s.forms.get();
  vector_.changes = changes;
  push(false, changes);
  vector_.start = {var, DType::I64, 0, top()};
  const Value lanes = iota(s.lanes, DType::I32);
  if (extent) {
    const Value left = op("sub $T $a, $b", DType::I64, {*extent, vector_.start});
    vector_.left = left;
    vector_.tail = op("icmp ult $T $a, $b", DType::Bool, {lanes, splat(convert("trunc", left, DType::I32), s.lanes)});
  }
  const Value holds = both(splat(value_of(s.condition), s.lanes), vector_.tail, s.lanes);
  const Value first =
      op("and $T $a, $b", DType::I32, {convert("trunc", vector_.start, DType::I32), constant(DType::I32, kBlock - 1)});
  list_places(op("add $T $a, $b", DType::I32, {lanes, splat(first, s.lanes)}), holds, label);
  vector_ = VectorLoop{};
  return pop();
}

void PhasePrinter::each(const Each& s) {
  SMELT_CHECK(!vector_.loop, "{} stands inside Vector loop {}", s.var, *vector_.var);
  SMELT_CHECK(s.lanes >= 2 && kBlock % s.lanes == 0 && s.forms, "a condition of {} lanes", s.lanes);
  const int label = ++labels_;
  define_stack(fmt::format("%list{}", label), fmt::format("[{} x i32]", kBlock + s.lanes));
  define_stack(fmt::format("%found{}", label), "i64");
  Changes changes = no_changes();
  collect_changes(s.body, changes);
  const Value extent = integer(s.extent);
  forget(changes);
  push(true, no_changes());  // pre
  line(fmt::format("store i64 0, ptr %found{}", label));
  const std::string var = fmt::format("%each{}", label);
  const std::string whole = each_condition(s, var, changes, nullptr, label);
  const std::string part = each_condition(s, var, changes, &extent, label);
  push(true, changes);
  line(fmt::format("%at{0} = getelementptr i32, ptr %list{0}, i64 %k{0}", label));
  line(fmt::format("%place{0} = load i32, ptr %at{0}", label));
  line(fmt::format("%beyond{0} = zext i32 %place{0} to i64", label));
  line(fmt::format("%element{0} = add nsw i64 %block{0}, %beyond{0}", label));
  symbols_[s.var] = {fmt::format("%element{}", label), DType::I64, 0, top()};
  statements(s.body);
  symbols_.erase(s.var);
  const std::string body = pop(), pre = pop();
  line(fmt::format("; each {} < {}, {} lanes", s.var, comment_text(s.extent.str()), s.lanes));
  const std::string guard = name(top(), fmt::format("icmp sgt i64 {}, 0", extent.text));
  line(fmt::format("br i1 {}, label %pre{}, label %exit{}", guard, label, label));
  scopes_.back().text += fmt::format(
      "pre{0}:\n{1}  br label %loop{0}\n"
      "loop{0}:\n  {2} = phi i64 [ 0, %pre{0} ], [ {2}.next, %next{0} ]\n  {2}.next = add nsw i64 {2}, {5}\n"
      "  %inside{0} = icmp sle i64 {2}.next, {6}\n  br i1 %inside{0}, label %whole{0}, label %part{0}\n"
      "whole{0}:\n{3}  br label %asked{0}\npart{0}:\n{4}  br label %asked{0}\n",
      label, pre, var, whole, part, s.lanes, extent.text);
  scopes_.back().text += fmt::format(
      "asked{0}:\n  %behind{0} = and i64 {2}.next, {3}\n  %filled{0} = icmp eq i64 %behind{0}, 0\n"
      "  %more{0} = icmp slt i64 {2}.next, {4}\n  %stays{0} = xor i1 %filled{0}, true\n"
      "  %goes{0} = and i1 %more{0}, %stays{0}\n  br i1 %goes{0}, label %next{0}, label %full{0}\n"
      "full{0}:\n  %block{0} = and i64 {2}, -{5}\n  %count{0} = load i64, ptr %found{0}\n"
      "  %some{0} = icmp sgt i64 %count{0}, 0\n  br i1 %some{0}, label %listed{0}, label %cleared{0}\n"
      "listed{0}:\n  %k{0} = phi i64 [ 0, %full{0} ], [ %k{0}.next, %done{0} ]\n{1}  br label %done{0}\n"
      "done{0}:\n  %k{0}.next = add nsw i64 %k{0}, 1\n  %k{0}.more = icmp slt i64 %k{0}.next, %count{0}\n"
      "  br i1 %k{0}.more, label %listed{0}, label %cleared{0}\n"
      "cleared{0}:\n  store i64 0, ptr %found{0}\n  br label %next{0}\n"
      "next{0}:\n  br i1 %more{0}, label %loop{0}, label %exit{0}\nexit{0}:\n",
      label, body, var, kBlock - 1, extent.text, kBlock);
}

}  // namespace smelt::emit
