// Sums of products of what is measured from values of the row, as sum((x - mean(x))^2), in the pass
// that finds those values. Lanes measure a factor from an origin of their own, the first element
// that they meet:
//
//   origin = n == 0 ? x : origin;  d = x - origin;  product += d * d;  sum += d;  n += 1
//
// A sum that was measured from one origin is known from any other:
//
//   sum((x - a) * (y - b)) = product + (p - a) * (sum_y + n * (q - b)) + (q - b) * sum_x    for origins p and q of x and y
//
// So are two parts joined, and lanes at the mean of their origins; in the end the sum is measured
// from the values of the row (after Chan, Golub and LeVeque, "Updating formulae and a pairwise
// algorithm for computing sample variances", 1979). Since an origin is an element of the lane, it
// is no farther from the mean than the elements are whose squares are added.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_reduction.hpp"
#include "kernel/value.hpp"

namespace smelt::kernel {

using schedule::Moment;

// Accumulators besides the moments: of elements, and for each factor an origin where it is measured
// from something, and a sum where the other one is.
void AccumulatorLowering::add_moments(std::vector<Accumulator>& accs) {
  const size_t reductions = accs.size();
  const auto add = [&](Role role, NodeId factor, DType type) {
    for (size_t i = 0; i < accs.size(); ++i)
      if (accs[i].role == role && accs[i].factor == factor && accs[i].value_type == type) return static_cast<int>(i);
    Accumulator a{nullptr, ReduceKind::Sum};
    a.role = role, a.factor = factor, a.value_type = type;
    a.value = builder_.new_local(type, true), a.whole = builder_.new_local(type, true);
    accs.push_back(a);
    return static_cast<int>(accs.size()) - 1;
  };
  // A reduction of the program.
  const auto plain_sum = [&](NodeId factor, DType type) {
    for (size_t i = 0; i < reductions; ++i) {
      const Accumulator& a = accs[i];
      const bool plain = a.kind == ReduceKind::Sum && !a.reduction->online && !a.reduction->moment;
      if (plain && a.value_type == type && graph_.at(a.reduction->node).args[0] == factor) return static_cast<int>(i);
    }
    return -1;
  };
  for (size_t i = 0; i < reductions; ++i) {
    if (!accs[i].reduction->moment) continue;
    const DType type = accs[i].value_type;
    const auto& factors = accs[i].reduction->moment->factors;
    accs[i].role = Role::Moment;
    accs[i].whole = builder_.new_local(type, true);
    std::array<int, 2> origins{-1, -1}, sums{-1, -1};
    for (size_t f = 0; f < 2; ++f) {
      if (factors[f].less < 0) continue;
      add(Role::Count, -1, type);
      origins[f] = add(Role::Origin, factors[f].value, type);
    }
    for (size_t f = 0; f < 2; ++f) {
      if (origins[1 - f] < 0) continue;
      if (origins[f] < 0) sums[f] = plain_sum(factors[f].value, type);
      if (sums[f] >= 0) continue;
      // One that is measured from 0 and one that is not are two sums.
      const NodeId of = origins[f] >= 0 ? factors[f].value : -2 - factors[f].value;
      sums[f] = add(Role::Sum, of, type);
      accs[static_cast<size_t>(sums[f])].origins[0] = origins[f];
    }
    accs[i].origins = origins, accs[i].sums = sums;
  }
}

namespace {

// The place of an accumulator's count; past the end where nothing is measured from an
// origin.
size_t count_of(const std::vector<Accumulator>& accs, const Accumulator& a) {
  const auto count = std::find_if(accs.begin(), accs.end(), [&](const Accumulator& other) {
    return other.role == Role::Count && other.value_type == a.value_type;
  });
  return static_cast<size_t>(count - accs.begin());
}

// What that one holds.
ExprId count_in(const std::vector<ExprId>& held, const std::vector<Accumulator>& accs, const Accumulator& a) {
  const size_t place = count_of(accs, a);
  return place < held.size() ? held[place] : kNoExpr;
}

// Whether it adds squares of differences from an origin.
bool is_square(const Accumulator& a) { return a.origins[0] >= 0 && a.origins[0] == a.origins[1]; }

// What accumulators hold, by their places; those that there are not count as 0.
struct Moved {
  Builder& builder;
  const std::vector<ExprId>& held;  // of the part that is moved
  const std::vector<ExprId>& by;    // of each origin: how far it is from where it goes; kNoExpr: it stays
  ExprId at(int place) const { return place < 0 ? kNoExpr : held[static_cast<size_t>(place)]; }
  ExprId step(int origin) const { return origin < 0 ? kNoExpr : by[static_cast<size_t>(origin)]; }

