// Vector loops: spread over the threads of the team.
#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

PhasePrinter::Vector PhasePrinter::shape_of(const Loop& s) const {
  SMELT_CHECK(s.team, "kernel {} did not go through its passes", kernel_.name);
  Vector vector;
  static_cast<kernel::LoopShape&>(vector) = s.team->shapes[function_.variant];
  vector.loop = &s;
  const int64_t group = int64_t{team_.threads} * vector.lanes;
  if (!looped_ && !vector.peeled && s.columns > 0 && group % s.columns == 0 && s.columns % vector.lanes == 0) {
    vector.columns = s.columns;
    vector.rows = group / s.columns;
  }
  return vector;
}

// Where the whole words of a row begin, as a name, and this thread's element of the rest; the end
// of the words is that name with "end_".
std::string PhasePrinter::name_edges(const std::string& extent) {
  const int n = names_++, lanes = vector_.lanes;
  const std::string type = index_type();
  vector_.edges = fmt::format("edge{}", n);
  const auto before = [&] {
    return helper(as_, used_, "smaller", type, extent, fmt::format("-{} & {}", integer(vector_.origin), lanes - 1));
  };
  line("const {0} words{1} = {2};", type, n, vector_.origin.is(0) ? "0" : before());
  line("const {0} end_words{1} = words{1} + ({2} - words{1}) / {3} * {3};", type, n, extent, lanes);
  line("const {0} edge{1} = t < words{1} ? ({0})t : end_words{1} + t - words{1};", type, n);
  line("const bool has_edge{0} = edge{0} < {1};", n, extent);
  return fmt::format("words{}", n);
}

void PhasePrinter::open_edge() {
  open(fmt::format("if (has_{})", vector_.edges));
  line("const {} i = {}; (void)i;", index_type(), vector_.edges);
  line("const int l = 0, n = {}; (void)l; (void)n;", vector_.count());
  vector_.edge = true;
}

void PhasePrinter::edge(const std::vector<Stmt>& stmts) {
  open_edge();
  push();
  for (const Stmt& s : stmts) statement(s);
  pop();
  close_edge();
}

void PhasePrinter::close_edge() {
  vector_.edge = false;
  close();
}

// One loop over all elements; where they share random words, over groups of them first.
void PhasePrinter::whole_loop(const Loop& s, const std::string& extent) {
  const std::string type = index_type();
  std::vector<const Stmt*> all;
  for (const Stmt& inner : s.body) all.push_back(&inner);
  std::string first = "0";
  const auto body = [&] {
    line("const int first_group = 0;");
    block(all, accesses_of(s).blocks[0]);
    close();
  };
  if (const int lanes = vector_.draw_lanes; lanes > 1) {
    vector_.lanes = lanes;
    open(fmt::format("for ({0} start = 0; start + {1} <= {2}; start += {1})", type, lanes, extent));
    body();
    vector_.lanes = 1;
    first = fmt::format("{0} / {1} * {1}", extent, lanes);
  }
  open(fmt::format("for ({} start = {}; start < {}; ++start)", type, first, extent));
  body();
}

// The column of the thread, and the row in which its step begins.
void PhasePrinter::name_place() {
  if (!vector_.columns) return;
  line("const {0} own_column = ({0})(t * {1} % {2}); (void)own_column;", index_type(), vector_.lanes, vector_.columns);
  const std::string natural = function_.wide ? std::string(as_.wide_unsigned) : "unsigned";
  line("const {0} first_row = ({0})(({1})start / {2}); (void)first_row;", index_type(), natural, vector_.columns);
}

