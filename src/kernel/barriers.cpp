#include "kernel/barriers.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// The first access to a buffer, and whether all others are like it.
struct Use {
  const Loop* loop = nullptr;
  const Access* access = nullptr;
  bool alike = false;
};

class OrderedUses {
 public:
  explicit OrderedUses(const Kernel& kernel) : kernel_(kernel) {}

  std::map<int, Use> of(const Phase& phase) {
    uses_.clear();
    walk(phase.body, nullptr);
    return std::move(uses_);
  }

 private:
  void walk(const std::vector<Stmt>& body, const Loop* vector) {
    for (const Stmt& s : body) {
      visit_accesses(kernel_, s, [&](const Access& access, bool) { note(access, vector); });
      const Loop* own = loop_of(s, LoopKind::Vector);
      if (const auto* inside = body_of(s)) walk(*inside, own ? own : vector);
    }
  }

  void note(const Access& access, const Loop* vector) {
    if (!access.scratch) return;
    const auto [found, first] = uses_.try_emplace(access.array);
    Use& use = found->second;
    if (first) {
      use = {vector, &access, vector && axis_along(access, vector->var)};
      return;
    }
    use.alike = use.alike && vector && use.access->index == access.index && use.loop->var == vector->var &&
                use.loop->extent == vector->extent && use.loop->lanes == vector->lanes &&
                use.loop->unroll == vector->unroll;
  }

  const Kernel& kernel_;
  std::map<int, Use> uses_;
};

using Buffers = std::set<int>;

class Barriers {
 public:
  explicit Barriers(Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (Phase& phase : kernel_.phases) {
      if (phase.team.threads <= 1) continue;
      touched_.clear();
      block(phase.body);
    }
  }

 private:
  void block(std::vector<Stmt>& body) {
    std::vector<Stmt> ordered;
    for (Stmt& s : body) {
      if (const Buffers here = at_once(s); meets(here)) {
        ordered.push_back(Barrier{});
        touched_ = here;
      } else {
        touched_.insert(here.begin(), here.end());
      }
      // What the last iteration touched, the next one must wait for.
      if (auto* inside = body_of(s); inside && !is_vector(s) && !is_pipeline(s)) {
        if (repeats(s)) touched_.merge(of_body(s));
        block(*inside);
      }
      ordered.push_back(std::move(s));
    }
    body = std::move(ordered);
  }

  static bool is_vector(const Stmt& s) { return loop_of(s, LoopKind::Vector); }

  void note(const Stmt& s, Buffers& into) const {
    visit_accesses(kernel_, s, [&](const Access& access, bool) {
      if (is_shared(kernel_, access)) into.insert(access.array);
    });
  }
  Buffers of_body(const Stmt& s) const {
    Buffers found;
    for_each_stmt(*body_of(s), [&](const Stmt& inner) { note(inner, found); });
    return found;
  }
  // A Vector loop and a pipeline as a whole; of others the statement itself, without its body.
  Buffers at_once(const Stmt& s) const {
    Buffers found = is_vector(s) || is_pipeline(s) ? of_body(s) : Buffers{};
    note(s, found);
    if (is_pipeline(s)) found.merge(in_memory_of_pipeline(kernel_));
    return found;
  }
  bool meets(const Buffers& here) const {
    return std::any_of(here.begin(), here.end(), [&](int b) { return meets_memory(kernel_, touched_, b); });
  }

  Kernel& kernel_;
  Buffers touched_;  // since the last barrier
};

}  // namespace

bool repeats(const Stmt& s) { return s.is<Each>() || (s.is<Loop>() && !loop_of(s, LoopKind::Grid)); }

bool is_pipeline(const Stmt& s) {
  const auto* loop = s.get_if<Loop>();
  return loop && loop->stages > 0;
}

std::set<int> in_memory_of_pipeline(const Kernel& kernel) {
  std::set<int> found;
  for (size_t b = 0; b < kernel.buffers.size(); ++b)
    if (kernel.buffers[b].lifetime != Lifetime::Always) found.insert(static_cast<int>(b));
  return found;
}

bool meets_memory(const Kernel& kernel, const std::set<int>& buffers, int buffer) {
  const auto lifetime = [&](int b) { return kernel.buffers[static_cast<size_t>(b)].lifetime; };
  const Lifetime own = lifetime(buffer);
  return std::any_of(buffers.begin(), buffers.end(), [&](int b) {
    return b == buffer || (own != Lifetime::Always && lifetime(b) != Lifetime::Always && lifetime(b) != own);
  });
}

bool is_shared(const Kernel& kernel, const Access& access) {
  return access.scratch && kernel.buffers[static_cast<size_t>(access.array)].scope != Scope::Lane;
}

std::optional<size_t> axis_along(const Access& access, Symbol var) {
  for (size_t d = 0; d < access.index.size(); ++d) {
    const auto step = access.index[d].coefficient_of(var);
    if (step && step->is(1)) return d;
  }
  return std::nullopt;
}

bool place_scratch(Kernel& kernel) {
  bool changed = false;
  if (kernel.dialect == Dialect::PlainThread) return false;  // all of it is one thread's
  OrderedUses uses(kernel);
  for (const Phase& phase : kernel.phases)
    for (const auto& [buffer, use] : uses.of(phase)) {
      Scope& scope = kernel.buffers[static_cast<size_t>(buffer)].scope;
      changed = changed || (use.alike && scope != Scope::Lane);
      if (use.alike) scope = Scope::Lane;
    }
  return changed;
}

bool insert_barriers(Kernel& kernel) {
  if (kernel.dialect != Dialect::PlainThread) Barriers(kernel).run();
  return std::exchange(kernel.ordered, true) == false && !kernel.buffers.empty();
}

}  // namespace smelt::kernel
