// Reductions and scans, whatever loops they run in. Internal to this folder.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/lowering.hpp"
#include "kernel/value.hpp"

namespace smelt::kernel {

using schedule::Reduction;

// What an accumulator holds (moments.cpp): a reduction that runs by itself, or a sum of products of
// which the factors are measured from origins; how many elements it has met, the origin of a
// factor, and the sum of a factor measured from there.
enum class Role : uint8_t { Reduction, Moment, Count, Origin, Sum };

// A reduction while it runs: its accumulator, and for argmax and argmin its index.
// Moments have further ones.
struct Accumulator {
  const Reduction* reduction;  // none of Count, Origin and Sum
  ReduceKind kind;
  LocalId value = -1, index = -1;
  DType value_type{};
  // `index` counts from this position, in the narrowest type that holds it.
  IntExpr first_position = 0;
  DType index_type = DType::I64;
  bool in_order = true;  // no element comes after one of a later position
  int maximum = -1;      // of a sum that runs online: its maximum's place among the accumulators
  LocalId top =
      -1;  // of such a sum: the largest value that each lane has met, to which its part of the sum is relative
  int relative = -1;  // of a maximum: the first sum that runs along with it
  Role role = Role::Reduction;
  NodeId factor = -1;  // Origin, Sum
  // Places among the accumulators. Of a Moment for both of its factors; of a Sum its origin. -1: it
  // is 0; of sums: it is not needed.
  std::array<int, 2> origins{-1, -1}, sums{-1, -1};
  LocalId whole = -1;   // of what belongs to moments: the same of all lanes
  bool joined = false;  // `whole` counts
  bool of_moments() const { return role != Role::Reduction; }
  bool with_index() const { return kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin; }
};

// How reductions and scans take elements.
class AccumulatorLowering : public Lowering {
 public:
  AccumulatorLowering(const Graph& graph, const schedule::Group& group, const Schedule& schedule, std::string name);

 protected:
  // reductions.cpp
  std::vector<Accumulator> accumulators(int level, const std::optional<IntExpr>& block = {});
  ExprId initial(const Accumulator& a);
  ExprId merged(const Accumulator& a, ExprId current, ExprId next);
  std::vector<Stmt> start(const std::vector<Accumulator>& accs);
  bool adds_products(const Accumulator& a) const;
  std::vector<Stmt> take_element(const Accumulator& a, ExprId element, const IntExpr& position);
  std::vector<Stmt> take_part(const Accumulator& a, ExprId value, ExprId index);
  std::vector<Stmt> take_part(const Accumulator& a, const Accumulator& part);
  std::vector<Stmt> take_parts(const std::vector<Accumulator>& accs, const std::vector<Accumulator>& parts);
  std::vector<Stmt> take_if(const Accumulator& a, Val better, Val value, Val index);
  Stmt combine_lanes(const Accumulator& a);
  ExprId result(const Accumulator& a);
  // scans.cpp
  ExprId scan_at(NodeId id, const Index& index);
  // A scan while it runs, and what its carry begins with.
  struct RunningScan {
    NodeId node;
    LocalId carry;
    ExprId start;
    ExprId restarts, factor;  // of the element at hand; kNoExpr: none
  };
  std::vector<RunningScan> take_running_scans();  // those made since they were taken
  std::vector<Stmt> take_scan_starts();
  IntExpr directed(const Axis& axis,
                   const IntExpr& position) const;  // the element at a position of the way along a reduced axis
  // online.cpp
  void pair_online(std::vector<Accumulator>& accs);
  std::vector<Stmt> start_online(const std::vector<Accumulator>& accs);
  std::vector<Stmt> update_online(const Accumulator& sum, ExprId value);
  std::vector<Stmt> finish_online(const std::vector<Accumulator>& accs);
  // moments.cpp
  void add_moments(std::vector<Accumulator>& accs);
  std::vector<Stmt> update_moments(const std::vector<Accumulator>& accs, const Placement& placement);
  std::vector<Stmt> take_moments(const std::vector<Accumulator>& accs, const std::vector<ExprId>& part);
  ExprId origin_of_part(const std::vector<Accumulator>& accs, const std::vector<ExprId>& part, size_t origin);
  std::vector<Stmt> join_moments(const std::vector<Accumulator>& accs);
  static std::vector<Accumulator> of_all_lanes(std::vector<Accumulator> accs);  // after join_moments
  ExprId held(const std::vector<Accumulator>& accs,
              size_t place);  // what it is worth, of all lanes where these are joined
  ExprId moment_result(const std::vector<Accumulator>& accs, size_t place, const Index& index);

