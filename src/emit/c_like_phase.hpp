// Prints one phase of a kernel as a function for a C-like target. One iteration of the Grid loop is
// run by a team of threads: what is outside of Vector loops is computed by every thread of the team
// alike, a Vector loop is spread over them as its shape says (kernel/team_forms.hpp).
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "emit/c_like.hpp"
#include "emit/text_lines.hpp"
#include "kernel/phase_uses.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit::c_like {

using kernel::Access;
using kernel::Alloc;
using kernel::Apply;
using kernel::Assign;
using kernel::Barrier;
using kernel::Bitcast;
using kernel::Cast;
using kernel::Combine;
using kernel::Const;
using kernel::Each;
using kernel::Expr;
using kernel::ExprId;
using kernel::If;
using kernel::IndexValue;
using kernel::Kernel;
using kernel::kNoExpr;
using kernel::Let;
using kernel::Load;
using kernel::LocalId;
using kernel::Loop;
using kernel::LoopKind;
using kernel::Param;
using kernel::ParamKind;
using kernel::Prefetch;
using kernel::Random;
using kernel::Raw;
using kernel::ReadLocal;
using kernel::Scan;
using kernel::Stmt;
using kernel::Store;
using kernel::Turn;

// What is printed: a variant of a phase, by its number.
struct Function {
  size_t variant = 0;
  bool wide = false;            // 64-bit indices
  bool counted_stores = false;  // stores into the shared memory of other workgroups count themselves there
  bool part = false;            // a body of a batch: it is told which of its workgroups this one is
  bool boxes = false;           // parts of a pipeline may come as boxes
};

// A function of a phase, the best first; the last takes every size and address.
struct Printed {
  DeviceVariant variant;
  std::string text;
  kernel::Variant::Form form;
  UsedHelpers used;
};
struct Printing {
  const CLike& as;
  bool counted_stores = false, part = false, boxes = false;  // of every variant
};
std::vector<Printed> print_variants(const Kernel& kernel, size_t phase, const std::string& name,
                                    const Printing& printing);
// All functions of a kernel after those of `helpers` that they need.
DeviceSource print_kernel(const Kernel& kernel, const Printing& printing, const HelperList& helpers);
bool draws(const Kernel& kernel);
inline bool is_shuffle(const Expr& e) {
  const auto* raw = e.get_if<Raw>();
  return raw && kernel::is_from_thread(raw->op);
}

class PhasePrinter : TextLines {
 public:
  PhasePrinter(const CLike& as, const Kernel& kernel, size_t phase, const Function& function);
  std::string print(const std::string& name);
  // The phase after it, run by the workgroup that is done last; print() takes it in.
  void end_with(PhasePrinter& last);

  int workgroup() const { return team_.workgroup + beside_.threads; }
  const IntExpr& shared_bytes() const { return shared_bytes_; }  // after print()
  const std::vector<BoxMap>& boxes() const { return maps_; }     // after print()
  const UsedHelpers& used() const { return used_; }              // after print()

 private:
  // A Vector loop being printed.
  struct Vector : kernel::LoopShape {
    const Loop* loop = nullptr;
    bool grouped = false;  // printing what all lanes of a group have in common: the variable is that of lane 0
    bool edge = false;     // printing the element that a thread takes from the edges
    // Elements are rows of so many columns, of which a thread has some next to each other, in rows
    // that are `rows` apart from group to group; 0: not known.
    int64_t columns = 0, rows = 0;
    std::string edges;  // peeled: names the number of this thread's element, and with "has_" whether there is one
  };
  struct Place {
    std::string base;
    DType dtype{};
    IntExpr offset;
    int param = -1;
    int64_t row = 0;  // of swizzled scratch
  };

  // The spellings of the target.
  std::string type_of(DType t) const { return c_like::type_of(as_, t); }
  std::string memory_type(DType t) const { return c_like::memory_type(as_, t); }
  std::string literal(const Scalar& x) const { return c_like::literal(as_, x); }
  std::string apply(Op op, DType t, const std::vector<std::string>& args) {
    return c_like::apply(as_, used_, op, t, args);
  }

  // c_like_phase.cpp: the frame, declarations
  std::string body();
  CLike::Frame frame(const std::string& name) const;
  void settle_buffers();
  void settle_buffers(kernel::Lifetime lifetime, IntExpr& used);
  void settle_locals();
  void declare();

