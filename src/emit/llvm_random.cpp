// Random words. Neighbouring lanes share blocks of Philox: for L lanes, L/4 counters side by side
// in 64-bit lanes, where one multiplication gives both halves of a product; then the four words of
// each are dealt out.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Expr;
using kernel::ExprId;
using kernel::Loop;
using kernel::Random;
using kernel::Stmt;
using philox::Draw;

static constexpr DType kWide = DType::U64;

// The four words of each counter, as 64-bit values whose upper halves hold anything.
PhasePrinter::Words PhasePrinter::philox(const std::vector<Value>& args, const Value& counter) {
  const auto number = [&](uint64_t n) { return constant(kWide, static_cast<int64_t>(n)); };
  const auto low = [&](const Value& x) { return op("and $T $a, $b", kWide, {x, number(0xffffffff)}); };
  const auto high = [&](const Value& x) { return op("lshr $T $a, $b", kWide, {x, number(32)}); };
  const auto differ = [&](const Value& a, const Value& b) { return op("xor $T $a, $b", kWide, {a, b}); };
  Words c = {counter, high(counter), args[2], high(args[2])};
  Value key[2] = {low(args[0]), high(args[0])};
  for (int round = 0; round < philox::kRounds; ++round) {
    const Value p = op("mul $T $a, $b", kWide, {low(c[0]), number(philox::kMultiplier[0])});
    const Value q = op("mul $T $a, $b", kWide, {low(c[2]), number(philox::kMultiplier[1])});
    c = {differ(differ(key[0], c[1]), high(q)), q, differ(differ(key[1], c[3]), high(p)), p};
    for (int i = 0; i < 2; ++i) key[i] = low(op("add $T $a, $b", kWide, {key[i], number(philox::kKeyStep[i])}));
  }
  return c;
}

// n times four words as 4 * n words of 32 bits, those of a counter side by side.
Value PhasePrinter::interleaved(const Words& words) {
  const int n = words[0].lanes;
  const int scope = std::max({words[0].scope, words[1].scope, words[2].scope, words[3].scope});
  const auto halves = [&](const Value& x) {
    return name(scope, fmt::format("bitcast {} {} to <{} x i32>", type_of(x), x.text, 2 * n));
  };
  // One lower half, then that of the next word. Shifted and joined instead, it would be one
  // multiplication of 64 bits.
  std::string order, pairs;
  for (int i = 0; i < n; ++i) {
    order += fmt::format("{}i32 {}, i32 {}", i ? ", " : "", 2 * i, 2 * n + 2 * i);
    pairs += fmt::format("{}i32 {}, i32 {}", i ? ", " : "", i, n + i);
  }
  const auto pair = [&](size_t i) {
    const std::string a = halves(words[i]), b = halves(words[i + 1]);
    const std::string both = name(
        scope, fmt::format("shufflevector <{0} x i32> {1}, <{0} x i32> {2}, <{0} x i32> <{3}>", 2 * n, a, b, order));
    return name(scope, fmt::format("bitcast <{} x i32> {} to <{} x i64>", 2 * n, both, n));
  };
  const std::string a = pair(0), b = pair(2);
  const std::string mixed = name(
      scope, fmt::format("shufflevector <{0} x i64> {1}, <{0} x i64> {2}, <{3} x i32> <{4}>", n, a, b, 2 * n, pairs));
  return define(scope, DType::U32, 4 * n, fmt::format("bitcast <{} x i64> {} to <{} x i32>", 2 * n, mixed, 4 * n));
}

// The words of 4 * n elements from `element` on, a multiple of four.
Value PhasePrinter::random_words(const std::vector<Value>& args, const Value& element, int n) {
  // Under a mask the first elements may lie before the array's start: rounded down, the others
  // still find their blocks.
  const Value block = op("ashr $T $a, $b", kWide, {element, constant(kWide, 2)});
  const Value counter = op("add $T $a, $b", kWide, {args[1], block});
  return interleaved(philox(args, op("add $T $a, $b", kWide, {counter, iota(n, kWide)})));
}

// What elements are made of the words of whole blocks.
Value PhasePrinter::drawn(Draw draw, const Value& words, const std::vector<int>& elements) {
  std::string order, turns;
  for (const int i : elements) {
    const int word = draw == Draw::Words ? i : draw == Draw::Radii ? i & ~1 : i | 1;
    order += fmt::format("{}i32 {}", order.empty() ? "" : ", ", word);
    turns += fmt::format("{}i32 {}", turns.empty() ? "" : ", ", i & 1 ? 1 << 30 : 0);
  }
  const int lanes = static_cast<int>(elements.size()), scope = words.scope;
  const std::string picked = name(scope, fmt::format("shufflevector {} {}, {} poison, <{} x i32> <{}>", type_of(words),
                                                     words.text, type_of(words), lanes, order));
  if (draw != Draw::Turns) return {picked, DType::U32, lanes, scope};
  return define(scope, DType::U32, lanes, fmt::format("sub {} {}, <{}>", vector_of("i32", lanes), picked, turns));
}

