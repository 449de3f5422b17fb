// Running values over the lanes of a Vector loop: what a thread has, then its warp, then the workgroup, then what came before.
//
// What stands between two scans of a loop is computed for all groups of lanes before the scan, and what follows for all groups after it.
#include <algorithm>

#include "base/check.hpp"
#include "emit/cuda_phase.hpp"
#include "emit/cuda_text.hpp"

namespace smelt::emit::cuda {

using kernel::kNoExpr;
using kernel::Stmt;
using kernel::StmtKind;

std::string scan_helpers() {
  return R"(
// A running value that may have begun anew on the way.
template <class T> struct Run { T value; unsigned anew; };
template <class T> SMELT_INLINE T from_lane_before(unsigned mask, T x, int d, int width) {
  union { T value; unsigned words[(sizeof(T) + 3) / 4]; } u;
  u.value = x;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) + 3) / 4; ++i) u.words[i] = __shfl_up_sync(mask, u.words[i], d, width);
  return u.value;
}
template <class T> SMELT_INLINE T from_lane(unsigned mask, T x, int lane, int width) {
  union { T value; unsigned words[(sizeof(T) + 3) / 4]; } u;
  u.value = x;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) + 3) / 4; ++i) u.words[i] = __shfl_sync(mask, u.words[i], lane, width);
  return u.value;
}
// Of lane 0 to this one.
template <int kWidth, class T, class Join> SMELT_INLINE T running(unsigned mask, T x, int lane, const Join& join) {
#pragma unroll
  for (int d = 1; d < kWidth; d *= 2) {
    const T y = from_lane_before(mask, x, d, kWidth);
    if (lane >= d) x = join(y, x);
  }
  return x;
}
// x becomes the running values of kGroups groups, one after the other, of kWidth * kWarps * kLanes elements each, kLanes of them to a
// thread, after `carry`, which becomes that of all. `meet`: memory where the warps meet, `turn`: which half of it.
template <int kWidth, int kWarps, int kGroups, int kLanes, bool kExclusive, class T, class Join>
SMELT_INLINE void scan_team(T (&x)[kGroups * kLanes], T& carry, T nothing, unsigned mask, int t, T (*meet)[32],
                            int& turn, const Join& join) {
  constexpr int kBatch = kWarps > 1 ? (kGroups < 32 / kWarps ? kGroups : 32 / kWarps) : kGroups;
  const int lane = t & (kWidth - 1), warp = t / kWidth;
#pragma unroll
  for (int first = 0; first < kGroups; first += kBatch) {
    T before[kBatch], total[kBatch];
#pragma unroll
    for (int g = 0; g < kBatch; ++g) {
      const int u = first + g;
      if (u >= kGroups) continue;
#pragma unroll
      for (int l = 1; l < kLanes; ++l) x[u * kLanes + l] = join(x[u * kLanes + l - 1], x[u * kLanes + l]);
      const T all = running<kWidth>(mask, x[u * kLanes + kLanes - 1], lane, join);
      const T left = from_lane_before(mask, all, 1, kWidth);
      before[g] = lane ? left : nothing;
      if (kWarps == 1) total[g] = from_lane(mask, all, kWidth - 1, kWidth);
      if (kWarps > 1 && lane == kWidth - 1) meet[turn][g * kWarps + warp] = all;
    }
    if (kWarps > 1) {
      __syncthreads();
      T all = lane < kBatch * kWarps && first * kWarps + lane < kGroups * kWarps ? meet[turn][lane] : nothing;
      all = running<32>(0xffffffffu, all, lane, join);
#pragma unroll
      for (int g = 0; g < kBatch; ++g) {
        const int at = g * kWarps + warp;
        const T left = from_lane(0xffffffffu, all, at ? at - 1 : 0, 32);
        const T ahead = at ? join(carry, left) : carry;
        before[g] = join(ahead, before[g]);
      }
      carry = join(carry, from_lane(0xffffffffu, all, kBatch * kWarps - 1, 32));
      turn ^= 1;
    }
#pragma unroll
    for (int g = 0; g < kBatch; ++g) {
      const int u = first + g;
      if (u >= kGroups) continue;
      if (kWarps == 1) {
        before[g] = join(carry, before[g]);
        carry = join(carry, total[g]);
      }
#pragma unroll
      for (int l = kLanes - 1; l >= 0; --l) {
        if (!kExclusive) x[u * kLanes + l] = join(before[g], x[u * kLanes + l]);
        else x[u * kLanes + l] = l ? join(before[g], x[u * kLanes + (l ? l - 1 : 0)]) : before[g];
      }
    }
  }
}
)";
}

bool has_each(const std::vector<Stmt>& body) {
  return std::any_of(body.begin(), body.end(),
                     [](const Stmt& s) { return s.kind == StmtKind::Each || has_each(s.body); });
}

bool has_scans(const std::vector<Stmt>& body) {
  return std::any_of(body.begin(), body.end(),
                     [](const Stmt& s) { return s.kind == StmtKind::Scan || has_scans(s.body); });
}

