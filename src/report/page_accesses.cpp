#include "report/page_accesses.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernel/team_forms.hpp"
#include "kernel/text.hpp"
#include "kernel/walk.hpp"
#include "report/page_index.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

using kernel::Access;
using kernel::ExprId;
using kernel::Kernel;
using kernel::Loop;
using kernel::LoopKind;
using kernel::Stmt;

// Lanes of a CPU's vector that are shown.
constexpr int kMostLanes = 64;

// Where in its loops an access is looked at: the same share of each.
constexpr double kSamples[] = {0, 0.31, 0.5, 0.77};

int64_t at_share(double share, int64_t extent) {
  return std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(extent)), 0,
                             std::max<int64_t>(extent - 1, 0));
}

int64_t up(int64_t a, int64_t b) { return (a + b - 1) / std::max<int64_t>(b, 1); }

// The Vector loop around a statement.
struct Around {
  const Loop* loop = nullptr;
  kernel::LoopShape shape;
  int64_t extent = 0;
  std::set<ExprId> grouped, shared;     // loads whose group is one access; that the lanes of a group read together
  std::set<ExprId> held, in_registers;  // made once for all loops behind too; that a neighbouring lane has made
  std::set<const Stmt*> group_stores;
};

class Walker {
 public:
  Walker(const Kernel& kernel, const KernelLaunch& launch, bool gpu, const ElementOf& element)
      : kernel_(kernel), launch_(launch), gpu_(gpu), indices_(kernel, launch.sizes, element) {}

  std::vector<AccessRow> run() {
    const kernel::Phase& phase = kernel_.phases[launch_.phase];
    team_ = phase.team;
    for (const double share : kSamples) {
      share_ = share;
      held_.clear();
      next_ = 0;
      block(phase.body, 1, {}, false);
    }
    for (AccessRow& row : rows_) finish(row);
    return std::move(rows_);
  }

 private:
  // Threads of the team, and how many of its iterations share a warp.
  int threads() const { return gpu_ ? std::max(1, team_.threads) : 1; }
  int packed() const { return gpu_ && threads() < kWarp ? kWarp / threads() : 1; }

  void block(const std::vector<Stmt>& body, double runs, const Around& around, bool conditional) {
    std::set<ExprId> seen;
    for (const Stmt& s : body) statement(s, runs, around, conditional, seen);
  }

  void statement(const Stmt& s, double runs, const Around& around, bool conditional, std::set<ExprId>& seen) {
    if (const auto* let = s.get_if<kernel::Let>()) indices_.define(let->local, let->value);
    kernel::visit_below(kernel_, kernel::expressions(s), [&](ExprId id, const kernel::Expr& e) {
      const auto* load = e.get_if<kernel::Load>();
      if (load && !load->access.scratch && seen.insert(id).second && !held_.count(id) && !around.in_registers.count(id))
        access(load->access, &s, id, runs, around, conditional || load->mask != kernel::kNoExpr, false, false);
      return true;
    });
    if (const auto* store = s.get_if<kernel::Store>(); store && !store->access.scratch)
      access(store->access, &s, kernel::kNoExpr, runs, around, conditional || store->mask != kernel::kNoExpr, true,
             store->atomic.has_value());
    if (const auto* loop = s.get_if<Loop>()) return inside(*loop, runs, around, conditional);
    if (const auto* branch = s.get_if<kernel::If>()) return block(branch->body, runs, around, true);
    if (const auto* each = s.get_if<kernel::Each>()) {
      const int64_t extent = indices_.evaluate(each->extent, 0).value_or(0);
      indices_.set(each->var, at_share(share_, extent));
      block(each->body, runs * static_cast<double>(extent), around, true);
    }
  }

  void inside(const Loop& loop, double runs, const Around& around, bool conditional) {
    const int64_t extent = indices_.evaluate(loop.extent, 0).value_or(0);
    if (extent == 0) return;
    if (loop.kind == LoopKind::Grid) {
      grid_ = loop.var;
      iterations_ = extent;
      // Warps of small teams run several iterations side by side.
      first_iteration_ = at_share(share_, extent) / packed() * packed();
      indices_.set(loop.var, first_iteration_);
      return block(loop.body, static_cast<double>(up(extent, packed())), around, conditional);
    }
    if (loop.kind != LoopKind::Vector) {
      indices_.set(loop.var, at_share(share_, extent));
      return block(loop.body, runs * static_cast<double>(extent), around, conditional);
    }
    Around made;
    made.loop = &loop;
    made.extent = extent;
    made.shape.lanes = loop.lanes;
    if (gpu_ && loop.team) {
      made.shape = loop.team->shapes[std::min(launch_.variant, loop.team->shapes.size() - 1)];
      if (launch_.variant < loop.team->accesses.size()) note_forms(loop.team->accesses[launch_.variant], loop, made);
    }
    block(loop.interior && !gpu_ ? loop.interior->body : loop.body, runs, made, conditional);
    held_.insert(made.held.begin(), made.held.end());
  }

