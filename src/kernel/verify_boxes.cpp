// verify() of the parts of pipelines that come as boxes: they are what the loops copy element by
// element.
#include <algorithm>

#include "kernel/conditions.hpp"
#include "kernel/find_boxes.hpp"
#include "kernel/offset.hpp"
#include "kernel/pipeline.hpp"
#include "kernel/verify_parts.hpp"

namespace smelt::kernel {
namespace {

class BoxVerifier {
 public:
  BoxVerifier(const Kernel& kernel, const Loop& loop, Ranges ranges)
      : kernel_(kernel), loop_(loop), box_(*loop.box), ranges_(std::move(ranges)) {
    if (loop.extent != box_.line * box_.lines) refuse("has other elements than its box");
    if (loop.body.size() != 1 || !loop.body[0].is<Store>()) refuse("does more than to copy a box");
    ranges_[kX] = {0, box_.line - 1}, ranges_[kY] = {0, box_.lines - 1};
  }

  void run() const {
    const Load* load = kernel_.at(loop_.body[0].get<Store>().value).get_if<Load>();
    if (!load || load->access.scratch || load->access.array != box_.param) refuse("does not copy the array of its box");
    if (box_.sides.size() < 2 || !box_.sides[0].stride.is(1)) refuse("has no box with a contiguous side");
    IntExpr offset = 0;
    for (size_t s = 0; s < box_.sides.size(); ++s) offset = offset + position(s) * box_.sides[s].stride;
    if (!(recombine(here(flat_offset(kernel_, load->access)) - offset)).is(0))
      refuse("copies from another place than its box");
    std::vector<IntExpr> holds;
    if (load->mask != kNoExpr && !comparisons_of(kernel_, load->mask, holds)) refuse("copies where a box does not end");
    for (IntExpr& least : holds) least = here(least);
    for (const IntExpr& least : holds) asked(least);
    for (size_t s = 0; s < box_.sides.size(); ++s) ended(s, box_.sides[s].extent, holds);
  }

 private:
  [[noreturn]] void refuse(const char* what) const { fail(kernel_, "loop {} of a pipeline {}", loop_.var, what); }
  IntExpr here(const IntExpr& e) const {
    return e.substitute({{loop_.var, box_.line * IntExpr::symbol(kY) + IntExpr::symbol(kX)}}, ranges_);
  }
  IntExpr position(size_t side) const {
    const IntExpr& first = box_.sides[side].first;
    return side == 0 ? first + IntExpr::symbol(kX) : side == 1 ? first + IntExpr::symbol(kY) : first;
  }
  // What is at least 0 below each of the ends that a side's extent is the least of.
  template <class Visit>
  void for_ends(const IntExpr& extent, const Visit& visit) const {
    const auto& terms = extent.terms();
    const bool least = terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1 &&
                       terms[0].atoms[0]->kind == AtomKind::Min;
    if (!least) return visit(extent);
    for_ends(terms[0].atoms[0]->a, visit);
    for_ends(terms[0].atoms[0]->b, visit);
  }
  // Where the mask does not hold, the box has 0: it is before or after a side.
  void asked(const IntExpr& least) const {
    bool known = false;
    for (size_t s = 0; s < box_.sides.size(); ++s) {
      known = known || least == position(s);
      for_ends(box_.sides[s].extent, [&](const IntExpr& end) { known = known || least == end - 1 - position(s); });
    }
    if (!known) refuse("copies where a box does not end");
  }
  // A side ends where the mask does, or with the array.
  void ended(size_t side, const IntExpr& extent, const std::vector<IntExpr>& holds) const {
    const Param& array = kernel_.params[static_cast<size_t>(box_.param)];
    for_ends(extent, [&](const IntExpr& end) {
      for (const IntExpr& least : holds)
        if (least == end - 1 - position(side)) return;
      for (size_t d = 0; d < array.dims.size(); ++d) {
        if (!(array.strides[d] == box_.sides[side].stride)) continue;
        IntExpr all = 1;
        for (size_t outer = d + 1; outer-- > 0;)
          if (all = all * array.dims[outer]; all == end) return;
      }
      refuse("has a box that ends within its array");
    });
  }

  const Symbol kX = Symbol::loop("box_x"), kY = Symbol::loop("box_y");
  const Kernel& kernel_;
  const Loop& loop_;
  const Box& box_;
  Ranges ranges_;
};

}  // namespace

void verify_boxes(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) {
    const auto wants = [](const Variant& v) { return v.boxes; };
    if (std::none_of(phase.variants.begin(), phase.variants.end(), wants)) continue;
    const auto at = boxed_pipeline(phase);
    if (!at) fail(kernel, "a variant takes boxes without a pipeline that may have them");
    const auto& grid = phase.body.back().get<Loop>();
    const auto& pipeline = grid.body[*at].get<Loop>();
    SymbolsAround around(kernel);
    around.enter(grid.var, grid.extent);
    for (const Stmt& s : grid.body)
      if (const auto* let = s.get_if<Let>()) around.enter(*let);
    around.enter(pipeline.var, pipeline.extent);
    for (size_t k = 0; k < uses_of_pipeline(pipeline); ++k) {
      const auto& loop = pipeline.body[k].get<Loop>();
      if (!loop.box) fail(kernel, "loop {} of a pipeline has no box", loop.var);
      BoxVerifier(kernel, loop, around.ranges()).run();
    }
  }
}

}  // namespace smelt::kernel
