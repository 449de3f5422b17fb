// Products: tiles of results, whose factors are staged in scratch. Internal to this folder.
#pragma once

#include <vector>

#include "kernel/lowering.hpp"

namespace smelt::kernel {

// The variables of the loops over parts of the inner axes, and over one of them.
inline const Symbol kPart = Symbol::loop("kb"), kInner = Symbol::loop("k");
// On a CPU, over rows, over vectors of columns, and over lines of them.
inline const Symbol kRow = Symbol::loop("y"), kColumnVector = Symbol::loop("jr"), kLine = Symbol::loop("z"),
                    kInnerLine = Symbol::loop("zk");

class ProductLowering : public Lowering {
 public:
  using Lowering::Lowering;

 private:
  void phases() override;
  const schedule::Product& product() const { return *schedule_.product; }

  // A tile of results: where it is, and its rows and columns.
  struct Tile {
    Placement placement;
    Piece rows, columns, lines;
    IntExpr across;  // columns of all lines
    IntExpr grid;    // iterations
  };
  Tile tile_of_grid() const;
  bool has_whole_bands() const;
  void place_in_bands(Tile& tile);
  std::vector<int> axes_of_lines() const;
  const Axis& last_of_columns() const;
  void place_column(Placement& placement, const Tile& tile, const IntExpr& line, const IntExpr& column) const;
  IntExpr in_tile(const IntExpr& line, const IntExpr& column) const;
  // A part of the inner axes.
  Piece inner_part(Tile& tile) const;
  DType accumulator(const schedule::ProductSum& sum) const;
  DType held_type(const schedule::ProductSum& sum) const;
  ExprId as_factor(ExprId value);

  // Scratch of one factor; several sums may have it.
  struct Panel {
    NodeId factor = -1;
    size_t reduction = 0;
    int buffer = -1;
    int part = 0;        // GPU: of the bf16 that add up to an element
    int packed = -1;     // GPU: an array that has the factor, in whole tiles and parts
    NodeId source = -1;  // GPU: what the factor shows, of which `apart` has a part
    int apart = -1;
    int moved = -1;       // CPU: sums of columns, for rows that are moved
    int turned = -1;      // CPU: a block as it lies in memory, before it is turned
    bool of_rows = true;  // CPU
  };
  // lower_product_pack.cpp, on a CPU
  struct Panels {
    std::vector<Panel> rows, columns;
    std::vector<int> sums;  // buffers of results, by sum
  };
  // A word of a panel has neighbours of the inner axes; the last one may have some that are beyond.
  // Those of `lines` lines begin at `first` of kInnerLine.
  struct Words {
    IntExpr first, count;
    bool last;
    IntExpr lines = 1;
  };
  Panels add_panels();
  int64_t words_of_part() const;
  IntExpr whole_words(const Piece& inner) const;
  bool rows_by_row() const;
  bool in_one_part() const;
  bool by_blocks() const;
  // Blocks of a tile along one side: `count` of `size` from block `first` on. `exact`: all of them
  // lies inside of the tile.
  struct Blocks {
    IntExpr first, count;
    int64_t size;
    bool exact;
  };
  // One of them, by the loops that it is in.
  struct Block {
    Blocks down, across;
    IntExpr row() const;
    IntExpr vector() const;
  };
  std::vector<Blocks> blocks_of(const IntExpr& length, const std::vector<int>& axes, int64_t each, int64_t least) const;
  std::vector<Blocks> blocks_down(const Tile& tile) const;
  std::vector<Blocks> blocks_across(const Tile& tile) const;
  Placement place_block(const Tile& tile, const Piece& inner, const Block& block, int64_t row) const;
  Tile part_of(const Tile& tile, const Block& block) const;
  template <class Make>
  std::vector<Stmt> over_blocks(const Panels& panels, const Tile& tile, const Make& make);
  bool makes_whole_lines() const;
  bool bypasses_caches() const;
  std::vector<Stmt> results(const Panels& panels, const Tile& tile);
  const Panel& panel_of(const std::vector<Panel>& panels, NodeId factor, int part = 0) const;
  ExprId factor_at(const Panel& panel, const Placement& placement);
  ExprId term_in_word(ExprId value, int64_t term);
  ExprId word_at(const Panel& panel, Placement placement, const IntExpr& first, bool last);
  std::vector<Words> words_of(const Piece& inner, bool in_lanes = false) const;
  static LoopExtents with_lines(LoopExtents loops, const Words& words);
  Stmt zero_of(const Panel& panel, schedule::Index at);
  std::vector<Stmt> pack_rows(const Panel& panel, const Tile& tile, const Piece& inner);
  Access rows_at(const Panel& panel, const IntExpr& row, const IntExpr& word) const;
  Access columns_at(const Panel& panel, const IntExpr& vector, const IntExpr& word) const;
  std::vector<Stmt> pack_lines(const Panel& panel, const Tile& tile, const Piece& inner);
  std::vector<Stmt> stage_columns(const Panel& panel, const Tile& tile, const Piece& inner);
  std::vector<Stmt> pack_columns(const Panel& panel, const Tile& tile, const Piece& inner);
  void add_turned(Panel& panel);
  std::vector<Stmt> pack_turned(const Panel& panel, const Tile& tile, const Piece& inner);
  std::vector<Stmt> sum_moved(const Panel& panel, const IntExpr& vectors, const IntExpr& words);
  // lower_product.cpp, on a CPU
  ExprId multiplied(ExprId total, ExprId row, ExprId column);
  std::vector<Stmt> multiply(const Panels& panels, const Tile& tile, const Piece& inner, const Block& block);
  std::vector<Stmt> multiply_tiles(const Panels& panels, const Tile& tile, const Piece& inner, const Block& block);
  Access read_by(ExprId factor) const;
  std::vector<Stmt> multiply_few(const Panels& panels, const Tile& tile, const Piece& inner);
  std::vector<Stmt> add_few(const Panels& panels, const Tile& tile, const Piece& inner, const IntExpr& first,
                            const IntExpr& count, int64_t across);
  void cpu_tiles();