  static void note_forms(const kernel::LoopAccesses& forms, const Loop& loop, Around& around) {
    const auto note = [&](const std::vector<kernel::EarlyLoad>& loads) {
      for (const kernel::EarlyLoad& early : loads) {
        if (early.step != 0) around.grouped.insert(early.load);
        if (early.shared) around.shared.insert(early.load);
        if (early.from) around.in_registers.insert(early.load);
      }
    };
    note(forms.held);
    note(forms.early);
    for (const kernel::EarlyLoad& early : forms.held) around.held.insert(early.load);
    for (const kernel::BlockAccesses& b : forms.blocks) {
      note(b.early);
      for (const kernel::FromLane& from : b.from) around.in_registers.insert(from.load);
      for (const kernel::GroupStore& g : b.group_stores)
        if (static_cast<size_t>(g.statement) < loop.body.size())
          around.group_stores.insert(&loop.body[static_cast<size_t>(g.statement)]);
    }
  }

  // Executions of one access by warps, or by vectors, in all.
  double executions(double runs, const Around& around, bool grouped, bool stored) const {
    if (!around.loop) {
      if (!gpu_) return runs;
      return runs * static_cast<double>(stored ? 1 : up(threads(), kWarp));
    }
    const int64_t groups = up(around.extent, around.shape.lanes);
    if (!gpu_) return runs * static_cast<double>(groups);
    const double times = grouped ? 1 : around.shape.lanes;
    return runs * static_cast<double>(up(groups, std::min(threads(), kWarp))) * times;
  }

  void access(const Access& access, const Stmt* statement, ExprId load, double runs, const Around& around,
              bool conditional, bool stored, bool atomic) {
    const kernel::Param& param = kernel_.params[static_cast<size_t>(access.array)];
    if (param.kind == kernel::ParamKind::Scalar || param.kind == kernel::ParamKind::Size) return;
    // Written where an index is out of range, and where workgroups count themselves.
    if (access.array == kernel_.error_param || access.array == kernel_.counter_param) return;
    const bool grouped = stored ? around.group_stores.count(statement) > 0 : around.grouped.count(load) > 0;
    const bool shared = around.shared.count(load) > 0;
    const bool fresh = next_ == rows_.size();
    if (fresh) {
      AccessRow row;
      row.phase = launch_.phase;
      row.array = kernel::param_name(kernel_, access.array);
      row.value = param.value;
      row.stored = stored;
      row.index = kernel::access_text(kernel_, access);
      row.element_bytes = size_of(param.dtype);
      row.executions = executions(runs, around, grouped || shared, stored);
      row.conditional = conditional;
      row.atomic = atomic;
      rows_.push_back(std::move(row));
    }
    AccessRow& row = rows_[next_++];
    std::vector<int64_t> offsets = lanes(access, param, around, grouped, stored, row.lane_bytes);
    const bool known = !offsets.empty();
    const int64_t sectors = known ? count_units(offsets, row.lane_bytes, gpu_ ? kSectorBytes : kCpuLineBytes) : -1;
    sectors_[next_ - 1].push_back(sectors);
    if (fresh) row.offsets = std::move(offsets);
  }

  // The element of the Vector loop that a lane begins with; nothing: it has none.
  std::optional<int64_t> element_of(int lane, const Around& around, int64_t step, int64_t warp) const {
    if (!gpu_) {
      const int64_t i = step * around.shape.lanes + lane;
      return i < around.extent ? std::optional(i) : std::nullopt;
    }
    const int64_t t = threads() < kWarp ? lane % threads() : warp * kWarp + lane;
    if (t >= threads()) return std::nullopt;
    int64_t first = 0;
    if (around.shape.peeled) {
      const int64_t origin = indices_.evaluate(around.shape.origin, 0).value_or(0);
      const int64_t lanes = around.shape.lanes;
      first = std::min(around.extent, ((-origin % lanes) + lanes) % lanes);
    }
    const int64_t i = first + (step * threads() * around.shape.unroll + t) * around.shape.lanes;
    return i < around.extent ? std::optional(i) : std::nullopt;
  }

