// Pointwise and Tiled: every output element on its own. Internal to this folder.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "kernel/lowering.hpp"

namespace smelt::kernel {

struct Tile;  // lower_tiled.cpp
struct TilePass;

class PointwiseLowering : public Lowering {
 public:
  using Lowering::Lowering;

 private:
  void phases() override;
  void merged();
  void ranges();
  std::vector<Piece> ranges_of_cut() const;
  // What iterations of the grid from `first` on do, which are these; gives places on it.
  If only_in_range(const Grid& grid, const IntExpr& first, Placement& placement);
  // lower_interleaved.cpp
  struct Interleaved;
  std::vector<Stmt> through_scratch(const Placement& placement, const Placement& start, const IntExpr& points);
  // lower_blocked.cpp
  // Where the blocks of an iteration are: the number of the block along every axis, as far as it
  // is known.
  struct Blocks {
    std::vector<IntExpr> at;  // by axis of the domain
    Ranges ranges;
    IntExpr first, length;  // the lanes of this iteration, of all
  };
  void find_lanes(Blocks& blocks, int64_t each = 1);
  Placement result_at(const Blocks& blocks, const std::vector<int64_t>& result) const;
  using Totals = std::map<NodeId, std::vector<LocalId>>;  // by sum: of each result of a block
  struct Window;
  Stmt stage(Window& window, const schedule::BlockedSum& sum, const schedule::Operand& operand, const Blocks& blocks);
  std::vector<Stmt> written_out(const Window& window, const Blocks& here, const Totals& totals);
  void blocked_sums(Window window, const Blocks& blocks, const Totals& totals, std::vector<Stmt>& body);
  void add_up_windows(const Blocks& blocks, const Totals& totals, std::vector<Stmt>& body);
  void store_blocks(const Blocks& blocks, const Totals& totals, std::vector<Stmt>& body);
  bool stores_across() const;
  void store_across(const Blocks& blocks, const Totals& totals, std::vector<Stmt>& body);
  Stmt stored_inside(const StoredOutput& output, const Placement& placement);
  void blocks();
  // lower_tiled.cpp
  void tiles();
  std::pair<std::vector<Stmt>, std::vector<Stmt>> turned_results(const TilePass& computing, const TilePass& storing,
                                                                 const std::vector<std::pair<int, int>>& buffers);
  std::vector<Stmt> through_tile(const Tile& tile, const Placement& placement,
                                 const std::vector<std::pair<int, int>>& buffers);
};

}  // namespace smelt::kernel
