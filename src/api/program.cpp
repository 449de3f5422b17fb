#include "api/program.hpp"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt::detail {

using lang::Value;

namespace {

template <class F>
void each_node(const Argument& argument, F&& f) {
  if (argument.node) f(argument.node);
  for (const Argument& item : argument.items) each_node(item, f);
}

// Depth first with a stack of its own: expressions may be a million steps deep.
class Collector {
 public:
  Needed run(const std::vector<Array>& outputs) {
    for (const Array& output : outputs) {
      push(node_of(output, "an output"));
      while (!stack_.empty()) advance();
    }
    return std::move(needed_);
  }

 private:
  struct Open {
    NodePtr node;
    std::shared_ptr<const Expression> expression;
    std::vector<NodePtr> arguments;
    size_t next = 0;
  };

  void push(const NodePtr& node) {
    if (!seen_.insert({node.get(), false}).second) return;
    Open open{node, nullptr, {}, 0};
    if (!node->data()) open.expression = node->expression();
    // Evaluated by another thread in between.
    if (!open.expression && node->is_value()) {
      SMELT_CHECK(node->data(), "a value with neither data nor an expression");
      needed_.data.push_back(node);
      return;
    }
    if (open.expression)
      for (const Argument& argument : open.expression->arguments)
        each_node(argument, [&](const NodePtr& n) { open.arguments.push_back(n); });
    stack_.push_back(std::move(open));
  }

  void advance() {
    Open& open = stack_.back();
    if (open.next < open.arguments.size()) {
      const NodePtr next = open.arguments[open.next++];
      push(next);
      return;
    }
    needed_.steps.push_back(open.node);
    needed_.expressions.push_back(open.expression);
    stack_.pop_back();
  }

  Needed needed_;
  std::unordered_map<const ArrayNode*, bool> seen_;
  std::vector<Open> stack_;
};

}  // namespace

Needed needed_by(const std::vector<Array>& outputs) { return Collector().run(outputs); }

std::string InputType::str() const {
  if (weak) return "a number";
  const std::string text = smelt::describe(dtype, shape);
  if (layout.row_major()) return text;
  const auto axis = [&](size_t d) { return layout.order.empty() ? d : static_cast<size_t>(layout.order[d]); };
  if (!layout.strides.empty()) {
    Dims strides(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) strides[axis(d)] = layout.strides[d];
    return text + " with strides " + smelt::str(strides);
  }
  Shape lying;
  for (size_t d = 0; d < shape.size(); ++d) lying.push_back(shape[axis(d)]);
  return text + " that lies as " + smelt::str(lying);
}

std::vector<Array> placeholders_for(const std::vector<InputType>& types) {
  std::vector<Array> result;
  for (const InputType& input : types) {
    Expression e{Expression::Kind::Placeholder};
    e.written = "parameter";
    if (input.named) e.name = input.name;
    Type type;
    type.dtype = input.dtype;
    type.shape = input.shape;
    if (input.weak) type.kind = Type::Kind::Weak;
    result.emplace_back(make_node(std::move(type), std::make_shared<const Expression>(std::move(e))));
  }
  return result;
}

void replay(GraphBuilder& b, const Needed& needed, std::unordered_map<const ArrayNode*, Value>& values) {
  const auto value_of_node = [&](const NodePtr& node) { return values.at(node.get()); };
  BuiltSteps built;
  for (size_t s = 0; s < needed.steps.size(); ++s) {
    const ArrayNode& node = *needed.steps[s];
    if (!needed.expressions[s]) {
      values.emplace(&node, Value(node.type.literal));
      continue;
    }
    const Expression& e = *needed.expressions[s];
    if (e.kind == Expression::Kind::Placeholder) {
      if (values.contains(&node)) continue;
      throw UserError(
          "a parameter of a function that was being compiled has no data of its own\nhelp: return what is made of "
          "it from the function instead of keeping it");
    }
    std::vector<Value> arguments;
    for (const Argument& argument : e.arguments) arguments.push_back(value_of(argument, value_of_node));
    values.emplace(&node, build(b, e, arguments, built));
  }
}

