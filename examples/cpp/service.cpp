#include <smelt/smelt.hpp>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <vector>

using namespace smelt;

int main() {
  const std::string path = (std::filesystem::temp_directory_path() / "scores.saved").string();

  // Where the compilers are: a build step, say.
  auto scores = compile([](Array x) { return softmax(x * 2); });
  const Array few = Array::from(std::vector<float>(2 * 8, 1.5f), {2, 8});
  scores(few);  // what is saved is what was called, or explained
  scores.save(path);

  // Where they are not: the service.
  std::atomic<int> compiled = 0, loaded = 0;
  on_event([&](const Event& event) {
    compiled += event.kind == Event::Kind::Compiled;
    loaded += event.kind == Event::Kind::Loaded;
  });
  const auto served = load_function<Array(Array)>(path);
  set_threads(4);
  set_memory_limit(Device::cpu(), int64_t{1} << 30);
  const Array y = served(Array::from(std::vector<float>(3 * 8, 1.5f), {3, 8}));  // the first size is open
  std::printf("%s of %g; %d compiled, %d loaded\n", y.str().c_str(), y.span<float>()[0], compiled.load(),
              loaded.load());

  try {
    served(Array::from({1.0, 2.0}));
  } catch (const UserError& error) {
    std::printf("%s\n", error.what());
  }
  std::filesystem::remove(path);
  return compiled == 0 && loaded == 1 ? 0 : 1;
}
