// Asks for the next row ahead. While a later pass over a row computes from what is in the caches, memory would be idle; so that pass fetches what
// the first pass over the next row will read: the last one, or one before it that computes far more.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::ExprKind;
using kernel::Stmt;
using kernel::StmtKind;

namespace {

// Shorter rows are met by the processor's own looking ahead; longer ones would push out the row at hand.
constexpr int64_t kLeastBytes = 2048, kMostBytes = 256 << 10;
// Reads of columns no further apart are served by one of them, and rows that the same loop reads later are at most so many apart.
constexpr int64_t kNeighbours = 64, kMostRowsApart = 8;
constexpr int64_t kMostParts = 4;          // of a row, each asked for by another loop
constexpr int64_t kFirstLevel = 32 << 10;  // rows up to this go to the first-level cache, others to the second

void collect_vector_loops(const std::vector<Stmt>& body, std::vector<const Stmt*>& into) {
  for (const Stmt& s : body) {
    if (s.kind == StmtKind::Loop && s.loop == kernel::LoopKind::Vector && s.lanes > 1)
      into.push_back(&s);
    else
      collect_vector_loops(s.body, into);
  }
}

// The variables of the loops around `loop`, and whether it stands in the body at all.
bool collect_around(const std::vector<Stmt>& body, const Stmt* loop, std::set<std::string>& into) {
  for (const Stmt& s : body) {
    if (&s == loop) return true;
    if (!collect_around(s.body, loop, into)) continue;
    if (s.kind == StmtKind::Loop || s.kind == StmtKind::Each) into.insert(s.var);
    return true;
  }
  return false;
}

}  // namespace

// How many operations an element of a loop takes.
static int64_t operations(const kernel::Kernel& kernel, const Stmt& loop) {
  std::vector<kernel::ExprId> roots;
  for (const Stmt& s : loop.body) roots.push_back(s.value);
  int64_t count = 0;
  visit_below(kernel, roots, [&](kernel::ExprId, const kernel::Expr& e) {
    count += e.kind == ExprKind::Apply;
    return true;
  });
  return count;
}

void PhasePrinter::find_ahead(const Stmt& grid) {
  std::vector<const Stmt*> loops;
  collect_vector_loops(grid.body, loops);
  if (loops.size() < 2) return;
  std::vector<kernel::ExprId> roots;
  for (const Stmt& s : loops.front()->body) roots.push_back(s.value);
  std::reverse(roots.begin(), roots.end());
  visit_below(kernel_, roots, [&](kernel::ExprId, const kernel::Expr& e) {
    if (e.kind == ExprKind::Load && !e.access.scratch && e.mask == kernel::kNoExpr) ahead_.reads.push_back(e.access);
    return true;
  });
  ahead_.loop = loops.back();
  for (size_t i = 1; i + 1 < loops.size(); ++i)
    if (operations(kernel_, *loops[i]) > 2 * operations(kernel_, *ahead_.loop)) ahead_.loop = loops[i];
  ahead_.grid = grid.var;
  ahead_.around = {grid.var, ahead_.loop->var};
  collect_around(grid.body, ahead_.loop, ahead_.around);
  for (const kernel::Param& p : kernel_.params)
    if (p.kind == kernel::ParamKind::Size) ahead_.around.insert(p.symbol);
}

// In the loop `ahead_.loop`, before its body.
void PhasePrinter::fetch_ahead() {
  for (const kernel::Access& access : ahead_.reads) {
    const Place p = place(access);
    int64_t step = 0;
    if (pattern(p.offset, step) != Pattern::Contiguous) continue;
    const IntExpr next = p.offset.substitute({{ahead_.grid, IntExpr::symbol(ahead_.grid) + 1}}, {});
    const IntExpr distance = next - p.offset;
    std::vector<std::string> symbols;
    next.collect_symbols(symbols);
    if (distance.is(0) || distance.mentions(ahead_.grid) || distance.mentions(vector_.var) ||
        !std::all_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return ahead_.around.count(s) > 0; }))
      continue;
    const int size = size_of(p.dtype);
    const int64_t bytes = distance.constant().value_or(kFirstLevel / size + 1) * size;
    if (bytes < kLeastBytes || bytes > kMostBytes) continue;
    fetch(p, next, bytes, 1);
  }
}

// The lines of this step's lanes, or of one of `parts` of them, from `offset` on, which lies `bytes` ahead.
void PhasePrinter::fetch(const Place& p, const IntExpr& offset, int64_t bytes, int64_t parts) {
  const Value at = pointer(p, offset);
  for (int64_t line = 0; line < vector_.lanes * size_of(p.dtype) / parts; line += 64) {
    const std::string there = name(top(), fmt::format("getelementptr i8, ptr {}, i64 {}", at.text, line));
    this->line(
        fmt::format("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 {}, i32 1)", there, bytes <= kFirstLevel ? 3 : 2));
  }
}

