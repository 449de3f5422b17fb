// A program's way into a graph: its statements in order, each with its expressions, arguments
// first, without recursion.
#pragma once

#include <set>
#include <unordered_map>

#include "frontends/ast.hpp"
#include "frontends/call.hpp"
#include "frontends/diagnostics.hpp"
#include "frontends/language.hpp"
#include "frontends/user_function.hpp"
#include "frontends/value.hpp"
#include "graph/build_detail.hpp"

namespace smelt::lang {

class Lowering {
 public:
  Lowering(const Source& source, const Program& program, const std::vector<InputType>& given)
      : source_(source), program_(program), given_(given), values_(program.exprs.size()) {}

  Graph run();

 private:
  // ---- statements

  void statement(const Statement& s);
  void evaluate(ExprId first, ExprId last);
  // Runs a part of the building, and gives errors that know no place this one.
  template <class F>
  void located(Span span, F&& part) {
    try {
      part();
    } catch (const UserBuildError& e) {
      source_.fail(span, e.error.message, e.error.help);
    } catch (const ReportedError&) {
      throw;
    } catch (const UserError& e) {
      source_.fail(span, e.what());
    }
  }

  void declare(std::string_view name, Span span, Value value);
  void declare_sizes(const Shape& shape, Span span);
  void input(const Statement& s);
  // An input for every item: "xs[0]", "xs[1]", ...
  void list_input(const Statement& s);
  const InputType* given_for(std::string_view name) const;
  // The dimensions that "..." stands for are those of the caller's array. Not knowing it, they are
  // one dimension.
  ArrayType closed(const Statement& s, const InputType* given, int64_t item = -1) const;
  // The array that the caller has against the type that the program declares.
  void check_given(const InputType& given, const Statement& s, const ArrayType& type);
  // Without declarations the free names are the caller's inputs.
  void take_given_inputs();
  void check_given_names();
  void assign(const Statement& s);
  std::vector<Value> unpacked(const Expr& e, const Value& value, size_t names);  // an item for each name
  void result(const Statement& s);
  // The arrays of a list that is among the results are results.
  void add_outputs(const Value& value, bool among);

  // ---- functions of the program

  void define(const Statement& s);
  void define_foreign(const Statement& s);
  void add(UserFunction function);
  // The function as if it were written where it is called, but for its names: it sees its
  // parameters, the sizes of the program, and the functions before it.
  Value call_defined(const Expr& e, const UserFunction& function, const std::vector<Given>& given);
  Value run_body(const UserFunction& function, const std::vector<Value>& values);
  // One that may be called here.
  const UserFunction* callable_here(const Expr& e) const;
  [[noreturn]] void fail_no_result();

  // ---- expressions

  const Value& value_of(ExprId id) const { return values_[static_cast<size_t>(id)]; }

  Value evaluate(const Expr& e);
  void mark(const Expr& e, std::string_view label) { b_.set_origin(source_.origin(e.span), std::string(label)); }

  std::vector<Value> items_of(const std::vector<ExprId>& ids) const;
  // Variables hide sizes' and functions' names, as in Python; types cannot be hidden.
  Value name(const Expr& e);
  [[noreturn]] void fail_unknown(const Expr& e);
  std::string given_names() const;
  Value attribute(const Expr& e);
  std::optional<Value> property(const Expr& e, const Value& base);
  Value call(const Expr& e);
  Value call_function(const Expr& e, const Callable& callable, const std::vector<Given>& given);
  Value call_derivative(const Expr& e, const Derivative& derivative, std::vector<Given> given);
  Value cast_call(const Expr& e, DType dtype, const std::vector<Given>& given);
  Value unary(const Expr& e);
  Value binary(const Expr& e);
  void check_bool(const Expr& e, ExprId id);
  // a < b < c is (a < b) & (b < c), with b calculated once.
  Value compare(const Expr& e);
  static Value same_type(std::string_view op, DType x, DType y);
  Value conditional(const Expr& e);
  // The body once for every item, or for every item of several lists side by side.
  Value each(const Expr& e);

  const Source& source_;
  const Program& program_;
  const std::vector<InputType>& given_;
  GraphBuilder b_;
  std::vector<Value> values_;  // of the expressions
  std::unordered_map<std::string, Value> variables_;
  std::set<std::string> sizes_, input_names_;
  UserFunctions defined_;
  std::vector<const UserFunction*> calls_;  // that are being written out, the innermost last
  size_t expanded_ = 0;                     // expressions of their bodies
  std::vector<NodeId> outputs_;
  bool declares_ = false;  // the program names its inputs itself
  bool returned_ = false;
};

}  // namespace smelt::lang
