#include "emit/cuda.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "emit/cuda_phase.hpp"
#include "emit/cuda_text.hpp"
#include "emit/llvm_types.hpp"
#include "kernel/text.hpp"

namespace smelt::emit {
namespace {

using kernel::Kernel;
using kernel::Stmt;

// Below this, positions and what is added to them on the way fit an int.
constexpr int64_t kNarrow = (int64_t{1} << 31) - (int64_t{1} << 20);

// Loop variables in a bound would not be known at launch.
bool over_sizes(const Kernel& kernel, const IntExpr& e) {
  std::vector<std::string> symbols;
  e.collect_symbols(symbols);
  return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& s) {
    return std::any_of(kernel.params.begin(), kernel.params.end(),
                       [&](const kernel::Param& p) { return p.kind == kernel::ParamKind::Size && p.symbol == s; });
  });
}

// A bound over the sizes: min(tile, what is left) is at most the tile. The expression is never negative, nor is a part of it.
IntExpr bound_over_sizes(const Kernel& kernel, const IntExpr& e) {
  if (over_sizes(kernel, e)) return e;
  IntExpr sum = 0;
  for (const IntExpr::Term& term : e.terms()) {
    if (term.coefficient < 0) continue;
    IntExpr product = term.coefficient;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      IntExpr factor = IntExpr::of_term({1, {a}});
      if (!over_sizes(kernel, factor) && a->kind == AtomKind::Min)
        factor = bound_over_sizes(kernel, over_sizes(kernel, a->a) || !over_sizes(kernel, a->b) ? a->a : a->b);
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

// Points of the loops, a bound over the sizes.
IntExpr points(const Kernel& kernel, const std::vector<Stmt>& body) {
  IntExpr most = 1;
  for (const Stmt& s : body) {
    if (s.kind != kernel::StmtKind::Loop && s.kind != kernel::StmtKind::If && s.kind != kernel::StmtKind::Each)
      continue;
    const IntExpr extent = s.kind != kernel::StmtKind::If ? bound_over_sizes(kernel, s.extent) : IntExpr(1);
    // What meets the condition of an Each names an element of an array, whatever its place among all of them.
    const IntExpr inside = points(kernel, s.body);
    most = max(most, s.kind == kernel::StmtKind::Each ? max(extent, inside) : max(extent, 1) * inside);
  }
  return most;
}

// What must hold so that 32-bit indices do; empty when it always does. False when it never does.
bool narrow_if(const Kernel& kernel, const kernel::Phase& phase, std::vector<IntExpr>& conditions) {
  std::vector<IntExpr> counts{points(kernel, phase.body)};
  for (const kernel::Param& p : kernel.params)
    if (p.kind != kernel::ParamKind::Size) counts.push_back(count(p.dims));
  for (const kernel::Expr& e : kernel.exprs)
    if (e.kind == kernel::ExprKind::Random) counts.push_back(e.extent);
  for (const IntExpr& c : counts) {
    const auto known = c.constant();
    if (known && *known > kNarrow) return false;
    if (!known) conditions.push_back(kNarrow - c);
  }
  return true;
}

CudaFunction function(const std::string& name, const kernel::Team& team, const cuda::PhasePrinter& printed) {
  return {name, team.workgroup, team.iterations(), team.cluster(), printed.shared_bytes()};
}

std::string header(const Kernel& kernel) {
  std::string text;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const kernel::Param& p = kernel.params[i];
    const std::string name = kernel::param_name(kernel, static_cast<int>(i));
    if (p.kind == kernel::ParamKind::Size)
      text += fmt::format("// {} {}", name, comment_text(p.symbol));
    else
      text += fmt::format("// {} {}{}", name, smelt::name_of(p.dtype), comment_text(str(p.dims)));
    text += p.note.empty() ? "\n" : fmt::format("  {}\n", comment_text(p.note));
  }
  return text;
}

const char* kClusterHelpers = R"(
// That a workgroup has begun: it says nothing of what it wrote, and waits for nothing.
SMELT_INLINE void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
SMELT_INLINE void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
SMELT_INLINE void cluster_barrier() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); cluster_wait(); }
// Writes to this place of the shared memory of the cluster's workgroup `rank`.
template <class T> SMELT_INLINE void cluster_write(T* at, unsigned rank, T value) {
  const unsigned here = (unsigned)__cvta_generic_to_shared(at);
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  union { T value; unsigned char byte; unsigned short half; unsigned word; unsigned long long all; } x;
  x.value = value;
  if (sizeof(T) == 8) asm volatile("st.shared::cluster.u64 [%0], %1;" :: "r"(there), "l"(x.all) : "memory");
  if (sizeof(T) == 4) asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(x.word) : "memory");
  if (sizeof(T) == 2) asm volatile("st.shared::cluster.u16 [%0], %1;" :: "r"(there), "h"(x.half) : "memory");
  if (sizeof(T) == 1) asm volatile("st.shared::cluster.u8 [%0], %1;" :: "r"(there), "h"((unsigned short)x.byte) : "memory");
}
)";

