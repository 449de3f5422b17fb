// A Combine over columns: every thread has the elements of `lanes` columns, in a row of the threads
// that take a row of elements together.
//
//   1. shuffles join the rows of a warp
//   2. each warp (or row of threads, when that is longer) leaves its values of all columns in shared memory
//   3. few rows, or no warps: every thread reads its columns of all of them; many: neighbouring threads take the rows of one column,
//      shuffles join these, and every thread reads the totals
//   4. a cluster: each workgroup hands its totals to all of them, and every thread joins those of its columns
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
  SMELT_CHECK(team_.iterations() == 1 && team_.threads >= warp,
              "columns are combined by a team of {} threads in a workgroup of {}", team_.threads, team_.workgroup);
  Tile tile{group[0]->columns, slots_[static_cast<size_t>(group[0]->local)], 0, 0};
  tile.row = tile.columns / tile.lanes;
  tile.rows = team_.threads / team_.cluster() / std::max(tile.row, warp);
  SMELT_CHECK(team_.cluster() == 1 || tile.rows > 1, "a cluster of workgroups with one row of threads each");
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
  std::vector<Partial> wholes;
  std::set<int> boxes;  // that they have in shared memory
  bool again = false;   // some of them were another Combine's, which reads them until a barrier
  for (const Combine* s : group) {
    wholes.push_back(partial(*s));
    if (tile.rows == 1) continue;
    again = !share_columns(wholes.back(), tile.rows * tile.pitch(), bytes, boxes) || again;
    boxes.insert(wholes.back().shared);
  }
  const auto of_lane = [&](Partial p, int lane) {
    p.value = fmt::format("a{}[{}]", p.s->local, lane);
    if (!p.index.empty()) p.index = fmt::format("a{}[{}]", p.s->index_local, lane);
    return p;
  };
  if (as_.warps)
    for (const Partial& p : wholes)
      for (int l = 0; l < tile.lanes; ++l) shuffle(of_lane(p, l), 16, tile.row);
  if (tile.rows > 1) {
    if (serial_depth_ > 0 || again) line("{}", as_.barrier);
    open(tile.row >= warp ? "" : fmt::format("if ((tw & 31) < {})", tile.row));
    const std::string row = fmt::format("(tw / {}) * {}", std::max(tile.row, warp), tile.pitch());
    for (const Partial& p : wholes)
      for (int l = 0; l < tile.lanes; ++l) {
        const Partial own = of_lane(p, l);
        line("red{}[{} + {}] = {};", p.shared, row, tile.column(l), own.value);
        if (!p.index.empty()) line("red{}i[{} + {}] = {};", p.shared, row, tile.column(l), own.index);
      }
    close();
    line("{}", as_.barrier);
    int rows = tile.rows, pitch = tile.pitch();
    if (team_.cluster() > 1) {
      exchange_columns(wholes, tile.columns, rows);
      rows = team_.cluster(), pitch = tile.columns;
    } else if (as_.warps && rows > kFewRows) {
      for (const Partial& p : wholes) join_rows(p, tile.columns, rows, nullptr, 0);
      line("{}", as_.barrier);
      rows = 1;
    }
    for (const Partial& p : wholes)
      for (int l = 0; l < tile.lanes; ++l) take_rows(of_lane(p, l), tile.column(l), rows, pitch);
  }
  for (const Combine* s : group) {
    forget(s->local);
    if (s->index_local >= 0) forget(s->index_local);
  }
}

// The value of a column, joined from so many rows in shared memory.
void PhasePrinter::take_rows(const Partial& p, const std::string& column, int rows, int pitch) {
  line("{} = red{}[{}];", p.value, p.shared, column);
  if (!p.index.empty()) line("{} = red{}i[{}];", p.index, p.shared, column);
  if (rows == 1) return;
  open(fmt::format("for (int k = 1; k < {}; ++k)", rows));
  combine_step(p, fmt::format("red{}[k * {} + {}]", p.shared, pitch, column),
               p.index.empty() ? "" : fmt::format("red{}i[k * {} + {}]", p.shared, pitch, column));
  close();
}

// The rows of each column in shared memory, joined by as many neighbouring threads. The first of
// them leaves the total in the first row; in an exchange they hand it to all workgroups, where it
// gets to the arrays `to`.
void PhasePrinter::join_rows(const Partial& p, int columns, int rows, const Exchange* exchange, int to) {
  const int pitch = columns + 1, at_once = team_.workgroup / rows;
  Partial own = p;
  own.value = "own";
  if (!p.index.empty()) own.index = "own_index";
  const std::string from = fmt::format("(tw % {}) * {} + column", rows, pitch);
  const std::string place = fmt::format("blockIdx.x % {} * {} + column", team_.cluster(), columns);
  for (int first = 0; first < columns; first += at_once) {
    open("");
    line("const int place = {} + tw / {}, column = place & {};", first, rows, columns - 1);
    // Others write where the threads that have no column would read.
    line("{0} own = place < {1} ? red{2}[{3}] : ({0})0;", p.type, columns, p.shared, from);
    if (!p.index.empty()) line("{} own_index = place < {} ? red{}i[{}] : 0;", p.index_type, columns, p.shared, from);
    shuffle(own, rows / 2);
    if (exchange) {
      open(fmt::format("if (place < {})", columns));
      open(fmt::format("for (int rank = tw % {0}; rank < {1}; rank += {0})", rows, team_.cluster()));
      hand_over(*exchange, "rank", fmt::format("red{}[{}]", to, place), "own");
      if (!p.index.empty()) hand_over(*exchange, "rank", fmt::format("red{}i[{}]", to, place), "own_index");
      close();
      close();
    } else {
      line("if (tw % {} == 0 && place < {}) red{}[column] = own;", rows, columns, p.shared);
      if (!p.index.empty())
        line("if (tw % {} == 0 && place < {}) red{}i[column] = own_index;", rows, columns, p.shared);
    }
    close();
  }
}

// The totals of every workgroup of the cluster, in all of them: a row of columns each.
void PhasePrinter::exchange_columns(std::vector<Partial>& wholes, int columns, int rows) {
  const Exchange exchange = start_exchange(wholes, team_.cluster() * columns);
  for (Partial& p : wholes) {
    const int to = names_++, words = team_.cluster() * columns;
    statics_ += fmt::format("  __shared__ __align__(16) {} red{}[{}];\n", p.type, to, words);
    if (!p.index.empty())
      statics_ += fmt::format("  __shared__ __align__(16) {} red{}i[{}];\n", p.index_type, to, words);
    join_rows(p, columns, rows, &exchange, to);
    p.shared = to;
  }
  end_exchange(exchange);
}

}  // namespace smelt::emit::c_like
