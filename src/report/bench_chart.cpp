#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/bench_text.hpp"
#include "report/svg.hpp"
#include "report/units.hpp"

namespace smelt::report {
namespace {

std::string size_label(const BenchResult& r, bool several) {
  if (!several) return "";
  std::string label;
  for (const auto& [name, size] : r.sizes) label += fmt::format("{}{}={}", label.empty() ? "" : ", ", name, size);
  return label;
}

Bar time_bar(Bar::Kind kind, const char* label, const Summary& s) {
  return {kind, label, s.median, format_ms(s.median) + " ms"};
}

Bar copy_time(const BenchResult& r) {
  const double ms = r.fused.copy_gbs > 0 ? static_cast<double>(r.fused.bytes) / r.fused.copy_gbs * 1e-6 : 0;
  return {Bar::Yardstick, "copy", ms, format_ms(ms) + " ms"};
}

Bar bandwidth_bar(Bar::Kind kind, const char* label, double gbs) {
  return {kind, label, gbs, format_significant(gbs) + " GB/s"};
}

Bar bytes_bar(Bar::Kind kind, const char* label, const Side& side) {
  return {kind, label, static_cast<double>(side.bytes),
          fmt::format("{} in {} kernel{}", format_bytes(side.bytes), side.kernels, side.kernels == 1 ? "" : "s")};
}

}  // namespace

std::string bench_chart(const BenchTitle& title, const std::vector<BenchResult>& results) {
  const bool gpu = !results.empty() && results[0].on_gpu;
  Panel time{gpu ? "device time per call, L2 flushed (median)" : "time per call (median)", {}},
      bytes{"bytes moved", {}}, bandwidth{"bandwidth", {}};
  for (const BenchResult& r : results) {
    const std::string label = size_label(r, results.size() > 1);
    std::vector<Bar> times, moved, rates;
    if (r.unfused) {
      times.push_back(time_bar(Bar::Before, "unfused", r.shown(*r.unfused)));
      moved.push_back(bytes_bar(Bar::Before, "unfused", *r.unfused));
      rates.push_back(bandwidth_bar(Bar::Before, "unfused", r.unfused->bandwidth_gbs));
    }
    times.push_back(time_bar(Bar::After, "fused", r.shown(r.fused)));
    if (r.unfused) times.back().text += fmt::format(" ({:.2f}x)", r.shown_speedup());
    times.push_back(copy_time(r));
    moved.push_back(bytes_bar(Bar::After, "fused", r.fused));
    rates.push_back(bandwidth_bar(Bar::After, "fused", r.fused.bandwidth_gbs));
    rates.push_back(bandwidth_bar(Bar::Yardstick, "copy", r.fused.copy_gbs));
    time.groups.push_back({label, times});
    bytes.groups.push_back({label, moved});
    bandwidth.groups.push_back({label, rates});
  }
  Chart chart;
  chart.title = title.program;
  const std::string inputs = results.size() == 1 ? fmt::format("{}", fmt::join(results[0].inputs, ", "))
                                                 : fmt::format("{} sizes", results.size());
  chart.subtitle = inputs + " · " + describe_machine(title);
  chart.panels = {time, bytes, bandwidth};
  chart.footnote =
      "unfused: same program and engine, one kernel per primitive operation. copy: a copy of the fused bytes.";
  return to_svg(chart);
}

}  // namespace smelt::report
