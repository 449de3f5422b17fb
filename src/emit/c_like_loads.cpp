// Loads of Vector loops: those that can be under way before anything is computed, in words where
// lanes are neighbours, and those that stay in registers between loops.
#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

// A load behind a mask that holds for all lanes of a group or for none, and gives 0 there, as
// around a padded array.
bool PhasePrinter::groups_are_inside_or_outside(const Load& load) {
  if (vector_.loop->columns && vector_.lanes == 1) return is_zero(load.other);  // a group is one element
  if (vector_.peeled || vector_.lanes == 1 || !variant_.vectors || !is_zero(load.other) ||
      !groups_of_lanes().same(load.mask))
    return false;
  vector_.grouped = true;
  const bool together = neighbours(place(load.access)) > 0;
  vector_.grouped = false;
  return together;
}

// Whether an expression of a loop over columns depends on the column alone. The compiler sees that
// it is the same in all steps, unless it is loaded into the registers of each.
bool PhasePrinter::is_of_column(ExprId root) const {
  const int columns = vector_.loop->columns;
  if (!columns) return false;
  const std::map<Symbol, IntExpr> next_row{{vector_.loop->var, IntExpr::symbol(vector_.loop->var) + columns}};
  const auto moves = [&](const IntExpr& e) { return !(e.substitute(next_row, ranges_) == e); };
  return !any_below(kernel_, {root}, [&](const Expr& e) {
    const auto* read = e.get_if<ReadLocal>();
    return (read && !uses_.local(read->local).per_column) || any_index(e, moves);
  });
}

// Loads that can be under way before anything of the block is computed: what they read, and where,
// does not depend on it.
std::vector<ExprId> PhasePrinter::early_loads(const std::vector<const Stmt*>& stmts) {
  std::vector<ExprId> found;
  if (vector_.count() == 1 || looped_) return found;
  visit_unknown(stmts, [&](ExprId id, const Expr& e) {
    const auto* load = e.get_if<Load>();
    if (!load || load->access.scratch) return;
    if (load->mask != kNoExpr && !groups_are_inside_or_outside(*load)) return;
    const auto array = static_cast<size_t>(load->access.array);
    if (uses_.stored[array] || kernel_.params[array].kind == ParamKind::Scalar) return;
    bool depends = false;
    for (const int on : uses_.dependencies_of(id))
      depends = depends || (uses_.is_local(on) && uses_.local(on).vectors.count(vector_.loop));
    if (!depends && !early_.count(id) && groups_of_lanes().varies(id) && !is_of_column(id)) found.push_back(id);
  });
  std::sort(found.begin(), found.end());
  return found;
}

// Whether the phase is bound by its instructions: it gains nothing from how the caches treat what
// it reads, and loses a little (a chain of five tanh 2 % on an H200).
bool PhasePrinter::computes_much() {
  constexpr int kOperationsPerByte = 8;
  if (computes_much_) return *computes_much_;
  int operations = 0, bytes = 0;
  for (size_t id = 0; id < kernel_.exprs.size(); ++id) {
    const Expr& e = kernel_.exprs[id];
    if (uses_.uses[id] == 0) continue;
    operations += e.is<Apply>() || e.is<Raw>();
    if (const auto* load = e.get_if<Load>(); load && !load->access.scratch)
      bytes += size_of(kernel_.params[static_cast<size_t>(load->access.array)].dtype);
  }
  for (size_t k = 0; k < kernel_.params.size(); ++k)
    if (uses_.stored[k]) bytes += size_of(kernel_.params[k].dtype);
  return *(computes_much_ = operations > kOperationsPerByte * bytes);
}

// An element, from its register where another lane of the group has read it.
std::string PhasePrinter::element_or_lane(const Access& access) {
  const std::string itself = element(access);
  if (access.scratch || vector_.edge || whole_groups_.empty()) return itself;
  const Place p = place(access);
  for (const auto& [id, group] : whole_groups_) {
    const auto away = (p.offset - group.offset).constant();
    if (!early_.count(id) || p.base != group.base || !away || std::abs(*away) >= vector_.lanes) continue;
    const std::string lane = fmt::format("l {} {}", *away < 0 ? "-" : "+", std::abs(*away));
    return fmt::format("((unsigned)({0}) < {1}u ? ld{2}[u * {1} + {0}] : {3})", lane, vector_.lanes, id, itself);
  }
  return itself;
}

