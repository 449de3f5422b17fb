// Outputs that have several neighbours for each point, as the 9 elements of a matrix: threads that
// store them one by one would write parts of sectors.
//
//   grid %g over the chunks
//     vector %i over a chunk           scratch[%i, 0 .. 8] = f(in[...], ...), other outputs as they are
//     vector %i over 9 x the chunk     out[9 * first + %i] = scratch[%i // 9, %i % 9]
#include <algorithm>

#include "kernel/lower_pointwise.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {
namespace {

constexpr int kWordBytes = 16;

}  // namespace

struct PointwiseLowering::Interleaved {
  NodeId node;
  int buffer = -1;
  std::vector<const StoredOutput*> places;  // of a point, in the order of memory
};

// `start` is where the first of these points is.
std::vector<Stmt> PointwiseLowering::through_scratch(const Placement& placement, const Placement& start,
                                                     const IntExpr& points) {
  std::vector<Interleaved> all;
  for (const NodeId id : schedule_.interleaved) {
    Interleaved made{id, -1, {}};
    for (const StoredOutput& o : domain().outputs)
      if (o.node == id) made.places.push_back(&o);
    const auto offset = [&](const StoredOutput* o) {
      return schedule::flat_offset(graph_.at(id), start.at(o->store_index));
    };
    std::sort(made.places.begin(), made.places.end(), [&](const StoredOutput* a, const StoredOutput* b) {
      return (offset(a) - offset(b)).constant().value_or(0) < 0;
    });
    const DType dtype = graph_.at(id).dtype;
    made.buffer =
        add_scratch(dtype, {schedule_.tile, schedule::row_of_points(static_cast<int64_t>(made.places.size()), dtype)});
    all.push_back(std::move(made));
  }
  std::vector<Stmt> body, stores;
  evaluator_.enter(&body, &placement.ranges);
  const IntExpr lane = IntExpr::symbol(kLane);
  for (const StoredOutput& o : domain().outputs) {
    const ExprId value = evaluator_.value_to_store(o.base, placement.at(o.base_index));
    const auto through = std::find_if(all.begin(), all.end(), [&](const Interleaved& i) { return i.node == o.node; });
    if (through == all.end()) {
      stores.push_back(store_output(o, placement, value));
    } else {
      const auto place = std::find(through->places.begin(), through->places.end(), &o) - through->places.begin();
      stores.push_back(builder_.store({true, through->buffer, {lane, static_cast<int64_t>(place)}}, value));
    }
  }
  append(body, std::move(stores));
  std::vector<Stmt> made = single(vector(points, std::move(body)));
  for (const Interleaved& through : all) {
    const auto k = static_cast<int64_t>(through.places.size());
    const Node& node = graph_.at(through.node);
    Ranges ranges = start.ranges;
    ranges[kLane] = {0, points * k - 1};
    std::vector<Stmt> copy;
    evaluator_.enter(&copy, &ranges);
    const IntExpr flat = schedule::flat_offset(node, start.at(through.places[0]->store_index)) + lane;
    const ExprId value = builder_.load({true, through.buffer, {floordiv(lane, k, ranges), mod(lane, k, ranges)}});
    copy.push_back(builder_.store({false, evaluator_.output_param(through.node),
                                   schedule::reshaped_index({count(node.shape)}, node.shape, {flat}, ranges)},
                                  value, kNoExpr, true));
    made.push_back(loop(LoopKind::Vector, kLane, points * k, std::move(copy), kWordBytes / size_of(node.dtype), 1));
  }
  return made;
}

}  // namespace smelt::kernel
