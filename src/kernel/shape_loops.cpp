#include "kernel/shape_loops.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/lane_groups.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"
#include "kernel/phase_uses.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using Form = Variant::Form;

constexpr int kMostWrittenTwice = 512;  // operations of a step
constexpr int kFunction = 4;            // operations of a function, for each byte of its result
constexpr int kDrawn = 4;               // words that one run of Philox gives

// A number that the expression never exceeds.
std::optional<int64_t> bound_of(const IntExpr& e) {
  if (const auto c = e.constant()) return c;
  if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() != 1) return std::nullopt;
  const IntExpr::Atom& a = *e.terms()[0].atoms[0];
  if (a.kind != AtomKind::Min) return std::nullopt;
  const auto x = bound_of(a.a), y = bound_of(a.b);
  return x && y ? std::min(*x, *y) : x ? x : y;
}

// Whether some loop is expected to be covered by one step, though its extent is known only at
// launch.
bool expects_one_step(const std::vector<Stmt>& body) {
  bool found = false;
  for_each_stmt(body, [&](const Stmt& s) {
    const auto* loop = s.get_if<Loop>();
    found = found || (loop && loop->whole && !loop->extent.constant());
  });
  return found;
}

class Shaping {
 public:
  Shaping(const Kernel& kernel, const Phase& phase)
      : kernel_(kernel),
        phase_(phase),
        uses_(kernel, phase),
        looped_(kernel.dialect == Dialect::PlainThread),
        wide_(kernel.dialect == Dialect::Gpu || kernel.dialect == Dialect::GpuHalf),
        in_order_(has_scans(phase.body) || has_each(phase.body)) {}

  void run() {
    if (expects_one_step(phase_.body)) add_fast_and_odd(true);
    add_fast_and_odd(false);
    add({.form = Form::Any});
    if (phase_.last) add({.form = Form::Ending});
  }
  std::vector<Variant> take_variants() { return std::move(variants_); }
  std::map<const Loop*, TeamForms> take_forms() { return std::move(forms_); }

 private:
  // Where extents are never multiples of the lanes, there is the odd form only.
  void add_fast_and_odd(bool held) {
    lost_lanes_ = false;
    add({.form = Form::Fast, .vectors = wide_, .held = held});
    if (lost_lanes_) {
      variants_.pop_back();
      for (auto& [loop, forms] : forms_) forms.shapes.pop_back();
    }
    add({.form = Form::Odd, .vectors = wide_, .held = held});
  }

  void add(Variant variant) {
    for (const Param& p : kernel_.params)
      variant.alignment.push_back(p.kind == ParamKind::Size || p.kind == ParamKind::Scalar ? 0 : size_of(p.dtype));
    for_each_stmt(phase_.body, [&](const Stmt& s) {
      if (const Loop* loop = loop_of(s, LoopKind::Vector)) forms_[loop].shapes.push_back(shape_of(*loop, variant));
    });
    variants_.push_back(std::move(variant));
  }

