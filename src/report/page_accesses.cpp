#include "report/page_accesses.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernel/offset.hpp"
#include "kernel/text.hpp"
#include "report/page_index.hpp"
#include "report/page_sites.hpp"

namespace smelt::report {
namespace {

using kernel::Kernel;
using kernel::LoopKind;
using kernel::Stmt;

// Lanes of a CPU's vector that are shown.
constexpr int kMostLanes = 64;
// Iterations of all loops around an access that are looked at.
constexpr int kMostPlaces = 2048;

int64_t up(int64_t a, int64_t b) { return (a + b - 1) / std::max<int64_t>(b, 1); }

// Some of `all` numbers, which stand for the others: places spread evenly over the remainders of
// every power of two, so that rows that begin anywhere in a sector are met as often as they occur,
// and the last `tail`, which are unlike the others. All where they are few.
struct Sample {
  int64_t all, tail = 0, count, step = 1;  // of all but the tail
  Sample(int64_t numbers, int64_t last, int64_t most) : all(numbers), count(numbers) {
    if (all < 4 * most + last) return;
    tail = last;
    count = most;
    step = ((all - tail) / most - 1) | 1;
  }
  bool is_whole() const { return step == 1 && tail == 0; }
  int64_t size() const { return count + tail; }
  int64_t at(int64_t k) const { return k < count ? k * step : all - size() + k; }
  // How many numbers the k-th stands for.
  double weight(int64_t k) const {
    return k < count ? static_cast<double>(all - tail) / static_cast<double>(count) : 1;
  }
};

// What one access of a warp, or of a vector, moves.
struct Moved {
  std::vector<int64_t> offsets;  // bytes from the start of the array, per lane; -1: the lane does nothing
  int lane_bytes = 0;
  bool any() const {
    return std::any_of(offsets.begin(), offsets.end(), [](int64_t offset) { return offset >= 0; });
  }
};

int64_t count_units(const Moved& moved, int64_t unit) {
  std::vector<int64_t> units;
  for (const int64_t offset : moved.offsets)
    if (offset >= 0)
      for (int64_t u = offset / unit; u <= (offset + moved.lane_bytes - 1) / unit; ++u) units.push_back(u);
  std::sort(units.begin(), units.end());
  return std::distance(units.begin(), std::unique(units.begin(), units.end()));
}

class Counter {
 public:
  Counter(const Kernel& kernel, const KernelLaunch& launch, bool gpu, const ElementOf& element, int effort)
      : kernel_(kernel),
        launch_(launch),
        gpu_(gpu),
        effort_(effort),
        team_(kernel.phases[launch.phase].team),
        indices_(kernel, launch.sizes, element) {}

  std::vector<AccessRow> run() {
    const kernel::Phase& phase = kernel_.phases[launch_.phase];
    std::vector<AccessRow> rows;
    for (const AccessSite& site : access_sites(kernel_, phase, launch_.variant, gpu_, indices_)) {
      if (auto row = count(site)) rows.push_back(std::move(*row));
    }
    return rows;
  }

 private:
  // Threads of the team; iterations that share a warp.
  int threads() const { return gpu_ ? std::max(1, team_.threads) : 1; }
  int packed() const { return gpu_ && threads() < kWarp ? std::min(kWarp / threads(), team_.iterations()) : 1; }
  int64_t unit() const { return gpu_ ? kSectorBytes : kCpuLineBytes; }

  // The offset of an element: `slope` elements further for each of the Vector loop where that is
  // known.
  struct Line {
    bool straight = false;
    IntExpr offset, slope;
    std::vector<int64_t> starts, slopes;  // per iteration of the warp, at the place at hand
  };

  // Where the threads of a warp, or the lanes of a vector, make an access of a site: first in their
  // groups, then in what is left of a peeled loop.
  struct Places {
    int64_t extent = 1, first = 0, end = 1;  // elements; of the groups
    int64_t parts = 1, in_groups = 1, all = 1;
  };

