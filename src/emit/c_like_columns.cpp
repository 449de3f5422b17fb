// A Combine over columns: every thread has the elements of `lanes` columns, in a row of the threads
// that take a row of elements together.
//
//   1. shuffles join the rows of a warp
//   2. each warp (or row of threads, when that is longer) leaves its values of all columns in shared memory
//   3. few rows, or no warps: every thread reads its columns of all of them; many: neighbouring threads take the rows of one column,
//      shuffles join these, and every thread reads the totals
#include <algorithm>
#include <set>

#include "base/check.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {
namespace {

constexpr int kFewRows = 4;
// Most shared memory for reductions that are combined together, of 48 KB that a kernel may declare.
constexpr int kMostBytes = 32 << 10;

struct Tile {
  int columns, lanes, row, rows;             // threads of a row; rows that meet in shared memory
  int pitch() const { return columns + 1; }  // odd, so that the rows of a column lie in different banks
  std::string column(int lane) const { return fmt::format("(tw & {}) * {} + {}", row - 1, lanes, lane); }
};

}  // namespace

bool PhasePrinter::share_columns(Partial& whole, int words, int bytes, const std::set<int>& taken) {
  const auto known = std::find_if(column_boxes_.begin(), column_boxes_.end(), [&](const ColumnBox& b) {
    return b.type == whole.type && b.index_type == whole.index_type && b.words == words && !taken.count(b.shared);
  });
  if (known != column_boxes_.end() && column_bytes_ + words * bytes > kMostBytes) {
    whole.shared = known->shared;
    return false;
  }
  column_boxes_.push_back({whole.type, whole.index_type, words, whole.shared});
  column_bytes_ += words * bytes;
  statics_ += fmt::format("  {}{} red{}[{}];\n", as_.shared, whole.type, whole.shared, words);
  if (!whole.index.empty())
    statics_ += fmt::format("  {}{} red{}i[{}];\n", as_.shared, whole.index_type, whole.shared, words);
  return true;
}

void PhasePrinter::combine_columns(const std::vector<const Combine*>& group) {
  const int warp = as_.warps ? 32 : 1;
  SMELT_CHECK(team_.iterations() == 1 && team_.cluster() == 1 && team_.threads >= warp,
              "columns are combined by a team of {} threads in a workgroup of {}", team_.threads, team_.workgroup);
  Tile tile{group[0]->columns, slots_[static_cast<size_t>(group[0]->local)], 0, 0};
  tile.row = tile.columns / tile.lanes;
  tile.rows = team_.threads / std::max(tile.row, warp);
  // Those that have no room in shared memory side by side follow each other through it.
  int bytes = 0;  // of the widest value, and of its index
  for (const Combine* s : group) {
    const auto size = [&](LocalId id) { return id < 0 ? 0 : size_of(kernel_.locals[static_cast<size_t>(id)].dtype); };
    bytes = std::max(bytes, size(s->local) + size(s->index_local));
  }
  const int most = std::max(1, kMostBytes / (tile.rows * tile.pitch() * bytes));
  if (std::ssize(group) > most) {
    for (auto first = group.begin(); first != group.end();) {
      const auto last = first + std::min<std::ptrdiff_t>(most, group.end() - first);
      combine_columns({first, last});
      first = last;
    }
    return;
  }
  std::vector<Partial> lanes;  // of all of the group, one after the other
  std::set<int> boxes;         // that they have in shared memory
  bool again = false;          // some of them were another Combine's, which reads them until a barrier
  for (const Combine* s : group) {
    Partial whole = partial(*s);
    if (tile.rows > 1) {
      again = !share_columns(whole, tile.rows * tile.pitch(), bytes, boxes) || again;
      boxes.insert(whole.shared);
    }
    for (int l = 0; l < tile.lanes; ++l) {
      lanes.push_back(whole);
      lanes.back().value = fmt::format("a{}[{}]", s->local, l);
      if (!whole.index.empty()) lanes.back().index = fmt::format("a{}[{}]", s->index_local, l);
      if (as_.warps) shuffle(lanes.back(), 16, tile.row);
    }
  }
  if (tile.rows > 1) {
    const bool by_rows = as_.warps && tile.rows > kFewRows;
    if (serial_depth_ > 0 || again) line("{}", as_.barrier);
    open(tile.row >= warp ? "" : fmt::format("if ((tw & 31) < {})", tile.row));
    const std::string row = fmt::format("(tw / {}) * {}", std::max(tile.row, warp), tile.pitch());
    for (size_t i = 0; i < lanes.size(); ++i) {
      const Partial& p = lanes[i];
      const int lane = static_cast<int>(i) % tile.lanes;
      line("red{}[{} + {}] = {};", p.shared, row, tile.column(lane), p.value);
      if (!p.index.empty()) line("red{}i[{} + {}] = {};", p.shared, row, tile.column(lane), p.index);
    }
    close();
    line("{}", as_.barrier);
    if (by_rows) {
      for (size_t i = 0; i < lanes.size(); i += static_cast<size_t>(tile.lanes))
        join_rows(lanes[i], tile.columns, tile.rows);
      line("{}", as_.barrier);
    }
    for (size_t i = 0; i < lanes.size(); ++i) {
      const Partial& p = lanes[i];
      const std::string column = tile.column(static_cast<int>(i) % tile.lanes);
      line("{} = red{}[{}];", p.value, p.shared, column);
      if (!p.index.empty()) line("{} = red{}i[{}];", p.index, p.shared, column);
      if (by_rows) continue;
      open(fmt::format("for (int k = 1; k < {}; ++k)", tile.rows));
      combine_step(p, fmt::format("red{}[k * {} + {}]", p.shared, tile.pitch(), column),
                   p.index.empty() ? "" : fmt::format("red{}i[k * {} + {}]", p.shared, tile.pitch(), column));
      close();
    }
  }
  for (const Combine* s : group) {
    forget(s->local);
    if (s->index_local >= 0) forget(s->index_local);
  }
}

// The rows of each column in shared memory, joined into the first row by as many neighbouring
// threads.
void PhasePrinter::join_rows(const Partial& p, int columns, int rows) {
  const int pitch = columns + 1, at_once = team_.threads / rows;
  Partial own = p;
  own.value = "own";
  if (!p.index.empty()) own.index = "own_index";
  const std::string from = fmt::format("(tw % {}) * {} + column", rows, pitch);
  for (int first = 0; first < columns; first += at_once) {
    open("");
    line("const int place = {} + tw / {}, column = place & {};", first, rows, columns - 1);
    // Others write where the threads that have no column would read.
    line("{0} own = place < {1} ? red{2}[{3}] : ({0})0;", p.type, columns, p.shared, from);
    if (!p.index.empty()) line("{} own_index = place < {} ? red{}i[{}] : 0;", p.index_type, columns, p.shared, from);
    shuffle(own, rows / 2);
    line("if (tw % {} == 0 && place < {}) red{}[column] = own;", rows, columns, p.shared);
    if (!p.index.empty()) line("if (tw % {} == 0 && place < {}) red{}i[column] = own_index;", rows, columns, p.shared);
    close();
  }
}

}  // namespace smelt::emit::c_like
