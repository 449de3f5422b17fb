// Windows over an array, and arrays that go on past their ends: views that only rewrite the index.
#include <algorithm>

#include "base/check.hpp"
#include "graph/build_detail.hpp"

namespace smelt {

static void require_window(GraphBuilder& builder, NodeId x, size_t d, const IntExpr& size, int64_t step,
                           int64_t dilation) {
  const std::string array = describe(builder.at(x));
  if (step < 1)
    fail(fmt::format("the stride of windows along axis {} of {} cannot be {}", d, array, step),
         "a stride is 1 or more");
  if (dilation < 1)
    fail(fmt::format("the elements of a window along axis {} of {} cannot be {} apart", d, array, dilation),
         "a dilation is 1 or more");
  builder.require(
      {Constraint::AtLeast,
       size,
       1,
       fmt::format("a window along axis {} of {} cannot have {} elements: it has 1 or more", d, array, size.str()),
       {}});
  const IntExpr reach = (size - 1) * dilation + 1;
  const std::string spread = dilation == 1 ? "" : fmt::format(" with dilation {}", dilation);
  builder.require({Constraint::AtLeast,
                   builder.shape(x)[d],
                   reach,
                   fmt::format("a window of {}{} does not fit into axis {} of {}: it needs {} elements", size.str(),
                               spread, d, array, reach.str()),
                   {}});
}

NodeId GraphBuilder::window(NodeId x, std::vector<int> axes, const Shape& sizes, std::vector<int64_t> steps,
                            std::vector<int64_t> dilation) {
  SMELT_CHECK(axes.size() == sizes.size() && axes.size() == steps.size() && axes.size() == dilation.size(),
              "windows along {} axes with {} sizes, {} steps and {} dilations", axes.size(), sizes.size(), steps.size(),
              dilation.size());
  if (axes.empty()) return x;
  return with_sizes_checked([&] {
    Node node{.kind = NodeKind::Window};
    node.shape = shape(x);
    for (size_t a = 0; a < axes.size(); ++a) {
      axes[a] = normalize_axis(axes[a], rank(x));
      if (std::count(axes.begin(), axes.begin() + static_cast<long>(a), axes[a]))
        fail(fmt::format("a window of {} names axis {} twice", describe(at(x)), axes[a]), "name each axis once");
      const auto d = static_cast<size_t>(axes[a]);
      require_window(*this, x, d, sizes[a], steps[a], dilation[a]);
      node.shape[d] = floordiv(shape(x)[d] - (sizes[a] - 1) * dilation[a] - 1, steps[a]) + 1;
    }
    node.shape.insert(node.shape.end(), sizes.begin(), sizes.end());
    node.dtype = dtype(x);
    node.args = {x};
    node.axes = std::move(axes);
    node.steps = std::move(steps);
    node.dilation = std::move(dilation);
    return add(std::move(node));
  });
}

// Mirrored elements must be there; repeated ones need one.
static void require_extension(GraphBuilder& builder, NodeId x, size_t d, const IntExpr& width, ExtendMode mode) {
  const IntExpr& n = builder.shape(x)[d];
  const std::string array = describe(builder.at(x));
  builder.require({Constraint::AtLeast,
                   width,
                   0,
                   fmt::format("axis {} of {} cannot be padded by {}: widths are 0 or more", d, array, width.str()),
                   {}});
  if (width.is(0)) return;
  if (mode == ExtendMode::Edge || mode == ExtendMode::Wrap) {
    builder.require({Constraint::AtLeast,
                     n,
                     1,
                     fmt::format("axis {} of {} has no elements to pad with in mode '{}'", d, array, name_of(mode)),
                     {}});
    return;
  }
  const IntExpr most = mode == ExtendMode::Reflect ? n - 1 : n;
  builder.require({Constraint::AtLeast,
                   most,
                   width,
                   fmt::format("axis {} of {} cannot be padded by {} in mode '{}': at most {} can be mirrored", d,
                               array, width.str(), name_of(mode), most.str()),
                   {}});
}

NodeId GraphBuilder::extend(NodeId x, std::vector<IntExpr> low, std::vector<IntExpr> high, ExtendMode mode) {
  const size_t rank = shape(x).size();
  SMELT_CHECK(low.size() == rank && high.size() == rank, "a pad of rank {} with {} and {} widths", rank, low.size(),
              high.size());
  return with_sizes_checked([&] {
    Node node{.kind = NodeKind::Extend};
    for (size_t d = 0; d < rank; ++d) {
      require_extension(*this, x, d, low[d], mode);
      require_extension(*this, x, d, high[d], mode);
      node.shape.push_back(low[d] + shape(x)[d] + high[d]);
    }
    if (node.shape == shape(x)) return x;
    node.dtype = dtype(x);
    node.args = {x};
    node.extend = mode;
    node.starts = std::move(low);
    return add(std::move(node));
  });
}

}  // namespace smelt