// The groups of a step.
void PhasePrinter::step_of(const Loop& s) {
  name_place();
  if (looped_ && vector_.checked && !vector_.by_element)
    line("const int count = {};",
         helper(as_, used_, "smaller", index_type(), std::to_string(vector_.unroll), "end - start"));
  if (has_scans(s.body)) {
    scan_body(s);
  } else if (has_loops(s)) {
    line("const {} i0 = start;", index_type());
    line("const int group = first_group; (void)group;");
    open(vector_.checked && !looped_ ? "if (i0 < end)" : "");
    nested_body(s, accesses_of(s).blocks);
    close();
  } else {
    const auto runs = kernel::blocks_of(kernel_, s);
    for (size_t b = 0; b < runs.size(); ++b) {
      push();
      run_block(runs[b], accesses_of(s).blocks[b], b + 1 == runs.size());
      pop();
    }
    for (const kernel::BlockAccesses& accesses : accesses_of(s).blocks) end_early(accesses.early);
  }
}

// The steps that lie inside for this thread, which check nothing, and its last one.
void PhasePrinter::steps_and_last(const Loop& s, const std::string& first, const std::string& extent) {
  const int64_t group = int64_t{team_.threads} * vector_.lanes;
  const int n = names_++;
  const auto step = [&](const std::string& head) {
    open(head);
    line("const int first_group = groups_{};", n);
    step_of(s);
    close();
  };
  open("");
  line("int groups_{} = 0;", n);
  line("{} start = {};", index_type(), first);
  line("const {} end = {};", index_type(), extent);
  vector_.checked = false;
  step(fmt::format("for (; start + {} < end; start += {}, groups_{} += {})", group * (vector_.unroll - 1),
                   group * vector_.unroll, n, vector_.unroll));
  vector_.checked = true;
  step("if (start < end)");
  close();
}

// Steps that are alike, each checked where that is needed.
void PhasePrinter::steps_alike(const Loop& s, const std::string& first, const std::string& extent) {
  const int64_t step = int64_t{team_.threads} * vector_.count();
  const std::string type = index_type();
  if (vector_.one_step) {
    open("");
    line("const {} start = {}, end = {};", type, first, extent);
    line("const int first_group = 0;");
  } else if (has_scans(s.body)) {  // every thread takes part in every step
    line("int groups_{} = 0;", names_);
    line("#pragma unroll 1");
    open(fmt::format("for ({0} base = 0, end = {1}; base < end; base += {2}, groups_{3} += {4})", type, extent, step,
                     names_, vector_.unroll));
    line("const {} start = base + {};", type, first);
    line("const int first_group = groups_{};", names_);
    ++names_;
  } else {
    line("int groups_{} = 0;", names_);
    if (variant_.form == kernel::Variant::Form::Ending)
      line("#pragma unroll 1");  // one step mostly; other loops gain by what the compiler unrolls
    open(fmt::format("for ({} start = {}, end = {}; start < end; start += {}, groups_{} += {})", type, first, extent,
                     step, names_, vector_.unroll));
    line("const int first_group = groups_{};", names_);
    ++names_;
  }
  step_of(s);
  close();
}

void PhasePrinter::vector_loop(const Loop& s) {
  push();
  vector_ = shape_of(s);
  const std::string type = index_type();
  std::string first = fmt::format("({})t * {}", type, vector_.lanes);
  // Names before the loop, so that it is computed once.
  std::string extent = s.extent.constant() ? integer(s.extent) : fmt::format("n{}", names_++);
  if (!s.extent.constant()) line("const {} {} = {};", type, extent, integer(s.extent));
  if (vector_.peeled) {
    const std::string words = name_edges(extent);
    first = words + " + " + first;
    extent = "end_" + words;
  }
  hold(accesses_of(s).held, first, extent);
  push();
  if (vector_.by_element)
    whole_loop(s, extent);
  else if (vector_.last_apart)
    steps_and_last(s, first, extent);
  else
    steps_alike(s, first, extent);
  if (vector_.peeled && !vector_.one_step) edge(s.body);
  pop();
  pop();
  vector_ = {};
}

