// The functions of a phase: one that is fast where sizes and addresses allow, and one that takes
// all of them.
#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/llvm_types.hpp"
#include "kernel/text.hpp"

namespace smelt::emit::c_like {
namespace {

// Below this, positions and what is added to them on the way fit an int.
constexpr int64_t kNarrow = (int64_t{1} << 31) - (int64_t{1} << 20);

// Loop variables in a bound would not be known at launch.
bool over_sizes(const Kernel& kernel, const IntExpr& e) {
  return !e.any_symbol([&](Symbol s) {
    return std::none_of(kernel.params.begin(), kernel.params.end(), [&](const Param& p) { return p.symbol == s; });
  });
}

IntExpr bound_over_sizes(const Kernel& kernel, const IntExpr& e);

// Of an atom that no size alone gives.
IntExpr bound_of_atom(const Kernel& kernel, const IntExpr::Atom& a, const IntExpr& itself) {
  switch (a.kind) {
    case AtomKind::Min:
      return bound_over_sizes(kernel, over_sizes(kernel, a.a) || !over_sizes(kernel, a.b) ? a.a : a.b);
    case AtomKind::Max: return max(bound_over_sizes(kernel, a.a), bound_over_sizes(kernel, a.b));
    case AtomKind::FloorDiv: return over_sizes(kernel, a.b) ? floordiv(bound_over_sizes(kernel, a.a), a.b) : itself;
    case AtomKind::Mod: return bound_over_sizes(kernel, a.b);
    case AtomKind::Symbol: return itself;
  }
  return itself;
}

// A bound over the sizes: min(tile, what is left) is at most the tile. The expression is never
// negative, nor is a part of it.
IntExpr bound_over_sizes(const Kernel& kernel, const IntExpr& e) {
  if (over_sizes(kernel, e)) return e;
  IntExpr sum = 0;
  for (const IntExpr::Term& term : e.terms()) {
    if (term.coefficient < 0) continue;
    IntExpr product = term.coefficient;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      IntExpr factor = IntExpr::of_term({1, {a}});
      if (!over_sizes(kernel, factor)) factor = bound_of_atom(kernel, *a, factor);
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
    const auto* body = body_of(s);
    if (!body) continue;
    const IntExpr inside = points(kernel, *body);
    // What meets the condition of an Each names an element of an array, whatever its place among
    // all of them.
    if (const auto* each = s.get_if<Each>())
      most = max(most, max(bound_over_sizes(kernel, each->extent), inside));
    else if (const auto* loop = s.get_if<Loop>())
      most = max(most, max(bound_over_sizes(kernel, loop->extent), 1) * inside);
    else
      most = max(most, inside);
  }
  return most;
}

// What must hold so that 32-bit indices do; empty when it always does. False when it never does.
bool narrow_if(const Kernel& kernel, const kernel::Phase& phase, std::vector<IntExpr>& conditions) {
  std::vector<IntExpr> counts{points(kernel, phase.body)};
  for (const Param& p : kernel.params)
    if (p.kind != ParamKind::Size) counts.push_back(count(p.dims));
  for (const Expr& e : kernel.exprs)
    if (const auto* random = e.get_if<Random>()) counts.push_back(random->extent);
  for (const IntExpr& c : counts) {
    const auto known = c.constant();
    if (!over_sizes(kernel, c)) return false;
    if (known && *known > kNarrow) return false;
    if (!known) conditions.push_back(kNarrow - c);
  }
  return true;
}

DeviceFunction function(const Kernel& kernel, const std::string& name, const kernel::Team& team,
                        const PhasePrinter& printed) {
  std::vector<int> arguments;
  for (const Param& p : kernel.params)
    arguments.push_back(p.kind == ParamKind::Size ? 8 : p.kind == ParamKind::Scalar ? size_of(p.dtype) : 0);
  return {name, team.workgroup, team.iterations(), team.cluster(), printed.shared_bytes(), std::move(arguments)};
}

}  // namespace

std::string comment_on_params(const Kernel& kernel) {
  std::string text;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& p = kernel.params[i];
    const std::string name = kernel::param_name(kernel, static_cast<int>(i));
    if (p.kind == ParamKind::Size)
      text += fmt::format("// {} {}", name, comment_text(p.symbol->str()));
    else
      text += fmt::format("// {} {}{}", name, smelt::name_of(p.dtype), comment_text(str(p.dims)));
    text += p.note.empty() ? "\n" : fmt::format("  {}\n", comment_text(p.note));
  }
  return text;
}

