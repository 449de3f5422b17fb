#include "schedule/moments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/views.hpp"

namespace smelt::schedule {
namespace {

// Nodes that a product may be made of; longer ones are no moments.
constexpr int kMostNodes = 64;

class Parser {
 public:
  Parser(const Graph& graph, const Node& sum) : graph_(graph), ranges_(Ranges::inside_loops()) {
    const Shape& shape = graph.at(sum.args[0]).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Symbol var = Symbol::loop(fmt::format("a{}", d));
      ranges_[var] = {0, shape[d] - 1};
      at_.push_back(shape[d].is(1) ? IntExpr(0) : IntExpr::symbol(var));
      if (std::count(sum.axes.begin(), sum.axes.end(), static_cast<int>(d))) reduced_.push_back(var);
    }
  }

  std::optional<Moment> run(NodeId product) {
    if (!multiply(product, false) || factors_.size() != 2) return std::nullopt;
    found_.factors = {factors_[0], factors_[1]};
    return std::move(found_);
  }

 private:
  // Takes all that is multiplied, or says that it is too much.
  bool multiply(NodeId id, bool divides) {
    if (++nodes_ > kMostNodes || factors_.size() > 2) return false;
    if (is_of_row(id, at_)) {
      found_.scales.push_back({id, divides});
      return true;
    }
    if (divides) return false;
    const Node& node = graph_.at(id);
    if (node.kind == NodeKind::Elementwise) {
      switch (node.op) {
        case Op::Mul: return multiply(node.args[0], false) && multiply(node.args[1], false);
        case Op::Square: return multiply(node.args[0], false) && multiply(node.args[0], false);
        case Op::Div:
          if (!is_of_row(node.args[1], at_)) break;
          return multiply(node.args[0], false) && multiply(node.args[1], true);
        case Op::Neg: found_.negative = !found_.negative; return multiply(node.args[0], false);
        case Op::Sub:
          if (is_of_row(node.args[1], at_)) return add_factor({node.args[0], node.args[1]});
          if (!is_of_row(node.args[0], at_)) break;
          found_.negative = !found_.negative;
          return add_factor({node.args[1], node.args[0]});
        default: break;
      }
    }
    return add_factor({id});
  }

  bool add_factor(const Moment::Factor& factor) {
    factors_.push_back(factor);
    return factors_.size() <= 2;
  }

  // Whether the value is the same for all elements of a row.
  bool is_of_row(NodeId id, const Index& index) {
    const auto moves = [&](const IntExpr& i) {
      return std::any_of(reduced_.begin(), reduced_.end(), [&](Symbol var) { return i.mentions(var); });
    };
    if (std::none_of(index.begin(), index.end(), moves)) return true;
    if (++nodes_ > kMostNodes) return false;
    const Node& node = graph_.at(id);
    switch (node.kind) {
      case NodeKind::Constant:
      case NodeKind::SizeValue: return true;
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast: return is_of_row(node.args[0], through_view(graph_, node, index, ranges_));
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return is_of_row(arg, index); });
      default: return false;
    }
  }

  const Graph& graph_;
  Ranges ranges_;
  Index at_;
  std::vector<Symbol> reduced_;
  std::vector<Moment::Factor> factors_;
  Moment found_;
  int nodes_ = 0;
};

}  // namespace

std::vector<NodeId> Moment::of_rows() const {
  std::vector<NodeId> values;
  for (const Factor& factor : factors)
    if (factor.less >= 0) values.push_back(factor.less);
  for (const Scale& scale : scales) values.push_back(scale.value);
  return values;
}

std::optional<Moment> moment(const Graph& graph, NodeId reduce) {
  const Node& sum = graph.at(reduce);
  if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || sum.local) return std::nullopt;
  const Node& product = graph.at(sum.args[0]);
  const bool wide = product.dtype == DType::F32 || product.dtype == DType::F64;
  if (!wide || product.kind != NodeKind::Elementwise) return std::nullopt;
  return Parser(graph, sum).run(sum.args[0]);
}

}  // namespace smelt::schedule