  // Nothing where no lane ever makes the access.
  std::optional<AccessRow> count(const AccessSite& site) {
    const kernel::Param& param = kernel_.params[static_cast<size_t>(site.access->array)];
    AccessRow row;
    row.phase = launch_.phase;
    row.array = kernel::param_name(kernel_, site.access->array);
    row.value = param.value;
    row.stored = site.stored;
    row.atomic = site.atomic;
    row.index = kernel::access_text(kernel_, *site.access);
    row.element_bytes = row.lane_bytes = size_of(param.dtype);
    Line line = line_of(site);
    const int64_t packs = up(launch_.iterations, packed());
    const bool loops = loops_inside(site);
    const Sample sample(packs, 1, std::max(1, (line.straight ? 64 : 16) / effort_));
    // Loops inside are gone through in full, or in places of their own at each iteration.
    const double inside = loops ? enter(site, 0, 0, row) : 1;
    const bool in_full = inside * static_cast<double>(sample.size()) <= kMostPlaces / effort_;
    const int64_t rounds = in_full ? std::max<int64_t>(1, std::llround(inside)) : up(16, sample.size());
    Moved shown;
    int64_t fewest = INT64_MAX, most = 0;
    for (int64_t k = 0; k < sample.size() * rounds; ++k) {
      const int64_t iteration = sample.at(k % sample.size()) * packed();
      const double runs = enter(site, iteration, in_full ? k / sample.size() : -1 - k, row) *
                          sample.weight(k % sample.size()) / static_cast<double>(rounds);
      if (runs == 0) continue;
      const Places places = places_of(site);
      const Sample some(places.all, places.all - places.in_groups + places.parts,
                        std::max(1, (line.straight ? 16 : 4) / effort_));
      aim(site, line, iteration);
      row.sampled = row.sampled || !some.is_whole();
      for (int64_t p = 0; p < some.size(); ++p) {
        const auto moved = move(site, places, some.at(p), line, row);
        if (!moved) return unknown(std::move(row));
        if (!moved->any()) continue;
        const double times = runs * some.weight(p);
        const int64_t sectors = count_units(*moved, unit());
        fewest = std::min(fewest, sectors), most = std::max(most, sectors);
        row.executions += times;
        row.total_sectors += times * static_cast<double>(sectors);
        if (!shown.any()) shown = *moved;
      }
    }
    row.sampled = (row.sampled || !sample.is_whole() || (loops && !in_full)) && fewest != most;
    if (!shown.any()) return std::nullopt;
    row.executions = std::round(row.executions);
    row.total_sectors = std::round(row.total_sectors);
    describe(row, shown);
    return row;
  }

  static AccessRow unknown(AccessRow row) {
    row.executions = 0;
    row.total_sectors = 0;
    return row;
  }

  // Loops around the Vector loop, which are looked at in places of their own choice.
  static bool loops_inside(const AccessSite& site) {
    return std::any_of(site.around.begin(), site.around.end(), [](const Stmt* s) {
      return s->is<kernel::Each>() || (s->is<kernel::Loop>() && s->get<kernel::Loop>().kind != LoopKind::Grid &&
                                       s->get<kernel::Loop>().kind != LoopKind::Vector);
    });
  }

  Line line_of(const AccessSite& site) const {
    Line line;
    line.offset = kernel::flat_offset(kernel_, *site.access);
    if (site.mask != kernel::kNoExpr) return line;
    line.straight = !line.offset.any_symbol([](Symbol s) { return s.is_local(); });
    if (!line.straight || !site.vector) return line;
    const auto slope = line.offset.coefficient_of(site.vector->var);
    line.straight = slope.has_value();
    if (slope) line.slope = *slope;
    return line;
  }

  // Goes to an iteration of the Grid loop, and to the round-th place of the loops inside; to some
  // place for one below 0. Gives how often the site is met in that iteration.
  double enter(const AccessSite& site, int64_t iteration, int64_t round, AccessRow& row) {
    double runs = 1;
    double share = 0.5;
    for (const Stmt* s : site.around) {
      if (const auto* branch = s->get_if<kernel::If>()) {
        const auto holds = indices_.holds(branch->condition);
        row.conditional = row.conditional || !holds;
        if (holds == false) return 0;
        continue;
      }
      const auto* loop = s->get_if<kernel::Loop>();
      const auto* each = s->get_if<kernel::Each>();
      if (each) row.conditional = true;
      if (loop && loop->kind == LoopKind::Vector) continue;
      if (loop && loop->kind == LoopKind::Grid) {
        grid_ = loop->var;
        indices_.set(loop->var, iteration);
        continue;
      }
      const int64_t extent = indices_.evaluate(loop ? loop->extent : each->extent, 0).value_or(0);
      if (extent == 0) return 0;
      share += 0.6180339887;  // another sequence for each loop
      const double some = std::fmod(static_cast<double>(-round) * share, 1.0) * static_cast<double>(extent);
      indices_.set(loop ? loop->var : each->var, round < 0 ? static_cast<int64_t>(some) : round % extent);
      if (round > 0) round /= extent;
      runs *= static_cast<double>(extent);
    }
    return runs;
  }

