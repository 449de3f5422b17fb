// Runs a fuzzer on the files that are named, without libFuzzer: `make test` builds every fuzzer and
// feeds it its seeds.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file || bytes.empty()) {
      std::fprintf(stderr, "%s: not readable, or empty\n", argv[i]);
      return 1;
    }
    std::fprintf(stderr, "%s\n", argv[i]);  // before its run, so that one that crashes is known
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  return argc > 1 ? 0 : 1;
}