// The lanes of one group: one access when they are neighbours.
void PhasePrinter::load_group(ExprId id) {
  const Load& e = load_at(id);
  vector_.grouped = true;
  const Place p = place(e.access);
  const std::string type = memory_type(p.dtype);
  if (const int step = neighbours(p)) {
    const int lanes = std::min(vector_.lanes, 16 / size_of(p.dtype)), chunks = vector_.lanes / lanes;
    // The compiler takes a load out of a loop that it does not change in, but no inline assembly.
    const bool stays = !steps_.empty() && !p.offset.mentions(steps_.back());
    const bool passes = lanes * size_of(p.dtype) == 16 && !stays && !computes_much();
    line("const {}* const p{} = {} + {};", type, id, p.base,
         integer(step > 0 ? p.offset : p.offset - (vector_.lanes - 1)));
    if (step < 0) {
      line("__align__(16) {} back{}[{}];", type, id, vector_.lanes);
      for (int c = 0; c < chunks; ++c)
        line("*(Vec<{0}, {1}>*)&back{2}[{3}] = *(const Vec<{0}, {1}>*)(p{2} + {3});", type, lanes, id, c * lanes);
      line("#pragma unroll");
      line("for (int l = 0; l < {0}; ++l) ld{1}[u * {0} + l] = back{1}[{0} - 1 - l];", vector_.lanes, id);
      vector_.grouped = false;
      return;
    }
    const std::string inside = e.mask == kNoExpr ? "" : value(e.mask) + " ? ";
    const std::string otherwise = e.mask == kNoExpr ? "" : fmt::format(" : Vec<{}, {}>{{}}", type, lanes);
    for (int c = 0; c < chunks; ++c)
      line("*(Vec<{0}, {1}>*)&ld{2}[u * {3} + {4}] = {6}{5}(p{2} + {4}){7};", type, lanes, id, vector_.lanes, c * lanes,
           passes ? fmt::format("lasting<{}, {}>", type, lanes) : fmt::format("*(const Vec<{}, {}>*)", type, lanes),
           inside, otherwise);
    vector_.grouped = false;
    if (e.mask == kNoExpr) whole_groups_[id] = p;
    return;
  }
  vector_.grouped = false;
  if (vector_.lanes > 1) {
    line("#pragma unroll");
    open(fmt::format("for (int l = 0; l < {}; ++l)", vector_.lanes));
    line("const {} i = i0 + l;", index_type());
    line("ld{}[u * {} + l] = {};", id, vector_.lanes, element_or_lane(e.access));
    close();
  } else {
    line("const {} i = i0;", index_type());
    const std::string inside = e.mask == kNoExpr ? "" : value(e.mask);
    line("ld{}[u] = {};", id,
         inside.empty() ? element(e.access) : fmt::format("{} ? {} : ({})0", inside, element(e.access), type));
  }
}

// What several passes over a row read stays in registers between them, as it was in memory.
bool PhasePrinter::is_held(ExprId id) {
  constexpr int64_t kMostBytes = 128;
  const std::set<const Loop*>& loops = uses_.loops_of[static_cast<size_t>(id)];
  if (loops.size() < 2 || serial_depth_ > 0 || !vector_.one_step || has_loops(*vector_.loop)) return false;
  if (if_depth_ > 0) return false;  // the other loops may stand under other conditions
  const Loop& here = *vector_.loop;
  return int64_t{vector_.count()} * size_of(dtype_in_memory(load_at(id))) <= kMostBytes &&
         std::all_of(loops.begin(), loops.end(), [&](const Loop* loop) {
           return loop && loop->var == here.var && loop->extent == here.extent && loop->lanes == here.lanes &&
                  loop->unroll == here.unroll && !has_loops(*loop);
         });
}

// Makes loads whose values outlive the loop.
void PhasePrinter::hold(const std::vector<ExprId>& loads, const std::string& first, const std::string& extent) {
  if (loads.empty()) return;
  declare_loads(loads);
  open("");
  line("const {} start = {}, end = {}; (void)end;", index_type(), first, extent);
  load_groups(loads, vector_.checked);
  whole_groups_.clear();  // other loops may have other groups
  close();
}

void PhasePrinter::declare_loads(const std::vector<ExprId>& loads) {
  for (const ExprId id : loads) {
    const DType t = dtype_in_memory(load_at(id));
    line("{}{} ld{}[{}];", as_.aligned, memory_type(t), id, vector_.count() + (vector_.peeled ? 1 : 0));
    early_[id] = from_memory(t, fmt::format("ld{}[n]", id));
  }
}

void PhasePrinter::load_groups(const std::vector<ExprId>& loads, bool check) {
  open_group(check);
  for (const ExprId id : loads) {
    open("");
    push();
    load_group(id);
    pop();
    close();
  }
  if (check) close();
  close();
  if (!vector_.peeled || !vector_.one_step) return;
  open_edge();
  for (const ExprId id : loads) line("ld{}[n] = {};", id, element(load_at(id).access));
  close_edge();
}

}  // namespace smelt::emit::c_like