  Places places_of(const AccessSite& site) const {
    Places p;
    const int64_t warps = gpu_ ? up(threads(), kWarp) : 1;
    const kernel::LoopShape& shape = site.shape;
    if (!site.vector) {
      p.all = p.in_groups = site.stored ? 1 : warps;
      return p;
    }
    p.extent = p.end = indices_.evaluate(site.vector->extent, 0).value_or(0);
    if (shape.peeled) {
      const int64_t origin = indices_.evaluate(shape.origin, 0).value_or(0);
      p.first = std::min(p.extent, (-origin % shape.lanes + shape.lanes) % shape.lanes);
      p.end = p.first + (p.extent - p.first) / shape.lanes * shape.lanes;
    }
    if (site.form == AccessForm::Single)
      p.parts = gpu_ ? shape.lanes : 1;
    else if (site.form == AccessForm::Group)
      p.parts = up(shape.lanes, elements_at_once(site));
    p.in_groups = up(up(p.end - p.first, shape.lanes), gpu_ ? std::min(threads(), kWarp) : 1) * p.parts;
    if (site.form == AccessForm::Invariant) p.in_groups = p.extent > 0 ? warps : 0;
    // What is left is less than two groups: the threads of one warp have it.
    const bool rest = shape.peeled && site.form != AccessForm::Invariant && p.end - p.first < p.extent;
    p.all = p.in_groups + (rest ? 1 : 0);
    return p;
  }

  int elements_at_once(const AccessSite& site) const {
    const int size = size_of(kernel_.params[static_cast<size_t>(site.access->array)].dtype);
    return site.form == AccessForm::Group ? std::min(site.shape.lanes, 16 / size) : site.run;
  }

  void aim(const AccessSite& site, Line& line, int64_t iteration) {
    iteration_ = iteration;
    if (!line.straight) return;
    if (site.vector) indices_.set(site.vector->var, 0);
    line.starts.clear(), line.slopes.clear();
    for (int n = 0; n < packed(); ++n) {
      if (grid_) indices_.set(*grid_, iteration + n);
      const auto start = indices_.evaluate(line.offset, 0), slope = indices_.evaluate(line.slope, 0);
      line.straight = line.straight && start && slope;
      line.starts.push_back(start.value_or(0)), line.slopes.push_back(slope.value_or(0));
    }
  }

  // The element of the Vector loop that a lane accesses in this place; nothing: it has none.
  std::optional<int64_t> element_of(const AccessSite& site, const Places& places, int64_t place, int lane) const {
    const kernel::LoopShape& shape = site.shape;
    const int64_t t = gpu_ ? lane % std::min(threads(), kWarp) : lane;
    if (!site.vector) return gpu_ && site.stored && t != 0 ? std::nullopt : std::optional<int64_t>(0);
    if (!gpu_) {
      const int64_t i = place * shape.lanes + lane;
      return i < places.extent ? std::optional(i) : std::nullopt;
    }
    if (place >= places.in_groups) {
      const int64_t i = t < places.first ? t : places.end + t - places.first;
      return i < places.extent ? std::optional(i) : std::nullopt;
    }
    if (site.form == AccessForm::Invariant) return 0;
    // Warps have groups one after the other, whatever step of the loop these belong to.
    const int64_t part = place % places.parts, before = place / places.parts * std::min(threads(), kWarp);
    const int64_t group = places.first + (before + t) * shape.lanes;
    if (group >= places.end) return std::nullopt;
    if (site.form == AccessForm::Group) {
      const int64_t first = part * elements_at_once(site);
      return group + (site.step > 0 ? first : shape.lanes - 1 - first);
    }
    if (site.form != AccessForm::Single) return group;
    const int64_t taken = part + site.distance;
    if (site.distance != 0 && taken >= 0 && taken < shape.lanes) return std::nullopt;
    return group + part;
  }