  LoopShape shape_of(const Loop& loop, Variant& variant) {
    const int64_t threads = phase_.team.threads;
    LoopShape shape;
    const bool fixed = feeds_units(kernel_, phase_, loop);
    shape.lanes = variant.vectors || fixed ? loop.lanes : 1;
    if (shape.lanes > 1 && !fixed) group(loop, variant, shape);
    shape.by_element = looped_ && uses_.keeps_nothing(loop);
    if (shape.by_element && draws(kernel_, loop)) shape.draw_lanes = kDrawn;
    shape.unroll = shape.by_element               ? 1
                   : looped_                      ? loop.unroll * loop.lanes
                   : has_loops(loop)              ? 1
                   : variant.form == Form::Ending ? loop.unroll
                                                  : loop.unroll * loop.lanes / shape.lanes;
    const int64_t step = threads * shape.count(), edges = shape.peeled ? shape.lanes - 1 : 0;
    const auto exact = loop.extent.constant(), bound = bound_of(loop.extent);
    shape.one_step = bound && *bound <= step + edges;
    if (shape.one_step && !looped_) {  // no groups that no thread has
      const int64_t groups = (*bound + threads * shape.lanes - 1) / (threads * shape.lanes);
      shape.unroll = static_cast<int>(std::clamp<int64_t>(groups, 1, shape.unroll));
    }
    shape.checked = shape.peeled || !(exact && *exact > 0 && *exact % step == 0);
    if (shape.one_step && exact)
      shape.inside = static_cast<int>(std::max<int64_t>(0, *exact - edges) / (threads * shape.lanes));
    if (!shape.one_step && variant.held && loop.whole) {
      require({step + edges - loop.extent}, variant);
      shape.one_step = true;
    }
    const bool reduces = std::none_of(loop.body.begin(), loop.body.end(), [](const Stmt& s) { return s.is<Store>(); });
    shape.last_apart = wide_ && !in_order_ && shape.checked && !shape.one_step && shape.unroll > 1 && reduces &&
                       !has_loops(loop) && operations_of(loop) * shape.count() <= kMostWrittenTwice;
    return shape;
  }

  // The operations of one element; functions count by their code.
  int operations_of(const Loop& loop) const {
    std::vector<ExprId> roots;
    for (const Stmt& s : loop.body) for_each_expression(s, [&](ExprId root) { roots.push_back(root); });
    int operations = 0;
    visit_below(kernel_, roots, [&](ExprId, const Expr& e) {
      const auto* apply = e.get_if<Apply>();
      const bool is_function = apply && is_float(e.dtype) && info(apply->op).max_ulp_f64 > 0.5;
      operations += is_function ? kFunction * size_of(e.dtype) : apply || e.is<Raw>();
      return true;
    });
    return operations;
  }

  // Groups are wholly inside the extent or wholly outside, if the loop is not peeled.
  void group(const Loop& loop, Variant& variant, LoopShape& shape) {
    std::vector<IntExpr> when;
    const bool whole = LaneGroups(kernel_, uses_, &loop, shape.lanes, false).divisible(loop.extent, when);
    const bool odd = variant.form == Form::Odd;
    const bool peels = phase_.team.threads >= 2 * (shape.lanes - 1) && !loop.columns && !has_loops(loop);
    if (in_order_) {
      // All loops of such a phase deal out their elements in one way.
      if (whole && (when.empty() || !odd))
        require(when, variant);
      else
        shape.lanes = 1;
    } else if (odd && peels && (!whole || !when.empty())) {
      shape.peeled = true;
      shape.origin = origin_of(loop, shape.lanes);
    } else if (whole) {
      require(when, variant);
    } else {
      shape.lanes = 1;
      lost_lanes_ = lost_lanes_ || peels;
    }
  }

