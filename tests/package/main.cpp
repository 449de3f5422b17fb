// What a program that uses smelt does: compiles a function, runs it on numbers of its own, reads
// the result, catches an error.
#include <smelt/smelt.hpp>

#include <cstdio>
#include <vector>

int main() {
  using namespace smelt;
  auto sum_of_positive = compile([](Array x) { return sum(relu(x) * 2.0f); });
  const float found = sum_of_positive(Array::from(std::vector<float>{-1, 2, 3})).item<float>();
  std::printf("%g\n", static_cast<double>(found));
  try {
    eval(Array::from<float>({1, 2}) + Array::from<float>({1, 2, 3}));
    return 2;
  } catch (const UserError& error) {  // the type is the same on both sides of a shared library
    std::printf("%s\n", error.what());
  }
  return found == 10.0f ? 0 : 1;
}
