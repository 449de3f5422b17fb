#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/bench.hpp"
#include "report/json.hpp"

namespace smelt::report {
namespace {

using nlohmann::ordered_json;

ordered_json summary(const Summary& s) {
  return {{"median", s.median}, {"min", s.min},     {"max", s.max},
          {"spread", s.spread}, {"noise", s.noise}, {"runs", s.runs}};
}

ordered_json side(const Side& s) {
  return {{"kernels", s.kernels},
          {"time_ms", summary(s.time_ms.hot)},
          {"cold_ms", summary(s.time_ms.cold)},
          {"fresh_ms", summary(s.time_ms.fresh)},
          {"bytes", s.bytes},
          {"bandwidth_gbs", s.bandwidth_gbs},
          {"copy_gbs", s.copy_gbs},
          {"of_copy", s.of_copy()}};
}

ordered_json accuracy(const Accuracy& a) {
  ordered_json percentiles = ordered_json::object();
  for (const Percentile& p : a.percentiles) {
    ordered_json values = {{"abs", number(p.abs)}, {"rel", number(p.rel)}, {"ulp", number(p.ulp)}};
    percentiles[fmt::format("{}", p.percent)] = values;
  }
  return {{"max_abs", number(a.max_abs)},  {"max_rel", number(a.max_rel)}, {"max_ulp", number(a.max_ulp)},
          {"percentiles", percentiles},    {"elements", a.elements},       {"outside_tolerance", a.outside},
          {"patterns_differ", a.patterns}, {"boundary", a.boundary},       {"note", a.note}};
}

ordered_json result(const BenchResult& r) {
  ordered_json out = {
      {"sizes", r.sizes},         {"inputs", r.inputs},   {"fused", side(r.fused)},        {"unfused", side(r.unfused)},
      {"copy_gbs", r.copy_gbs()}, {"speedup", r.speedup}, {"cold_speedup", r.cold_speedup}};
  out["accuracy"] = r.checked ? accuracy(r.accuracy) : ordered_json(nullptr);
  out["correct"] = r.checked ? ordered_json(r.accuracy.correct) : ordered_json(nullptr);
  out["compile_ms"] = r.compile_ms;
  return out;
}

}  // namespace

ordered_json to_json(const BenchTitle& title, const std::vector<BenchResult>& results) {
  ordered_json list = ordered_json::array();
  for (const BenchResult& r : results) list.push_back(result(r));
  return {
      {"program", title.program},
      {"device", title.device},
      {"threads", title.threads},
      {"isa", title.isa},
      {"unfused_is", "the same program through the same engine with fusion off, one kernel per primitive operation"},
      {"results", list}};
}

}  // namespace smelt::report
