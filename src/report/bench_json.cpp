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

ordered_json function(const BuiltFunction& f) {
  return {{"name", f.name},
          {"kernel", f.kernel + 1},
          {"threads", f.threads},
          {"cluster", f.cluster},
          {"registers", f.facts.registers},
          {"local_bytes", f.facts.local_bytes},
          {"shared_bytes", f.facts.shared_bytes + f.shared_bytes},
          {"workgroups_per_processor", f.workgroups_per_processor},
          {"occupancy", f.occupancy}};
}

ordered_json side(const Side& s, bool gpu) {
  ordered_json out = {
      {"kernels", s.kernels}, {"time_ms", summary(s.time_ms.hot)}, {"cold_ms", summary(s.time_ms.cold)}};
  out["fresh_ms"] = gpu ? ordered_json(nullptr) : summary(s.time_ms.fresh);
  if (gpu) {
    out["call_ms"] = summary(s.call_ms);
    out["copy_ms"] = {{"hot", summary(s.copy_ms.hot)}, {"cold", summary(s.copy_ms.cold)}};
  }
  out["bytes"] = s.bytes;
  out["bandwidth_gbs"] = s.bandwidth_gbs;
  out["copy_gbs"] = s.copy_gbs;
  out["of_copy"] = s.of_copy();
  if (!gpu) return out;
  ordered_json functions = ordered_json::array();
  for (const BuiltFunction& f : s.functions) functions.push_back(function(f));
  out["functions"] = functions;
  return out;
}

ordered_json accuracy(const Accuracy& a) {
  ordered_json percentiles = ordered_json::object();
  for (const Percentile& p : a.percentiles) {
    ordered_json values = {{"abs", number(p.abs)}, {"rel", number(p.rel)}, {"ulp", number(p.ulp)}};
    percentiles[fmt::format("{}", p.percent)] = values;
  }
  return {{"max_abs", number(a.max_abs)},  {"max_rel", number(a.max_rel)},
          {"max_ulp", number(a.max_ulp)},  {"percentiles", percentiles},
          {"elements", a.elements},        {"outside_tolerance", a.outside},
          {"patterns_differ", a.patterns}, {"boundary", a.boundary},
          {"either_is_right", a.either},   {"note", a.note}};
}

ordered_json result(const BenchResult& r) {
  ordered_json out = {{"sizes", sizes_json(r.sizes)}, {"inputs", r.inputs},       {"fused", side(r.fused, r.on_gpu)},
                      {"unfused", nullptr},           {"copy_gbs", r.copy_gbs()}, {"speedup", nullptr},
                      {"cold_speedup", nullptr}};
  if (r.unfused) {
    out["unfused"] = side(*r.unfused, r.on_gpu);
    out["speedup"] = r.speedup;
    out["cold_speedup"] = r.cold_speedup;
  }
  out["accuracy"] = r.checked ? accuracy(r.accuracy) : ordered_json(nullptr);
  out["correct"] = r.checked ? ordered_json(r.accuracy.correct) : ordered_json(nullptr);
  out["compile_ms"] = r.compile_ms;
  out["cache"] = {{"hits", r.cache.hits}, {"misses", r.cache.misses}};
  return out;
}

}  // namespace

ordered_json to_json(const BenchTitle& title, const std::vector<BenchResult>& results) {
  ordered_json list = ordered_json::array();
  for (const BenchResult& r : results) list.push_back(result(r));
  ordered_json out = {
      {"program", title.program}, {"device", title.device}, {"threads", title.threads}, {"isa", title.isa}};
  if (!title.gpu.empty()) out["gpu"] = {{"name", title.gpu}, {"driver", title.driver}, {"nvrtc", title.nvrtc}};
  out["unfused_is"] = "the same program through the same engine with fusion off, one kernel per primitive operation";
  out["results"] = list;
  return out;
}

}  // namespace smelt::report
