// A call of a function of the table: its arguments under their names, read as what the function
// needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/ast.hpp"
#include "frontends/function_table.hpp"
#include "graph/functions.hpp"

namespace smelt::lang {

// An argument as it was written.
struct Given {
  std::string_view name;  // empty: by position
  Span span;
  Value value;
};

class Call {
 public:
  // Matches the arguments with the parameters. Throws for too many, missing, doubled and unknown
  // ones.
  Call(GraphBuilder& builder, const Source& source, const Function& function, std::string_view written, Span span,
       const std::vector<Given>& given);

  Value build();

  GraphBuilder& b;

  const Value& value(std::string_view parameter) const;
  bool given(std::string_view parameter) const { return !value(parameter).is_none(); }
  std::string_view written() const { return written_; }

  NodeId array(std::string_view parameter) const;
  NodeId indices(std::string_view parameter) const;  // an array, or a list of integers
  std::optional<functions::KnownIndices> known_indices(std::string_view parameter) const;  // a list of integers
  std::optional<NodeId> optional_array(std::string_view parameter) const;                  // nothing for None
  std::vector<NodeId> arrays(std::string_view parameter) const;                            // of a tuple
  Operand operand(std::string_view parameter) const;                                       // an array or a literal
  std::optional<Operand> optional_operand(std::string_view parameter) const;
  std::vector<int> axes(std::string_view parameter) const;  // an integer, a tuple of some, or None: empty
  bool no_axes(std::string_view parameter) const;           // whether it is (), which names none
  int axis(std::string_view parameter) const;
  std::optional<int> optional_axis(std::string_view parameter) const;
  int64_t integer(std::string_view parameter) const;
  double number(std::string_view parameter) const;
  bool flag(std::string_view parameter) const;
  IntExpr size(std::string_view parameter) const;
  Shape shape(std::string_view parameter) const;                    // a tuple of sizes, or one size
  std::vector<int64_t> integers(std::string_view parameter) const;  // a tuple, one integer, or None: empty
  // A way to pad, as numpy.pad names it; nothing for 'constant'.
  Precision precision() const;  // of the parameter of this name
  std::optional<ExtendMode> pad_mode(std::string_view parameter) const;
  DType dtype(std::string_view parameter) const;
  std::optional<DType> optional_dtype(std::string_view parameter) const;
  size_t choice(std::string_view parameter, std::initializer_list<std::string_view> texts) const;  // which of them

  // An error at this argument.
  [[noreturn]] void fail(std::string_view parameter, const std::string& message, const std::string& help) const;
  [[noreturn]] void fail_kind(std::string_view parameter, std::string_view wanted, const std::string& help) const;

 private:
  struct Slot {
    Value value;
    Span span;
    bool filled = false;
  };

  size_t index_of(std::string_view parameter) const;
  void fill(const std::vector<Given>& given);
  void fill_rest(size_t slot, const std::vector<Given>& given, size_t from);
  void fill_defaults();
  std::string usage() const;
  std::string help_for(std::string_view unknown) const;  // an argument of this name
  int axis_of(std::string_view parameter, const Value& value) const;

  const Source& source_;
  const Function& function_;
  std::string_view written_;
  Span span_;
  std::vector<Slot> slots_;
};

}  // namespace smelt::lang