// The value of nothing: what joins it stays as it is, -0 too.
static Scalar neutral(Op with, const Scalar& start) {
  return with == Op::Add && is_float(start.dtype) ? Scalar::of_float(start.dtype, -0.0) : start;
}

PhasePrinter::ScanText PhasePrinter::declare_scan(const Stmt& s) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  ScanText text;
  text.number = names_++;
  text.type = type_of(t);
  text.nothing = literal(neutral(s.op, kernel_.at(s.start).constant));
  line("{} x{}[{}];", s.anew == kNoExpr ? text.type : fmt::format("Run<{}>", text.type), text.number, vector_.count());
  if (s.anew != kNoExpr) text.nothing = fmt::format("Run<{}>{{{}, 0}}", text.type, text.nothing);
  if (s.anew != kNoExpr && s.exclusive) line("bool f{}[{}];", text.number, vector_.count());
  if (vector_.checked) {
    line("#pragma unroll");
    line("for (int n = 0; n < {}; ++n) x{}[n] = {};", vector_.count(), text.number, text.nothing);
    if (s.anew != kNoExpr && s.exclusive)
      line("for (int n = 0; n < {}; ++n) f{}[n] = false;", vector_.count(), text.number);
  }
  return text;
}

// Its operands, in the loop over the lanes.
void PhasePrinter::give_to_scan(const Stmt& s, const ScanText& text) {
  if (s.anew == kNoExpr) return line("x{}[n] = {};", text.number, value(s.value));
  const std::string anew = value(s.anew);
  line("x{}[n].value = {}; x{}[n].anew = {};", text.number, value(s.value), text.number, anew);
  if (s.exclusive) line("f{}[n] = {};", text.number, anew);
}

void PhasePrinter::run_scan(const Stmt& s, const ScanText& text) {
  const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
  const bool anew = s.anew != kNoExpr;
  const int n = text.number, width = std::min(32, team_.threads), warps = std::max(1, team_.threads / 32);
  const std::string type = anew ? fmt::format("Run<{}>", text.type) : text.type;
  const std::string joined = fmt::format("({})({})", text.type, apply(s.op, t, {"a", "b"}));
  line("const auto join{0} = []({1} a, {1} b) -> {1} {{ return {2}; }};", n, text.type, joined);
  std::string join = fmt::format("join{}", n);
  if (anew) {
    line("const auto jump{0} = [&]({1} a, {1} b) -> {1} {{", n, type);
    line("  return {}{{b.anew ? b.value : {}(a.value, b.value), a.anew | b.anew}};", type, join);
    line("}};");
    join = fmt::format("jump{}", n);
  }
  const bool over_grid = s.scope == kernel::Scope::Grid;
  std::string meet = "nullptr", turn = fmt::format("turn{}", n);
  if (warps > 1 && !over_grid) {
    meet = fmt::format("meet{}", n);
    statics_ += fmt::format("  __shared__ {} {}[2][32];\n", type, meet);
  }
  if (!over_grid) statics_ += fmt::format("  int {} = 0; (void){};\n", turn, turn);
  const std::string carry = anew ? fmt::format("carry{}", n) : fmt::format("v{}", s.carry);
  if (anew) line("{} {}{{v{}, 0}};", type, carry, s.carry);
  if (over_grid)
    scan_grid(s, text, {type, carry, join});
  else
    line("scan_team<{}, {}, {}, {}, {}, {}>(x{}, {}, {}, {}, tw, {}, {}, {});", width, warps, vector_.unroll,
         vector_.lanes, s.exclusive ? "true" : "false", type, n, carry, text.nothing,
         width < 32 ? "team" : "0xffffffffu", meet, turn, join);
  if (anew) line("v{} = {}.value;", s.carry, carry);
  std::string result = fmt::format("x{}[n]", n);
  if (anew) result += ".value";
  if (anew && s.exclusive) result = fmt::format("f{}[n] ? {} : {}", n, literal(kernel_.at(s.start).constant), result);
  line("#pragma unroll");
  line("for (int n = 0; n < {}; ++n) a{}[n] = {};", vector_.count(), s.local, result);
  forget(s.local);
  forget(s.carry);
}

// The statements of a loop with scans: run by run, each for all groups.
void PhasePrinter::scan_body(const std::vector<Stmt>& body) {
  std::vector<const Stmt*> all, run;
  for (const Stmt& s : body) all.push_back(&s);
  push();
  // What a scan needs, and what only follows it: all under way together.
  const std::vector<ExprId> loads = early_loads(all);
  if (!loads.empty()) {
    declare_loads(loads);
    load_groups(loads, vector_.checked);
  }
  for (const Stmt& s : body) {
    if (s.kind != StmtKind::Scan) {
      run.push_back(&s);
      continue;
    }
    const ScanText text = declare_scan(s);
    groups(run, &s, &text);
    run_scan(s, text);
    run.clear();
  }
  if (!run.empty()) groups(run, nullptr, nullptr);
  for (const ExprId id : loads) early_.erase(id);
  whole_groups_.clear();
  pop();
}

}  // namespace smelt::emit::cuda
