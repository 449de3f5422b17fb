// Threads of a team meet in shared scratch only after a barrier.
#include <set>

#include "kernel/barriers.hpp"
#include "kernel/pipeline.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

class BarrierVerifier {
 public:
  explicit BarrierVerifier(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (const Phase& phase : kernel_.phases) {
      if (phase.team.threads <= 1) continue;
      since_ = {};
      block(phase.body);
    }
  }

 private:
  // Since the last barrier.
  struct Since {
    std::set<int> read, written;
  };

  void block(const std::vector<Stmt>& body) {
    for (const Stmt& s : body) statement(s);
  }

  void statement(const Stmt& s) {
    if (s.is<Barrier>()) {
      since_ = {};
      return;
    }
    Since here;
    const Loop* vector = loop_of(s, LoopKind::Vector);
    note(s, here);
    if (is_pipeline(s)) {
      pipeline(s.get<Loop>());
      here.written = in_memory_of_pipeline(kernel_);
      meet(here, s);
      return;
    }
    if (vector) for_each_stmt(vector->body, [&](const Stmt& inner) { note(inner, here); });
    meet(here, s);
    const auto* body = body_of(s);
    if (vector || !body) return;
    const Since before = since_;
    block(*body);
    if (repeats(s)) block(*body);  // its second iteration, after the first
    if (s.is<If>() || repeats(s)) add(before);
  }

  // Parts are made in Vector loops and used after these, each in its stage: nothing else connects
  // iterations.
  void pipeline(const Loop& s) const {
    if (s.kind != LoopKind::Serial || s.stages < 2) fail(kernel_, "loop {} is no pipeline", s.var);
    if (parts_ahead(kernel_, s) < 1) fail(kernel_, "pipeline {} has too few stages", s.var);
    std::set<int> staged;
    const size_t first_use = uses_of_pipeline(s);
    for (size_t k = 0; k < first_use; ++k) make(s, s.body[k], staged);
    for (size_t k = first_use; k < s.body.size(); ++k) use(s, s.body[k], staged);
  }

  void make(const Loop& s, const Stmt& part, std::set<int>& staged) const {
    Ranges ranges;
    ranges[s.var] = {0, s.extent - 1};
    const IntExpr stage = mod(IntExpr::symbol(s.var), s.stages, ranges);
    const Loop* makes = loop_of(part, LoopKind::Vector);
    if (!makes) fail(kernel_, "pipeline {} makes parts outside of vector loops", s.var);
    for_each_stmt(makes->body, [&](const Stmt& element) {
      if (!element.is<Let>() && !element.is<Store>())
        fail(kernel_, "pipeline {} makes parts by more than values and stores", s.var);
      visit_accesses(kernel_, element, [&](const Access& access, bool stored) {
        if (access.scratch && !is_shared(kernel_, access)) return;
        if (!stored) {
          if (access.scratch) fail(kernel_, "pipeline {} makes parts from scratch{}", s.var, access.array);
          return;
        }
        if (!access.scratch && access.array == kernel_.error_param) return;
        if (!access.scratch) fail(kernel_, "pipeline {} stores to an array", s.var);
        const ScratchBuffer& buffer = kernel_.buffers[static_cast<size_t>(access.array)];
        if (buffer.lifetime != Lifetime::Pipeline || buffer.dims.empty() || !buffer.dims[0].is(s.stages))
          fail(kernel_, "pipeline {} makes parts of scratch{}, which has no {} stages", s.var, access.array, s.stages);
        if (!(access.index[0] == stage))
          fail(kernel_, "pipeline {} stores to {}, not to stage {}", s.var, access_text(kernel_, access), stage.str());
        staged.insert(access.array);
      });
    });
  }

  // By matrix units, and by loops over what threads have in registers.
  void use(const Loop& s, const Stmt& step, const std::set<int>& staged) const {
    if (const auto* where = step.get_if<If>()) {
      for (const Stmt& inside : where->body) {
        if (!loop_of(inside, LoopKind::Vector)) fail(kernel_, "pipeline {} multiplies where a condition holds", s.var);
        use(s, inside, staged);
      }
      return;
    }
    const auto* matrix = step.get_if<Matrix>();
    const Loop* loop = loop_of(step, LoopKind::Vector);
    if ((!matrix && !loop) || (matrix && matrix->into >= 0))
      fail(kernel_, "pipeline {} uses parts by more than matrix units and vector loops", s.var);
    if (matrix)
      for (const int b : {matrix->rows, matrix->columns})
        if (b >= 0 && !staged.count(b) && !kernel_.buffers[static_cast<size_t>(b)].dims[0].is(1))
          fail(kernel_, "pipeline {} multiplies scratch{}, whose stages it does not make", s.var, b);
    if (!loop) return;
    for_each_stmt(loop->body, [&](const Stmt& inner) {
      visit_accesses(kernel_, inner, [&](const Access& access, bool stored) {
        if (access.scratch ? is_shared(kernel_, access) : stored && access.array != kernel_.error_param)
          fail(kernel_, "pipeline {} uses parts with {}, which other threads have too", s.var,
               access_text(kernel_, access));
      });
    });
  }

  void note(const Stmt& s, Since& here) const {
    visit_accesses(kernel_, s, [&](const Access& access, bool stored) {
      if (is_shared(kernel_, access)) (stored ? here.written : here.read).insert(access.array);
    });
  }

  void meet(const Since& here, const Stmt& s) {
    const std::string what = s.is<Loop>() ? "loop " + s.get<Loop>().var.str() : "a statement";
    for (const int b : here.written)
      if (meets_memory(kernel_, since_.read, b) || meets_memory(kernel_, since_.written, b))
        fail(kernel_, "{} stores to scratch{}, which was touched since the last barrier", what, b);
    for (const int b : here.read)
      if (meets_memory(kernel_, since_.written, b))
        fail(kernel_, "{} reads scratch{}, which was stored to since the last barrier", what, b);
    add(here);
  }

  void add(const Since& more) {
    since_.read.insert(more.read.begin(), more.read.end());
    since_.written.insert(more.written.begin(), more.written.end());
  }

  const Kernel& kernel_;
  Since since_;
};

}  // namespace

void verify_barriers(const Kernel& kernel) {
  if (kernel.ordered) BarrierVerifier(kernel).run();
}

}  // namespace smelt::kernel
