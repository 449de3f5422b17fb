// What an Array stands for: data, a number, or an expression over other nodes whose dtype and shape
// are known.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compile/compile.hpp"
#include "frontends/c_function.hpp"
#include "frontends/function_table.hpp"
#include "smelt/call.hpp"

namespace smelt::detail {

struct DeviceState {
  Machine machine;
};

// An array in memory.
struct Data {
  Tensor tensor;
  Device device;
  bool read_only = false;
};

// A function in C with its text.
struct ScalarState {
  explicit ScalarState(std::string text);
  const lang::Source source;
  const lang::CFunction function;
  const std::string name;
};
struct NamedBody;  // of elementwise(): its steps
// A call of the user's own code; its results are expressions that share it.
struct CustomStep {
  std::shared_ptr<const CustomCode> code;
  size_t inputs = 0;  // of the arguments; after them come the dtype and the sizes of every result
};

// A gradient; its results are expressions that share it.
struct GradientStep {
  size_t values = 0;  // of the arguments; then as many cotangents, then what the gradients are by
};

struct Expression {
  enum class Kind : uint8_t {
    Function,  // of the language
    Operator,
    Subscript,    // array, tuple of items
    Extent,       // size of the axis `index` of an array
    Placeholder,  // a parameter of a function that is being traced
    Scalar,       // a function in C
    Named,        // several steps under a name
    Custom,       // the result `index` of a CustomStep
    Alias,        // its argument as a value of its own
    Gradient,     // the result `index` of a GradientStep
  };
  Kind kind;
  const lang::Function* function = nullptr;
  Op op{};
  std::string_view written;  // as messages and explanations call it
  int index = 0;             // Extent; Placeholder of a NamedBody, Custom, Gradient: which
  Handle<const ScalarState> scalar;
  std::shared_ptr<const NamedBody> body;
  std::shared_ptr<const CustomStep> custom;
  std::shared_ptr<const GradientStep> gradient;
  std::vector<Argument> arguments;
  std::optional<Where> where{};  // in the user's source
  std::string name{};            // Placeholder: what the user calls the parameter; may be empty
};

// What is known of a value at once.
struct Type {
  enum class Kind : uint8_t { Array, Weak, Literal, Size };  // Weak: an array calculated from sizes (lang::Array::weak)
  Kind kind = Kind::Array;
  DType dtype{};
  Shape shape;
  Literal literal;
  IntExpr size;
};

// The type never changes. An expression is exchanged for its data when it is evaluated: `data` is
// set first, then the expression let go, so that the arrays that it was made of can be.
struct ArrayNode final : Shared {
  Type type;

  explicit ArrayNode(Type t, std::shared_ptr<const Expression> e = nullptr)
      : type(std::move(t)), expression_(std::move(e)) {}
  explicit ArrayNode(Data d);
  ArrayNode(const ArrayNode&) = delete;
  ~ArrayNode() override;

  const Data* data() const { return data_.load(std::memory_order_acquire); }  // null: not evaluated
  std::shared_ptr<const Expression> expression() const;                       // null: data or a literal
  void evaluated(Data d);                                                     // the first one counts
  // For gradients: the node of the same expression that no user has, so that it stays an
  // expression. Of such a node itself; null when there is none yet. `keep` gives the one that was
  // there first.
  NodePtr kept() const;
  NodePtr keep(const NodePtr& made);
  bool is_value() const { return type.kind == Type::Kind::Array || type.kind == Type::Kind::Weak; }

 private:
  std::atomic<const Data*> data_{nullptr};
  mutable std::mutex mutex_;  // of the following
  std::shared_ptr<const Expression> expression_;
  // A node that may be gone.
  struct Kept {
    std::mutex mutex;
    ArrayNode* node = nullptr;
  };
  std::shared_ptr<Kept> self();
  static NodePtr alive(const std::shared_ptr<Kept>& kept);
  std::shared_ptr<Kept> kept_, self_;  // the node that is kept for this one; this one, when it is kept for others
};

template <class... Arguments>
NodePtr make_node(Arguments&&... arguments) {
  auto* node = new ArrayNode(std::forward<Arguments>(arguments)...);
  return {node, node};
}

// The node of an array argument; throws for Array().
const NodePtr& node_of(const Array& array, std::string_view what, std::optional<Where> where = {});
// A line of a message: "\n  at norm.cpp:12"; nothing without a place.
std::string place_text(const std::optional<Where>& where);
Array make(Expression expression);  // infers its type; throws UserError for what does not fit

// The value as the language's machinery knows it; `value_of` has those of nodes.
lang::Value value_of(const Argument& argument, const std::function<lang::Value(const NodePtr&)>& value_of_node);
// What steps with several results made of a graph so far.
struct BuiltSteps {
  std::unordered_map<const CustomStep*, NodeId> custom;  // their first results
  std::unordered_map<const GradientStep*, std::vector<NodeId>> gradients;
};
Origin origin_of(const Expression& expression);
// Builds one step. Throws UserBuildError.
lang::Value build(GraphBuilder& builder, const Expression& expression, const std::vector<lang::Value>& arguments,
                  BuiltSteps& built);

// Thrown when a number is asked for that is a symbol of the function being traced.
class SizeUnknown : public UserError {
  using UserError::UserError;
};
Dims known_dims(const ArrayNode& node, std::string_view asked_by);

// Checks the name of a user's operation, which explanations and comments in kernels show.
void check_name(const std::string& name, std::string_view of);

inline const Machine& machine_of(const Device& device) { return device.state().machine; }
std::string describe(const ArrayNode& node);  // "f32[4, 8]"

}  // namespace smelt::detail
