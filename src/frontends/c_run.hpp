// One walk over the body of a scalar function, which makes operations of it as it goes: there is no
// tree in between. The statements after an `if` are made for both outcomes, and a choice picks. A
// loop is walked as often as it turns.
#pragma once

#include <vector>

#include "frontends/c_function.hpp"
#include "frontends/c_value.hpp"

namespace smelt::lang {

// The type that begins at tokens[at], with words such as const and static; moves `at` after it.
// Nothing, and `at` stays, where no type begins. Void has no dtype.
struct CType {
  std::optional<DType> dtype;  // none: void
  bool is_const = false;
};
std::optional<CType> read_type(const Source& source, const std::vector<CToken>& tokens, size_t& at);

class CRunner {
 public:
  CRunner(const Source& source, const std::vector<CToken>& tokens, GraphBuilder& b)
      : source_(source), tokens_(tokens), c_(b) {}

  void declare(std::string_view name, const CValue& value) { variables_.push_back({name, value.dtype, value, false}); }
  // From the token after the '{' of the body. The value has the type `result`.
  NodeId run(const CFunction& function, size_t body, DType result);

 private:
  struct Variable {
    std::string_view name;
    DType dtype;
    std::optional<CValue> value;  // none: not yet
    bool is_const;
  };
  // All that an `if` may change.
  struct Path {
    std::vector<Variable> variables;
    CValue done;
    std::optional<CValue> result;
  };
  struct Nested;

  const CToken& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const CToken& take() { return tokens_[std::min(at_++, tokens_.size() - 1)]; }
  bool accept(std::string_view text);
  void expect(std::string_view text, const std::string& help);
  [[noreturn]] void fail_here(const std::string& message, const std::string& help) const;
  void count(Span span);

  void statement();
  void block();
  void declaration(const CType& type);
  void change();  // an assignment or an increment, without the ';'
  void choice();
  void loop();
  void skip_to_closing();
  void give_result();
  Path path() const { return {variables_, done_, result_}; }
  void follow(Path path);
  Path merged(const CValue& condition, const Path& yes, const Path& no);
  Variable& variable(const CToken& name);

  CValue expression();
  CValue binary(int least);
  CValue unary();
  CValue primary();
  CValue name();
  CValue call();

  const Source& source_;
  const std::vector<CToken>& tokens_;
  CArithmetic c_;
  size_t at_ = 0;
  int depth_ = 0, walked_ = 0;
  DType type_{};  // of the result
  std::vector<Variable> variables_;
  CValue done_ = CValue::of(Scalar::of_bool(false));  // whether a return was met
  std::optional<CValue> result_;
};

}  // namespace smelt::lang