  // c_like_stmt.cpp
  void statements(std::span<const Stmt> body);
  void statement(const Stmt& s);
  void loop(const Loop& s);
  void grid(const Loop& s);
  void let(const Let& s);
  void assign(const Assign& s);
  std::string plain_extreme(const Assign& s);
  void store(const Store& s);
  void conditional(const If& s);
  // c_like_matrix.cpp
  std::string sums_of(int fragment) const;
  bool is_fragment(int buffer) const;
  void declare_fragments();
  void matrix(const kernel::Matrix& s);
  void pipeline(const Loop& s);
  void use_part(const Stmt& s, const std::function<void()>& make);
  void use_part_and_add(const Loop& s, const std::function<void()>& make);
  void use_part_meanwhile(const Loop& s, size_t first_use, const std::string& part, const std::function<void()>& make);
  void round_rows(const kernel::Matrix& s);
  void hold_half(const Store& s, const std::string& value);
  void multiply_held(const kernel::Matrix& s, const char* stage);
  void end_of_pipeline(const Loop& s, const std::string& count);
  void multiply_last_rows(const Loop& s, const std::string& count);
  void rescale(const kernel::Matrix& weigh);
  std::string stage_of(int buffer, const char* stage) const;
  std::string scale_of(const kernel::Matrix& s) const;
  void weigh_rows(const kernel::Matrix& s);
  bool fresh_ = false;  // what is multiplied next is added to nothing
  // c_like_boxes.cpp
  // Threads outside the team, of which one gets the boxes of a pipeline on their way, and registers
  // that each is left with and that one of the team gets; 0: as many as the others.
  struct Beside {
    int threads = 0, left = 0, taken = 0;
  };
  Beside threads_beside() const;
  // Two groups of four warps that give the units work in turns: one weighs while the other one
  // multiplies.
  bool takes_turns() const { return takes_boxes_ && team_.threads == 256; }
  std::string map_of(const Loop& part);
  void ask_for_boxes(const Loop& pipeline);
  void ask_for_box(const Loop& part, const std::string& filled);
  std::string of_group(const char* barriers, int group, const Loop& pipeline, const char* stage) const;
  void await_boxes(const Loop& pipeline, int group, const char* stage, const std::string& part);
  void leave_boxes(const Loop& pipeline, int group, const char* stage);
  void grid_with_boxes(const std::vector<Stmt>& body);
  void pipeline_of_boxes(const Loop& s);
  void part_of_boxes(const Loop& s, const std::string& part);
  static bool is_step(const Loop& pipeline, size_t at, kernel::Matrix::Step step);
  bool needs_no_sums(const Stmt& s) const;
  void chained_part_of_boxes(const Loop& s, const std::string& part, bool first);
  std::vector<int> multiply_firsts(const Loop& s, size_t& k);
  void settle(const std::vector<int>& sums, int behind);
  void multiply_held_rows(const Loop& s);
  bool batched_loop(const Loop& s);
  void count_loop(const Loop& s, const char* pragma);
  void each(const Each& s);  // c_like_each.cpp
  void join(const Store& s, const std::string& condition, const std::string& value);
  struct Partial {  // what the threads of a team combine
    const Combine* s;
    DType t;
    std::string type, value, index;  // index: of argument reductions
    int shared;                      // number of its array in shared memory
    std::string index_type;
    int index_bytes = 0;
  };
  struct ColumnBox {  // an array in shared memory, in which the rows of columns meet
    std::string type, index_type;
    int words, shared;
  };
  std::vector<ColumnBox> column_boxes_;
  int column_bytes_ = 0;  // of them together
  void combine(const std::vector<const Combine*>& group);
  void combine_step(const Partial& p, const std::string& other, const std::string& other_index);
  void shuffle(const Partial& p, int from, int to = 1);
  void combine_slots(const Partial& p, int slots);
  void combine_warps(const std::vector<Partial>& parts);
  struct Exchange {  // of values between the workgroups of a cluster, or the warps of a workgroup
    bool cluster, mail;
    int box;
  };
  Exchange start_exchange(const std::vector<Partial>& parts, int count);
  void hand_over(const Exchange& exchange, const std::string& number, const std::string& place,
                 const std::string& value);
  void end_exchange(const Exchange& exchange);
  Partial partial(const Combine& s);
  void combine_columns(const std::vector<const Combine*>& group);  // c_like_columns.cpp
  // An array of its own, which spares a barrier, as long as there is room; false: that of another,
  // which is not among those taken.
  bool share_columns(Partial& whole, int words, int bytes, const std::set<int>& taken);
  void take_rows(const Partial& p, const std::string& column, int rows, int pitch);
  void join_rows(const Partial& p, int columns, int rows, const Exchange* exchange, int to);
  void exchange_columns(std::vector<Partial>& wholes, int columns, int rows);
  // Scratch that each thread has a part of for itself.
  bool is_private(int buffer) const {
    return kernel_.buffers[static_cast<size_t>(buffer)].scope == kernel::Scope::Lane;
  }
  void barrier();
  // Whether all teams of a warp run a loop as often.
  bool is_alike(const IntExpr& extent) const;
  // The mask of the threads of a warp that come to this place together. Where all teams do, it is
  // that of the whole warp: a mask that differs between threads takes a MATCH and a REDUX before
  // every shuffle.
  std::string threads_that_meet() const;