Graph build_graph(const Needed& needed, const std::vector<Array>& outputs, const std::vector<Array>& placeholders,
                  const std::vector<InputType>& parameters, const std::vector<InputType>& data) {
  GraphBuilder b;
  b.set_origin({}, "input");
  std::unordered_map<const ArrayNode*, Value> values;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const InputType& type = parameters[i];
    values.emplace(placeholders[i].node().get(),
                   Value(lang::Array{b.input(type.name, type.dtype, type.shape), type.weak}));
  }
  for (size_t i = 0; i < data.size(); ++i)
    values.emplace(needed.data[i].get(), Value::array(b.input(data[i].name, data[i].dtype, data[i].shape)));
  replay(b, needed, values);
  b.set_origin({}, "return");
  std::vector<NodeId> results;
  for (const Array& output : outputs) results.push_back(lang::as_array(b, values.at(output.node().get())));
  return b.finish(std::move(results));
}

std::vector<Origin> places_of(const Needed& needed) {
  std::vector<Origin> places;
  for (const auto& expression : needed.expressions) {
    if (!expression) continue;
    places.push_back(origin_of(*expression));
    if (!expression->body) continue;
    const std::vector<Origin> inner = places_of(expression->body->needed);
    places.insert(places.end(), inner.begin(), inner.end());
  }
  return places;
}

namespace {

class StructureText {
 public:
  std::string run(const Needed& needed, const std::vector<Array>& outputs) {
    for (const NodePtr& data : needed.data) number(data.get());
    put(needed.data.size());
    for (size_t s = 0; s < needed.steps.size(); ++s) {
      if (needed.expressions[s]) {
        put_expression(*needed.expressions[s]);
      } else {
        text_ += 'L';
        put_literal(needed.steps[s]->type.literal);
      }
      number(needed.steps[s].get());
    }
    text_ += 'O';
    for (const Array& output : outputs) put(numbers_.at(output.node().get()));
    return std::move(text_);
  }

 private:
  void number(const ArrayNode* node) { numbers_.emplace(node, numbers_.size()); }

  template <class T>
  void put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void put_text(std::string_view text) {
    put(text.size());
    text_ += text;
  }

  void put_literal(const Literal& literal) {
    put(static_cast<char>(literal.index()));
    if (const auto* f = std::get_if<double>(&literal)) return put(std::bit_cast<int64_t>(*f));
    if (const auto* i = std::get_if<int64_t>(&literal)) return put(*i);
    put(static_cast<int64_t>(std::get<bool>(literal)));
  }

  void put_expression(const Expression& e) {
    text_ += 'E';
    put(e.kind);
    put(e.function);
    put(e.op);
    put(e.index);
    if (e.scalar) put_text(e.scalar->source.text());
    if (e.custom) {
      put(e.custom->code.get());  // which the compiled program keeps
      put(calls_.try_emplace(e.custom.get(), calls_.size()).first->second);
    }
    if (e.gradient) {
      put(e.gradient->values);
      put(gradients_.try_emplace(e.gradient.get(), gradients_.size()).first->second);
    }
    if (e.body) {
      put_text(e.body->name);
      put_text(structure_of(e.body->needed, {e.body->result}));
    }
    put(e.arguments.size());
    for (const Argument& argument : e.arguments) put_argument(argument);
  }

  void put_argument(const Argument& a) {
    put(a.kind);
    if (a.node) put(numbers_.at(a.node.get()));
    put(a.integer);
    put(std::bit_cast<int64_t>(a.number));
    put(a.type);
    put_text(a.text);
    put(a.items.size());
    for (const Argument& item : a.items) put_argument(item);
  }

  std::string text_;
  std::unordered_map<const ArrayNode*, size_t> numbers_;
  std::unordered_map<const CustomStep*, size_t> calls_;
  std::unordered_map<const GradientStep*, size_t> gradients_;
};

}  // namespace

std::string structure_of(const Needed& needed, const std::vector<Array>& outputs) {
  return StructureText().run(needed, outputs);
}

}  // namespace smelt::detail