// `count` elements from `base` on. Where that is no multiple of four, twice as many are computed,
// and read from the right place.
Value PhasePrinter::unaligned_words(const Random& e, const std::vector<Value>& args, const IntExpr& base, int count) {
  const Value first = bitcast(integer(base), kWide);
  const auto elements_from = [&](const Value& element, int n) {
    std::vector<int> all(static_cast<size_t>(4 * n));
    std::iota(all.begin(), all.end(), 0);
    return drawn(e.draw, random_words(args, element, n), all);
  };
  const int counters = std::max(2, count / 4), label = ++labels_;
  const Value shift = op("and $T $a, $b", kWide, {first, constant(kWide, 3)});
  const Value even = op("icmp eq $T $a, $b", DType::Bool, {shift, constant(kWide, 0)});
  const std::string type = vector_of("i32", 4 * counters), slot = fmt::format("%words{}", label);
  define_stack(slot, vector_of("i32", 8 * counters));
  const auto in_block = [&](const auto& make) {
    push(false, no_changes());
    Value here = first;
    here.scope = top();  // so that what is computed of it stays in this block
    const std::string result = make(here);
    return std::pair{result, pop()};
  };
  const auto [near, near_text] = in_block([&](const Value& here) { return elements_from(here, counters).text; });
  const auto [far, far_text] = in_block([&](const Value& here) {
    const Value all = elements_from(here, 2 * counters);
    line(fmt::format("store {} {}, ptr {}", type_of(all), all.text, slot));
    const std::string at = name(top(), fmt::format("getelementptr i32, ptr {}, i64 {}", slot, shift.text));
    return name(top(), fmt::format("load {}, ptr {}, align 4", type, at));
  });
  line(fmt::format("br i1 {0}, label %near{1}, label %far{1}", even.text, label));
  scopes_.back().text += fmt::format("near{0}:\n{1}  br label %got{0}\nfar{0}:\n{2}  br label %got{0}\ngot{0}:\n",
                                     label, near_text, far_text);
  return define(top(), DType::U32, 4 * counters,
                fmt::format("phi {} [ {}, %near{} ], [ {}, %far{} ]", type, near, label, far, label));
}

// What each lane takes of the words that they share.
Value PhasePrinter::random_lanes(const Random& e, const std::vector<Value>& args, const kernel::LaneDraw& draw) {
  const int count = draw.count(vector_.lanes);
  const std::vector<int> taken(draw.words.begin(), draw.words.begin() + vector_.lanes);
  if (!draw.aligned) return drawn(Draw::Words, unaligned_words(e, args, draw.base, count), taken);
  bool stays = stands_still(draw.base);
  for (const ExprId arg : e.args) stays = stays && dependencies_[static_cast<size_t>(arg)].empty();
  // Draws of one pair find the words of the other.
  const std::string key =
      fmt::format("words {} {} {} {} {}", args[0].text, args[1].text, args[2].text, count, draw.base.str());
  const Value* known = stays ? recall(key) : nullptr;
  const Value first = bitcast(integer(draw.base), kWide);
  const Value words = known ? *known : random_words(args, first, std::max(2, count / 4));
  if (stays && !known) remember(key, words);
  return drawn(e.draw, words, taken);
}

// A block for each lane.
Value PhasePrinter::random_each(const Random& e, const std::vector<Value>& args) {
  const auto number = [&](int64_t n) { return constant(kWide, n); };
  const auto select = [&](const Value& c, const Value& a, const Value& b) {
    return op("select $C $a, $T $b, $T $c", kWide, {c, a, b});
  };
  const Value element = bitcast(integer_lanes(e.element), kWide);
  const Value block = op("lshr $T $a, $b", kWide, {element, number(2)});
  const Words words = philox(args, op("add $T $a, $b", kWide, {args[1], block}));
  const auto bit = [&](int64_t which) {
    return op("icmp ne $T $a, $b", DType::Bool, {op("and $T $a, $b", kWide, {element, number(which)}), number(0)});
  };
  const Value upper = bit(2), odd = bit(1);
  switch (e.draw) {
    case Draw::Words: {
      const Value word = select(upper, select(odd, words[3], words[2]), select(odd, words[1], words[0]));
      return convert("trunc", word, DType::U32);
    }
    case Draw::Radii: return convert("trunc", select(upper, words[2], words[0]), DType::U32);
    case Draw::Turns: break;
  }
  const Value turn = select(odd, number(1 << 30), number(0));
  return convert("trunc", op("sub $T $a, $b", kWide, {select(upper, words[3], words[1]), turn}), DType::U32);
}

Value PhasePrinter::random(ExprId id, const Random& e) {
  std::vector<Value> args;
  bool uniform = true;
  for (const ExprId arg : e.args) {
    args.push_back(value_of(arg));
    uniform = uniform && args.back().lanes == 0;
  }
  if (vector_.loop && uniform)
    if (const auto draw = vector_.forms->draws.find(id);
        draw != vector_.forms->draws.end() && draw->second.shared_by(vector_.lanes))
      return random_lanes(e, args, draw->second);
  return random_each(e, args);
}

}  // namespace smelt::emit