  // A sum of `n` elements.
  ExprId sum(ExprId value, ExprId n, ExprId by) const {
    return by == kNoExpr ? value : builder.apply(Op::Fma, {n, by, value});
  }
  // A product, from its factors.
  ExprId product(ExprId value, ExprId n, std::array<ExprId, 2> by, std::array<ExprId, 2> sums) const {
    if (by[1] != kNoExpr) value = builder.apply(Op::Fma, {by[1], sums[0], value});
    if (by[0] != kNoExpr) value = builder.apply(Op::Fma, {by[0], sum(sums[1], n, by[1]), value});
    return value;
  }
  ExprId moment(const Accumulator& a, ExprId value, ExprId n) const {
    const ExprId moved = product(value, n, {step(a.origins[0]), step(a.origins[1])}, {at(a.sums[0]), at(a.sums[1])});
    if (!is_square(a)) return moved;
    // Squares that have overflowed stay infinite, wherever they are measured from.
    const Val old{&builder, value};
    return select(old == like(old, HUGE_VAL), old, {&builder, moved}).id;
  }
};

bool any_moments(const std::vector<Accumulator>& accs) {
  return std::any_of(accs.begin(), accs.end(), [](const Accumulator& a) { return a.of_moments(); });
}

}  // namespace

ExprId AccumulatorLowering::held(const std::vector<Accumulator>& accs, size_t place) {
  const Accumulator& a = accs[place];
  if (!a.joined) return builder_.local(a.value);
  const ExprId whole = builder_.local(a.whole);
  if (a.role != Role::Origin) return whole;
  // Without elements there is no mean.
  const Val n{&builder_, builder_.local(accs[count_of(accs, a)].whole)}, sum{&builder_, whole};
  return select(n == like(n, 0), like(n, 0), sum / n).id;
}

std::vector<Stmt> AccumulatorLowering::update_moments(const std::vector<Accumulator>& accs,
                                                      const Placement& placement) {
  std::vector<Stmt> origins, sums, counts;
  if (!any_moments(accs)) return {};
  // All moments of a pass are of elements of one shape, at one index each.
  const auto value_of = [&](NodeId factor, const Accumulator& moment) {
    const ExprId value = evaluator_.value(factor, placement.at(moment.reduction->argument_index));
    return builder_.cast(value, moment.value_type);
  };
  std::vector<bool> done(accs.size(), false);
  for (const Accumulator& a : accs) {
    if (a.role != Role::Moment) continue;
    std::array<ExprId, 2> measured{};
    for (size_t f = 0; f < 2; ++f) {
      const ExprId x = value_of(a.reduction->moment->factors[f].value, a);
      measured[f] = x;
      if (a.origins[f] >= 0) {
        const auto place = static_cast<size_t>(a.origins[f]);
        const Val n{&builder_, builder_.local(accs[count_of(accs, a)].value)}, value{&builder_, x},
            origin{&builder_, builder_.local(accs[place].value)};
        if (!done[place]) origins.push_back(assign(accs[place].value, select(n == like(n, 0), value, origin).id));
        done[place] = true;
        measured[f] = (value - origin).id;
      }
      if (a.sums[f] < 0 || done[static_cast<size_t>(a.sums[f])]) continue;
      if (!accs[static_cast<size_t>(a.sums[f])].of_moments()) continue;
      done[static_cast<size_t>(a.sums[f])] = true;
      const LocalId sum = accs[static_cast<size_t>(a.sums[f])].value;
      sums.push_back(assign(sum, builder_.apply(Op::Add, {builder_.local(sum), measured[f]})));
    }
    sums.push_back(assign(a.value, builder_.apply(Op::Fma, {measured[0], measured[1], builder_.local(a.value)})));
  }
  for (const Accumulator& a : accs)
    if (a.role == Role::Count) {
      const Val n{&builder_, builder_.local(a.value)};
      counts.push_back(assign(a.value, (n + like(n, 1)).id));
    }
  append(origins, std::move(sums));
  append(origins, std::move(counts));
  return origins;
}

// Where the first part brings an origin to: its mean, where sums from that origin are known. An
// element of the part may be far from all others.
ExprId AccumulatorLowering::origin_of_part(const std::vector<Accumulator>& accs, const std::vector<ExprId>& part,
                                           size_t origin) {
  const Val there{&builder_, part[origin]}, n{&builder_, count_in(part, accs, accs[origin])};
  for (size_t i = 0; i < accs.size(); ++i) {
    if (accs[i].role != Role::Sum || accs[i].origins[0] != static_cast<int>(origin)) continue;
    const Val mean = there + Val{&builder_, part[i]} / n;
    return select(mean - mean == like(mean, 0), mean, there)
        .id;  // not of nothing, and not where the sum has overflowed
  }
  return there.id;
}

// `part` is what the accumulators of a part hold. The first part brings the origins.
std::vector<Stmt> AccumulatorLowering::take_moments(const std::vector<Accumulator>& accs,
                                                    const std::vector<ExprId>& part) {
  std::vector<Stmt> origins, products, sums, counts;
  if (!any_moments(accs)) return {};
  std::vector<ExprId> by(accs.size(), kNoExpr);
  for (size_t i = 0; i < accs.size(); ++i) {
    const Accumulator& a = accs[i];
    if (a.role != Role::Origin) continue;
    const Val n{&builder_, builder_.local(accs[count_of(accs, a)].value)}, there{&builder_, part[i]},
        first{&builder_, origin_of_part(accs, part, i)}, origin{&builder_, builder_.local(a.value)};
    origins.push_back(assign(a.value, select(n == like(n, 0), first, origin).id));
    by[i] = (there - origin).id;
  }
  const Moved moved{builder_, part, by};
  for (size_t i = 0; i < accs.size(); ++i) {
    const Accumulator& a = accs[i];
    const auto add = [&](ExprId more) {
      return assign(a.value, builder_.apply(Op::Add, {builder_.local(a.value), more}));
    };
    if (a.role == Role::Count) counts.push_back(add(part[i]));
    if (a.role != Role::Moment && a.role != Role::Sum) continue;
    const ExprId n = count_in(part, accs, a);
    if (a.role == Role::Moment) products.push_back(add(moved.moment(a, part[i], n)));
    if (a.role == Role::Sum) sums.push_back(add(moved.sum(part[i], n, moved.step(a.origins[0]))));
  }
  append(origins, std::move(products));
  append(origins, std::move(sums));
  append(origins, std::move(counts));
  return origins;
}

std::vector<Accumulator> AccumulatorLowering::of_all_lanes(std::vector<Accumulator> accs) {
  for (Accumulator& a : accs) a.joined = a.of_moments();
  return accs;
}

// Lanes agree on the mean of their origins, measure what they have from there, and add it up.
std::vector<Stmt> AccumulatorLowering::join_moments(const std::vector<Accumulator>& accs) {
  if (!any_moments(accs)) return {};
  const std::vector<Accumulator> whole_ones = of_all_lanes(accs);
  const auto over_lanes = [&](std::vector<Stmt> body) {
    if (!on_gpu()) return loop(LoopKind::Vector, kLane, schedule_.lanes, std::move(body), schedule_.lanes);
    if (schedule_.columns) {
      Loop made = loop(LoopKind::Vector, kLane, IntExpr(int64_t{schedule_.team} * schedule_.lanes), std::move(body),
                       schedule_.lanes);
      made.columns = schedule_.columns;
      return made;
    }
    const int lanes = accumulator_lanes(schedule_.lanes, schedule_.unroll);
    return loop(LoopKind::Vector, Symbol::loop("l"), IntExpr(int64_t{schedule_.team} * lanes), std::move(body), 1,
                lanes);
  };
  std::vector<Stmt> stmts, places, sums, moved_sums, results;
  std::vector<ExprId> here, by(accs.size(), kNoExpr);
  for (const Accumulator& a : accs) here.push_back(builder_.local(a.value));
  for (size_t i = 0; i < accs.size(); ++i) {
    const Accumulator& a = accs[i];
    if (!a.of_moments()) continue;
    stmts.push_back(assign(a.whole, initial(a)));
    if (a.role == Role::Count) places.push_back(assign(a.whole, here[i]));
    if (a.role != Role::Origin) continue;
    places.push_back(assign(a.whole, builder_.apply(Op::Mul, {count_in(here, accs, a), here[i]})));
    by[i] = builder_.apply(Op::Sub, {here[i], held(whole_ones, i)});
  }
  const Moved moved{builder_, here, by};
  for (size_t i = 0; i < accs.size(); ++i) {
    const Accumulator& a = accs[i];
    Accumulator whole = a;
    whole.value = a.whole;
    if (a.role == Role::Count || a.role == Role::Origin) sums.push_back(combine_lanes(whole));
    if (a.role != Role::Moment && a.role != Role::Sum) continue;
    const ExprId n = count_in(here, accs, a);
    moved_sums.push_back(assign(a.whole, a.role == Role::Moment ? moved.moment(a, here[i], n)
                                                                : moved.sum(here[i], n, moved.step(a.origins[0]))));
    results.push_back(combine_lanes(whole));
  }
  if (!places.empty()) stmts.push_back(over_lanes(std::move(places)));
  append(stmts, std::move(sums));
  stmts.push_back(over_lanes(std::move(moved_sums)));
  append(stmts, std::move(results));
  return stmts;
}

// Measured from the values of the row at hand, and scaled by them.
ExprId AccumulatorLowering::moment_result(const std::vector<Accumulator>& accs, size_t place, const Index& index) {
  const Accumulator& a = accs[place];
  const Node& sum = graph_.at(a.reduction->node);
  const Moment& moment = *a.reduction->moment;
  Index at;  // any element of the row
  size_t kept = 0;
  for (size_t d = 0; d < graph_.at(sum.args[0]).shape.size(); ++d)
    at.push_back(std::count(sum.axes.begin(), sum.axes.end(), static_cast<int>(d)) ? IntExpr(0) : index[kept++]);
  const auto of_row = [&](NodeId id) { return Val{&builder_, builder_.cast(evaluator_.value(id, at), a.value_type)}; };
  std::vector<ExprId> values, none;
  for (size_t i = 0; i < accs.size(); ++i) values.push_back(held(accs, i));
  std::array<ExprId, 2> by{kNoExpr, kNoExpr}, sums{kNoExpr, kNoExpr};
  const ExprId n = count_in(values, accs, a);
  for (size_t f = 0; f < 2; ++f) {
    if (a.sums[f] >= 0) sums[f] = values[static_cast<size_t>(a.sums[f])];
    if (a.origins[f] < 0) continue;
    by[f] = (Val{&builder_, values[static_cast<size_t>(a.origins[f])]} - of_row(moment.factors[f].less)).id;
  }
  Val result{&builder_, Moved{builder_, values, none}.product(values[place], n, by, sums)};
  if (is_square(a)) {
    // Never below 0; and infinite where only the squares are: an element that is makes them nan.
    const Val squares{&builder_, values[place]}, total{&builder_, sums[0]}, zero = like(squares, 0);
    const Val overflowed = (squares == like(squares, HUGE_VAL)) & (total - total == zero);
    result = select(overflowed, squares, {&builder_, builder_.apply(Op::Max, {result.id, zero.id})});
  }
  if (moment.negative) result = -result;
  for (const Moment::Scale& scale : moment.scales)
    result = scale.divides ? result / of_row(scale.value) : result * of_row(scale.value);
  return result.id;
}

}  // namespace smelt::kernel
