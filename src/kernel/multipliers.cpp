#include "kernel/multipliers.hpp"

#include <algorithm>

#include "kernel/build.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Each is an argument of the launch.
constexpr size_t kMost = 12;

bool is_size(const Kernel& kernel, Symbol symbol) {
  return symbol.is_size() || std::any_of(kernel.launch_sizes.begin(), kernel.launch_sizes.end(),
                                         [&](const LaunchSize& l) { return l.symbol == symbol; });
}

class Divisors {
 public:
  explicit Divisors(const Kernel& kernel) : kernel_(kernel) {
    for (const Expr& e : kernel.exprs) for_each_index(e, [&](const IntExpr& i) { visit(i); });
    for (const Phase& p : kernel.phases)
      for_each_stmt(p.body, [&](const Stmt& s) { for_each_index(s, [&](const IntExpr& i) { visit(i); }); });
  }
  const std::vector<IntExpr>& found() const { return found_; }

 private:
  void visit(const IntExpr& e) {
    for (const IntExpr::Term& t : e.terms())
      for (const IntExpr::AtomPtr& a : t.atoms) {
        if (a->symbol) continue;
        visit(a->a);
        visit(a->b);
        if (a->kind == AtomKind::FloorDiv || a->kind == AtomKind::Mod) note(*a);
      }
  }
  void note(const IntExpr::Atom& a) {
    if (a.b.constant() || !over_sizes(a.b) || over_sizes(a.a) || found_.size() == kMost) return;
    if (std::find(found_.begin(), found_.end(), a.b) == found_.end()) found_.push_back(a.b);
  }
  bool over_sizes(const IntExpr& e) const {
    return !e.any_symbol([&](Symbol s) { return !is_size(kernel_, s); });
  }

  const Kernel& kernel_;
  std::vector<IntExpr> found_;
};

}  // namespace

IntExpr multiplier_of(const IntExpr& divisor) { return floordiv(int64_t{1} << 62, max(divisor, 1)) + 1; }

bool add_multipliers(Kernel& kernel) {
  const std::vector<IntExpr> divisors = Divisors(kernel).found();
  for (size_t i = 0; i < divisors.size(); ++i) {
    kernel.launch_sizes.push_back({Symbol::multiplier(i), multiplier_of(divisors[i])});
    kernel.params.push_back(size_param(kernel.launch_sizes.back().symbol));
  }
  return !divisors.empty();
}

}  // namespace smelt::kernel
