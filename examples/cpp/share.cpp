// Arrays of another library without a copy (DLPack), and one function called from many threads.
#include <smelt/smelt.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

using namespace smelt;

// Stands for a library that hands its tensors out: the capsule of a Python array, for example,
// holds such a pointer.
static dlpack::ManagedTensorVersioned* tensor_of_another_library(int64_t rows) {
  return to_dlpack(Array::from(std::vector<float>(static_cast<size_t>(rows) * 4, 1.5f), {rows, 4}));
}

int main() {
  auto scores = compile([](Array x) { return softmax(x * 2); });

  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int64_t rows = 2; rows < 20; ++rows) {
        const Array x = from_dlpack(tensor_of_another_library(rows + t));  // its memory, freed by its deleter
        const Array y = scores(x);
        for (float p : y.span<float>()) wrong += p != 0.25f;
        dlpack::ManagedTensorVersioned* result = to_dlpack(y);  // for them
        result->deleter(result);                                // what they do in the end
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d executable for all batch sizes, %d wrong elements\n", scores.compile_count(), wrong.load());
  return scores.compile_count() == 1 && wrong == 0 ? 0 : 1;
}