// A mailbox is a barrier in shared memory that opens when so many bytes have arrived in this workgroup. It needs no fence, which would
// wait for all that the threads have under way.
const char* kMailboxHelpers = R"(
SMELT_INLINE void expect_mail(unsigned long long* box, unsigned bytes) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(box);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at), "r"(bytes) : "memory");
}
SMELT_INLINE void wait_for_mail(unsigned long long* box) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(box);
  unsigned here = 0;
  while (!here)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(here) : "r"(at) : "memory");
}
template <class T> SMELT_INLINE void send_mail(T* to, unsigned long long* box, unsigned rank, T value) {
  const unsigned here = (unsigned)__cvta_generic_to_shared(to), near_box = (unsigned)__cvta_generic_to_shared(box);
  unsigned there, far_box;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_box) : "r"(near_box), "r"(rank));
  union { T value; unsigned word; unsigned long long all; } x;
  x.value = value;
  if (sizeof(T) == 8)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                 :: "r"(there), "l"(x.all), "r"(far_box) : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :: "r"(there), "r"(x.word), "r"(far_box) : "memory");
}
)";

}  // namespace

// Whether some loop is expected to be covered by one step, though its extent is known only at launch.
static bool expects_to_hold(const std::vector<Stmt>& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& s) {
    return (s.kind == kernel::StmtKind::Loop && s.whole && !s.extent.constant()) || expects_to_hold(s.body);
  });
}

std::vector<cuda::Printed> cuda::print_variants(const Kernel& kernel, size_t number, const std::string& name,
                                                const CudaTarget& target, bool part) {
  const kernel::Phase& phase = kernel.phases[number];
  std::vector<Printed> printed;
  std::vector<IntExpr> sizes_fit;
  const bool narrow = narrow_if(kernel, phase, sizes_fit);
  bool any_size = true;  // of those below 2^31 elements
  const auto add = [&](const std::string& called, const Variant& variant) {
    Variant complete = variant;
    complete.counted_stores = target.counted_stores();
    complete.part = part;
    PhasePrinter printer(kernel, static_cast<int>(number), complete);
    if (number + 1 < kernel.phases.size() && kernel.phases[number + 1].last) {
      PhasePrinter last(kernel, static_cast<int>(number) + 1, {.vectors = false, .wide = variant.wide, .ending = true});
      printer.end_with(last);
    }
    const std::string text = printer.print(called);
    any_size = !printer.asks_for_multiples();
    if (printer.lost_lanes() && !variant.odd && variant.vectors) return false;
    CudaVariant made{function(called, phase.team, printer), {}, printer.alignment()};
    std::vector<IntExpr> conditions = printer.conditions();
    if (!variant.wide) conditions.insert(conditions.begin(), sizes_fit.begin(), sizes_fit.end());
    for (const IntExpr& c : conditions) {
      const auto known = c.constant();
      SMELT_CHECK(over_sizes(kernel, c) && (!known || *known >= 0), "{} is guarded by {}", called, c.str());
      if (!known && !std::count(made.when.begin(), made.when.end(), c)) made.when.push_back(c);
    }
    printed.push_back({std::move(made), "\n" + text,
                       !variant.vectors ? Form::Any
                       : variant.odd    ? Form::Odd
                                        : Form::Fast});
    return true;
  };
  // Where extents are never multiples of the lanes, there is the odd form only; where they may be, both.
  const auto add_both = [&](const std::string& called, bool held) {
    if (!add(called, {true, !narrow, held, false}))
      add(called, {true, !narrow, held, true});
    else if (!any_size)
      add(called + "_odd", {true, !narrow, held, true});
  };
  if (expects_to_hold(phase.body) && !part) add_both(name + "_held", true);
  add_both(name, false);
  const CudaVariant& fast = printed.back().variant;
  bool aligned = true;
  for (size_t p = 0; p < kernel.params.size(); ++p)
    aligned = aligned && fast.alignment[p] <= size_of(kernel.params[p].dtype);
  if (!fast.when.empty() || !aligned) add(name + "_any", {false, !narrow || !fast.when.empty(), false, false});
  SMELT_CHECK(printed.back().variant.when.empty(), "the general form of kernel {} is guarded", kernel.name);
  return printed;
}

CudaSource emit_cuda(const Kernel& kernel, const CudaTarget& target) {
  CudaSource source;
  std::string functions;
  bool clusters = false;
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    clusters = clusters || kernel.phases[i].team.cluster() > 1;
    CudaPhase result;
    for (cuda::Printed& p :
         cuda::print_variants(kernel, i, fmt::format("{}_p{}", kernel.name, i), target, /*part=*/false)) {
      functions += p.text;
      result.variants.push_back(std::move(p.variant));
    }
    source.phases.push_back(std::move(result));
  }
  const bool scans = std::any_of(kernel.phases.begin(), kernel.phases.end(),
                                 [](const kernel::Phase& p) { return cuda::has_scans(p.body); });
  const bool in_order =
      std::any_of(kernel.phases.begin(), kernel.phases.end(), [](const kernel::Phase& p) { return p.counter >= 0; });
  const std::string helpers = cuda::prelude(target) + cuda::random_functions(kernel) +
                              (clusters ? kClusterHelpers : "") +
                              (clusters && target.counted_stores() ? kMailboxHelpers : "") +
                              (scans ? cuda::scan_helpers() : "") + (in_order ? cuda::scan_grid_helpers() : "");
  source.text = header(kernel) + cuda::only_used(helpers, functions) + functions;
  return source;
}

std::string cuda::comment_on_params(const Kernel& kernel) { return header(kernel); }

}  // namespace smelt::emit