  // Bytes from the start of the array for each lane; empty: not known.
  std::vector<int64_t> lanes(const Access& access, const kernel::Param& param, const Around& around, bool grouped,
                             bool stored, int& lane_bytes) {
    const int size = size_of(param.dtype);
    lane_bytes = grouped ? std::min(16, around.shape.lanes * size) : size;
    const int count = gpu_ ? kWarp : around.loop ? std::min(around.shape.lanes, kMostLanes) : 1;
    const int64_t per_step = int64_t{threads()} * around.shape.lanes * around.shape.unroll;
    const int64_t steps = around.loop ? up(around.extent, gpu_ ? per_step : around.shape.lanes) : 1;
    const int64_t warps = up(threads(), kWarp);
    const int64_t step = at_share(share_, steps);
    // Not the last warps of a step, which may have nothing to do.
    const int64_t filled =
        around.loop && gpu_
            ? std::max<int64_t>(1, std::min(warps, (around.extent - step * per_step) /
                                                       std::max<int64_t>(1, kWarp * around.shape.lanes)))
            : warps;
    const int64_t warp = at_share(share_, filled);
    std::vector<int64_t> offsets;
    for (int lane = 0; lane < count; ++lane) {
      const int64_t iteration = first_iteration_ + (gpu_ ? lane / std::min(threads(), kWarp) : 0);
      if (grid_) indices_.set(*grid_, iteration);
      const bool idle =
          iteration >= iterations_ || (!around.loop && stored && gpu_ && lane % std::min(threads(), kWarp) != 0);
      const auto element = around.loop ? element_of(lane, around, step, warp) : std::optional<int64_t>(0);
      if (idle || !element) {
        offsets.push_back(-1);
        continue;
      }
      if (around.loop) indices_.set(around.loop->var, *element);
      const auto offset = indices_.offset(access, param);
      if (!offset) {
        offsets.clear();
        break;
      }
      offsets.push_back(*offset * size);
    }
    if (grid_) indices_.set(*grid_, first_iteration_);
    return offsets;
  }

  static int64_t count_units(const std::vector<int64_t>& offsets, int bytes, int64_t unit) {
    std::set<int64_t> units;
    for (const int64_t offset : offsets)
      if (offset >= 0)
        for (int64_t u = offset / unit; u <= (offset + bytes - 1) / unit; ++u) units.insert(u);
    return static_cast<int64_t>(units.size());
  }

  void finish(AccessRow& row) const {
    const auto& counts = sectors_.at(static_cast<size_t>(&row - rows_.data()));
    std::set<int64_t> bytes;
    std::vector<int64_t> active;
    for (const int64_t offset : row.offsets)
      if (offset >= 0) active.push_back(offset), bytes.insert(offset);
    if (active.empty()) return;
    const int64_t unit = gpu_ ? kSectorBytes : kCpuLineBytes;
    row.sectors = count_units(row.offsets, row.lane_bytes, unit);
    row.lines = count_units(row.offsets, row.lane_bytes, gpu_ ? kGpuLineBytes : kCpuLineBytes);
    row.ideal_sectors = up(static_cast<int64_t>(bytes.size()) * row.lane_bytes, unit);
    double sum = 0;
    for (const int64_t n : counts) sum += static_cast<double>(std::max<int64_t>(n, 0));
    row.sampled = std::any_of(counts.begin(), counts.end(), [&](int64_t n) { return n != counts[0]; });
    row.total_sectors = row.executions * sum / static_cast<double>(counts.size());
    const int64_t stride = active.size() > 1 ? active[1] - active[0] : row.lane_bytes;
    bool even = true;
    for (size_t l = 1; l < active.size(); ++l) even = even && active[l] - active[l - 1] == stride;
    row.stride_bytes = even ? stride : 0;
    row.pattern = bytes.size() == 1 && active.size() > 1       ? AccessPattern::Broadcast
                  : even && std::abs(stride) == row.lane_bytes ? AccessPattern::Contiguous
                  : even                                       ? AccessPattern::Strided
                  : row.sectors <= row.ideal_sectors + 1       ? AccessPattern::Contiguous
                                                               : AccessPattern::Irregular;
  }

  const Kernel& kernel_;
  const KernelLaunch& launch_;
  const bool gpu_;
  PageIndices indices_;
  kernel::Team team_;
  std::optional<Symbol> grid_;
  int64_t iterations_ = 1, first_iteration_ = 0;
  double share_ = 0;
  std::set<ExprId> held_;  // loads that registers have from here on
  std::vector<AccessRow> rows_;
  size_t next_ = 0;
  std::map<size_t, std::vector<int64_t>> sectors_;
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

std::vector<AccessRow> accesses_of(const Kernel& kernel, const KernelLaunch& launch, bool gpu,
                                   const ElementOf& element) {
  if (launch.iterations == 0) return {};
  return Walker(kernel, launch, gpu, element).run();
}

}  // namespace smelt::report
