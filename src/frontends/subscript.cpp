// x[...]: integers, slices with steps, None, ..., and one array or list of indices; and the items
// of tuples.
//
// On a constant size the bounds are clamped, as in NumPy. On a symbolic size they must lie inside,
// which each call checks.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "frontends/value.hpp"
#include "graph/build_detail.hpp"
#include "graph/functions.hpp"

namespace smelt::lang {

namespace {

// The part of one axis that an item names.
struct Range {
  IntExpr start = 0, length = 0;
  int64_t step = 1;
};

int64_t step_of(GraphBuilder& b, const Value& value) {
  if (value.is_none()) return 1;
  const auto step = as_integer(value);
  if (!step)
    fail(fmt::format("the step of a slice is an integer, not {}", describe(b, value)),
         "2 takes every other element, -1 reverses");
  if (*step == 0) fail("the step of a slice is 0", "take another step: 2 takes every other element, -1 reverses");
  if (*step == INT64_MIN) fail("this step is too large", "take a smaller step");
  return *step;
}

// An index below 0 counts from the end. Of a symbolic one that is known by its sign, and must not
// turn out to be -0.
IntExpr from_front(GraphBuilder& b, const IntExpr& index, const IntExpr& size) {
  if (index.is(0) || !proves_nonnegative(-index, {})) return index;
  b.require(
      {Constraint::AtLeast, -index, IntExpr(1), fmt::format("the index {} must count from the end", index.str()), {}});
  return size + index;
}

// A bound counted from the front.
IntExpr bound(GraphBuilder& b, const Value& value, const IntExpr& size, int64_t step, const IntExpr& missing) {
  if (value.is_none()) return missing;
  const auto given = as_size(value);
  if (!given)
    fail(fmt::format("a bound of a slice is an integer or a size, not {}", describe(b, value)),
         value.as<Array>() ? "take(x, indices) picks elements whose indices are computed" : "as in x[1:-1]");
  const auto n = size.constant(), k = given->constant();
  if (n && k) {
    const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? *n : *n - 1;
    return std::clamp(*k < 0 ? *k + *n : *k, lowest, highest);
  }
  return from_front(b, *given, size);
}

Range slice_range(GraphBuilder& b, const Bounds& bounds, const IntExpr& size) {
  const auto& items = *bounds.items;
  Range range;
  range.step = step_of(b, items[2]);
  const bool forward = range.step > 0;
  range.start = bound(b, items[0], size, range.step, forward ? IntExpr(0) : size - 1);
  const IntExpr stop = bound(b, items[1], size, range.step, forward ? size : IntExpr(-1));
  const IntExpr span = forward ? stop - range.start : range.start - stop;
  range.length = ceildiv(span, IntExpr(std::abs(range.step)));
  if (const auto n = range.length.constant(); n && *n <= 0) range = {0, 0, 1};
  return range;
}

Range element(GraphBuilder& b, NodeId x, size_t axis, const IntExpr& index) {
  if (const auto k = index.constant()) functions::require_elements(b, x, static_cast<int>(axis), {{*k}, {}});
  return {from_front(b, index, b.shape(x)[axis]), 1, 1};
}

bool takes_axis(const Value& item) { return !item.is_none() && !item.as<Dots>(); }

// The items with ... written out as whole slices.
std::vector<Value> spelled_out(GraphBuilder& b, NodeId x, const std::vector<Value>& items) {
  const auto used = static_cast<size_t>(std::count_if(items.begin(), items.end(), takes_axis));
  const size_t rank = b.shape(x).size();
  if (used > rank)
    fail(fmt::format("{} {} for {}", used, used == 1 ? "index" : "indices", smelt::describe(b.at(x))),
         rank == 0 ? "a scalar has no axes to index" : fmt::format("it has {} {}", rank, rank == 1 ? "axis" : "axes"));
  const Value whole(Bounds{std::make_shared<const std::vector<Value>>(3)});
  std::vector<Value> result;
  bool dots = false;
  for (const Value& item : items) {
    if (!item.as<Dots>()) {
      result.push_back(item);
      continue;
    }
    if (dots) fail("an index has at most one ...", "one ... stands for all axes that the other items leave");
    dots = true;
    result.insert(result.end(), rank - used, whole);
  }
  if (!dots) result.insert(result.end(), rank - used, whole);
  return result;
}

void check_index_array(GraphBuilder& b, NodeId index) {
  if (smelt::is_bool(b.dtype(index)))
    fail(
        fmt::format("an index of bools, {}, would give a shape that depends on the data", smelt::describe(b.at(index))),
        "where(mask, x, 0) keeps the shape");
  if (!is_int(b.dtype(index)))
    fail(fmt::format("an index is an integer, not {}", smelt::describe(b.at(index))), "cast it: i64(...)");
}

// NumPy moves an axis of indices to the front when a slice is between it and an integer. That
// is refused rather than imitated.
void check_neighbours(const std::vector<Value>& items, size_t array_at) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (!as_size(items[i])) continue;
    for (size_t between = std::min(i, array_at) + 1; between < std::max(i, array_at); ++between)
      if (!as_size(items[between]))
        fail("an integer and an array of indices with a slice between them", "index twice: x[0][:, indices]");
  }
}

