#include "kernel/find_boxes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernel/conditions.hpp"
#include "kernel/lane_groups.hpp"
#include "kernel/pipeline.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/verify_parts.hpp"

namespace smelt::kernel {
namespace {

constexpr int64_t kMostOfSide = 256;  // elements of a box along a side (CUDA driver API, cuTensorMapEncodeTiled)
constexpr size_t kMostSides = 5;
constexpr int kCopied = 16;  // bytes

const Symbol kAlong = Symbol::loop("box_x"), kAcross = Symbol::loop("box_y");

// A part that a loop copies element by element.
struct Copy {
  const Store* store;
  const Load* load;
  int64_t line, lines;
  Ranges ranges;  // of kAlong and kAcross too

  IntExpr at(const Loop& loop, const IntExpr& index) const {
    return index.substitute({{loop.var, line * IntExpr::symbol(kAcross) + IntExpr::symbol(kAlong)}}, ranges);
  }
};

// [stage, x // width, y, x % width] of a swizzled buffer takes `width` elements of a line at a
// time.
std::optional<Copy> copy_of(const Kernel& kernel, const Loop& loop, const Ranges& around) {
  const Store* store = loop.body.size() == 1 ? loop.body[0].get_if<Store>() : nullptr;
  if (!store || !store->later || !store->access.scratch || store->mask != kNoExpr) return std::nullopt;
  const Load* load = kernel.at(store->value).get_if<Load>();
  const ScratchBuffer& buffer = kernel.buffers[static_cast<size_t>(store->access.array)];
  if (!load || load->access.scratch || !buffer.swizzled || buffer.dims.size() != 4) return std::nullopt;
  const auto pieces = buffer.dims[1].constant(), lines = buffer.dims[2].constant(), width = buffer.dims[3].constant();
  if (!pieces || !lines || !width || *lines > kMostOfSide || loop.extent != *pieces * *lines * *width)
    return std::nullopt;
  Copy copy{store, load, *pieces * *width, *lines, around};
  copy.ranges[kAlong] = {0, copy.line - 1}, copy.ranges[kAcross] = {0, copy.lines - 1};
  const IntExpr x = IntExpr::symbol(kAlong);
  const std::vector<IntExpr> expected{floordiv(x, *width, copy.ranges), IntExpr::symbol(kAcross),
                                      mod(x, *width, copy.ranges)};
  for (size_t d = 0; d < expected.size(); ++d)
    if (!(copy.at(loop, store->access.index[d + 1]) == expected[d])) return std::nullopt;
  return copy;
}

// Whether the position moves with one of the two symbols by 1 and with the other one not at all, or
// with none.
bool moves_simply(const IntExpr& at) {
  const auto x = at.coefficient_of(kAlong), y = at.coefficient_of(kAcross);
  return x && y && (x->is(0) || x->is(1)) && (y->is(0) || y->is(1)) && !(x->is(1) && y->is(1));
}

// Neighbouring dimensions become one until each position moves simply.
std::vector<Box::Side> sides_of(const Param& array, const Copy& copy, const Loop& loop) {
  std::vector<Box::Side> sides;
  for (size_t d = 0; d < array.dims.size(); ++d) {
    const IntExpr at = copy.at(loop, copy.load->access.index[d]);
    if (array.dims[d].is(1) && at.is(0)) continue;
    sides.push_back({array.dims[d], array.strides[d], at});
    while (sides.size() > 1 && !moves_simply(sides.back().first)) {
      const Box::Side last = sides.back();
      Box::Side& before = sides[sides.size() - 2];
      if (!(before.stride == last.stride * last.extent)) return {};
      before = {before.extent * last.extent, last.stride, recombine(before.first * last.extent + last.first)};
      sides.pop_back();
    }
  }
  return sides;
}

// Sides end where a mask stops to hold. False where the mask says something else.
bool end_by_mask(const Kernel& kernel, const Copy& copy, const Loop& loop, std::vector<Box::Side>& sides) {
  if (copy.load->mask == kNoExpr) return true;
  std::vector<IntExpr> holds;
  if (!comparisons_of(kernel, copy.load->mask, holds)) return false;
  for (const IntExpr& least : holds) {
    const IntExpr at = copy.at(loop, least);
    // Nothing is in front of a box's array either.
    if (std::any_of(sides.begin(), sides.end(), [&](const Box::Side& s) { return s.first == at; })) continue;
    const auto side = std::find_if(sides.begin(), sides.end(), [&](const Box::Side& s) {
      return !(s.first.coefficient_of(kAlong)->is(0) && s.first.coefficient_of(kAcross)->is(0)) &&
             over_sizes(kernel, at + s.first);
    });
    if (side == sides.end()) return false;
    side->extent = min(side->extent, at + side->first + 1);
  }
  return true;
}

std::shared_ptr<const Box> box_of(const Kernel& kernel, const Loop& loop, const Ranges& around) {
  const auto copy = copy_of(kernel, loop, around);
  if (!copy) return nullptr;
  const Param& array = kernel.params[static_cast<size_t>(copy->load->access.array)];
  std::vector<Box::Side> sides = sides_of(array, *copy, loop);
  if (sides.size() < 2 || sides.size() > kMostSides) return nullptr;
  for (const Box::Side& s : sides)
    if (!moves_simply(s.first) || !over_sizes(kernel, s.extent)) return nullptr;
  if (!end_by_mask(kernel, *copy, loop, sides)) return nullptr;
  const auto along = [&](Symbol symbol) {
    return std::find_if(sides.begin(), sides.end(),
                        [&](const Box::Side& s) { return s.first.coefficient_of(symbol)->is(1); });
  };
  if (const auto x = along(kAlong); x == sides.end() || !x->stride.is(1)) return nullptr;
  std::iter_swap(sides.begin(), along(kAlong));
  if (along(kAcross) == sides.end()) return nullptr;
  std::iter_swap(sides.begin() + 1, along(kAcross));
  for (Box::Side& s : sides) s.first = s.first.substitute({{kAlong, 0}, {kAcross, 0}}, copy->ranges);
  return std::make_shared<const Box>(Box{copy->load->access.array, std::move(sides), copy->line, copy->lines});
}

// Whether the variant copies whole groups of 16 aligned bytes.
bool copies_groups(const Kernel& kernel, const Loop& loop, size_t variant) {
  const auto& blocks = loop.team->accesses[variant].blocks;
  const auto& store = loop.body[0].get<Store>();
  return loop.team->shapes[variant].lanes * size_of(kernel.dtype_of(store.access)) == kCopied && blocks.size() == 1 &&
         blocks[0].group_stores.size() == 1 && blocks[0].group_stores[0].copied;
}

bool find_in(const Kernel& kernel, Phase& phase) {
  const auto at = boxed_pipeline(phase);
  if (!at || !all_in_groups(kernel)) return false;
  auto& grid = phase.body.back().get<Loop>();
  auto& pipeline = grid.body[*at].get<Loop>();
  SymbolsAround around(kernel);
  around.enter(grid.var, grid.extent);
  for (const Stmt& s : grid.body)
    if (const auto* let = s.get_if<Let>()) around.enter(*let);
  around.enter(pipeline.var, pipeline.extent);
  std::vector<Loop*> parts;
  std::vector<std::shared_ptr<const Box>> boxes;
  for (size_t k = 0; k < uses_of_pipeline(pipeline); ++k) {
    parts.push_back(&pipeline.body[k].get<Loop>());
    boxes.push_back(box_of(kernel, *parts.back(), around.ranges()));
    if (!boxes.back()) return false;
  }
  bool any = false;
  for (size_t v = 0; v < phase.variants.size(); ++v) {
    const bool all =
        std::all_of(parts.begin(), parts.end(), [&](const Loop* l) { return copies_groups(kernel, *l, v); });
    phase.variants[v].boxes = all;
    any = any || all;
  }
  for (size_t k = 0; any && k < boxes.size(); ++k) parts[k]->box = std::move(boxes[k]);
  return any;
}

}  // namespace

bool comparisons_of(const Kernel& kernel, ExprId condition, std::vector<IntExpr>& holds) {
  const Apply* apply = kernel.at(condition).get_if<Apply>();
  if (!apply) return false;
  if (apply->op == Op::And)
    return comparisons_of(kernel, apply->args[0], holds) && comparisons_of(kernel, apply->args[1], holds);
  const auto least = holds_where(kernel, *apply);
  if (least) holds.push_back(*least);
  return least.has_value();
}

bool find_boxes(Kernel& kernel) {
  bool any = false;
  for (Phase& phase : kernel.phases) any = find_in(kernel, phase) || any;
  return any;
}

}  // namespace smelt::kernel
