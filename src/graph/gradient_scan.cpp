// Running values. What an element takes part in lies after it on the scan's way, so that
// cotangents run the other way.
#include "base/check.hpp"
#include "graph/gradient_detail.hpp"
#include "graph/term.hpp"

namespace smelt::gradients {

using functions::apply;
using functions::integer;
using functions::Term;

namespace {

class ScanRule {
 public:
  ScanRule(GraphBuilder& b, NodeId id, NodeId g)
      : b_(b), node_(b.at(id)), axis_(static_cast<size_t>(node_.axes[0])), x_(b, node_.args[0]), y_(b, id), g_(b, g) {
    if (node_.args.size() > 1 && !has_factors())
      restart_ = node_.args[1], restart_back_ = next(*restart_, Literal(false));
  }

  bool has_factors() const { return node_.args.size() > 1 && is_float(b_.dtype(node_.args[1])); }

  // What a cotangent is multiplied by on the way back is the factor of the element that it comes
  // from.
  Term of_recurrence() {
    return Term(b_, b_.recurrence(g_.id(), next(node_.args[1], Literal(0.0)), node_.axes[0], !node_.reverse));
  }
  NodeId of_factor(const Term& cotangent) {
    return (cotangent * Term(b_, shifted(y_.id(), Literal(0.0), !node_.reverse))).id();
  }

  NodeId of_sum() { return back(g_, node_.exclusive).id(); }

  // Without a 0: the sum of g * y over what x is a part of, divided by x. Where the way has a 0,
  // products after the first of them are 0, and only by that first one is there a derivative: the
  // sum of g by products that leave it out.
  NodeId of_product() {
    const Term zero = equal(x_, 0.0);
    const Term zeros(b_, b_.scan(ReduceKind::Sum, zero.id(), node_.axes[0], node_.reverse, false, restart_));
    const Term before = equal(zeros, integer(0)), first = zero & equal(zeros, integer(1));
    const Term without(b_, b_.scan(ReduceKind::Prod, where(first, 1.0, x_).id(), node_.axes[0], node_.reverse,
                                   node_.exclusive, restart_));
    const Term divided = back(g_ * y_, node_.exclusive) / where(before, x_, 1.0);
    return where(before, divided, where(first, back(g_ * without, node_.exclusive), 0.0)).id();
  }

  // An element that exceeds all before it is the extreme until the next such one: it has what these
  // have together. Of equal ones it is the first.
  NodeId of_extreme(Op exceeds) {
    const Term before(b_, b_.scan(node_.reduce, x_.id(), node_.axes[0], node_.reverse, true, restart_));
    const IntExpr& n = b_.shape(x_.id())[axis_];
    const Term index(b_, b_.iota(b_.shape(x_.id()), node_.axes[0]));
    const Term start = node_.reverse ? Term(b_, b_.size_value(n - 1)) : integer(0);
    Term leads = apply(Op::Or, {apply(exceeds, {x_, before}), equal(index, start)});
    if (restart_) leads = apply(Op::Or, {leads, Term(b_, *restart_)});
    Term given = g_;
    if (node_.exclusive) {
      given = Term(b_, next(g_.id(), Literal(0.0)));
      if (restart_) given = where(Term(b_, *restart_back_), 0.0, given);
    }
    const NodeId end = next(leads.id(), Literal(false));
    const Term together(b_, b_.scan(ReduceKind::Sum, given.id(), node_.axes[0], !node_.reverse, false, end));
    return where(leads, together, 0.0).id();
  }

 private:
  // The array one step further on the scan's way, and `last` at its end.
  NodeId next(NodeId x, const Operand& last) { return shifted(x, last, node_.reverse); }

  // The array one element up along the axis, or down, and `other` at that end.
  NodeId shifted(NodeId x, const Operand& other, bool up) {
    const IntExpr n = b_.shape(x)[axis_];
    const NodeId longer = pad_axis(b_, x, axis_, up ? 1 : 0, up ? 0 : 1, other);
    return slice_axis(b_, longer, axis_, up ? 0 : 1, n);
  }

  // A running sum on the way back. It restarts with the last element of each segment.
  Term back(const Term& x, bool exclusive) {
    return Term(b_, b_.scan(ReduceKind::Sum, x.id(), node_.axes[0], !node_.reverse, exclusive, restart_back_));
  }

  GraphBuilder& b_;
  const Node node_;
  const size_t axis_;
  const Term x_, y_, g_;
  std::optional<NodeId> restart_, restart_back_;
};

}  // namespace

void scan(Sweep& s, NodeId id, NodeId g) {
  const ReduceKind kind = s.b.at(id).reduce;
  const NodeId x = s.arg(id, 0);
  ScanRule rule(s.b, id, g);
  if (rule.has_factors()) {
    const Term cotangent = rule.of_recurrence();
    s.add(x, cotangent.id());
    if (s.wants(id, 1)) s.add(s.arg(id, 1), rule.of_factor(cotangent));
    return;
  }
  switch (kind) {
    case ReduceKind::Sum: return s.add(x, rule.of_sum());
    case ReduceKind::Prod: return s.add(x, rule.of_product());
    case ReduceKind::Max: return s.add(x, rule.of_extreme(Op::Gt));
    case ReduceKind::Min: return s.add(x, rule.of_extreme(Op::Lt));
    default: throw InternalError("a scan of no kind");
  }
}

}  // namespace smelt::gradients