// The part of x that the items name. The axis of an array or a list of indices among them stays
// whole.
struct NamedPart {
  functions::Region region;
  std::variant<std::monostate, NodeId, functions::KnownIndices> indices;
  int index_axis = 0;
};

NamedPart named_part(GraphBuilder& b, NodeId x, const std::vector<Value>& given) {
  const std::vector<Value> items = spelled_out(b, x, given);
  NamedPart named;
  functions::Region& r = named.region;
  for (size_t i = 0; i < items.size(); ++i) {
    const Value& item = items[i];
    if (item.is_none()) {
      r.shape.push_back(1);
      continue;
    }
    const size_t axis = r.starts.size();
    Range range{0, b.shape(x)[axis], 1};
    if (const auto* bounds = item.as<Bounds>()) {
      range = slice_range(b, *bounds, b.shape(x)[axis]);
      r.shape.push_back(range.length);
    } else if (const auto size = as_size(item)) {
      range = element(b, x, axis, *size);
    } else if (item.as<Array>() || item.as<Tuple>()) {
      if (named.indices.index() != 0)
        fail("two lists or arrays of indices in one subscript",
             "index twice, as in x[[0, 2]][:, [1, 3]], or index a flattened array");
      named.index_axis = static_cast<int>(axis);
      check_neighbours(items, i);
      if (item.as<Tuple>()) {
        const auto known = known_indices(b, item);
        functions::require_elements(b, x, named.index_axis, known);
        r.shape.insert(r.shape.end(), known.shape.begin(), known.shape.end());
        named.indices = known;
      } else {
        const NodeId index = item.as<Array>()->node;
        check_index_array(b, index);
        r.shape.insert(r.shape.end(), b.shape(index).begin(), b.shape(index).end());
        named.indices = index;
      }
    } else {
      fail(fmt::format("an index is an integer, a slice, None or ..., not {}", describe(b, item)),
           "as in x[0, 1:, None]");
    }
    r.starts.push_back(range.start);
    r.steps.push_back(range.step);
    r.sizes.push_back(range.length);
  }
  return named;
}

std::vector<Value> items_of(const Value& item) {
  const auto* items = item.as<Tuple>();
  return items ? *items->items : std::vector<Value>{item};
}

NodeId part_of(GraphBuilder& b, NodeId x, const std::vector<Value>& items) {
  const NamedPart named = named_part(b, x, items);
  const functions::Region& r = named.region;
  NodeId part = b.slice(x, r.starts, r.steps, r.sizes);
  if (const auto* index = std::get_if<NodeId>(&named.indices))
    part = functions::take(b, part, *index, named.index_axis, GatherMode::Check);
  else if (const auto* known = std::get_if<functions::KnownIndices>(&named.indices))
    part = functions::take(b, part, *known, named.index_axis, GatherMode::Check);
  return b.reshape(part, r.shape);
}