namespace {

int steps_written_out(const Loop& loop);

// The largest number of bodies that the compiler writes out for one loop inside of `around`.
int bodies_inside(const Loop& around) {
  int most = 1;
  for (const Stmt& s : around.body) {
    const auto* loop = s.get_if<Loop>();
    if (!loop || loop->kind != LoopKind::Serial) continue;
    const auto steps = std::min<int64_t>(steps_written_out(*loop), loop->extent.constant().value_or(INT32_MAX));
    most = std::max(most, static_cast<int>(std::max<int64_t>(1, steps)) * bodies_inside(*loop));
  }
  return most;
}

// Steps of a serial loop that the compiler is to write out: some, if the loop does not say how
// many. A running sum whose 64 loads were written out eight times took NVRTC 740 ms.
int steps_written_out(const Loop& loop) {
  constexpr int kSome = 8, kMostBodies = 256;
  if (loop.unroll != 1) return std::max(1, loop.unroll);
  return std::clamp(kMostBodies / bodies_inside(loop), 1, kSome);
}

}  // namespace

// Loops run by every lane alike are between runs of simple statements.
void PhasePrinter::nested_body(const Loop& around, const std::vector<kernel::BlockAccesses>& blocks) {
  std::vector<const Stmt*> run;
  size_t next = 0;
  auto flush = [&] {
    if (!run.empty()) block(run, blocks[next++]);
    run.clear();
  };
  for (const Stmt& s : around.body) {
    const auto* loop = s.get_if<Loop>();
    if (!loop) {
      SMELT_CHECK(!s.is<If>(), "an If inside a Vector loop");
      run.push_back(&s);
      continue;
    }
    flush();
    const std::string some = looped_ ? "" : fmt::format("#pragma unroll {}", steps_written_out(*loop));
    count_loop(*loop, loop->kind == LoopKind::Unrolled && !looped_ ? "#pragma unroll" : some.c_str());
  }
  flush();
}

void PhasePrinter::open_group(bool check) {
  const int64_t group = int64_t{team_.threads} * vector_.lanes;
  if (looped_ && !vector_.by_element) {
    open(fmt::format("for (int u = 0; u < {}; ++u)", vector_.checked ? "count" : std::to_string(vector_.unroll)));
    line("const {} i0 = start + u;", index_type());
    if (check) open("");
    return;
  }
  if (vector_.unroll > 1) {
    line("#pragma unroll");
    open(fmt::format("for (int u = 0; u < {}; ++u)", vector_.unroll));
    line("const {} i0 = start + u * {};", index_type(), group);
  } else {
    open("");
    line("const int u = 0;");
    if (check || !has_loops(*vector_.loop)) line("const {} i0 = start;", index_type());
  }
  if (check && (vector_.by_element || vector_.inside >= vector_.unroll))
    open("");
  else if (check)
    open(vector_.inside > 0 ? fmt::format("if (u < {} || i0 < end)", vector_.inside) : "if (i0 < end)");
}

void PhasePrinter::block(const std::vector<const Stmt*>& stmts, const kernel::BlockAccesses& accesses) {
  push();
  run_block(stmts, accesses, true);
  end_early(accesses.early);
  pop();
}

void PhasePrinter::run_block(const std::vector<const Stmt*>& stmts, const kernel::BlockAccesses& accesses,
                             bool is_last) {
  const bool check = vector_.checked && !has_loops(*vector_.loop);
  make_early(accesses.early, check);
  for (const kernel::FromLane& from : accesses.from) from_lane_[from.load] = from;
  groups(stmts, accesses, nullptr, nullptr);
  if (is_last && vector_.peeled && vector_.one_step) edge(vector_.loop->body);
}

