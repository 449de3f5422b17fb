// Parts of a pipeline that come as boxes of arrays: one thread outside the team has them copied as
// long as there are stages that the team has left, and the team goes from part to part as they
// come.
#include <algorithm>

#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"
#include "kernel/pipeline.hpp"

namespace smelt::emit::c_like {
namespace {

constexpr int kRegisters = 16384, kParts = 4;  // of a quarter of a multiprocessor, to which warps are dealt out in turn
constexpr int kMostOfThread = 240, kFewest = 24;
constexpr int kBesideSums = 28, kBesideWeights = 40;  // registers that a thread needs for more than its sums

int whole(int registers) { return registers / 8 * 8; }

int share_of(int threads, int resident) {
  const int warps = threads / 32 * resident;
  return whole(kRegisters / ((warps + kParts - 1) / kParts) / 32);
}

}  // namespace

// A warp outside the team has boxes copied, where that leaves registers enough; else four, which
// give theirs to the team.
PhasePrinter::Beside PhasePrinter::threads_beside() const {
  if (!takes_boxes_) return {};
  int needed = kBesideSums;
  for (const kernel::Fragment& f : kernel_.fragments) {
    needed += f.rows * f.columns / team_.threads;
    if (f.holds_rows) needed += f.inner / 4 + kBesideWeights - kBesideSums;
  }
  for (size_t b = 0; b < kernel_.buffers.size(); ++b)
    if (const kernel::ScratchBuffer& buffer = kernel_.buffers[b];
        buffer.scope == kernel::Scope::Lane && !is_fragment(static_cast<int>(b)))
      needed += static_cast<int>(count(buffer.dims).constant().value_or(0) / team_.threads);
  constexpr int kWarp = 32, kGroup = 128;
  const int resident = std::max(1, team_.resident);
  if (needed <= share_of(team_.threads + kWarp, resident)) return {kWarp, 0, 0};
  const int all = share_of(team_.threads + kGroup, resident) * (team_.threads + kGroup);
  return {kGroup, kFewest, std::min(kMostOfThread, whole((all - kFewest * kGroup) / team_.threads))};
}

std::string PhasePrinter::map_of(const Loop& part) {
  const kernel::Box& box = *part.box;
  const auto& to = part.body[0].get<Store>().access;
  BoxMap map{box.param, {}, {}, {}};
  const int64_t width = *kernel_.buffers[static_cast<size_t>(to.array)].dims[3].constant();
  for (size_t s = 0; s < box.sides.size(); ++s) {
    map.extents.push_back(box.sides[s].extent), map.strides.push_back(box.sides[s].stride);
    map.box.push_back(static_cast<int>(s == 0 ? width : s == 1 ? box.lines : 1));
  }
  const auto same = std::find_if(maps_.begin(), maps_.end(), [&](const BoxMap& m) {
    return m.param == map.param && m.extents == map.extents && m.strides == map.strides && m.box == map.box;
  });
  const auto number = same - maps_.begin();
  if (same == maps_.end()) maps_.push_back(std::move(map));
  return fmt::format("&box{}", number);
}

void PhasePrinter::ask_for_boxes(const Loop& pipeline) {
  const std::string type = index_type(), count = fmt::format("n{}", names_++), part = fmt::format("s{}", names_++);
  const size_t parts = kernel::uses_of_pipeline(pipeline);
  const int groups = kernel::groups_of_parts(kernel_, pipeline), stages = groups * pipeline.stages;
  statics_ += fmt::format("  __shared__ __align__(8) unsigned long long filled[{0}], freed[{0}];\n", stages);
  line("if (threadIdx.x == 0) {}(filled, freed, {}, {});", used_("begin_stages"), stages, team_.threads / 32);
  line("__syncthreads();");
  open(fmt::format("if (threadIdx.x >= {})", team_.threads));
  if (beside_.left > 0) line("{}<{}>();", used_("give_registers"), beside_.left);
  open(fmt::format("if (threadIdx.x == {})", team_.threads));
  line("const {} {} = {};", type, count, integer(pipeline.extent));
  line("#pragma unroll 1");
  open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", type, part, count));
  symbols_[pipeline.var] = part;
  line("const int stage = (int){0} % {1}, turn = (int){0} / {1} & 1;", part, pipeline.stages);
  for (int g = 0; g < groups; ++g) {
    int64_t bytes = 0;
    for (size_t k = 0; k < parts; ++k) {
      const kernel::Box& box = *pipeline.body[k].get<Loop>().box;
      if (kernel::group_of_part(kernel_, pipeline, k) == g)
        bytes += box.line * box.lines * size_of(kernel_.params[static_cast<size_t>(box.param)].dtype);
    }
    line("{}({}, turn ^ 1);", used_("await_turn"), of_group("freed", g, pipeline, "stage"));
    line("{}({}, {});", used_("expect_boxes"), of_group("filled", g, pipeline, "stage"), bytes);
    for (size_t k = 0; k < parts; ++k)
      if (kernel::group_of_part(kernel_, pipeline, k) == g)
        ask_for_box(pipeline.body[k].get<Loop>(), of_group("filled", g, pipeline, "stage"));
  }
  close();
  close();
  line("return;");
  close();
  if (beside_.taken > 0) line("{}<{}>();", used_("take_registers"), beside_.taken);
}

// A line of a buffer has `width` elements, and what is longer comes in pieces.
void PhasePrinter::ask_for_box(const Loop& part, const std::string& filled) {
  const kernel::Box& box = *part.box;
  const int buffer = part.body[0].get<Store>().access.array;
  const int64_t width = *kernel_.buffers[static_cast<size_t>(buffer)].dims[3].constant();
  const std::string map = map_of(part);
  for (int64_t at = 0; at < box.line; at += width) {
    std::string from;
    for (size_t s = 0; s < box.sides.size(); ++s)
      from += fmt::format(", (int)({})", integer(box.sides[s].first + (s == 0 ? at : 0)));
    line("{}({} + {}, {}, {}{});", used_("copy_box"), stage_of(buffer, "stage"), at * box.lines, map, filled, from);
  }
}

// The barrier of a stage of parts that come together.
std::string PhasePrinter::of_group(const char* barriers, int group, const Loop& pipeline, const char* stage) const {
  return group == 0 ? fmt::format("{} + {}", barriers, stage)
                    : fmt::format("{} + {} + {}", barriers, group * pipeline.stages, stage);
}

void PhasePrinter::await_boxes(const Loop& pipeline, int group, const char* stage, const std::string& part) {
  line("{}({}, (int)({}) / {} & 1);", used_("await_turn"), of_group("filled", group, pipeline, stage), part,
       pipeline.stages);
}

void PhasePrinter::leave_boxes(const Loop& pipeline, int group, const char* stage) {
  line("{}({});", used_("leave_stage"), of_group("freed", group, pipeline, stage));
}

void PhasePrinter::grid_with_boxes(const std::vector<Stmt>& body) {
  const size_t at = *kernel::boxed_pipeline(phase_);
  const auto& pipeline = body[at].get<Loop>();
  size_t first = 0;
  while (body[first].is<Alloc>() || body[first].is<Let>() || body[first].is<kernel::Matrix>()) statement(body[first++]);
  ask_for_boxes(pipeline);
  if (first < at) {
    statements(std::span(body).subspan(first, at - first));
    line("{}();", used_("see_stores"));
    barrier();
  }
  statements(std::span(body).subspan(at));
}

// All that the team does with a part.
void PhasePrinter::part_of_boxes(const Loop& s, const std::string& part) {
  const size_t first_use = kernel::uses_of_pipeline(s);
  if (kernel::goes_on_alone(kernel_, s)) {
    await_boxes(s, 0, "stage", part);
    line("{}();", used_("begin_multiplication"));
    for (size_t k = first_use; k < s.body.size(); ++k) statement(s.body[k]);
    line("{}();", used_("end_multiplication"));
    line("{}<1>();", used_("await_multiplications"));
    open(fmt::format("if ({} > 0)", part));
    leave_boxes(s, 0, "before");
    close();
    return;
  }
  if (kernel::adds_meanwhile(kernel_, s)) {
    await_boxes(s, 0, "stage", part);
    use_part_and_add(s, [] {});
    open(fmt::format("if ({} > 0)", part));
    leave_boxes(s, 0, "before");
    close();
    return;
  }
  await_boxes(s, 0, "stage", part);
  if (kernel::held_multiplications(s) > 1)
    multiply_held_rows(s);
  else
    for (size_t k = first_use; k < s.body.size(); ++k) use_part(s.body[k], [] {});
  leave_boxes(s, 0, "stage");
}

// The multiplications that begin with sums of 0, from step k on: their fragments.
std::vector<int> PhasePrinter::multiply_firsts(const Loop& s, size_t& k) {
  std::vector<int> sums;
  line("{}();", used_("begin_multiplication"));
  for (; is_step(s, k, kernel::Matrix::Step::Clear); k += 2) {
    fresh_ = true;
    sums.push_back(s.body[k].get<kernel::Matrix>().fragment);
    statement(s.body[k + 1]);
  }
  line("{}();", used_("end_multiplication"));
  return sums;
}

// Waits for all but so many of the multiplications begun.
void PhasePrinter::settle(const std::vector<int>& sums, int behind) {
  line("{}<{}>();", used_("await_multiplications"), behind);
  for (const int fragment : sums) line("{}({});", used_("settle_sums"), sums_of(fragment));
}

// First multiplications together, and last ones: registers hold nothing else than their sums then.
// Another group of warps multiplies while this one computes what is between.
void PhasePrinter::multiply_held_rows(const Loop& s) {
  const size_t held = s.body.size() - kernel::held_multiplications(s);
  size_t k = kernel::uses_of_pipeline(s);
  std::vector<int> sums = multiply_firsts(s, k);
  while (needs_no_sums(s.body[k])) statement(s.body[k++]);
  settle(sums, 0);
  sums.clear();
  for (; k < held; ++k) statement(s.body[k]);
  for (k = held; k < s.body.size(); ++k) round_rows(s.body[k].get<kernel::Matrix>());
  line("{}();", used_("begin_multiplication"));
  for (k = held; k < s.body.size(); ++k) {
    sums.push_back(s.body[k].get<kernel::Matrix>().fragment);
    multiply_held(s.body[k].get<kernel::Matrix>(), "stage");
  }
  line("{}();", used_("end_multiplication"));
  settle(sums, 0);
}

// A loop that accesses nothing of what the units make.
bool PhasePrinter::needs_no_sums(const Stmt& s) const {
  const auto* loop = s.get_if<Loop>();
  if (!loop || loop->kind != LoopKind::Vector) return false;
  bool needs = false;
  kernel::for_each_stmt(loop->body, [&](const Stmt& inside) {
    kernel::visit_accesses(kernel_, inside, [&](const Access& access, bool) {
      needs = needs || (access.scratch && is_fragment(access.array));
    });
  });
  return !needs;
}

// While what is between is computed of a part, the units do the last multiplication of the part
// before, if it is not the first one.
void PhasePrinter::chained_part_of_boxes(const Loop& s, const std::string& part, bool first) {
  using Step = kernel::Matrix::Step;
  const auto& last = s.body.back().get<kernel::Matrix>();
  const int of_last = kernel::groups_of_parts(kernel_, s) - 1;
  const bool weighs = is_step(s, s.body.size() - 2, Step::Weigh);
  size_t k = kernel::uses_of_pipeline(s);
  await_boxes(s, 0, "stage", part);
  if (takes_turns()) line("{}(t);", used_("await_group"));
  const std::vector<int> sums = multiply_firsts(s, k);
  if (!first) {
    if (of_last > 0) await_boxes(s, of_last, "before", part + " - 1");
    multiply_held(last, "before");
    line("{}();", used_("end_multiplication"));
  }
  if (takes_turns()) line("{}(t);", used_("begin_group"));
  while (needs_no_sums(s.body[k])) statement(s.body[k++]);
  settle(sums, first ? 0 : 1);
  if (of_last > 0) leave_boxes(s, 0, "stage");
  for (; k + (weighs ? 2 : 1) < s.body.size(); ++k) statement(s.body[k]);
  if (weighs) weigh_rows(s.body[k].get<kernel::Matrix>());
  if (!first) {
    settle({last.fragment}, 0);
    leave_boxes(s, of_last, "before");
  }
  weighs ? rescale(s.body[k].get<kernel::Matrix>()) : round_rows(last);
}

// Multiplications must not be under a condition that the compiler does not see to hold for all
// threads: they would wait for each other (C7519 of ptxas). So the first part, which has none
// before it, is done ahead of the loop.
void PhasePrinter::pipeline_of_boxes(const Loop& s) {
  const std::string type = index_type(), count = fmt::format("n{}", names_++), part = fmt::format("s{}", names_++);
  const bool chains = kernel::chains_meanwhile(kernel_, s);
  line("const {} {} = {};", type, count, integer(s.extent));
  ++serial_depth_;
  symbols_[s.var] = part;
  if (chains) {
    if (takes_turns()) line("if (t >= 128) {}(t);", used_("begin_group"));
    open(fmt::format("if ({} > 0)", count));
    line("const {} {} = 0;", type, part);
    line("const int stage = 0;");
    push();
    chained_part_of_boxes(s, part, true);
    pop();
    close();
  }
  line("#pragma unroll 1");
  open(fmt::format("for ({0} {1} = {3}; {1} < {2}; ++{1})", type, part, count, chains ? 1 : 0));
  line("const int stage = (int){0} % {1}, before = (int)({0} + {2}) % {1};", part, s.stages, s.stages - 1);
  push();
  chains ? chained_part_of_boxes(s, part, false) : part_of_boxes(s, part);
  pop();
  close();
  --serial_depth_;
  end_of_pipeline(s, count);
}

}  // namespace smelt::emit::c_like
