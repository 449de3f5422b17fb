#include "report/bench_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/explain.hpp"
#include "report/table.hpp"
#include "report/units.hpp"

namespace smelt::report {
namespace {

constexpr double kQuiet = 0.02;  // what a benchmark strives for

std::string with_spread(const Summary& s) {
  return fmt::format("{} ± {}", format_ms(s.median), format_ms(s.spread, s.median));
}

std::string megabytes(int64_t bytes) {
  return bytes < 100'000 ? fmt::format("{:.4f}", static_cast<double>(bytes) * 1e-6)
                         : fmt::format("{:.1f}", static_cast<double>(bytes) * 1e-6);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string first_line(const BenchTitle& title, const std::vector<std::string>& inputs, const Style& style) {
  return fmt::format("{}   {}   {}\n", style.bold(printable(title.program, 80)),
                     printable(fmt::format("{}", fmt::join(inputs, ", "))), describe_machine(title));
}

// What the row "unfused" is, where there is one.
std::string unfused_note(const BenchResult& r, const Style& style) {
  if (!r.unfused) return "";
  return style.faint(
      "unfused: the same program through the same engine with fusion off, one kernel per primitive operation\n");
}

std::string times(double speedup) { return speedup > 0 ? fmt::format("{:.2f}x", speedup) : ""; }

std::string ulp(double value) {
  return value < 1e6 ? fmt::format("{:.4g}", std::ceil(value * 10) / 10) : format_error(value);
}

// The largest error in ULP is often that of an element near zero; then the text says what nearly
// all of the others have.
std::string errors_text(const Accuracy& a) {
  std::string out = fmt::format("max abs error {}, max {} ULP", format_error(a.max_abs), ulp(a.max_ulp));
  const auto telling = [&](const Percentile& p) { return p.percent < 100 && p.percent > 50 && p.ulp < 1000; };
  const auto found = std::find_if(a.percentiles.rbegin(), a.percentiles.rend(), telling);
  if (found != a.percentiles.rend() && a.max_ulp > 4 && a.max_ulp > 4 * found->ulp)
    out += fmt::format(" ({} % within {})", found->percent, ulp(found->ulp));
  return out + ", against the float64 reference";
}

std::string verdict(const BenchResult& r, const Style& style) {
  if (!r.checked)
    return style.warn(
               fmt::format("not checked against the reference ({})", r.unfused ? "--no-check" : "--fused-only")) +
           "\n";
  const Accuracy& a = r.accuracy;
  if (!a.correct) return style.bad("WRONG") + ": " + a.note + "; " + errors_text(a) + "\n";
  return style.good("correct") + ": " + errors_text(a) + (a.note.empty() ? "" : "; " + a.note) + "\n";
}

// When the time limit ended a measurement before its median was known well.
std::string warning(const std::vector<BenchResult>& results, const Style& style) {
  double noise = 0;
  for (const BenchResult& r : results)
    noise = std::max({noise, r.shown(r.fused).noise, r.unfused ? r.shown(*r.unfused).noise : 0});
  if (noise < kQuiet) return "";
  return style.warn(
             fmt::format("noisy: medians are known to {} only; quiet the machine, or measure longer (--time-limit)",
                         percent(noise))) +
         "\n";
}

}  // namespace

std::string describe_machine(const BenchTitle& title) {
  if (!title.gpu.empty()) return fmt::format("{}: {}, {}", title.device, title.gpu, title.isa);
  return fmt::format("{}: {} thread{}, {}", title.device, title.threads, title.threads == 1 ? "" : "s", title.isa);
}

namespace {

std::string call_microseconds(const Summary& s) { return format_significant(s.median * 1e3); }
std::string microseconds_with_spread(const Summary& s) {
  return fmt::format("{} ± {}", format_significant(s.median * 1e3), format_significant(s.spread * 1e3, 2));
}

std::string gpu_table(const BenchTitle& title, const BenchResult& r, const Style& style) {
  Table table({{"", Align::Left},
               {"kernels"},
               {"cold (µs)"},
               {"hot (µs)"},
               {"call (µs)"},
               {"moved (MB)"},
               {"GB/s, cold"},
               {"of copy"},
               {"speedup"}});
  const auto row = [&](const char* name, const Side& side, double speedup) {
    table.add({name, fmt::format("{}", side.kernels), microseconds_with_spread(side.time_ms.cold),
               microseconds_with_spread(side.time_ms.hot), call_microseconds(side.call_ms), megabytes(side.bytes),
               format_significant(side.bandwidth_gbs), percent(side.of_copy()), times(speedup)});
  };
  if (r.unfused) row("unfused", *r.unfused, 1);
  row("fused", r.fused, r.cold_speedup);
  table.add({"copy", "", microseconds_with_spread(r.fused.copy_ms.cold), microseconds_with_spread(r.fused.copy_ms.hot),
             "", megabytes(r.fused.bytes), format_significant(r.fused.copy_gbs), "", ""});
  std::string out = first_line(title, r.inputs, style) + table.str() + verdict(r, style) + warning({r}, style);
  for (const BuiltFunction& f : r.fused.functions) out += style.faint(describe(f)) + "\n";
  out += style.faint(fmt::format(
             "compiled in {} ms ({} of {} kernels from the cache); cold: the L2 cache flushed before every "
             "call; medians of {} runs; call: wall time, back to back",
             format_ms(r.compile_ms), r.cache.hits, r.cache.hits + r.cache.misses, r.fused.time_ms.cold.runs)) +
         "\n";
  return out + unfused_note(r, style);
}

}  // namespace

std::string bench_table(const BenchTitle& title, const BenchResult& r, const Style& style) {
  if (r.on_gpu) return gpu_table(title, r, style);
  Table table(
      {{"", Align::Left}, {"kernels"}, {"time (ms)"}, {"moved (MB)"}, {"bandwidth (GB/s)"}, {"of copy"}, {"speedup"}});
  const auto row = [&](const char* name, const Side& side, double speedup) {
    table.add({name, fmt::format("{}", side.kernels), with_spread(side.time_ms.hot), megabytes(side.bytes),
               format_significant(side.bandwidth_gbs), percent(side.of_copy()), times(speedup)});
  };
  if (r.unfused) row("unfused", *r.unfused, 1);
  row("fused", r.fused, r.speedup);
  std::string out = first_line(title, r.inputs, style) + table.str();
  out += verdict(r, style) + warning({r}, style);
  const std::string compiled = fmt::format("compiled in {} ms ({} of {} kernels from the cache)",
                                           format_ms(r.compile_ms), r.cache.hits, r.cache.hits + r.cache.misses);
  const std::string copy = "a parallel copy of as many bytes moves " + format_significant(r.fused.copy_gbs) + " GB/s";
  const std::string cold = with_spread(r.fused.time_ms.cold), fresh = format_ms(r.fused.time_ms.fresh.median);
  if (r.unfused) {
    const Side& unfused = *r.unfused;
    out +=
        style.faint(fmt::format(
            "cold caches: unfused {} ms, fused {} ms, {:.2f}x; into fresh outputs: unfused {} ms, fused {} ms",
            with_spread(unfused.time_ms.cold), cold, r.cold_speedup, format_ms(unfused.time_ms.fresh.median), fresh)) +
        "\n";
    out += style.faint(fmt::format("{}; {} (unfused: {}); medians of {} and {} runs", compiled, copy,
                                   format_significant(unfused.copy_gbs), unfused.time_ms.hot.runs,
                                   r.fused.time_ms.hot.runs)) +
           "\n";
  } else {
    out += style.faint(fmt::format("cold caches: {} ms; into fresh outputs: {} ms", cold, fresh)) + "\n";
    out += style.faint(fmt::format("{}; {}; medians of {} runs", compiled, copy, r.fused.time_ms.hot.runs)) + "\n";
  }
  return out + unfused_note(r, style);
}

std::string sweep_table(const BenchTitle& title, Symbol symbol, const std::vector<std::string>& inputs,
                        const std::vector<BenchResult>& results, const Style& style) {
  const bool gpu = !results.empty() && results[0].on_gpu;
  Table table({{symbol.str()},
               {"unfused (ms)"},
               {"fused (ms)"},
               {"speedup"},
               {gpu ? "hot" : "cold"},
               {"moved (MB)"},
               {"bandwidth (GB/s)"},
               {"of copy"},
               {"max abs error"},
               {"", Align::Left}});
  for (const BenchResult& r : results) {
    const auto size = r.sizes.find(symbol);
    table.add({size == r.sizes.end() ? "" : fmt::format("{}", size->second),
               r.unfused ? with_spread(r.shown(*r.unfused)) : "", with_spread(r.shown(r.fused)),
               times(r.shown_speedup()), times(r.on_gpu ? r.speedup : r.cold_speedup), megabytes(r.fused.bytes),
               format_significant(r.fused.bandwidth_gbs), percent(r.fused.of_copy()),
               r.checked ? format_error(r.accuracy.max_abs) : "",
               !r.checked           ? "not checked"
               : r.accuracy.correct ? "correct"
                                    : "WRONG"});
  }
  std::string out = first_line(title, inputs, style);
  out += table.str();
  for (const BenchResult& r : results)
    if (r.checked && !r.accuracy.correct)
      out += style.bad("WRONG") + fmt::format(" at {}={}: {}\n", symbol, r.sizes.at(symbol), r.accuracy.note);
  out += warning(results, style);
  const BenchResult* first = results.empty() ? nullptr : &results[0];
  if (first) {
    const std::string unfused = first->unfused ? fmt::format("unfused {}, ", first->unfused->kernels) : "";
    out += style.faint(fmt::format("kernels: {}fused {}; compiled once, in {} ms, for all sizes", unfused,
                                   first->fused.kernels, format_ms(first->compile_ms))) +
           "\n" + unfused_note(*first, style);
  }
  return out;
}

}  // namespace smelt::report
