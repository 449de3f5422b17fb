// What the lowerings of all strategies share. Internal to this folder.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/evaluate.hpp"
#include "kernel/lower.hpp"
#include "kernel/value.hpp"

namespace smelt::kernel {

using schedule::Axis;
using schedule::Domain;
using schedule::Reduction;
using schedule::Schedule;
using StoredOutput = schedule::Output;

// A reduction while it runs: its accumulator, and for argmax and argmin the index beside it.
struct Accumulator {
  const Reduction* reduction;
  ReduceKind kind;
  LocalId value = -1, index = -1;
  DType value_type{};
  // Of elements the index counts from here on, in lanes no wider than it takes.
  IntExpr first_position = 0;
  DType index_type = DType::I64;
  bool in_order = true;  // no element comes after one of a later position
  int maximum = -1;      // of a sum that runs online: its maximum's place among the accumulators
  LocalId top =
      -1;  // of such a sum: the largest value that each lane has met, to which its part of the sum is relative
  int relative = -1;  // of a maximum: the first sum that runs beside it
  bool with_index() const { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }
};

// The variable of the Vector loops, and that of the Grid loop.
inline const Symbol kLane = Symbol::loop("i"), kGrid = Symbol::loop("g");

Op op_of(ReduceKind kind);
// What changes no value; of max the smallest value, so that masked lanes never win.
Scalar neutral(ReduceKind kind, DType t);

// How the axes of the domain are reached: each axis variable as an expression over loop variables.
struct Placement {
  std::map<Symbol, IntExpr> value_of;
  Ranges ranges;
  void place(Symbol var, const IntExpr& value) { value_of[var] = value; }
  Index at(const Index& index) const;
};

// The grid: a list of dimensions run as one flat loop "%g".
struct Grid {
  std::vector<std::pair<Symbol, IntExpr>> dims;
  void add(Symbol var, IntExpr extent) { dims.emplace_back(var, std::move(extent)); }
  IntExpr extent() const;
  void decode(Placement& placement) const;  // var -> its part of %g
  void decode(Placement& placement, IntExpr position) const;
};

// The loops of one pass over a row: `serial` ones outside, then a vector loop "%i".
struct RowLoops {
  std::vector<std::pair<Symbol, IntExpr>> serial;
  IntExpr vector_extent = 1;
  bool blocked = false;  // one serial loop runs over blocks: each has accumulators of its own
  size_t inside = 0;     // serial loops inside of that one
};

// Elements that a part of a split reduction should have at least.
constexpr int64_t kPartElements = 32768;

struct Tile;        // lower_tiled.cpp
struct NarrowRows;  // lower_split_narrow.cpp

// What a serial loop of a pass over a row runs over: `length` points of an axis from `first` on.
struct RowPart {
  const Axis* axis = nullptr;
  std::optional<Symbol> var;
  IntExpr first, length;
  int64_t estimate = 0;
};

class Lowering {
 public:
  Lowering(const Graph& graph, const schedule::Group& group, const Schedule& schedule, std::string name);
  Kernel run(bool clamp);

 private:
  // One per strategy: lower_pointwise.cpp, lower_cut.cpp, lower_blocked.cpp, lower_scatter.cpp, lower_tiled.cpp, lower_stencil.cpp, lower_row.cpp, lower_column.cpp, lower_split.cpp.
  void pointwise();
  void pointwise_cut();
  void pieces();
  void blocked();
  void tiled();
  std::vector<Stmt> through_tile(const Tile& tile, const Placement& placement,
                                 const std::vector<std::pair<int, int>>& buffers);
  void stencil();
  void stencil_gpu();
  void row();
  void column();
  void column_scan();
  void split_scan();
  void split_rows();
  void split_columns();
  void split_narrow();
  void split_columns_gpu();
  void split_column_tiles();
  void scatter();