Value subscript_tuple(GraphBuilder& b, const std::vector<Value>& tuple, const Value& item) {
  const auto size = static_cast<int64_t>(tuple.size());
  if (const auto* bounds = item.as<Bounds>()) {
    const Range range = slice_range(b, *bounds, IntExpr(size));
    const auto start = range.start.constant(), length = range.length.constant();
    if (!start || !length) fail("a tuple is sliced by plain integers", "as in x.shape[:-1]");
    std::vector<Value> part;
    for (int64_t i = 0; i < *length; ++i) part.push_back(tuple[static_cast<size_t>(*start + i * range.step)]);
    return Value::tuple(std::move(part));
  }
  const auto k = as_integer(item);
  if (!k) fail(fmt::format("a tuple is indexed by an integer, not {}", describe(b, item)), "as in x.shape[0]");
  if (*k < -size || *k >= size)
    fail(fmt::format("index {} is out of range for a tuple of {} items", *k, size),
         size == 0 ? "" : fmt::format("indices go from {} to {}", -size, size - 1));
  return tuple[static_cast<size_t>(*k < 0 ? *k + size : *k)];
}

// Appends the integers of a list, whose lists are all as long as the first one of their depth.
void append_indices(GraphBuilder& b, const std::vector<Value>& list, size_t depth, functions::KnownIndices& to) {
  const auto length = static_cast<int64_t>(list.size());
  if (to.shape.size() == depth) {
    if (!to.values.empty()) fail("a list of indices has integers beside lists", "all of its items are of one kind");
    to.shape.push_back(length);
  }
  if (to.shape[depth] != length)
    fail(fmt::format("lists of indices of {} and {} items in one list", to.shape[depth], length),
         "lists in a list have one length, as in [[0, 1], [2, 3]]");
  for (const Value& item : list) {
    if (const auto* inner = item.as<Tuple>()) {
      append_indices(b, *inner->items, depth + 1, to);
      continue;
    }
    const auto i = as_integer(item);
    if (!i)
      fail(fmt::format("a list of indices has integers, not {}", describe(b, item)),
           "as in x[[0, 2]]; an array of indices has no brackets of its own");
    if (to.shape.size() != depth + 1)
      fail("a list of indices has integers beside lists", "all of its items are of one kind");
    to.values.push_back(*i);
  }
}

}  // namespace

functions::KnownIndices known_indices(GraphBuilder& b, const Value& list) {
  constexpr size_t kMost = 256;
  functions::KnownIndices indices;
  append_indices(b, *list.as<Tuple>()->items, 0, indices);
  if (indices.values.size() > kMost)
    fail(fmt::format("a list of {} indices", indices.values.size()),
         fmt::format("a list has at most {}; an array of indices has any number", kMost));
  return indices;
}

Value subscript(GraphBuilder& b, const Value& value, const Value& item) {
  if (const auto* tuple = value.as<Tuple>()) return subscript_tuple(b, *tuple->items, item);
  if (!value.as<Array>())
    fail(fmt::format("{} cannot be indexed", describe(b, value)), "only arrays and tuples have items");
  return with_sizes_checked([&] { return Value::array(part_of(b, value.as<Array>()->node, items_of(item))); });
}

NodeId slice_update(GraphBuilder& b, NodeId x, const Value& index, const Operand& value) {
  const std::vector<Value> items = items_of(index);
  for (const Value& item : items) {
    if (item.as<Tuple>())
      fail(fmt::format("slice_update: an index that is a list, {}", describe(b, item)),
           "scatter(x, indices, value, axis) sets elements at a list of indices");
    const auto* array = item.as<Array>();
    if (!array) continue;
    if (smelt::is_bool(b.dtype(array->node)))
      fail(fmt::format("slice_update: an index of bools, {}", smelt::describe(b.at(array->node))),
           "where(mask, value, x) sets the elements that a mask selects");
    fail(fmt::format("slice_update: an index that is an array, {}", smelt::describe(b.at(array->node))),
         "scatter(x, indices, value, axis) sets elements at indices that are data");
  }
  return with_sizes_checked([&] { return functions::slice_update(b, x, named_part(b, x, items).region, value); });
}

}  // namespace smelt::lang
