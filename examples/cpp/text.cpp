// A program in text, and what the compiler made of it as data.
#include <smelt/smelt.hpp>

#include <cstdio>
#include <vector>

using namespace smelt;

int main() {
  const Program program = compile_text(R"(
    input logits: f32[B, C]
    input targets: i64[B]
    return cross_entropy(logits, targets), argmax(logits, axis=-1)
  )");

  const Array logits = Array::from({{1.f, 2.f, 3.f}, {9.f, 0.f, 0.f}});
  const Array targets = Array::from({int64_t{2}, int64_t{0}});
  const std::vector<Array> results = program({{"logits", logits}, {"targets", targets}});
  std::printf("loss %.4f, classes %g and %g\n", results[0].item<float>(), results[1](0), results[1](1));

  const Explanation e = program.explain({{"logits", logits}, {"targets", targets}});
  for (const Explanation::Kernel& kernel : e.kernels)
    std::printf("a %s kernel of %zu operations reads %ld bytes and writes %ld\n", kernel.strategy.c_str(),
                kernel.operations.size(), static_cast<long>(kernel.bytes_read),
                static_cast<long>(kernel.bytes_written));
  for (const Explanation::Decision& d : e.decisions)
    if (!d.fused) std::printf("%s -> %s: %s; %s\n", d.from.c_str(), d.to.c_str(), d.reason.c_str(), d.help.c_str());

  try {
    compile_text("input x: f32[B, 4]\nreturn x + sofmax(x)");
  } catch (const UserError& error) {
    std::printf("%s\n", error.what());
  }
  return results[1](0) == 2 ? 0 : 1;
}
