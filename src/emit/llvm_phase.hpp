// Prints one phase of a kernel as a function of LLVM IR. SPMD on SIMD: an expression that depends
// on the variable of the enclosing Vector loop is one value per lane, every other is one scalar,
// splatted where the two meet.
//
// Text grows in scopes, one for each loop or If being printed, innermost last. A scope's text ends
// where its inner scope begins, so an expression is printed at the end of the outermost scope that
// knows all its operands: invariants come out hoisted.
//
//   entry | pre (before a loop, if it runs at all) | body | pre | body | ...
//
// Pure arithmetic may be hoisted past anything. Memory is read only where the program would read
// it: not before the innermost scope that may be skipped.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "emit/llvm.hpp"
#include "emit/llvm_types.hpp"
#include "kernel/lane_forms.hpp"

namespace smelt::emit {

// An array or scratch buffer being accessed.
struct Place {
  std::string base;            // "%p0"
  DType dtype{};               // in memory
  IntExpr offset;              // in elements
  int resource = 0;            // for tracking what changes
  bool always = false;         // readable whatever the sizes: rank 0
  int scope = 0;               // of `base`
  int least = 0;               // the outermost scope that may read it
  std::optional<int> at = {};  // the scope of a load of whole vectors; nothing: where the printer is
};

class PhasePrinter {
 public:
  // `declarations` collects what the module must declare.
  PhasePrinter(const kernel::Kernel& kernel, int phase, const LlvmTarget& target, std::set<std::string>& declarations);
  std::string print();  // the body function and its exported wrapper

 private:
  // What an assignment or store changes: a local, a param or a buffer, as one number.
  using Changes = std::vector<bool>;
  struct Scope {
    std::string text;
    bool skippable = false;             // may not run although the scope around it does
    Changes changes;                    // what runs of this scope change, for loops and Ifs
    std::vector<kernel::ExprId> exprs;  // what was remembered here
    std::vector<std::string> keys;
  };
  // A mutable local lives in a stack slot, which LLVM turns into registers. One assigned in a
  // Vector loop has a slot of lanes too; when it was declared outside that loop, both slots are
  // written whenever it is uniform.
  struct Slot {
    const kernel::Loop* declared_in = nullptr;  // the Vector loop around its first Assign
    bool declared = false;
    int lanes = 0;
    bool in_lanes = false;  // the lanes hold its value now, until Combine
  };
  struct VectorLoop {
    const kernel::Loop* loop = nullptr;
    std::optional<Symbol> var;
    int lanes = 0;
    std::optional<Value> tail;     // which lanes are inside the extent, in the last step
    Value left;                    // how many those are
    std::optional<int64_t> known;  // the same, where it is known now
    Value start;                   // the variable's value in lane 0
    bool streaming = false;
    std::optional<Value> streams;                 // whether whole lines bypass the caches, in a loop that can
    bool whole = false;                           // all lanes of the step at hand are inside the extent
    bool inner = false;                           // in the steps between the ends
    std::unordered_set<kernel::ExprId> ordinary;  // expressions of the body, where it has an interior too
    const kernel::LaneForms* forms = nullptr;     // of the loop's loads
    bool at_line = false;                         // in steps that begin at lines of the rows of scratch
    int scope = 0;                                // of the body
    Changes changes;
  };
  // Where the streaming stores of a Vector loop can begin.
  struct Stream {
    Value wanted;                   // a bool
    Value head;                     // elements before the first whole line
    int64_t line = 1;               // elements
    std::vector<std::string> ends;  // lines that the loop stores in part, behind the last whole ones
  };
  struct FullSteps {
    std::string begin, from;  // the first element, and the label of the block before
    std::string end, after;   // after the last element, and the label of the block after
  };

  // llvm_phase.cpp: the frame
  std::string parameters(bool with_types) const;
  std::string body_function();
  std::string wrapper();
  void define_slots();
  void define_stack(const std::string& name, const std::string& type);
  void define_buffers();

  // llvm_scope.cpp: text, and what is remembered of it
  int top() const { return static_cast<int>(scopes_.size()) - 1; }
  Scope& scope_at(int index) { return scopes_[static_cast<size_t>(index)]; }
  void push(bool skippable, Changes changes);
  std::string pop();
  void line(const std::string& text);                           // at the end of the innermost scope
  std::string name(int scope, const std::string& instruction);  // "%v7", defined there
  Value define(int scope, DType dtype, int lanes, const std::string& instruction);
  void remember(kernel::ExprId id, const Value& value);
  void remember(const std::string& key, const Value& value);
  const Value* recall(const std::string& key) const;
  void forget(const Changes& changes);
  int changing_scope(int resource) const;  // the innermost scope whose runs change it
  int reading_scope() const;               // the innermost scope that may be skipped
  Changes no_changes() const { return Changes(static_cast<size_t>(resource_count_), false); }
  void collect_changes(const std::vector<kernel::Stmt>& body, Changes& into) const;