  // reductions.cpp
  IntExpr position(const Placement& placement) const;  // row-major over the reduced axes: what argmax counts
  bool has_few_positions() const;
  bool adds_small_integers(NodeId reduce) const;
  bool counts_in_blocks() const;
  bool positions_ascend() const;  // as a lane meets the elements

  // lower_passes.cpp
  const Axis& column_axis() const;  // of a flat Row with columns
  ExprId only_in_columns(const Placement& placement);
  void element_pass(int level, const std::vector<Accumulator>& accs, const Placement& placement,
                    std::vector<Stmt>& body);
  std::vector<Stmt> row_outputs(int level, const Placement& placement);
  void set_results(const std::vector<Accumulator>& accs);

  bool scans_down_ = false;  // scans run down the columns of the lanes, else over the lanes
  // Where scans run over the grid.
  struct ScanGrid {
    IntExpr parts;
    Shape rows;                              // the kept axes
    Index at;                                // of this part in what the parts meet in
    std::vector<std::pair<int, int>> meets;  // those temporaries, with their words
  };
  std::optional<ScanGrid> scan_grid_;
  std::vector<RunningScan> running_scans_;
};

// Passes over elements, one for each level of reductions, and parts of reductions that are joined
// later.
class ReductionLowering : public AccumulatorLowering {
 public:
  using AccumulatorLowering::AccumulatorLowering;

 protected:
  // lower_passes.cpp
  struct PassLoops {
    std::function<std::vector<Accumulator>(int level)> accumulators;
    // The loops around an element, after what scans start with; all of it may be empty.
    std::function<std::vector<Stmt>(const std::vector<Accumulator>&, std::vector<Stmt> starts,
                                    std::vector<Stmt> element)>
        around;
    std::function<std::vector<Stmt>(int level)> outputs;  // of one element a row that are ready then
    std::function<std::vector<Stmt>(std::vector<Stmt> outputs)>
        around_outputs;  // the loops around these; none: they need none
    int64_t points = 0;
    std::optional<Symbol> innermost;
    std::optional<IntExpr> lanes;  // so many have values of their own at a point of the reduced axes
  };
  std::vector<Stmt> passes(const Placement& placement, PassLoops in);
  void add_total(Accumulator a);
  Accumulator total_of(const Accumulator& a) const;
  std::vector<Accumulator> totals_of(std::vector<Accumulator> accs) const;

  // lower_parts.cpp
  struct SplitAxis {
    const Axis* axis = nullptr;
    IntExpr part, parts;  // points of a part, number of parts
  };
  struct Partial {
    int value = -1, index = -1;  // params
  };
  SplitAxis split_axis(const Axis& axis, const IntExpr& wanted, int64_t multiple, int64_t step = 1);
  IntExpr wanted_parts(const Axis& axis, int64_t points, const IntExpr& others) const;
  const Axis& first_reduced() const;
  int64_t points_below(const Axis& axis) const;
  std::vector<Partial> partials(const std::vector<Accumulator>& accs, const Shape& dims);
  void store_partials(const std::vector<Accumulator>& accs, const std::vector<Partial>& parts, const Index& at,
                      std::vector<Stmt>& body);
  std::vector<Stmt> take_partials(const std::vector<Accumulator>& accs, const std::vector<Partial>& parts,
                                  const Index& at);

  // keep.cpp: values of a stage that later stages need again are kept on chip when that is cheaper.
  struct Keep {
    std::vector<IntExpr> index, dims;  // of scratch with a place for every element
    int64_t points;                    // elements, estimated
    std::optional<Symbol> innermost;   // loop
  };
  void keep_values(std::vector<std::vector<Stmt>>& stages, const Keep& where);

 private:
  std::map<LocalId, Accumulator> totals_;  // by the accumulator of a block: that of all blocks
};

}  // namespace smelt::kernel
