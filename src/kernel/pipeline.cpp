#include "kernel/pipeline.hpp"

#include <algorithm>

namespace smelt::kernel {

bool all_in_groups(const Kernel& kernel) {
  return std::all_of(kernel.fragments.begin(), kernel.fragments.end(), [](const Fragment& f) { return f.in_groups(); });
}

bool holds_rows(const Kernel& kernel) {
  return std::any_of(kernel.fragments.begin(), kernel.fragments.end(), [](const Fragment& f) { return f.holds_rows; });
}

size_t uses_of_pipeline(const Loop& pipeline) {
  const auto first =
      std::find_if(pipeline.body.begin(), pipeline.body.end(), [](const Stmt& s) { return s.is<Matrix>(); });
  return static_cast<size_t>(first - pipeline.body.begin());
}

bool goes_on_alone(const Kernel& kernel, const Loop& pipeline) {
  return std::all_of(pipeline.body.begin() + static_cast<std::ptrdiff_t>(uses_of_pipeline(pipeline)),
                     pipeline.body.end(), [&](const Stmt& s) {
                       const auto* matrix = s.get_if<Matrix>();
                       return matrix && matrix->step == Matrix::Step::Multiply && matrix->by < 0 &&
                              kernel.fragments[static_cast<size_t>(matrix->fragment)].in_groups();
                     });
}

bool adds_meanwhile(const Kernel& kernel, const Loop& pipeline) {
  using Step = Matrix::Step;
  const auto step = [&](size_t k) {
    const auto* matrix = k < pipeline.body.size() ? pipeline.body[k].get_if<Matrix>() : nullptr;
    return matrix && (matrix->step != Step::Multiply || matrix->by < 0) ? matrix : nullptr;
  };
  const auto is = [&](size_t k, Step wanted) { return step(k) && step(k)->step == wanted; };
  std::vector<int> fresh, others;
  size_t k = uses_of_pipeline(pipeline);
  for (; is(k, Step::Clear) && is(k + 1, Step::Multiply) && step(k)->fragment == step(k + 1)->fragment; k += 2)
    fresh.push_back(step(k)->fragment);
  for (; is(k, Step::Multiply); ++k) others.push_back(step(k)->fragment);
  const auto has = [](const std::vector<int>& of, int fragment) { return std::count(of.begin(), of.end(), fragment); };
  for (const int fragment : others)
    if (has(fresh, fragment)) return false;
  for (; is(k, Step::Add); ++k)
    if (!has(fresh, step(k)->by) || has(others, step(k)->fragment)) return false;
  return k == pipeline.body.size() && !fresh.empty() && all_in_groups(kernel);
}

size_t held_multiplications(const Loop& pipeline) {
  const auto is_held = [](const Stmt& s) {
    const auto* matrix = s.get_if<Matrix>();
    return matrix && matrix->step == Matrix::Step::Multiply && matrix->by >= 0;
  };
  const auto end = std::find_if_not(pipeline.body.rbegin(), pipeline.body.rend(), is_held);
  return static_cast<size_t>(end - pipeline.body.rbegin());
}

// The multiplication by rows in registers that it ends with, if that is one.
static const Matrix* last_by_rows(const Loop& pipeline) {
  return held_multiplications(pipeline) == 1 ? &pipeline.body.back().get<Matrix>() : nullptr;
}

bool weighs_meanwhile(const Kernel& kernel, const Loop& pipeline) {
  constexpr int kStages = 3;
  const Matrix* multiply = last_by_rows(pipeline);
  if (!multiply || pipeline.stages < kStages || pipeline.body.size() < 2) return false;
  const auto* weigh = pipeline.body[pipeline.body.size() - 2].get_if<Matrix>();
  return weigh && weigh->step == Matrix::Step::Weigh && multiply->fragment == weigh->fragment &&
         multiply->by == weigh->by && all_in_groups(kernel);
}

bool chains_meanwhile(const Kernel& kernel, const Loop& pipeline) {
  return pipeline.boxed && pipeline.stages > 1 && last_by_rows(pipeline) && all_in_groups(kernel);
}

// Whether the units still have the part before when a part is used.
static bool is_behind(const Kernel& kernel, const Loop& pipeline) {
  return goes_on_alone(kernel, pipeline) || adds_meanwhile(kernel, pipeline);
}

int parts_ahead(const Kernel& kernel, const Loop& pipeline) {
  return pipeline.stages - (is_behind(kernel, pipeline) || weighs_meanwhile(kernel, pipeline) ? 2 : 1);
}

int group_of_part(const Kernel& kernel, const Loop& pipeline, size_t part) {
  const Matrix* last = last_by_rows(pipeline);
  if (!last || is_behind(kernel, pipeline)) return 0;
  const auto takes_part = [&](const Stmt& s) {
    const auto* first = s.get_if<Matrix>();
    return first && first != last && first->step == Matrix::Step::Multiply && first->columns == last->columns;
  };
  if (std::any_of(pipeline.body.begin(), pipeline.body.end(), takes_part)) return 0;
  return pipeline.body[part].get<Loop>().body[0].get<Store>().access.array == last->columns ? 1 : 0;
}

int groups_of_parts(const Kernel& kernel, const Loop& pipeline) {
  int most = 0;
  for (size_t k = 0; k < uses_of_pipeline(pipeline); ++k) most = std::max(most, group_of_part(kernel, pipeline, k));
  return most + 1;
}

std::optional<size_t> boxed_pipeline(const Phase& phase) {
  if (phase.body.empty() || phase.team.cluster() > 1 || phase.team.iterations() > 1) return std::nullopt;
  bool team_alone = false;
  const std::vector<Stmt>& body = phase.body.back().get<Loop>().body;
  for (size_t n = 0; n < body.size(); ++n) {
    const auto* loop = body[n].get_if<Loop>();
    if (loop && loop->boxed) {
      const auto parts = static_cast<std::ptrdiff_t>(uses_of_pipeline(*loop));
      const bool by_loops =
          std::all_of(loop->body.begin(), loop->body.begin() + parts, [](const Stmt& part) { return part.is<Loop>(); });
      return parts > 0 && by_loops ? std::optional(n) : std::nullopt;
    }
    if (body[n].is<Alloc>() || body[n].is<Matrix>()) continue;
    const bool is_let = body[n].is<Let>(), is_vector = loop && loop->kind == LoopKind::Vector;
    if (is_let ? team_alone : !is_vector && !body[n].is<Barrier>()) return std::nullopt;
    team_alone = team_alone || !is_let;
  }
  return std::nullopt;
}

}  // namespace smelt::kernel