  // llvm_value.cpp: operations on values
  Value op(std::string_view spelling, DType result, const std::vector<Value>& args);
  Value convert(std::string_view instruction, const Value& x, DType to);
  Value splat(const Value& x, int lanes);
  Value constant(DType dtype, int64_t value) const;
  Value cast(const Value& x, DType to, bool wrap);
  Value cast_float_to_int(const Value& x, DType to);
  Value cast_int_to_int(const Value& x, DType to, bool wrap);
  Value bitcast(const Value& x, DType to);
  Value maximum(const Value& a, const Value& b, bool smaller);
  Value both(const std::optional<Value>& a, const std::optional<Value>& b, int lanes);
  Value iota(int lanes, DType dtype);
  Value widen_small(const Value& x);
  Value widen_f8(const Value& x);
  Value narrow_to_small(const Value& x, DType to);
  Value narrow_to_f8(const Value& x, DType to);
  Value from_memory(DType dtype, int lanes, int scope, const std::string& raw);
  std::string to_memory(DType dtype, const Value& x, int& scope);

  // llvm_index.cpp: integer expressions
  bool varies(const IntExpr& e) const;
  int scope_of(const IntExpr& e) const;
  bool stands_still(const IntExpr& e) const;  // its value is the same wherever its text is
  Value integer(const IntExpr& e);            // scalar; the Vector variable stands for lane 0
  Value integer_lanes(const IntExpr& e);      // one per lane
  Value integer_sum(const IntExpr& e, bool lanes);
  Value atom(const IntExpr::Atom& a, bool lanes);
  Value symbol(Symbol symbol, bool lanes);
  Value divide(const IntExpr::Atom& a, bool lanes);

  // llvm_lanes.cpp: how they differ between neighbouring lanes
  Value lane_steps(int64_t step, DType dtype);
  std::optional<Value> divide_neighbours(const IntExpr::Atom& a);
  Value divide_by_size(const IntExpr::Atom& a, const Value& remainder, int64_t step);
  std::optional<Value> compare_indices(kernel::ExprId id, const kernel::Apply& e);
  std::optional<Value> tabulated(const IntExpr& e);
  Value constant_mask(const std::vector<bool>& truths);

  // llvm_peel.cpp
  int edge_lanes(const kernel::Loop& s) const;
  std::string edge_steps(const kernel::Loop& s, int label, const std::string& after);
  std::string short_steps(const kernel::Loop& s, const Value& extent, int label);
  std::string peeled_steps(const kernel::Loop& s, const Value& extent, const std::optional<Stream>& stream, int label);

  // llvm_pieces.cpp
  int here(const Place& place) const { return place.at.value_or(top()); }
  int scope_of_load(const Place& place, const kernel::LaneAccess& access) const;
  std::optional<std::string> load_together(const Place& place, const kernel::LaneAccess& access,
                                           const std::vector<bool>* active);
  std::string load_strided(const Place& place, int64_t step, const Value* active = nullptr);
  int64_t step_between(const Place& p) const;
  std::string load_apart(const Place& p, int64_t step);
  std::string load_pieces(const Place& place, const std::vector<kernel::LaneAccess::Piece>& pieces);
  std::string load_phase(const Place& place, int64_t step, int64_t low, int64_t phase);
  std::string load_one(const Place& place);
  std::string load_each(const Place& place, const std::vector<bool>* active);
  bool shifts_lanes(DType dtype) const;
  bool reads_lines() const;
  std::string load_from_lines(const Place& place, int64_t behind);
  Value all_hold(const std::vector<IntExpr>& holds);
  std::string either(const Value& fits, const std::string& type, const std::function<std::string()>& near,
                     const std::function<std::string()>& far);

