// Measures the error of the f32 expansions of unary operations over all 2^32 inputs (or every
// n-th), against the host meaning in double, and prints it as a Markdown table.
//
//   ulp_sweep [--stride N] [--threads N] [operation ...]
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "ops/expand/on_host.hpp"
#include "ops/host.hpp"
#include "ops/ulp.hpp"

namespace smelt::bench {
namespace {

struct Worst {
  double ulp = -1;
  float input = 0, got = 0;
  double exact = 0;
};

constexpr int kBlock = 1024;

// The host meaning takes most of the time, so it is asked only where the expansion on f64, which is
// within 2^-26 of it in units of f32, shows an error that may be the largest so far.
template <class Expansion, class Wide, class Meaning>
[[gnu::flatten]] Worst sweep_part(uint64_t begin, uint64_t end, uint64_t stride, Expansion expansion, Wide wide,
                                  Meaning meaning) {
  Worst worst;
  float in[kBlock], out[kBlock];
  double about[kBlock];
  for (uint64_t start = begin; start < end; start += kBlock * stride) {
    for (int k = 0; k < kBlock; ++k) in[k] = std::bit_cast<float>(static_cast<uint32_t>(start + k * stride));
    for (int k = 0; k < kBlock; ++k) out[k] = expansion(in[k]);
    for (int k = 0; k < kBlock; ++k) about[k] = wide(in[k]);
    for (int k = 0; k < kBlock; ++k) {
      if (ulp_error_f32(out[k], about[k]) < worst.ulp - 0.001) continue;
      const double exact = meaning(in[k]), error = ulp_error_f32(out[k], exact);
      if (error > worst.ulp) worst = {error, in[k], out[k], exact};
    }
  }
  return worst;
}

template <class Expansion, class Wide, class Meaning>
Worst sweep(uint64_t stride, int threads, Expansion expansion, Wide wide, Meaning meaning) {
  std::vector<Worst> parts(static_cast<size_t>(threads));
  std::vector<std::thread> pool;
  const uint64_t all = uint64_t{1} << 32;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      parts[static_cast<size_t>(t)] =
          sweep_part(all / threads * t, all / threads * (t + 1), stride, expansion, wide, meaning);
    });
  for (std::thread& thread : pool) thread.join();
  Worst worst;
  for (const Worst& part : parts)
    if (part.ulp > worst.ulp) worst = part;
  return worst;
}

struct Options {
  uint64_t stride = 1;
  int threads = 2;
  std::vector<std::string> names;

  bool wants(std::string_view name) const {
    for (const std::string& n : names)
      if (n == name) return true;
    return names.empty();
  }
};

template <class Result, class Expansion, class Wide, class Meaning>
void report(const Options& options, const char* name, double documented, Expansion expansion, Wide wide,
            Meaning meaning) {
  if constexpr (std::is_same_v<Result, float> && std::is_same_v<decltype(meaning(0.0)), double>) {
    if (!options.wants(name)) return;
    const Worst w = sweep(options.stride, options.threads, expansion, wide, meaning);
    fmt::print("| {} | {:.2f} | {} | {:a} | {:.9g} | {:.9g} | {:.17g} |{}\n", name, w.ulp, documented, w.input, w.input,
               w.got, w.exact, w.ulp > documented ? " **above the bound**" : "");
    std::fflush(stdout);
  }
}

void run(const Options& options) {
  fmt::print("| operation | max ULP | documented | at (bits) | at | gives | exact |\n|---|---|---|---|---|---|---|\n");
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, \
                 host_int, ...)                                                                                  \
  if (arity == 1)                                                                                                \
    report<decltype(expand::on_float::id<float>(0, 0, 0))>(                                                      \
        options, name, ulp_f32, [](float a) { return expand::on_float::id<float>(a, a, a); },                    \
        [](double a) { return expand::on_float::id<double>(a, a, a); },                                          \
        []([[maybe_unused]] double a, [[maybe_unused]] double b = 0, [[maybe_unused]] double c = 0) {            \
          return host_float;                                                                                     \
        });
#include "ops/ops.def"
#undef SMELT_OP
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--stride" && i + 1 < argc) {
      options.stride = std::strtoull(argv[++i], nullptr, 10);
    } else if (arg == "--threads" && i + 1 < argc) {
      options.threads = std::atoi(argv[++i]);
    } else {
      options.names.push_back(arg);
    }
  }
  if (options.stride == 0) options.stride = 1;
  if (options.threads < 1) options.threads = 1;
  return options;
}

}  // namespace
}  // namespace smelt::bench

int main(int argc, char** argv) { smelt::bench::run(smelt::bench::parse(argc, argv)); }
