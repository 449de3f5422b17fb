// Frames of a camera into the input of a network: bytes to normalised floats, channels first, in
// memory that exists already.
#include <smelt/smelt.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace smelt;

int main() {
  constexpr int64_t kHeight = 48, kWidth = 64;
  const Array mean_of = Array::from({0.485f, 0.456f, 0.406f}), deviation = Array::from({0.229f, 0.224f, 0.225f});
  auto prepare = compile([=](Array frame) {
    const Array unit = cast<float>(frame) / 255;
    return transpose((unit - mean_of) / deviation, {2, 0, 1});
  });

  // The camera writes rows of 80 pixels, of which 64 are seen; the network reads its own buffer.
  std::vector<uint8_t> camera(kHeight * 80 * 3);
  std::vector<float> network(3 * kHeight * kWidth);
  const Array frame = Array::borrow(camera, {kHeight, kWidth, 3}, {80 * 3, 3, 1});
  const Array input = Array::borrow(network, {3, kHeight, kWidth});

  // Everything about the call is laid out once; a run allocates nothing.
  const Bound run = prepare.into(input).bind(frame);
  float first = 0;
  for (uint8_t brightness : {0, 128, 255}) {
    camera.assign(camera.size(), brightness);
    run();
    first = network[0];
    std::printf("brightness %3d becomes %+.3f\n", brightness, first);
  }
  const float expected = (1 - 0.485f) / 0.229f;
  return first > expected - 1e-5f && first < expected + 1e-5f ? 0 : 1;
}