  // c_like_on_chip.cpp: without warps
  void combine_on_chip(const std::vector<Partial>& parts);
  void each_on_chip(const Each& s);
  void each_body(const Each& s);  // its statements, and the ends of its two blocks
  std::string from_thread(DType dtype, const std::vector<std::string>& args);

  // c_like_vector.cpp
  Vector shape_of(const Loop& s) const;
  const kernel::LoopAccesses& accesses_of(const Loop& s) const { return s.team->accesses[function_.variant]; }
  std::string name_edges(const std::string& extent);
  void edge(const std::vector<Stmt>& stmts);
  void open_edge();
  void close_edge();
  void whole_loop(const Loop& s, const std::string& extent);
  void name_place();
  void step_of(const Loop& s);
  void steps_alike(const Loop& s, const std::string& first, const std::string& extent);
  void steps_and_last(const Loop& s, const std::string& first, const std::string& extent);
  void vector_loop(const Loop& s);
  void nested_body(const Loop& around, const std::vector<kernel::BlockAccesses>& blocks);
  void block(const std::vector<const Stmt*>& stmts, const kernel::BlockAccesses& accesses);
  // Its loads stay at hand for the blocks after it.
  void run_block(const std::vector<const Stmt*>& stmts, const kernel::BlockAccesses& accesses, bool is_last);
  // c_like_scan.cpp
  struct ScanText {
    int number = 0;  // of its names
    std::string type, nothing;
    std::string running;  // the type of what runs: that, or that and a second value
    // The second value: whether it has restarted, or the product of the factors. Empty: none.
    std::string second, no_second;
    bool pair() const { return !second.empty(); }
  };
  void groups(const std::vector<const Stmt*>& stmts, const kernel::BlockAccesses& accesses, const Scan* scan,
              const ScanText* text);
  ScanText declare_scan(const Scan& s);
  void give_to_scan(const Scan& s, const ScanText& text);
  void run_scan(const Scan& s, const ScanText& text);
  std::string pair(const ScanText& text, const std::string& value, const std::string& second) const;
  std::string joined(const Scan& s, const ScanText& text, const std::string& a, const std::string& b);
  struct RunText {
    std::string type, carry, join;
  };
  void scan_pieces(const Scan& s, const ScanText& text);
  void scan_warps(const Scan& s, const ScanText& text);
  void scan_grid(const Scan& s, const ScanText& text, const RunText& run);
  void scan_on_chip(const Scan& s, const ScanText& text);
  void scan_body(const Loop& loop);
  void store_group(const Store& s, int step, int apart);
  void copy_group(const Store& s);
  void open_group(bool check);
  // c_like_loads.cpp
  void load_group(const kernel::EarlyLoad& early);
  void declare_loads(const std::vector<kernel::EarlyLoad>& loads);
  void load_groups(const std::vector<kernel::EarlyLoad>& loads, bool check);
  void make_early(const std::vector<kernel::EarlyLoad>& loads, bool check);
  void end_early(const std::vector<kernel::EarlyLoad>& loads);
  void hold(const std::vector<kernel::EarlyLoad>& loads, const std::string& first, const std::string& extent);
  std::string element_or_lane(ExprId id);