  // lower_scatter.cpp and lower_scatter_gpu.cpp
  struct Scattered {
    NodeId id = -1;
    ScatterKind kind{};
    GatherMode mode{};
    NodeId x = -1, indices = -1, source = -1;  // source: the updates
    DType dtype{};
    Shape shape, rest, places;  // of the result, of one of its rows, of the indices
    IntExpr rows, columns, updates;
    Index at(const IntExpr& row, const IntExpr& column, const Ranges& ranges) const;
    Index update_at(const IntExpr& update, const IntExpr& column, const Ranges& ranges) const;
  };
  // What fills the body of a phase whose lanes are the elements of one axis, at one of them.
  using Fill = std::function<void(const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body)>;
  Scattered scattered() const;
  void over_chunks(const IntExpr& length, const Fill& fill);
  std::vector<Stmt> lanes_of(Symbol var, const IntExpr& length, Ranges ranges,
                             const std::function<void(const Ranges&, std::vector<Stmt>&)>& fill);
  ExprId scatter_row(const Scattered& s, const IntExpr& update, const Ranges& ranges);
  ExprId joined_by(ScatterKind kind, ExprId there, ExprId update);
  void copy_to(const Scattered& s, int param, const std::function<ExprId(ExprId)>& encode);
  void check_rows(const Scattered& s);
  void scatter_ranges(const Scattered& s);
  void scatter_copies(const Scattered& s);
  void updates_of_elements(const Scattered& s, int copies, const IntExpr& part, const IntExpr& first,
                           const IntExpr& length, const Ranges& ranges, std::vector<Stmt>& body);
  void updates_of_rows(const Scattered& s, int copies, const IntExpr& part, const IntExpr& first, const IntExpr& length,
                       Ranges ranges, std::vector<Stmt>& body);
  void scatter_atomic(const Scattered& s);
  void joined_on_chip(const Scattered& s, int joined, DType type, const std::function<ExprId(ExprId)>& encode);
  void scatter_exact(const Scattered& s);
  void scatter_newest(const Scattered& s);
  struct Destination {
    ExprId row = kNoExpr, inside = kNoExpr;  // inside: only there is something written; kNoExpr: everywhere
    IntExpr index, update, column;
  };
  ExprId row_inside(const Scattered& s, ExprId row);
  Destination destination(const Scattered& s, const IntExpr& at, const Ranges& ranges);
  void over_updates(const Scattered& s, const std::function<void(const Destination&, std::vector<Stmt>&)>& fill);

  // lower_row.cpp
  // `first`, `length` and `estimate` are of the vector axis; `part` is of another axis, where only a part of that is passed over.
  RowLoops row_loops(Placement& placement, const IntExpr& first, const IntExpr& length, int64_t estimate,
                     const RowPart& part = {}) const;
  RowLoops flat_loops(Placement& placement, const RowPart& part = {}) const;
  Loop over_tile(std::vector<Stmt> body) const;
  std::vector<Stmt> column_outputs(int level, Placement placement);
  std::vector<Accumulator> row_accumulators(const RowLoops& loops, const Placement& placement, int level);
  std::vector<Stmt> row_pass(const RowLoops& loops, const std::vector<Accumulator>& accs, std::vector<Stmt> body);
  Accumulator total_of(const Accumulator& a) const;
  std::vector<Accumulator> row_results(const RowLoops& loops, const std::vector<Accumulator>& accs);
  void element_pass(int level, const std::vector<Accumulator>& accs, const Placement& placement,
                    std::vector<Stmt>& body);
  void row_outputs(int level, const Placement& placement, std::vector<Stmt>& body);

  // lower_blocked.cpp
  // Where the blocks of an iteration stand: the number of the block along every axis, as far as it is known.
  struct Blocks {
    std::vector<IntExpr> at;  // by axis of the domain
    Ranges ranges;
    IntExpr first, length;  // the lanes of this iteration, of all
  };
  void find_lanes(Blocks& blocks);
  Placement result_at(const Blocks& blocks, const std::vector<int64_t>& result) const;
  void blocked_sum(const schedule::BlockedSum& sum, const Blocks& blocks, const std::vector<LocalId>& totals,
                   std::vector<Stmt>& body);

  // lower_stencil.cpp
  // Where a step of a stencil stands: the evaluation of one ring (or, at -1, of the outputs).
  struct StencilStep {
    Placement placement;
    int64_t left = 0, right = 0, start = 0;  // of what is evaluated
  };
  // The loops of a row, on a CPU.
  struct StencilRow {
    StencilStep outputs;
    IntExpr first, strip, width,
        t;                     // first column, columns that there is memory for, columns; the number of the row, from 0
    std::vector<int> buffers;  // of the rings
  };
  struct Columns {
    int64_t left = 0, right = 0;  // beyond the strip
  };
  Columns columns_of(const schedule::Ring* ring) const;
  std::vector<int> ring_buffers(const IntExpr& strip);
  std::vector<Stmt> stencil_loop(const StencilRow& row, size_t loop, const std::vector<size_t>& active);
  std::vector<Stmt> stencil_row(const StencilRow& row);
  std::vector<Stmt> stencil_warm_up(const StencilRow& row);
  void read_rings(const StencilStep& step, const std::function<ExprId(size_t, const schedule::RingPlace&)>& read);
  Grid stencil_grid(const IntExpr& strips, Placement& placement, IntExpr& first_row, IntExpr& rows) const;

  // lower_split.cpp
  struct SplitAxis {
    const Axis* axis = nullptr;
    IntExpr part, parts;  // points of a part, number of parts
  };
  struct Partial {
    int value = -1, index = -1;  // params
  };
  SplitAxis split_axis(const IntExpr& wanted, int64_t multiple);
  IntExpr wanted_parts(int64_t least, const IntExpr& others) const;
  const Axis& first_reduced() const;  // the one that is split
  std::vector<Partial> partials(const std::vector<Accumulator>& accs, const Shape& dims);
  void store_partials(const std::vector<Accumulator>& accs, const std::vector<Partial>& parts, const Index& at,
                      std::vector<Stmt>& body);
  std::vector<Stmt> take_partials(const std::vector<Accumulator>& accs, const std::vector<Partial>& parts,
                                  const Index& at);
  void combine_columns(Grid grid, const SplitAxis& split, const std::vector<Accumulator>& accs,
                       const std::vector<Partial>& parts);

