// Prints one phase of a kernel as a C++ function. A Vector loop of n lanes becomes chunks of n
// elements, and after them what is left: each run of simple statements is a loop over the lanes, of
// a constant count but in the last chunk, and what is carried from chunk to chunk is in arrays of
// n, which compilers keep in registers. What all lanes have alike is read from one variable.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emit/text_lines.hpp"
#include "kernel/kernel.hpp"

namespace smelt::emit::cpp {

class PhasePrinter : TextLines {
 public:
  PhasePrinter(const kernel::Kernel& kernel, int phase);
  std::string print();

 private:
  using ExprId = kernel::ExprId;
  using Stmt = kernel::Stmt;

  // A local that is assigned, or that lives longer than one run of statements of a Vector loop.
  struct Place {
    bool uniform = false;  // a variable v<id>
    int lanes = 0;         // an array lane<id> of so many
    bool differs = false;  // here, between the lanes
  };

  std::string signature() const;
  void find_places(const std::vector<Stmt>& body, const kernel::Loop* vector);
  void declare_places();
  void declare_buffers();

  void statements(const std::vector<Stmt>& body);
  void statement(const Stmt& s);
  void forget_what_changes(const Stmt& s);
  void loop(const kernel::Loop& s);
  void conditional(const kernel::If& s);
  void maybe(const std::vector<Stmt>& body);
  void each(const kernel::Each& s);
  void count_loop(const kernel::Loop& s, const std::string& begin, const std::string& end);
  void vector_loop(const kernel::Loop& s);
  void differ_where_assigned(const std::vector<Stmt>& body, bool in_vector);
  void lane_runs(const std::vector<Stmt>& body);
  void let(const kernel::Let& s);
  void assign(const kernel::Assign& s);
  void store(const kernel::Store& s);
  void combine(const kernel::Combine& s);
  void reduce_lanes(Op op, DType dtype, const std::string& array, int lanes);
  std::string block_element(const kernel::Access& a, const char* down, const char* across);
  void turn(const kernel::Turn& s);
  std::string word_of_row(const kernel::TileProduct& s, const char* row, const char* word);
  void tile_product(const kernel::TileProduct& s);

  std::string value(ExprId id);
  std::string compute(const kernel::Expr& e);
  std::string load(const kernel::Load& e);
  std::string read_local(kernel::LocalId id) const;
  std::string element(const kernel::Access& access);
  std::string integer(const IntExpr& e) const;
  std::string symbol(Symbol symbol) const;

  const kernel::Kernel& kernel_;
  const int phase_;
  int names_ = 0;
  std::vector<Place> places_;
  std::vector<bool> stored_;  // params
  std::vector<int> uses_;
  std::map<ExprId, std::string> known_;  // in the statement at hand
  const kernel::Loop* vector_ = nullptr;
  bool in_lane_ = false;    // inside a loop over the lanes
  std::string lane_limit_;  // how many lanes of the chunk there are
};

}  // namespace smelt::emit::cpp