  // lower_product_gpu.cpp
  struct GpuPanels {
    std::vector<Panel> rows, columns;
    std::vector<std::vector<LocalId>> totals;  // by sum, of each result of a thread
    std::vector<int> sums;                     // buffers of results, by sum
    // The fragments, by sum, of what is made of one part of the inner axes, where that is added up
    // by threads, and of what other parts of factors make. -1: none.
    std::vector<int> firsts, others;
    std::vector<int> partial;  // arrays of partial sums, by sum, where the inner axes are split
  };
  GpuPanels add_gpu_panels(std::vector<Stmt>& body);
  int add_fragment(std::vector<Stmt>& body, DType sums);
  // Sides along which a tile has all its elements, so that nothing has to be asked for them.
  struct Whole {
    bool rows, columns;
    bool all() const { return rows && columns; }
    bool operator==(const Whole&) const = default;
  };
  struct PartElement {
    schedule::Index in_panel;
    IntExpr own, inner;
  };
  int lanes_of_part(bool of_rows) const;
  Stmt over_part(bool of_rows, std::vector<Stmt> element) const;
  PartElement element_of_part(bool of_rows, const Ranges& ranges) const;
  template <class Make>
  std::vector<Stmt> for_panels(const GpuPanels& panels, const Make& make) {
    std::vector<Stmt> made;
    for (const Panel& panel : panels.rows) append(made, make(panel, true));
    for (const Panel& panel : panels.columns) append(made, make(panel, false));
    return made;
  }
  // lower_product_held.cpp
  std::vector<Stmt> stage_ahead(const Panel& panel, bool of_rows, const Tile& tile, const Piece& parts, bool whole,
                                std::vector<Stmt>& before);
  std::vector<Stmt> in_pipeline(const GpuPanels& panels, const Tile& tile, const Piece& parts, bool whole);
  std::vector<Stmt> by_threads(const GpuPanels& panels, const Tile& tile, const Piece& parts, Whole whole,
                               bool whole_parts);
  // lower_product_skinny.cpp
  Placement place_element(bool of_rows, const Tile& tile, int64_t terms, int64_t term) const;
  bool shares_elements(const Panel& panel, bool of_rows, const Tile& tile);
  std::vector<Stmt> read_part(Panel& panel, bool of_rows, const Tile& tile, bool whole);
  void skinny_tiles();
  ExprId sum_at(int sums, const IntExpr& row, const IntExpr& column);
  // lower_product_phases.cpp
  bool is_packed(NodeId factor) const;
  std::vector<Axis> packed_axes(bool of_rows) const;
  int add_packed(bool of_rows);
  void add_apart(Panel& panel);
  schedule::Index packed_at(bool of_rows, const Placement& placement, const IntExpr& own, const IntExpr& inner) const;
  void pack(const GpuPanels& panels);
  void pack(const std::vector<Panel>& panels, NodeId factor, bool of_rows);
  void take_apart(const std::vector<Panel>& panels, NodeId factor);
  void store_parts(const std::vector<Panel>& panels, NodeId factor, ExprId value, const schedule::Index& at,
                   const IntExpr& grid, const IntExpr& length, std::vector<Stmt> body);
  std::vector<ExprId> parts_of(ExprId value, size_t count);
  ExprId sum_of_parts(int array, const IntExpr& first, int64_t count, const Placement& placement);
  std::vector<int> add_up_groups(const std::vector<int>& partial, int64_t parts, int64_t groups);
  void add_up_parts(const GpuPanels& panels);
  Ranges ranges_of_part(const Tile& tile, bool of_rows) const;
  std::vector<Stmt> stage(const Panel& panel, bool of_rows, const Tile& tile, const IntExpr& part, bool whole);
  schedule::Index result_of_thread(int64_t row, int64_t column) const;
  std::vector<Stmt> multiply_by_threads(const GpuPanels& panels);
  std::vector<Stmt> multiply_by_units(const GpuPanels& panels);
  std::vector<Stmt> put_sums(const GpuPanels& panels);
  std::vector<Stmt> results(const GpuPanels& panels, const Tile& tile, Whole whole);
  void gpu_tiles();
};

}  // namespace smelt::kernel
