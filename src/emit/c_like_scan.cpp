// Running values over the lanes of a Vector loop: what a thread has, then its warp, then the
// workgroup, then what came before.
//
// What is between two scans of a loop is computed for all groups of lanes before the scan, and
// what follows for all groups after it.
#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

constexpr int kPiece = 8;  // elements of a step that are scanned one after the other where there are no threads

// The value of nothing: what joins it stays as it is, -0 too.
static Scalar neutral(Op with, const Scalar& start) {
  return with == Op::Add && is_float(start.dtype) ? Scalar::of_float(start.dtype, -0.0) : start;
}

PhasePrinter::ScanText PhasePrinter::declare_scan(const Scan& s) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  ScanText text;
  text.number = names_++;
  text.type = type_of(t);
  text.nothing = literal(neutral(s.op, *kernel_.constant_at(s.start)));
  text.running = text.type;
  if (s.restarts != kNoExpr) text.second = "restarts", text.no_second = "0";
  if (s.factor != kNoExpr) text.second = "factor", text.no_second = literal(Scalar::of_int(t, 1));
  if (text.pair()) {
    text.running = as_.templates ? fmt::format("{}<{}>", s.factor != kNoExpr ? "Scaled" : "Run", text.type)
                                 : fmt::format("Run{}", text.number);
    if (!as_.templates)
      statics_ += fmt::format("  typedef struct {{ {} value; {} {}; }} {};\n", text.type,
                              s.factor != kNoExpr ? text.type : "unsigned", text.second, text.running);
    text.nothing = pair(text, text.nothing, text.no_second);
  }
  line("{} x{}[{}];", text.running, text.number, vector_.count());
  if (s.restarts != kNoExpr && s.exclusive) line("bool f{}[{}];", text.number, vector_.count());
  if (vector_.checked) {
    if (!looped_) line("#pragma unroll");
    line("for (int n = 0; n < {}; ++n) x{}[n] = {};", vector_.count(), text.number, text.nothing);
    if (s.restarts != kNoExpr && s.exclusive)
      line("for (int n = 0; n < {}; ++n) f{}[n] = false;", vector_.count(), text.number);
  }
  return text;
}

std::string PhasePrinter::pair(const ScanText& text, const std::string& value, const std::string& second) const {
  return fmt::format(fmt::runtime(as_.templates ? "{}{{{}, {}}}" : "(({}){{{}, {}}})"), text.running, value, second);
}

// What a pair and one that follows it join to.
std::string PhasePrinter::joined(const Scan& s, const ScanText& text, const std::string& a, const std::string& b) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  if (s.factor != kNoExpr)
    return pair(text, apply(Op::Fma, t, {b + ".factor", a + ".value", b + ".value"}),
                fmt::format("{}.factor * {}.factor", a, b));
  return pair(
      text,
      fmt::format("{1}.restarts ? {1}.value : ({0})({2})", text.type, b, apply(s.op, t, {a + ".value", b + ".value"})),
      fmt::format("{}.restarts | {}.restarts", a, b));
}

// Its operands, in the loop over the lanes.
void PhasePrinter::give_to_scan(const Scan& s, const ScanText& text) {
  if (!text.pair()) return line("x{}[n] = {};", text.number, value(s.value));
  const std::string second = value(s.factor != kNoExpr ? s.factor : s.restarts);
  line("x{0}[n].value = {1}; x{0}[n].{2} = {3};", text.number, value(s.value), text.second, second);
  if (s.exclusive) line("f{}[n] = {};", text.number, second);
}

void PhasePrinter::run_scan(const Scan& s, const ScanText& text) {
  const bool pieces = looped_ && !text.pair() && vector_.count() % kPiece == 0;
  if (pieces)
    scan_pieces(s, text);
  else
    as_.warps ? scan_warps(s, text) : scan_on_chip(s, text);
  const int n = text.number;
  std::string result = fmt::format("{}{}[n]", pieces ? "y" : "x", n);
  if (text.pair()) result += ".value";
  if (s.restarts != kNoExpr && s.exclusive)
    result = fmt::format("f{}[n] ? {} : {}", n, literal(*kernel_.constant_at(s.start)), result);
  if (!looped_) line("#pragma unroll");
  line("for (int n = 0; n < {}; ++n) a{}[n] = {};", vector_.count(), s.local, result);
  forget(s.local);
  forget(s.carry);
}

