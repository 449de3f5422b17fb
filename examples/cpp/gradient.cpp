// Gradient descent: the step and its gradient are one compiled program.
#include <smelt/smelt.hpp>

#include <cstdio>
#include <vector>

using namespace smelt;

int main() {
  // Two classes of points, which the line x + 2 y = 1 parts.
  std::vector<float> points, classes;
  for (int i = 0; i < 400; ++i) {
    const float x = static_cast<float>(i % 20) / 10 - 0.95f, y = static_cast<float>(i / 20) / 10 - 0.95f;
    points.insert(points.end(), {x, y});
    classes.push_back(x + 2 * y > 1 ? 1.0f : 0.0f);
  }
  const Array x = Array::from(points, {400, 2}), y = Array::from(classes);

  // The mean cross entropy of the logistic function.
  const auto loss = [](Array w, Array bias, Array x, Array y) {
    const Array score = sum(x * w, -1) + bias;
    return mean(softplus(score) - y * score);
  };
  const auto step = compile([=](Array w, Array bias, Array x, Array y) {
    const auto [value, slopes] = value_and_gradient(loss, {0, 1})(w, bias, x, y);
    return std::tuple(value, w - 4 * slopes[0], bias - 4 * slopes[1]);
  });

  Array w = Array::from({0.0f, 0.0f}), bias = Array::scalar(0.0f), value;
  for (int i = 0; i <= 2000; ++i) {
    std::tie(value, w, bias) = step(w, bias, x, y);
    if (i % 500 == 0) std::printf("after %4d steps the loss is %.4f\n", i, value.item<float>());
  }
  const float slope = w.span<float>()[1] / w.span<float>()[0], offset = -bias.item<float>() / w.span<float>()[0];
  std::printf("x + %.2f y = %.2f\n", slope, offset);
  return slope > 1.9f && slope < 2.1f && offset > 0.9f && offset < 1.1f ? 0 : 1;
}
