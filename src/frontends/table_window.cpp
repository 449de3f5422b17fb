#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

static f::Pool pool(Call& c, bool dilated = true) {
  return {c.integers("size"), c.integers("stride"), c.integers("padding"),
          dilated ? c.integers("dilation") : std::vector<int64_t>{}};
}

static constexpr Row kWindowRows[] = {
    {"window", "sliding_window_view", "x, size, axis=None, stride=1, dilation=1",
     "views of size elements each, stride apart, in a new last axis for each windowed axis; without axes the last ones",
     [](Call& c) {
       return Value::array(
           f::window(c.b, c.array("x"), c.shape("size"), c.axes("axis"), c.integers("stride"), c.integers("dilation")));
     }},
    {"max_pool", "", "x, size, stride=None, padding=0, dilation=1",
     "largest element of each window over the last axes, as many as there are sizes; stride: the size unless given",
     [](Call& c) { return Value::array(f::max_pool(c.b, c.array("x"), pool(c))); }},
    {"min_pool", "", "x, size, stride=None, padding=0, dilation=1", "smallest element, as in max_pool",
     [](Call& c) { return Value::array(f::min_pool(c.b, c.array("x"), pool(c))); }},
    {"avg_pool", "", "x, size, stride=None, padding=0, count_padding=True",
     "mean of each window, as in max_pool; the zeros of the padding count as elements, or not",
     [](Call& c) { return Value::array(f::avg_pool(c.b, c.array("x"), pool(c, false), c.flag("count_padding"))); }},
    {"conv", "conv1d conv2d conv3d", "x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1",
     "as PyTorch's: x [N, C, L], [N, C, H, W] or [N, C, D, H, W], weight [O, C // groups, window], bias [O]",
     [](Call& c) {
       return Value::array(
           f::conv(c.b, c.array("x"), c.array("weight"), c.optional_array("bias"),
                   {c.integers("stride"), c.integers("padding"), c.integers("dilation"), c.integer("groups")}));
     }},
    {"correlate", "", "x, kernel",
     "sum of kernel[j] * x[i + j] along the last axes, as many as the kernel has; only where the kernel lies inside x",
     [](Call& c) { return Value::array(f::correlate(c.b, c.array("x"), c.array("kernel"))); }},
    {"filter", "", "x, kernel, mode='edge', value=0",
     "correlate at every element of x, with the middle of the kernel on it; values outside of x are those of pad's "
     "mode",
     [](Call& c) {
       return Value::array(f::filter(c.b, c.array("x"), c.array("kernel"), c.pad_mode("mode"), c.operand("value")));
     }},
};

std::span<const Row> window_rows() { return kWindowRows; }

}  // namespace smelt::lang
