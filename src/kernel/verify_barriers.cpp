// Threads of a team meet in shared scratch only behind a barrier.
#include <set>

#include "kernel/barriers.hpp"
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
    if (vector) for_each_stmt(vector->body, [&](const Stmt& inner) { note(inner, here); });
    meet(here, s);
    const auto* body = body_of(s);
    if (vector || !body) return;
    const Since before = since_;
    block(*body);
    if (repeats(s)) block(*body);  // its second iteration, behind the first
    if (s.is<If>() || repeats(s)) add(before);
  }

  void note(const Stmt& s, Since& here) const {
    visit_accesses(kernel_, s, [&](const Access& access, bool stored) {
      if (is_shared(kernel_, access)) (stored ? here.written : here.read).insert(access.array);
    });
  }

  void meet(const Since& here, const Stmt& s) {
    const std::string what = s.is<Loop>() ? "loop " + s.get<Loop>().var.str() : "a statement";
    for (const int b : here.written)
      if (since_.read.count(b) || since_.written.count(b))
        fail(kernel_, "{} stores to scratch{}, which was touched since the last barrier", what, b);
    for (const int b : here.read)
      if (since_.written.count(b))
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