  // The offset from which most accesses step through their arrays, of all loops that deal out the
  // same elements: they must agree.
  IntExpr origin_of(const Loop& loop, int lanes) const {
    std::vector<std::pair<IntExpr, int>> origins;
    const LaneGroups groups(kernel_, uses_, &loop, lanes, true);
    count_origins(phase_.body, loop, groups, origins);
    const auto most = std::max_element(origins.begin(), origins.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    // A multiple of the lanes is as good as none, and says so.
    return most == origins.end() || mod(most->first, lanes, {}).is(0) ? IntExpr(0) : most->first;
  }

  void count_origins(const std::vector<Stmt>& body, const Loop& loop, const LaneGroups& groups,
                     std::vector<std::pair<IntExpr, int>>& origins) const {
    for (const Stmt& s : body) {
      const Loop* other = loop_of(s, LoopKind::Vector);
      const bool alike = other && other->var == loop.var && other->extent == loop.extent &&
                         other->lanes == loop.lanes && other->unroll == loop.unroll;
      const auto* inside = body_of(s);
      if (inside && !alike) count_origins(*inside, loop, groups, origins);
      if (!alike) continue;
      for (const Stmt& inner : *inside) {
        if (const auto* store = inner.get_if<Store>()) count_origin(store->access, loop, groups, origins);
        const ExprId* value = value_of(inner);
        visit_below(kernel_, {value ? *value : kNoExpr}, [&](ExprId, const Expr& e) {
          const auto* load = e.get_if<Load>();
          if (load && load->mask == kNoExpr) count_origin(load->access, loop, groups, origins);
          return true;
        });
      }
    }
  }

  void count_origin(const Access& access, const Loop& loop, const LaneGroups& groups,
                    std::vector<std::pair<IntExpr, int>>& origins) const {
    if (access.scratch) return;
    std::vector<IntExpr> ignored;
    const IntExpr offset = flat_offset(kernel_, access);
    if (groups.step(offset, ignored) != 1) return;
    const IntExpr origin = offset - IntExpr::symbol(loop.var);
    // A gathered index may be found in the loop only.
    if (origin.any_symbol([&](Symbol s) { return is_named_index(kernel_, s); })) return;
    const auto at = std::find_if(origins.begin(), origins.end(), [&](const auto& o) { return o.first == origin; });
    if (at == origins.end())
      origins.emplace_back(origin, 1);
    else
      ++at->second;
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const PhaseUses uses_;
  const bool looped_;        // a thread's elements are loops that the compiler of the device vectorizes
  const bool wide_;          // neighbours are worth one access; else the compiler of the device finds them
  const bool in_order_;      // its Vector loops deal out their elements in order
  bool lost_lanes_ = false;  // an extent is never a multiple of the lanes
  std::vector<Variant> variants_;
  std::map<const Loop*, TeamForms> forms_;
};

// No load is made early, no access at once, until a pass finds such; passes whose result is not
// proved leave this.
std::vector<LoopAccesses> plain_accesses(const Kernel& kernel, const Loop& loop, size_t variants) {
  LoopAccesses plain;
  plain.blocks.resize(blocks_of(kernel, loop).size());
  return std::vector<LoopAccesses>(variants, plain);
}

void set_forms(const Kernel& kernel, Loop& loop, TeamForms forms, size_t variants) {
  forms.accesses = plain_accesses(kernel, loop, variants);
  loop.team = std::make_shared<const TeamForms>(std::move(forms));
  for_each_stmt(loop.body, [&](Stmt& s) {
    auto* inner = s.get_if<Loop>();
    if (inner) inner->team = std::make_shared<const TeamForms>(TeamForms{{}, plain_accesses(kernel, *inner, variants)});
  });
}

}  // namespace

void require(const std::vector<IntExpr>& conditions, Variant& variant) {
  for (const IntExpr& c : conditions)
    if (std::find(variant.when.begin(), variant.when.end(), c) == variant.when.end()) variant.when.push_back(c);
}

void align(int param, int bytes, Variant& variant) {
  int& alignment = variant.alignment[static_cast<size_t>(param)];
  alignment = std::max(alignment, std::min(16, bytes));
}

bool is_multiple(const IntExpr& condition) {
  const auto& terms = condition.terms();
  return terms.size() == 1 && terms[0].coefficient == -1 && terms[0].atoms.size() == 1 &&
         terms[0].atoms[0]->kind == AtomKind::Mod;
}

bool shape_vector_loops(Kernel& kernel) {
  for (Phase& phase : kernel.phases) {
    if (phase.team.threads == 0) continue;
    Shaping shaping(kernel, phase);
    shaping.run();
    const std::map<const Loop*, TeamForms> forms = shaping.take_forms();
    phase.variants = shaping.take_variants();
    for_each_stmt(phase.body, [&](Stmt& s) {
      if (Loop* loop = loop_of(s, LoopKind::Vector)) set_forms(kernel, *loop, forms.at(loop), phase.variants.size());
    });
  }
  return true;
}

}  // namespace smelt::kernel