  // c_like_wide.cpp
  std::vector<ExprId> wide_loads(const std::vector<kernel::AdjacentLoads>& runs);
  std::vector<std::pair<ExprId, std::string>> collect_stores(const std::vector<const Stmt*>& stmts,
                                                             const std::vector<kernel::AdjacentStores>& runs);

  // c_like_index.cpp
  std::string index_type() const { return function_.wide ? std::string(as_.wide) : "int"; }
  std::string integer(const IntExpr& e);
  std::string atom(const IntExpr::Atom& a);
  std::string natural_division(bool quotient, const std::string& x, const std::string& y) const;
  std::string place_in_group(const IntExpr::Atom& a) const;
  std::string own_place(const IntExpr::Atom& a) const;

  // c_like_bytes.cpp
  struct BitsOfByte {
    ExprId load;
    int at, count;
  };
  std::optional<BitsOfByte> bits_of_byte(ExprId id) const;
  std::optional<BitsOfByte> converted_bits(const Expr& e) const;
  std::optional<BitsOfByte> bits_at_hand(const Expr& e) const;
  std::set<ExprId> converted_bytes() const;
  std::string convert(const BitsOfByte& bits);

  // c_like_random.cpp
  std::vector<ExprId> draw_groups(const std::vector<kernel::GroupDraw>& draws);
  std::string random(const Random& e, const std::vector<std::string>& args);

  // c_like_expr.cpp
  std::string value(ExprId id);
  std::string compute(ExprId id);
  const std::string& known(ExprId id) const { return *known_[static_cast<size_t>(id)]; }
  template <class Ids>
  std::vector<std::string> texts(const Ids& ids) const {
    std::vector<std::string> texts;
    for (const ExprId id : ids) texts.push_back(known(id));
    return texts;
  }
  std::string compare_positions(const Apply& e);
  std::string read_local(LocalId id);
  std::string load(ExprId id);
  const Load& load_at(ExprId id) const { return kernel_.at(id).get<Load>(); }
  Place place(const Access& access);
  std::string offset_text(const Place& place, const IntExpr& offset);
  std::string element(const Access& access);
  std::string private_element(const Access& access);
  void forget(int resource);
  void push();
  void pop();

  const CLike& as_;
  const Kernel& kernel_;
  const kernel::Phase& phase_;
  const Function function_;
  const kernel::Variant& variant_;
  const kernel::Team team_;
  const bool shuffles_;  // threads exchange values
  const bool takes_boxes_;
  const Beside beside_;
  std::vector<BoxMap> maps_;
  // A thread's elements are loops that the compiler of the device vectorizes, with a value of each
  // accumulator for every element of a step.
  const bool looped_;
  kernel::PhaseUses uses_;

  std::string statics_, boxes_;  // boxes_: what opens the mailboxes, before anything else
  std::string ending_;           // what the last workgroup does
  UsedHelpers used_;             // wherever a call of a helper is spelled
  std::vector<int> slots_;       // of locals: one value per lane; 0: one for the team, or a name inside its block
  std::vector<bool> own_edges_;  // of these, whose last value is that of what the thread takes from the ends of a row
  std::vector<bool> in_registers_;       // scratch buffers
  const std::map<int, DType> of_warps_;  // those that units of warps multiply
  const std::set<ExprId> converted_bytes_;
  std::vector<std::optional<std::string>> known_;
  std::vector<std::vector<ExprId>> scopes_;
  std::map<ExprId, std::string> early_;           // loads that were made ahead, by lane
  std::set<ExprId> early_bytes_;                  // of them those of converted bytes whose lanes fill words
  std::map<ExprId, kernel::FromLane> from_lane_;  // loads whose element another lane may have made ahead
  std::map<Symbol, std::string> symbols_;
  std::map<std::string, std::string> multipliers_;  // by their value, kernel/multipliers.hpp: the argument
  Vector vector_;
  std::map<const Store*, std::pair<std::string, DType>> wide_stores_;  // the array that collects its lanes
  int serial_depth_ = 0, names_ = 0;
  bool reports_ = false;  // elements store errors: once, at the end
  int apart_ = 0;         // statements around that not all teams of a warp may run, or not as often
  bool cluster_used_ = false;
  IntExpr shared_bytes_;
  bool uses_scratch_ = false;  // in memory, not in registers
};

}  // namespace smelt::emit::c_like