  // llvm_access.cpp: loads and stores
  int resource_of(const kernel::Access& access) const;
  Place place(const kernel::Access& access) const;
  // The first element of a block of scratch, and the bytes from a row to the next.
  struct Block {
    std::string first, stride;
  };
  Block block_of(const kernel::Access& access);
  const kernel::LaneAccess* form_of(kernel::ExprId id, const Place& place) const;
  Value pointer(const Place& place, const IntExpr& offset);
  Value lane_pointers(const Place& place, bool masked);
  Value splat_pointer(const Value& pointer, int lanes);
  Value load(kernel::ExprId id, const kernel::Load& e);
  std::optional<Value> load_where(const Place& place, const kernel::LaneAccess& access, const Value& mask,
                                  const Value& other);
  Value any_of(const Value& mask);
  Value all_of(const Value& mask);
  Value over_lanes(const char* op, const Value& mask);
  Value load_uniform(const Place& place, std::optional<Value> mask, const std::optional<Value>& other);
  Value load_lanes(const Place& place, const kernel::LaneAccess& access, std::optional<Value> mask,
                   const std::optional<Value>& other);
  void store(const kernel::Store& s);
  void store_uniform(const Place& place, const Value& value, std::optional<Value> mask);
  using Parts = std::vector<std::pair<int, int>>;  // first lanes, and how many
  Parts parts_of(int size) const;
  std::string in_parts(int scope, const std::string& element, const Parts& parts,
                       const std::function<std::string(int first, int count)>& read);
  std::string lanes_of(int scope, std::string_view element, const std::string& x, int first, int count);
  std::string hidden(int scope, const std::string& mask, int lanes, int size);
  std::string load_masked(int scope, DType dtype, const std::string& pointer, const std::string& mask);
  std::string gather(int scope, const std::string& element, const std::string& pointers, int align,
                     const std::string& mask);
  void store_strided(const Place& place, int64_t step, const std::string& bits);
  // llvm_joined.cpp
  void store_part(const kernel::Store& s, const Place& place, const Value& value, bool streaming);
  std::vector<std::string> interleave(const std::vector<std::vector<std::string>>& values, const std::string& type);
  // llvm_access.cpp
  void store_lanes(const Place& place, std::optional<int64_t> step, const Value& value, std::optional<Value> mask,
                   bool streaming);
  bool has_masks(DType dtype) const;
  std::string tail_memory(std::string_view element, int lanes);
  bool is_known_tail(bool backward) const;
  Parts known_parts() const;
  std::string load_known_tail(int scope, DType dtype, const std::string& pointer);
  void store_known_tail(DType dtype, const std::string& pointer, const std::string& bits);
  std::string load_tail(const Place& place, bool backward);
  void store_tail(const Place& place, bool backward, const std::string& bits);
  void store_tail_lines(const Place& place, const std::string& bits);
  void copy_tail(const Place& place, bool backward, const std::string& memory, bool out);
  std::string shuffle(int scope, const std::string& type, const std::string& x, const std::string& y,
                      const std::vector<int64_t>& order);
  std::string reversed(int scope, std::string_view element, int lanes, const std::string& x);
  std::string masked_call(const std::string& what, std::string_view element, int lanes, const std::string& pointer,
                          int align, const std::string& mask, const std::string& value, bool is_store);

  // llvm_expr.cpp
  Value value_of(kernel::ExprId id);
  Value compute(kernel::ExprId id);
  Value apply(kernel::ExprId id, const kernel::Apply& e, DType dtype);
  Value raw(const kernel::Raw& e, DType dtype);
  Value dot(std::string_view instruction, const std::vector<Value>& args);
  Value read_local(kernel::LocalId id);
  void find_dependencies();

  std::optional<Value> divide_by_constant(const kernel::Apply& e);  // llvm_divide.cpp

  // llvm_random.cpp
  using Words = std::array<Value, 4>;
  Value random(kernel::ExprId id, const kernel::Random& e);
  Value random_lanes(const kernel::Random& e, const std::vector<Value>& args, const kernel::LaneDraw& draw);
  Value random_words(const std::vector<Value>& args, const Value& element, int n);
  Value drawn(philox::Draw draw, const Value& words, const std::vector<int>& elements);
  Value unaligned_words(const kernel::Random& e, const std::vector<Value>& args, const IntExpr& base, int count);
  Value random_each(const kernel::Random& e, const std::vector<Value>& args);
  Words philox(const std::vector<Value>& args, const Value& counter);
  Value interleaved(const Words& words);