// Pieces of a step by themselves, whose chains of operations a core has under way at once, then
// what comes before each of them.
void PhasePrinter::scan_pieces(const Scan& s, const ScanText& text) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  const std::string joined = fmt::format("({})({})", text.type, apply(s.op, t, {"a", "b"}));
  const std::string carry = fmt::format("v{}", s.carry), x = fmt::format("x{}", text.number);
  const int behind = s.exclusive ? 1 : 0;
  line("{} y{}[{}];", text.type, text.number, vector_.count());
  open(fmt::format("for (int p = 0; p < {}; p += {})", vector_.count(), kPiece));
  open(fmt::format("for (int n = p + 1; n < p + {}; ++n)", kPiece));
  line("const {0} a = {1}[n - 1], b = {1}[n]; {1}[n] = {2};", text.type, x, joined);
  close();
  close();
  open(fmt::format("for (int p = 0; p < {}; p += {})", vector_.count(), kPiece));
  line("const {} a = {};", text.type, carry);
  if (s.exclusive) line("y{}[p] = a;", text.number);
  open(fmt::format("for (int n = p + {}; n < p + {}; ++n)", behind, kPiece));
  line("const {} b = {}[n - {}]; y{}[n] = {};", text.type, x, behind, text.number, joined);
  close();
  line("const {} b = {}[p + {}]; {} = {};", text.type, x, kPiece - 1, carry, joined);
  close();
}

void PhasePrinter::scan_warps(const Scan& s, const ScanText& text) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  const int n = text.number, width = std::min(32, team_.threads), warps = std::max(1, team_.threads / 32);
  const std::string& type = text.running;
  const std::string join = fmt::format("join{}", n);
  line("const auto {0} = []({1} a, {1} b) -> {1} {{ return {2}; }};", join, type,
       text.pair() ? joined(s, text, "a", "b") : fmt::format("({})({})", type, apply(s.op, t, {"a", "b"})));
  const bool over_grid = s.over_grid.has_value();
  std::string meet = "nullptr", turn = fmt::format("turn{}", n);
  if (warps > 1 && !over_grid) {
    meet = fmt::format("meet{}", n);
    statics_ += fmt::format("  __shared__ {} {}[2][32];\n", type, meet);
  }
  if (!over_grid) statics_ += fmt::format("  int {} = 0; (void){};\n", turn, turn);
  const std::string carry = text.pair() ? fmt::format("carry{}", n) : fmt::format("v{}", s.carry);
  if (text.pair()) line("{} {}{{v{}, {}}};", type, carry, s.carry, text.no_second);
  if (over_grid)
    scan_grid(s, text, {type, carry, join});
  else
    line("{}<{}, {}, {}, {}, {}, {}>(x{}, {}, {}, {}, tw, {}, {}, {});", used_("scan_team"), width, warps,
         vector_.unroll, vector_.lanes, s.exclusive ? "true" : "false", type, n, carry, text.nothing,
         is_alike(vector_.loop->extent) ? threads_that_meet()
         : width < 32                   ? "team"
                                        : "0xffffffffu",
         meet, turn, join);
  if (text.pair()) line("v{} = {}.value;", s.carry, carry);
}

// The statements of a loop with scans: run by run, each for all groups.
void PhasePrinter::scan_body(const Loop& loop) {
  std::vector<const Stmt*> run;
  const kernel::LoopAccesses& accesses = accesses_of(loop);
  push();
  make_early(accesses.early, vector_.checked);
  for (const kernel::BlockAccesses& block : accesses.blocks)
    for (const kernel::FromLane& from : block.from) from_lane_[from.load] = from;
  size_t blocks = 0;
  for (const Stmt& s : loop.body) {
    const auto* scan = s.get_if<Scan>();
    if (!scan) {
      run.push_back(&s);
      continue;
    }
    const ScanText text = declare_scan(*scan);
    groups(run, accesses.blocks[blocks++], scan, &text);
    run_scan(*scan, text);
    run.clear();
  }
  if (!run.empty()) groups(run, accesses.blocks[blocks], nullptr, nullptr);
  end_early(accesses.early);
  pop();
}

}  // namespace smelt::emit::c_like
