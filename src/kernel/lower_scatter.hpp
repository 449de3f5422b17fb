// Scatter: updates go to rows that the data names. Internal to this folder.
#pragma once

#include <functional>
#include <vector>

#include "kernel/any_order.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

class ScatterLowering : public Lowering {
 public:
  using Lowering::Lowering;

 private:
  void phases() override;
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
  struct Destination {
    ExprId row = kNoExpr, inside = kNoExpr;  // inside: only there is something written; kNoExpr: everywhere
    IntExpr index, update, column;
  };
  Scattered scattered() const;
  // `before`: statements of the whole chunk, which its lanes come after.
  void over_chunks(const IntExpr& length, const Fill& fill, const std::function<void()>& before = {});
  std::vector<Stmt> lanes_of(Symbol var, const IntExpr& length, Ranges ranges,
                             const std::function<void(const Ranges&, std::vector<Stmt>&)>& fill);
  ExprId scatter_row(const Scattered& s, const IntExpr& update, const Ranges& ranges);
  ExprId joined_by(ScatterKind kind, ExprId there, ExprId update);
  void copy_to(const Scattered& s, int param, const std::function<ExprId(ExprId)>& encode);
  void copy_to_output(const Scattered& s);
  void check_rows(const Scattered& s);
  void scatter_ranges(const Scattered& s);
  // What one iteration of the grid has of the result.
  struct Range {
    Piece rows;
    IntExpr part;  // the most rows of one
    Piece columns;
    Ranges ranges;
  };
  std::vector<Stmt> copied_range(const Scattered& s, const Range& here);
  Stmt joined_range(const Scattered& s, const Range& here);
  void scatter_copies(const Scattered& s);
  void updates_of_elements(const Scattered& s, int copies, const IntExpr& part, const IntExpr& first,
                           const IntExpr& length, const Ranges& ranges, std::vector<Stmt>& body);
  void updates_of_rows(const Scattered& s, int copies, const IntExpr& part, const IntExpr& first, const IntExpr& length,
                       Ranges ranges, std::vector<Stmt>& body);
  void scatter_atomic(const Scattered& s);
  void scatter_exact(const Scattered& s);
  struct Levels;
  void scatter_levels(const Scattered& s);
  void find_facts(const Scattered& s, const Levels& all);
  using LevelFill = std::function<void(const Index& at, const LevelSums::Known& known, const IntExpr& levels,
                                       std::vector<Stmt>& body)>;
  void over_levels(const Scattered& s, const Levels& all, const LevelFill& fill);
  void clear_levels(const Scattered& s, const Levels& all);
  void total_of_levels(const Scattered& s, const Levels& all);
  void scatter_newest(const Scattered& s);
  void scatter_few(const Scattered& s);
  // How a team joins the numbers of updates: `none` where there are none; or their count.
  struct Found {
    Op op;
    int64_t none;
    bool counts = false;
  };
  static Found any() { return {Op::Max, -1}; }
  std::vector<LocalId> found_among(const Scattered& s, const IntExpr& update, ExprId row, bool before,
                                   const std::vector<Found>& ways, const Ranges& around, std::vector<Stmt>& into);
  ExprId only_if(const Destination& d, LocalId found);
  void set_few(const Scattered& s);
  void find_few(const Scattered& s, int nexts, int counts);
  void join_few(const Scattered& s, int nexts, int counts);
  // How the updates of an element are joined in any order: in stages, of which each has a value or
  // more of integers, and needs those of the stage before.
  struct Joined {
    DType type;
    Op op;
    ExprId nothing;
    std::function<ExprId(ExprId update, const std::vector<ExprId>& before)> term;
  };
  using Stage = std::vector<Joined>;
  bool joins_in_order(const Scattered& s) const;
  Stage plain_sum(const Scattered& s);
  static DType word_of(DType t);  // that has atomic operations
  std::vector<Stage> stages(const Scattered& s);
  // x and its updates, from the values of the last two stages.
  ExprId result(const Scattered& s, ExprId x, const std::vector<ExprId>& before, const std::vector<ExprId>& last);

  struct Lists;
  struct Row;
  static IntExpr slots(const Scattered& s);
  static Shape slots_of_rows(const Scattered& s);
  void scatter_listed(const Scattered& s);
  void count_rows(const Scattered& s, const Lists& lists);
  void find_places(const Scattered& s, const Lists& lists);
  void fill_lists(const Scattered& s, const Lists& lists);
  ExprId listed_at(const Scattered& s, int list, const IntExpr& place);
  void order_update(const Scattered& s, const Lists& lists, const Row& row, ExprId own, const Ranges& ranges,
                    std::vector<Stmt>& into);
  void order_lists(const Scattered& s, const Lists& lists);
  void order_updates(const Scattered& s, const Lists& lists);
  void join_short_rows(const Scattered& s, const Lists& lists);
  void join_long_rows(const Scattered& s, const Lists& lists, size_t stage);
  void finish_long_rows(const Scattered& s, const Lists& lists);
  ExprId any_is_long(const Scattered& s, const Lists& lists);
  using TeamFill = std::function<void(const IntExpr& at, const Piece& columns, Ranges ranges, std::vector<Stmt>& body)>;
  void over_teams(const Scattered& s, Symbol var, const IntExpr& extent, const TeamFill& fill);
  void over_rows(const Scattered& s, const TeamFill& fill);
  Row row_of_lists(const Scattered& s, const Lists& lists, const IntExpr& row);
  std::vector<ExprId> joined_updates(const Scattered& s, int list, const Stage& stage,
                                     const std::vector<ExprId>& before, const Piece& listed, const IntExpr& column,
                                     const Ranges& ranges, std::vector<Stmt>& into);
  ExprId row_inside(const Scattered& s, ExprId row);
  // `checked`: an earlier phase has reported rows that there are not.
  Destination destination(const Scattered& s, const IntExpr& at, const Ranges& ranges, bool checked = false);
  void over_updates(const Scattered& s, bool checked,
                    const std::function<void(const Destination&, std::vector<Stmt>&)>& fill);
  // Adds the updates to a param of integers: each in memory, or those of a workgroup on chip first,
  // as the schedule has it.
  struct Updates {
    int param;
    DType type, word;  // of the param, of its copy on chip
    bool checked;
    std::function<ExprId(const Destination&)> value;
  };
  void join_updates(const Scattered& s, const Updates& updates);
  void join_on_chip(const Scattered& s, const Updates& updates);
};

}  // namespace smelt::kernel
