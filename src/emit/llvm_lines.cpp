// Rows of scratch that a Vector loop reads at neighbouring columns, as rings of stencils are. A load that crosses from one line of the cache into
// the next takes twice the time of one that does not, and where vectors are as wide as lines every load at a column beside does. So whole steps
// begin where the loop's stores to scratch meet lines, rows are read in whole lines, and columns beside come by shuffles.
#include <fmt/format.h>

#include <set>

#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Expr;
using kernel::ExprId;
using kernel::Loop;
using kernel::Stmt;

static constexpr int kLineBytes = 64;

// Shuffles of two vectors by a number of lanes are one instruction from AVX-512 on, for these elements.
bool PhasePrinter::shifts_lanes(DType dtype) const {
  return target_.triple.rfind("x86_64", 0) == 0 && target_.vector_bits >= 8 * kLineBytes &&
         (size_of(dtype) == 4 || size_of(dtype) == 8) && vector_.lanes * size_of(dtype) % kLineBytes == 0;
}

// The row of scratch that the lanes are neighbours in, as a text, and how far behind its multiples of a line lane 0 of step 0 is.
std::optional<PhasePrinter::LineRow> PhasePrinter::line_row(const Place& p) const {
  int64_t step = 0;
  if (!shifts_lanes(p.dtype) || pattern(p.offset, step) != Pattern::Contiguous) return std::nullopt;
  const int64_t line = kLineBytes / size_of(p.dtype);
  LineRow row;
  const IntExpr rest = p.offset - IntExpr::symbol(*vector_.var);
  for (const IntExpr::Term& term : rest.terms()) {
    if (term.atoms.empty())
      row.column = term.coefficient;
    else if (term.coefficient % line != 0)
      return std::nullopt;
  }
  row.name = fmt::format("{} {}", p.base, (rest - row.column).str());
  return row;
}

// Finds the rows of scratch that are read at several columns, if whole steps begin at lines of what the loop stores to scratch.
void PhasePrinter::find_lines(const Loop& s) {
  std::map<std::string, std::set<int64_t>> columns;
  std::vector<ExprId> roots;
  for (const Stmt& inner : s.body) {
    if (inner.is<Loop>() || inner.is<kernel::Each>()) return;
    if (const ExprId* value = kernel::value_of(inner)) roots.push_back(*value);
    const auto* store = inner.get_if<kernel::Store>();
    if (!store || !store->access.scratch) continue;
    const auto row = line_row(place(store->access));
    if (!row || row->column % kLineElements != 0) return;
  }
  visit_below(kernel_, roots, [&](ExprId, const Expr& e) {
    const auto* load = e.get_if<kernel::Load>();
    if (!load || !load->access.scratch || load->mask != kernel::kNoExpr) return true;
    if (const auto row = line_row(place(load->access))) columns[row->name].insert(row->column);
    return true;
  });
  for (const auto& [name, at] : columns)
    if (at.size() > 1) vector_.rows.insert(name);
}

// In whole steps that begin at lines, from whole lines. All that is read lies in lines in which lanes lie, and rows of scratch are whole lines.
std::optional<std::string> PhasePrinter::load_from_lines(const Place& p) {
  if (!vector_.at_line || vector_.tail) return std::nullopt;
  const auto row = line_row(p);
  if (!row || vector_.rows.count(row->name) == 0) return std::nullopt;
  const int lanes = vector_.lanes;
  const int64_t line = kLineBytes / size_of(p.dtype);
  const int64_t behind = (row->column % line + line) % line;
  if (behind == 0) return std::nullopt;
  // Towards the nearer line: the other reads of the row are there too.
  const int64_t by = behind > line / 2 ? behind - line : behind;
  const std::string element = memory_type(p.dtype), wide = vector_of(element, lanes);
  const auto read = [&](int64_t from, int64_t count) {
    return name(top(), fmt::format("load {}, ptr {}, align {}", vector_of(element, static_cast<int>(count)),
                                   pointer(p, p.offset + from).text, size_of(p.dtype)));
  };
  const std::string here = read(-by, lanes), beside = read(by < 0 ? -by - line : lanes - by, line);
  std::vector<int64_t> widened, order;
  for (int64_t i = 0; i < lanes; ++i) {
    widened.push_back(by > 0 ? (i < line ? i : -1) : (i < lanes - line ? -1 : i - (lanes - line)));
    order.push_back(by > 0 ? i + by : lanes + by + i);
  }
  const std::string others = shuffle(top(), vector_of(element, static_cast<int>(line)), beside, "poison", widened);
  return by > 0 ? shuffle(top(), wide, here, others, order) : shuffle(top(), wide, others, here, order);
}

}  // namespace smelt::emit
