// On a CPU: other vectors, other pieces of work for one iteration, and the order of loops that the
// family did not choose.
#include <algorithm>

#include "schedule/parts.hpp"
#include "schedule/propose.hpp"

namespace smelt::schedule {
namespace {

class Proposals {
 public:
  explicit Proposals(const Schedule& first) : first_(first) {}

  void lanes() {
    for (const int lanes : {first_.lanes / 4, first_.lanes / 2, 2 * first_.lanes})
      if (lanes % kFewestLanes == 0 && lanes >= kFewestLanes && lanes <= kMostLanes) add(&Tuning::lanes, lanes);
  }
  void tiles(std::initializer_list<int64_t> tiles) {
    for (const int64_t tile : tiles)
      if (tile > 0) add(&Tuning::tile, tile);
  }
  void rows(int rows) { add(&Tuning::unroll, rows); }
  void other(bool Tuning::*way, int lanes = 0) {
    Tuning tuning{.lanes = lanes};
    tuning.*way = true;
    found_.push_back(tuning);
  }
  std::vector<Tuning> take() { return std::move(found_); }

 private:
  template <class T>
  void add(T Tuning::*what, T value) {
    found_.emplace_back();
    found_.back().*what = value;
  }
  const Schedule& first_;
  std::vector<Tuning> found_;
};

}  // namespace

std::vector<Tuning> propose_on_cpu(const Schedule& first, const Target& target, Proposed which) {
  constexpr int64_t kFewSteps = 4;
  Proposals found(first);
  const bool all = which == Proposed::All;
  const std::vector<Axis>& axes = first.domain.axes;
  const Axis* along = first.vector_axis < 0 ? nullptr : &axes[static_cast<size_t>(first.vector_axis)];
  const bool is_short = along && along->estimate < kFewSteps * std::max(first.lanes, natural_lanes(target));
  const bool one_pass = passes_of(first.domain) == 1;
  switch (first.strategy) {
    case Strategy::Pointwise:
      if (axes.size() > 1 && (all || is_short)) {
        found.other(&Tuning::merged);
        found.other(&Tuning::merged, natural_lanes(target));
      }
      if (all && !first.pieces) found.lanes();
      if (all) {
        // A tuning counts elements, a schedule of pieces rows.
        const int64_t tile = first.pieces ? first.tile * std::max<int64_t>(1, along->estimate) : first.tile;
        found.tiles({tile / 4, 4 * tile});
      }
      break;
    case Strategy::Tiled:
      if (!all) break;
      found.tiles({32, 64, 128, 256});
      found.lanes();
      break;
    case Strategy::Stencil:
      if (!all) break;
      found.tiles({first.tile / 4, first.tile / 2, 2 * first.tile});
      found.lanes();
      if (first.stencil->chunk >= 32)
        for (const int64_t rows : {first.stencil->chunk / 2, 2 * first.stencil->chunk})
          found.rows(static_cast<int>(rows));
      break;
    case Strategy::Row:
    case Strategy::Column:
    case Strategy::Split:
      if (all || one_pass || is_short) found.other(&Tuning::turned);
      if (all || (one_pass && is_short)) found.other(&Tuning::split);
      if (all && first.narrow_axis >= 0) found.other(&Tuning::merged);
      if (all || is_short) found.lanes();
      if (all && along && !along->reduced) found.tiles({256, 1024, 2048, 8192});
      break;
    case Strategy::Scatter:
      if (!all) break;
      found.other(&Tuning::split);
      found.lanes();
      break;
    case Strategy::Product:
    case Strategy::Chain:
    case Strategy::Custom:
    case Strategy::Batch: break;
  }
  return found.take();
}

}  // namespace smelt::schedule