  // llvm_stmt.cpp, llvm_loop.cpp
  void statements(const std::vector<kernel::Stmt>& body);
  void statement(const kernel::Stmt& s);
  void loop(const kernel::Loop& s);
  void let(const kernel::Let& s);
  void assign(const kernel::Assign& s);
  void combine(const kernel::Combine& s);
  Value reduce_lanes(Op op, Value x);
  Value extreme_lane(const Value& x, bool smaller);
  Value flip_below_zero(const Value& bits);
  Value order_key(const Value& x, bool smaller);
  Value of_order_key(const Value& key, DType dtype);
  // llvm_scan.cpp: a running value, and whether it has restarted on the way or the product of the
  // factors there
  struct Running {
    Value value;
    std::optional<Value> second;
  };
  void scan(const kernel::Scan& s);
  Value joined(Op with, const Value& a, const Value& b);
  Running after(Op with, const Running& a, const Running& b);
  struct ScanLanes {
    Op with;
    bool exclusive;
    Value x;
    std::optional<Value> second;
    Value carry, first, nothing;  // first: what an exclusive one starts with; nothing: what adds nothing
  };
  std::pair<Value, Value> scan_lanes(const ScanLanes& s);
  Value lanes_of(const Value& x, const std::vector<int>& order, const Value* other = nullptr);
  void write_slot(kernel::LocalId id, const Value& value);
  void conditional(const kernel::If& s);
  void prefetch(const kernel::Prefetch& s);
  void find_slots(const std::vector<kernel::Stmt>& body, const kernel::Loop* vector_loop);
  void enter_loop(const kernel::Loop& s, const Changes& changes);
  void count_loop(const kernel::Loop& s, const Value& begin, const Value& end);
  void each(const kernel::Each& s);  // llvm_each.cpp
  std::string each_condition(const kernel::Each& s, const std::string& var, const Changes& changes, const Value* extent,
                             int label);
  void list_places(const Value& places, const Value& holds, int label);
  bool has_compress(int lanes) const;
  void unrolled_loop(const kernel::Loop& s);
  void turn(const kernel::Turn& s);  // llvm_turn.cpp
  // llvm_tiles.cpp
  std::string tile_at(const Block& block, int down, int across);
  void multiply_step(const kernel::TileProduct& s, const Block& rows, const Block& columns);
  Block rows_of(const kernel::TileProduct& s);
  void tile_product(const kernel::TileProduct& s);
  void configure_tiles();
  Value whole_steps(const Value& n, int lanes);
  void vector_loop(const kernel::Loop& s);
  std::string vector_steps(const kernel::Loop& s, const Value& extent, const Value& full,
                           const std::optional<Stream>& stream, int label);
  std::string full_steps(const kernel::Loop& s, const std::string& kind, int label, const FullSteps& steps);
  std::string stream_steps(const kernel::Loop& s, int label, const FullSteps& steps);
  std::string some_steps(const kernel::Loop& s, const Value& full, int label, const std::string& after);
  std::string streamed_steps(const kernel::Loop& s, const Value& extent, const Value& full, const Stream& stream,
                             int label);
  std::string fetch_ends(const Stream& stream);
  std::string vector_body(const std::vector<kernel::Stmt>& body, Value start, const Value* extent, bool streaming);
  std::optional<Stream> find_stream(const kernel::Loop& s, const Value& extent);
  void bind_variable(const kernel::Loop& s, const Value& value);

  const kernel::Kernel& kernel_;
  const int phase_;
  const LlvmTarget& target_;
  std::set<std::string>& declarations_;

  std::string stack_;  // allocas, at the start of the function
  std::vector<Scope> scopes_;
  std::vector<std::optional<Value>> known_;             // by ExprId
  std::unordered_map<std::string, Value> known_texts_;  // integer expressions, splats, pointers
  std::vector<std::optional<Value>> bindings_;          // immutable locals
  std::vector<Slot> slots_;                             // mutable locals
  std::map<Symbol, Value> symbols_;                     // sizes and loop variables
  std::map<int, std::string> buffers_;                  // scratch buffers: their pointers
  VectorLoop vector_;
  // By resource and element of each group: what the last of the stores that are made together
  // stores.
  std::map<int, std::map<int64_t, std::pair<Place, Value>>> parts_;
  std::vector<bool> in_lanes_;                  // locals: whether what they are bound to differs between lanes
  std::vector<std::vector<int>> dependencies_;  // by ExprId: locals and arrays
  std::vector<bool> stored_;                    // params and buffers that this phase stores to
  int resource_count_ = 0;
  int values_ = 0, labels_ = 0;
  std::string block_;  // the one of either() that text is added to
  std::string label_;  // a comment: the operation of the program that is being printed
  bool streams_ = false;
  bool has_tiles_ = false;  // the phase multiplies tiles
  bool rare_ = false;       // inside of a loop that is
};

// A longer body is not made once more for the sake of streaming stores: memory is not what it waits
// for.
inline constexpr int64_t kMostStreamedLines = 500;

// Scratch buffers that are too small to leave the stack, and where the others are in `scratch`.
bool on_stack(const kernel::ScratchBuffer& buffer);
IntExpr bytes_of(const kernel::ScratchBuffer& buffer);  // rounded up to 64

}  // namespace smelt::emit