// `e` where every minimum and maximum of `symbol` is the side that goes with it, as in the middle of an array.
static IntExpr stepping(const IntExpr& e, const std::string& symbol) {
  IntExpr result;
  for (const IntExpr::Term& term : e.terms()) {
    IntExpr product = term.coefficient;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      const bool clamp = a->kind == AtomKind::Min || a->kind == AtomKind::Max;
      const bool one = clamp && a->a.mentions(symbol) != a->b.mentions(symbol);
      product = product * (one ? stepping(a->a.mentions(symbol) ? a->a : a->b, symbol) : IntExpr::of_term({1, {a}}));
    }
    result = result + product;
  }
  return result;
}

// Of the rows that the loops of an iteration read, those that no later iteration has read yet. Each loop asks for a part of them: the memory would
// be idle while the others compute, and could not follow while the first asks for all.
void PhasePrinter::fetch_rows(const Stmt& s) {
  const std::vector<const Stmt*>& loops = rows_.loops;
  const auto number = static_cast<size_t>(std::find(loops.begin(), loops.end(), &s) - loops.begin());
  const bool alike = std::all_of(loops.begin(), loops.end(), [&](const Stmt* loop) { return loop->var == s.var; });
  if (loops.size() == 1 || !alike || number == loops.size()) return fetch_rows_of(s, 1, 0);
  int64_t parts = 1;
  while (2 * parts <= std::min<int64_t>(kMostParts, static_cast<int64_t>(loops.size()))) parts *= 2;
  if (static_cast<int64_t>(number) >= parts) return;
  for (const Stmt* loop : loops) fetch_rows_of(*loop, parts, static_cast<int64_t>(number));
}

// One of several parts of the rows that the loop reads.
void PhasePrinter::fetch_rows_of(const Stmt& s, int64_t parts, int64_t part) {
  std::vector<kernel::ExprId> roots;
  for (const Stmt& inner : s.body) roots.push_back(inner.value);
  std::map<int, std::vector<IntExpr>> offsets;  // by param
  visit_below(kernel_, roots, [&](kernel::ExprId, const kernel::Expr& e) {
    if (e.kind != ExprKind::Load || e.access.scratch) return true;
    std::vector<IntExpr> holds;
    const IntExpr offset = without_clamps(stepping(place(e.access).offset, rows_.var), holds);
    int64_t step = 0;
    std::vector<std::string> symbols;
    offset.collect_symbols(symbols);
    const bool known_here = std::all_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
      return symbol == s.var || symbols_.count(symbol) > 0;
    });
    if (known_here && pattern(offset, step) == Pattern::Contiguous && offset.mentions(rows_.var))
      offsets[e.access.array].push_back(offset);
    return true;
  });
  for (const auto& [array, reads] : offsets) {
    const int size = size_of(kernel_.params[static_cast<size_t>(array)].dtype);
    std::vector<IntExpr> fetched;
    const auto near = [&](const IntExpr& difference) {
      const int64_t elements = difference.constant().value_or(INT64_MAX);
      return -kNeighbours <= elements && elements <= kNeighbours;
    };
    for (const IntExpr& read : reads) {
      const IntExpr row = read.substitute({{rows_.var, IntExpr::symbol(rows_.var) + 1}}, {}) - read;
      if (row.mentions(rows_.var) || row.mentions(s.var)) continue;
      const bool again = std::any_of(reads.begin(), reads.end(), [&](const IntExpr& other) {
        for (int64_t rows = 1; rows <= kMostRowsApart; ++rows)
          if (near(other - read - rows * row)) return true;
        return false;
      });
      if (again || std::any_of(fetched.begin(), fetched.end(), [&](const IntExpr& f) { return near(f - read); }))
        continue;
      fetched.push_back(read);
      Place p;
      p.dtype = kernel_.params[static_cast<size_t>(array)].dtype;
      p.base = fmt::format("%p{}", array);
      const int64_t bytes = row.constant().value_or(kFirstLevel / size + 1) * size * rows_.ahead;
      const IntExpr here =
          parts == 1 ? IntExpr::symbol(s.var)
                     : floordiv(IntExpr::symbol(s.var), parts, ranges_) + part * floordiv(s.extent, parts, ranges_);
      fetch(p, (read + rows_.ahead * row).substitute({{s.var, here}}, {}), bytes, parts);
    }
  }
}

}  // namespace smelt::emit