  // lower_split_narrow.cpp
  struct ScratchPair {
    int value = -1, index = -1;  // buffers
  };
  void narrow_steps(const NarrowRows& rows, const std::vector<Accumulator>& totals,
                    const std::vector<ScratchPair>& scratch, std::vector<Stmt>& body);
  void narrow_rest(const NarrowRows& rows, const Placement& placement, const std::vector<Accumulator>& totals,
                   const std::vector<ScratchPair>& scratch, std::vector<Stmt>& body);

  // lowering.cpp
  const Axis& column_axis() const;  // of a flat Row with columns
  const Axis& vector_axis() const { return domain().axes[static_cast<size_t>(schedule_.vector_axis)]; }
  const Domain& domain() const { return schedule_.domain; }
  Store store_output(const StoredOutput& output, const Placement& placement, ExprId value, ExprId mask = kNoExpr);
  ExprId only_in_columns(const Placement& placement);
  void finish();
  Dialect dialect() const;
  bool on_gpu() const { return schedule_.team > 0; }
  Loop vector(IntExpr extent, std::vector<Stmt> body) const;  // a Vector loop "%i" as the schedule has it
  void add_phase(IntExpr extent, std::vector<Stmt> body, IntExpr work);
  void end_with_last_workgroup();  // the phase added last is run by the last workgroup of the one before
  int add_temporary(DType dtype, Shape dims, const std::string& note);
  int add_scratch(DType dtype, std::vector<IntExpr> dims);
  IntExpr launch_size(Symbol symbol, const IntExpr& value);

  // reductions.cpp
  std::vector<Accumulator> accumulators(int level, const std::optional<IntExpr>& block = {});
  ExprId initial(const Accumulator& a);
  ExprId merged(const Accumulator& a, ExprId current, ExprId next);
  std::vector<Stmt> start(const std::vector<Accumulator>& accs);
  bool adds_products(const Accumulator& a) const;
  std::vector<Stmt> take_element(const Accumulator& a, ExprId element, const IntExpr& position);
  std::vector<Stmt> take_part(const Accumulator& a, ExprId value, ExprId index);
  std::vector<Stmt> take_part(const Accumulator& a, const Accumulator& part);
  std::vector<Stmt> take_if(const Accumulator& a, Val better, Val value, Val index);
  Stmt combine_lanes(const Accumulator& a);
  ExprId result(const Accumulator& a);
  // scans.cpp
  ExprId scan_at(NodeId id, const Index& index);
  std::vector<Stmt> take_scan_starts();
  IntExpr directed(const Axis& axis,
                   const IntExpr& position) const;  // what stands at a position of the way along a reduced axis
  // online.cpp
  void pair_online(std::vector<Accumulator>& accs);
  std::vector<Stmt> start_online(const std::vector<Accumulator>& accs);
  std::vector<Stmt> update_online(const Accumulator& sum, ExprId value);
  std::vector<Stmt> finish_online(const std::vector<Accumulator>& accs);

  IntExpr position(const Placement& placement) const;  // row-major over the reduced axes: what argmax counts
  bool has_few_positions() const;
  bool counts_in_blocks() const;
  bool positions_ascend() const;  // as a lane meets the elements

  // keep.cpp: values of a stage that later stages need again are kept on chip when that is cheaper.
  struct Stage {
    std::vector<Stmt> body;
  };
  void keep_values(std::vector<Stage>& stages, const std::vector<IntExpr>& keep_index,
                   const std::vector<IntExpr>& keep_dims, int64_t points, std::optional<Symbol> innermost);

  const Graph& graph_;
  const schedule::Group& group_;
  const Schedule& schedule_;
  Kernel kernel_;
  Builder builder_;
  Evaluator evaluator_;
  std::vector<Stmt> allocs_;
  bool scans_down_ = false;  // scans run down the columns of the lanes, else over the lanes
  // Where scans run over the grid.
  struct ScanGrid {
    IntExpr parts;
    Shape rows;                              // the kept axes
    Index at;                                // of this part in what the parts meet in
    std::vector<std::pair<int, int>> meets;  // those temporaries, with their words
  };
  std::optional<ScanGrid> scan_grid_;
  std::vector<Stmt> scan_starts_;  // what carries of the scans made since they were taken begin with
  std::map<LocalId, std::pair<LocalId, LocalId>> row_total_;  // a block's accumulator -> the row's (value, index)
};

}  // namespace smelt::kernel
