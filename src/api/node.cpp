#include "api/node.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt::detail {

namespace {

Type literal_type(Literal literal) {
  Type type;
  type.kind = Type::Kind::Literal;
  type.dtype = default_dtype(literal);
  type.literal = literal;
  return type;
}

Type data_type(const Tensor& tensor) {
  Type type;
  type.dtype = tensor.dtype;
  type.shape.assign(tensor.dims.begin(), tensor.dims.end());
  return type;
}

}  // namespace

NodePtr bool_literal(bool number) { return make_node(literal_type(number)); }
NodePtr int_literal(int64_t number) { return make_node(literal_type(number)); }
NodePtr float_literal(double number) { return make_node(literal_type(number)); }
NodePtr uint_literal(uint64_t number) {
  if (number > INT64_MAX)
    throw UserError(
        fmt::format("the number {} is above the largest that a program may have, {}\nhelp: "
                    "Array::scalar makes an array of it",
                    number, INT64_MAX));
  return int_literal(static_cast<int64_t>(number));
}

ArrayNode::ArrayNode(Data d) : type(data_type(d.tensor)) {
  data_.store(new Data(std::move(d)), std::memory_order_release);
}

// A chain of a million steps is taken apart from its end, not by recursion.
ArrayNode::~ArrayNode() {
  delete data_.load(std::memory_order_relaxed);
  if (self_) {
    const std::lock_guard lock(self_->mutex);
    self_->node = nullptr;
  }
  if (!expression_) return;
  std::vector<std::shared_ptr<const Expression>> pending;
  pending.push_back(std::move(expression_));
  const auto take = [&](const Argument& argument, auto&& self) -> void {
    if (argument.node && std::atomic_ref(argument.node->handles).load(std::memory_order_acquire) == 1 &&
        argument.node->expression_)
      pending.push_back(std::move(argument.node->expression_));
    for (const Argument& item : argument.items) self(item, self);
  };
  while (!pending.empty()) {
    const std::shared_ptr<const Expression> last = std::move(pending.back());
    pending.pop_back();
    if (last.use_count() > 1) continue;
    for (const Argument& argument : last->arguments) take(argument, take);
  }
}

std::shared_ptr<const Expression> ArrayNode::expression() const {
  const std::lock_guard lock(mutex_);
  return expression_;
}

// Its destructor waits for the mutex, so the count can be read here; at 0 it is being destroyed.
NodePtr ArrayNode::alive(const std::shared_ptr<Kept>& kept) {
  if (!kept) return nullptr;
  const std::lock_guard lock(kept->mutex);
  if (!kept->node) return nullptr;
  const std::atomic_ref handles(kept->node->handles);
  int64_t count = handles.load(std::memory_order_relaxed);
  do {
    if (count == 0) return nullptr;
  } while (!handles.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel));
  return {kept->node, kept->node};
}

NodePtr ArrayNode::kept() const {
  const std::lock_guard lock(mutex_);
  return alive(kept_);
}

std::shared_ptr<ArrayNode::Kept> ArrayNode::self() {
  const std::lock_guard lock(mutex_);
  if (!self_) {
    self_ = std::make_shared<Kept>();
    self_->node = this;
  }
  return self_;
}

NodePtr ArrayNode::keep(const NodePtr& made) {
  std::shared_ptr<Kept> kept = made->self();
  const std::lock_guard lock(mutex_);
  if (NodePtr before = alive(kept_)) return before;
  kept_ = std::move(kept);
  return made;
}

void ArrayNode::evaluated(Data d) {
  std::shared_ptr<const Expression> released;
  const std::lock_guard lock(mutex_);
  if (data_.load(std::memory_order_relaxed)) return;
  data_.store(new Data(std::move(d)), std::memory_order_release);
  released.swap(expression_);
}

std::string describe(const ArrayNode& node) {
  switch (node.type.kind) {
    case Type::Kind::Literal: return fmt::format("the number {}", smelt::describe(node.type.literal));
    case Type::Kind::Size: return fmt::format("the size {}", node.type.size.str());
    case Type::Kind::Weak:
    case Type::Kind::Array: break;
  }
  return smelt::describe(node.type.dtype, node.type.shape);
}

std::string place_text(const std::optional<Where>& where) {
  return where ? fmt::format("\n  at {}:{}", where->file(), where->line()) : "";
}

const NodePtr& node_of(const Array& array, std::string_view what, std::optional<Where> where) {
  if (!array.defined())
    throw UserError(fmt::format("{}: this Array is empty{}\nhelp: Array() is no array; give it a value first", what,
                                place_text(where)));
  return array.node();
}

Dims known_dims(const ArrayNode& node, std::string_view asked_by) {
  Dims dims;
  for (const IntExpr& size : node.type.shape) {
    const auto known = size.constant();
    if (!known)
      throw SizeUnknown(fmt::format("{} needs the sizes of {}, and {} is open", asked_by, describe(node), size.str()));
    dims.push_back(*known);
  }
  return dims;
}

}  // namespace smelt::detail