// The statements of every group of lanes at hand, and what the scan after them takes.
void PhasePrinter::groups(const std::vector<const Stmt*>& stmts, const kernel::BlockAccesses& accesses,
                          const Scan* scan, const ScanText* text) {
  const bool check = vector_.checked && !has_loops(*vector_.loop);
  open_group(check);
  if (!has_loops(*vector_.loop)) line("const int group = first_group + u; (void)group;");
  push();
  const std::vector<ExprId> draws = draw_groups(accesses.draws);
  const auto end = [&] {
    for (const ExprId id : draws) early_.erase(id);
    pop();
    if (check) close();
    close();
  };
  if (!accesses.group_stores.empty() && accesses.group_stores[0].copied) {
    copy_group(*stmts[0]->get_if<Store>());
    return end();
  }
  // Stores whose lanes are neighbours are collected, and written at once.
  for (const kernel::GroupStore& g : accesses.group_stores) {
    const auto* s = stmts[static_cast<size_t>(g.statement)]->get_if<Store>();
    const DType t = place(s->access).dtype;
    const std::string array = fmt::format("st{}", names_++);
    line("__align__(16) {} {}[{}];", memory_type(t), array, vector_.lanes * g.apart());
    if (g.next.empty()) {
      wide_stores_[s] = {array + (g.step > 0 ? "[l]" : fmt::format("[{} - l]", vector_.lanes - 1)), t};
      continue;
    }
    wide_stores_[s] = {fmt::format("{}[l * {}]", array, g.apart()), t};
    for (size_t k = 0; k < g.next.size(); ++k)
      wide_stores_[stmts[static_cast<size_t>(g.next[k])]->get_if<Store>()] = {
          fmt::format("{}[l * {} + {}]", array, g.apart(), k + 1), t};
  }
  if (vector_.lanes > 1) {
    line("#pragma unroll");
    open(fmt::format("for (int l = 0; l < {}; ++l)", vector_.lanes));
  } else {
    open("");
    line("const int l = 0;");
  }
  line("const {} i = i0 + l; (void)i;", index_type());
  line("const int n = u * {} + l; (void)n;", vector_.lanes);
  push();
  const std::vector<ExprId> wide = wide_loads(accesses.loads);
  const auto stores = collect_stores(stmts, accesses.stores);
  for (const Stmt* s : stmts) statement(*s);
  if (scan) give_to_scan(*scan, *text);
  for (const auto& [mask, made] : stores) {
    const std::string condition = mask == kNoExpr ? "" : fmt::format("if ({}) ", value(mask));
    line("{}{}", condition, made);
  }
  for (const kernel::AdjacentStores& run : accesses.stores)
    for (const int n : run.statements) wide_stores_.erase(stmts[static_cast<size_t>(n)]->get_if<Store>());
  for (const ExprId id : wide) early_.erase(id);
  pop();
  close();
  for (const kernel::GroupStore& g : accesses.group_stores) {
    store_group(*stmts[static_cast<size_t>(g.statement)]->get_if<Store>(), g.step, g.apart());
    for (const int n : g.next) wide_stores_.erase(stmts[static_cast<size_t>(n)]->get_if<Store>());
  }
  end();
}

// A group on its way from an array to scratch, past the registers; 0 where its mask does not hold.
void PhasePrinter::copy_group(const Store& s) {
  vector_.grouped = true;
  const Load& load = load_at(s.value);
  const Place from = place(load.access), to = place(s.access);
  line("{}<{}>({} + {}, {} + {}, {});", used_("copy_later"), vector_.lanes * size_of(to.dtype), to.base,
       offset_text(to, to.offset), from.base, integer(from.offset), load.mask == kNoExpr ? "true" : value(load.mask));
  vector_.grouped = false;
}

void PhasePrinter::store_group(const Store& s, int step, int apart) {
  const auto wide = wide_stores_.find(&s);
  vector_.grouped = true;
  const Place p = place(s.access);
  const std::string array = wide->second.first.substr(0, wide->second.first.find('['));
  const IntExpr first = step > 0 ? p.offset : p.offset - (vector_.lanes - 1);
  const int lanes = std::min(vector_.lanes, 16 / size_of(p.dtype));
  const std::string condition = s.mask == kNoExpr ? "" : fmt::format("if ({}) ", value(s.mask));
  for (int c = 0; c < vector_.lanes * apart; c += lanes)
    line("{5}*(Vec<{0}, {1}>*)({2} + {3}) = *(Vec<{0}, {1}>*)&{4}[{6}];", memory_type(p.dtype), lanes, p.base,
         offset_text(p, first + c), array, condition, c);
  vector_.grouped = false;
  wide_stores_.erase(wide);
}

}  // namespace smelt::emit::c_like