  // The offsets of all lanes; nothing where they are not known.
  std::optional<Moved> move(const AccessSite& site, const Places& places, int64_t place, const Line& line,
                            AccessRow& row) {
    const int size = row.element_bytes;
    Moved moved;
    moved.lane_bytes = size * (place < places.in_groups ? elements_at_once(site) : 1);
    const int lanes = gpu_ ? kWarp : site.vector ? std::min(site.shape.lanes, kMostLanes) : 1;
    for (int lane = 0; lane < lanes; ++lane) {
      const int n = gpu_ ? lane / std::min(threads(), kWarp) : 0;
      const auto element = n < packed() ? element_of(site, places, place, lane) : std::nullopt;
      if (!element || iteration_ + n >= launch_.iterations) {
        moved.offsets.push_back(-1);
        continue;
      }
      const auto at = static_cast<size_t>(n);
      const auto offset = line.straight ? std::optional(line.starts[at] + line.slopes[at] * *element)
                                        : offset_at(site, iteration_ + n, *element, row);
      if (!offset) return std::nullopt;
      moved.offsets.push_back(*offset < 0 ? -1 : *offset * size);
    }
    return moved;
  }

  // -1 under a condition that does not hold.
  std::optional<int64_t> offset_at(const AccessSite& site, int64_t iteration, int64_t element, AccessRow& row) {
    if (grid_) indices_.set(*grid_, iteration);
    if (site.vector) indices_.set(site.vector->var, element);
    if (site.mask != kernel::kNoExpr) {
      const auto holds = indices_.holds(site.mask);
      row.conditional = row.conditional || !holds;
      if (holds == false) return -1;
    }
    return indices_.offset(*site.access, kernel_.params[static_cast<size_t>(site.access->array)]);
  }

  void describe(AccessRow& row, const Moved& shown) const {
    std::vector<int64_t> active, different;
    for (const int64_t offset : shown.offsets)
      if (offset >= 0) active.push_back(offset);
    if (active.empty()) return;
    row.offsets = shown.offsets;
    row.lane_bytes = shown.lane_bytes;
    different = active;
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    row.sectors = count_units(shown, unit());
    row.lines = count_units(shown, gpu_ ? kGpuLineBytes : kCpuLineBytes);
    row.ideal_sectors = up(static_cast<int64_t>(different.size()) * row.lane_bytes, unit());
    const int64_t stride = active.size() > 1 ? active[1] - active[0] : row.lane_bytes;
    bool even = true;
    for (size_t l = 1; l < active.size(); ++l) even = even && active[l] - active[l - 1] == stride;
    row.stride_bytes = even ? stride : 0;
    row.pattern = different.size() == 1 && active.size() > 1   ? AccessPattern::Broadcast
                  : even && std::abs(stride) == row.lane_bytes ? AccessPattern::Contiguous
                  : even                                       ? AccessPattern::Strided
                  : row.sectors <= row.ideal_sectors + 1       ? AccessPattern::Contiguous
                                                               : AccessPattern::Irregular;
  }

  const Kernel& kernel_;
  const KernelLaunch& launch_;
  const bool gpu_;
  const int effort_;
  const kernel::Team team_;
  PageIndices indices_;
  std::optional<Symbol> grid_;
  int64_t iteration_ = 0;  // of the first lane
};

}  // namespace

std::string_view name_of(AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::Contiguous: return "contiguous";
    case AccessPattern::Broadcast: return "broadcast";
    case AccessPattern::Strided: return "strided";
    case AccessPattern::Irregular: return "irregular";
    case AccessPattern::Unknown: return "unknown";
  }
  return "?";
}

std::vector<AccessRow> accesses_of(const Kernel& kernel, const KernelLaunch& launch, bool gpu, const ElementOf& element,
                                   int saved_effort) {
  if (launch.iterations == 0) return {};
  std::vector<AccessRow> rows = Counter(kernel, launch, gpu, element, saved_effort).run();
  if (!gpu || launch.phase + 1 >= kernel.phases.size() || !kernel.phases[launch.phase + 1].last) return rows;
  // The workgroup that is done last goes on with the next phase.
  KernelLaunch ending = launch;
  ending.phase = launch.phase + 1;
  ending.iterations = 1;
  const auto& variants = kernel.phases[ending.phase].variants;
  ending.variant = static_cast<size_t>(
      std::find_if(variants.begin(), variants.end(),
                   [](const kernel::Variant& v) { return v.form == kernel::Variant::Form::Ending; }) -
      variants.begin());
  for (AccessRow& row : Counter(kernel, ending, gpu, element, saved_effort).run()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace smelt::report