std::vector<Printed> print_variants(const Kernel& kernel, size_t number, const std::string& name,
                                    const Printing& printing) {
  using VariantForm = kernel::Variant::Form;
  const kernel::Phase& phase = kernel.phases[number];
  const kernel::Phase* last =
      number + 1 < kernel.phases.size() && kernel.phases[number + 1].last ? &kernel.phases[number + 1] : nullptr;
  std::vector<Printed> printed;
  std::vector<IntExpr> sizes_fit;
  const bool narrow = narrow_if(kernel, phase, sizes_fit);
  bool any_size = true;  // of those below 2^31 elements
  const auto find = [](const kernel::Phase& in, VariantForm form, bool held) {
    const auto found = std::find_if(in.variants.begin(), in.variants.end(),
                                    [&](const kernel::Variant& v) { return v.form == form && v.held == held; });
    return static_cast<size_t>(found - in.variants.begin());
  };
  const auto add = [&](const std::string& called, size_t variant, bool wide) {
    PhasePrinter printer(printing.as, kernel, number, {variant, wide, printing.counted_stores, printing.part});
    if (last) {
      PhasePrinter ending(printing.as, kernel, number + 1, {find(*last, VariantForm::Ending, false), wide});
      printer.end_with(ending);
    }
    const std::string text = printer.print(called);
    any_size = !printer.asks_for_multiples();
    DeviceVariant made{function(kernel, called, phase.team, printer), {}, printer.alignment()};
    std::vector<IntExpr> conditions = printer.conditions();
    if (!wide) conditions.insert(conditions.begin(), sizes_fit.begin(), sizes_fit.end());
    for (const IntExpr& c : conditions) {
      const auto known = c.constant();
      SMELT_CHECK(over_sizes(kernel, c) && (!known || *known >= 0), "{} is guarded by {}", called, c.str());
      if (!known && !std::count(made.when.begin(), made.when.end(), c)) made.when.push_back(c);
    }
    const VariantForm form = phase.variants[variant].form;
    printed.push_back({std::move(made), "\n" + text,
                       form == VariantForm::Any   ? Form::Any
                       : form == VariantForm::Odd ? Form::Odd
                                                  : Form::Fast});
  };
  // Where extents are never multiples of the lanes, there is the odd form only; where they may be,
  // both.
  const auto add_both = [&](const std::string& called, bool held) {
    const size_t fast = find(phase, VariantForm::Fast, held), odd = find(phase, VariantForm::Odd, held);
    add(called, std::min(fast, odd), !narrow);
    if (fast < odd && !any_size) add(called + "_odd", odd, !narrow);
  };
  SMELT_CHECK(!phase.variants.empty(), "kernel {} did not go through its passes", kernel.name);
  if (phase.variants[0].held && !printing.part) add_both(name + "_held", true);
  add_both(name, false);
  const DeviceVariant& best = printed.back().variant;
  bool aligned = true;
  for (size_t p = 0; p < kernel.params.size(); ++p)
    aligned = aligned && best.alignment[p] <= size_of(kernel.params[p].dtype);
  if (!best.when.empty() || !aligned)
    add(name + "_any", find(phase, VariantForm::Any, false), !narrow || !best.when.empty());
  SMELT_CHECK(printed.back().variant.when.empty(), "the general form of kernel {} is guarded", kernel.name);
  return printed;
}

DeviceSource print_kernel(const Kernel& kernel, const Printing& printing, const std::string& helpers) {
  DeviceSource source;
  std::string functions;
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    DevicePhase result;
    for (Printed& p : print_variants(kernel, i, fmt::format("{}_p{}", kernel.name, i), printing)) {
      functions += p.text;
      result.variants.push_back(std::move(p.variant));
    }
    source.phases.push_back(std::move(result));
  }
  source.text = comment_on_params(kernel) + only_used(helpers, functions) + functions;
  source.begin = printing.as.begin;
  return source;
}

}  // namespace smelt::emit::c_like
