// Each: the condition for a vector of elements at once, then the body for the bits that it left.
//
//     br nonempty, pre, exit
//   pre:    hoisted
//   loop:   var = phi;  br all lanes inside, whole, part
//   whole:  bits = condition
//   part:   bits = condition of the lanes inside
//   asked:                    br some bit, bit, next
//   bit:    rest = phi; element = var + trailing zeros of rest; body
//   done:   rest without its lowest bit;  br bit or next
//   next:   var + lanes; br loop or exit
//   exit:
#include <fmt/format.h>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using kernel::Stmt;

// The condition of the lanes from `var` on, as a word of bits that it names; `extent`: only those below it.
std::string PhasePrinter::each_condition(const Stmt& s, const std::string& var, const Changes& changes,
                                         const Value* extent, const std::string& bits) {
  vector_ = VectorLoop{};
  vector_.loop = &s;
  vector_.var = s.var;
  vector_.lanes = s.lanes;
  vector_.changes = changes;
  push(false, changes);
  vector_.start = {var, DType::I64, 0, top()};
  if (extent) {
    const Value left = op("sub $T $a, $b", DType::I64, {*extent, vector_.start});
    vector_.left = left;
    vector_.tail = op("icmp ult $T $a, $b", DType::Bool,
                      {iota(s.lanes, DType::I32), splat(convert("trunc", left, DType::I32), s.lanes)});
  }
  const Value holds = both(splat(value_of(s.value), s.lanes), vector_.tail, s.lanes);
  const std::string word = fmt::format("i{}", s.lanes);
  const std::string packed = name(top(), fmt::format("bitcast {} {} to {}", type_of(holds), holds.text, word));
  line(fmt::format(
      "{} = {}", bits,
      s.lanes == 64 ? fmt::format("or i64 {}, 0", packed) : fmt::format("zext {} {} to i64", word, packed)));
  vector_ = VectorLoop{};
  return pop();
}

void PhasePrinter::each(const Stmt& s) {
  SMELT_CHECK(!vector_.loop, "{} stands inside Vector loop {}", s.var, vector_.var);
  SMELT_CHECK(s.lanes >= 2 && s.lanes <= 64, "a condition of {} lanes", s.lanes);
  constexpr DType t = DType::I64;
  const int label = ++labels_;
  Changes changes = no_changes();
  collect_changes(s.body, changes);
  const Value extent = integer(s.extent);
  forget(changes);
  push(true, no_changes());  // pre
  ranges_[s.var] = {0, s.extent - 1};
  const std::string var = fmt::format("%each{}", label);
  const std::string whole = each_condition(s, var, changes, nullptr, fmt::format("%wholebits{}", label));
  const std::string part = each_condition(s, var, changes, &extent, fmt::format("%partbits{}", label));
  push(true, changes);
  line(fmt::format("%zeros{0} = call i64 @llvm.cttz.i64(i64 %rest{0}, i1 true)", label));
  line(fmt::format("%element{0} = add nsw i64 {1}, %zeros{0}", label, var));
  symbols_[s.var] = {fmt::format("%element{}", label), t, 0, top()};
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
      "whole{0}:\n{3}  br label %wholedone{0}\nwholedone{0}:\n  br label %asked{0}\n"
      "part{0}:\n{4}  br label %partdone{0}\npartdone{0}:\n  br label %asked{0}\n",
      label, pre, var, whole, part, s.lanes, extent.text);
  scopes_.back().text += fmt::format(
      "asked{0}:\n  %bits{0} = phi i64 [ %wholebits{0}, %wholedone{0} ], [ %partbits{0}, %partdone{0} ]\n"
      "  %any{0} = icmp ne i64 %bits{0}, 0\n  br i1 %any{0}, label %bit{0}, label %next{0}\n"
      "bit{0}:\n  %rest{0} = phi i64 [ %bits{0}, %asked{0} ], [ %fewer{0}, %done{0} ]\n{1}  br label %done{0}\n"
      "done{0}:\n  %less{0} = add i64 %rest{0}, -1\n  %fewer{0} = and i64 %rest{0}, %less{0}\n"
      "  %more{0} = icmp ne i64 %fewer{0}, 0\n  br i1 %more{0}, label %bit{0}, label %next{0}\n"
      "next{0}:\n  %again{0} = icmp slt i64 {2}.next, {3}\n"
      "  br i1 %again{0}, label %loop{0}, label %exit{0}\nexit{0}:\n",
      label, body, var, extent.text);
}

}  // namespace smelt::emit
