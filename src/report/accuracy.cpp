#include "report/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>

#include "base/check.hpp"
#include "graph/bounds.hpp"
#include "report/units.hpp"
#include "runtime/cpu.hpp"

namespace smelt::report {
namespace {

constexpr double kFarPast = 1000;              // tolerances: further off is wrong, whatever the unfused program does
constexpr double kBoundaryShare = 1e-4;        // of integers computed from floats
constexpr double kUnsharedShare = 1e-5;        // of these, where fused and unfused fell on different sides
constexpr double kUnboundedShare = 1e-2;       // of elements that differ where bounds allow anything
constexpr int64_t kMostBounded = 100'000'000;  // elements that bounds are computed for: 16 bytes each
constexpr int64_t kSamples = 1'000'000;

double largest(DType dtype) { return float_format(is_float(dtype) ? dtype : DType::F64).largest(); }

// Errors of one element.
struct Error {
  double abs = 0, rel = 0, ulp = 0;
};

// What one thread found in its piece of one output.
struct Findings {
  Error max;
  int64_t outside = 0, far = 0, patterns = 0, boundary = 0, unshared = 0, wrong = 0;
  int64_t first_bad = -1;  // the lowest index of a pattern, far or wrong element
  int64_t first_outside = -1;

  void merge(const Findings& other) {
    max = {std::max(max.abs, other.max.abs), std::max(max.rel, other.max.rel), std::max(max.ulp, other.max.ulp)};
    outside += other.outside;
    far += other.far;
    patterns += other.patterns;
    boundary += other.boundary;
    unshared += other.unshared;
    wrong += other.wrong;
    const auto lower = [](int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); };
    first_bad = lower(first_bad, other.first_bad);
    first_outside = lower(first_outside, other.first_outside);
  }
  void mark_bad(int64_t at) {
    if (first_bad < 0) first_bad = at;
  }
};

double float_at(const Tensor& t, int64_t i) {
  const char* at = static_cast<const char*>(t.data) + i * size_of(t.dtype);
  if (t.dtype == DType::F64) {
    double value;
    std::memcpy(&value, at, 8);
    return value;
  }
  if (t.dtype == DType::F32) {
    float value;
    std::memcpy(&value, at, 4);
    return static_cast<double>(value);
  }
  return load_scalar(t.dtype, at).as_double();
}

double rounded(DType dtype, double value) {
  return dtype == DType::F64   ? value
         : dtype == DType::F32 ? static_cast<double>(static_cast<float>(value))
                               : round_to(dtype, value);
}

bool same_pattern(DType dtype, double got, double exact) {
  const double want = rounded(dtype, exact);
  // What is past the largest number: an infinity, or NaN where there is none.
  const bool has_infinity = !is_float(dtype) || float_format(dtype).has_infinity;
  const auto past = [&](double x) { return has_infinity ? std::isinf(x) : std::isnan(x) && std::isfinite(exact); };
  if (past(got) != past(want)) {  // right at the largest number, the last bit decides
    const double edge = largest(dtype), finite = past(got) ? exact : got;
    return std::isfinite(exact) && (!has_infinity || std::signbit(got) == std::signbit(want)) &&
           std::fabs(finite) >= edge * (1 - tolerance_of(dtype).relative) &&
           std::fabs(exact) <= edge * (1 + tolerance_of(dtype).relative);
  }
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
  // The sign of a rounded zero may be that of a rounding error; the sign of an exact one is part of
  // the result.
  if (std::isinf(got) || (got == 0 && exact == 0)) return std::signbit(got) == std::signbit(want);
  return true;
}

Error error_between(DType dtype, double got, double exact) {
  Error e;
  e.abs = std::fabs(got - exact);
  e.rel = exact != 0 ? e.abs / std::fabs(exact) : 0;
  e.ulp = e.abs / unit_in_last_place(dtype, exact);
  return e;
}

void raise(Error& max, const Error& e) {
  max.abs = std::max(max.abs, e.abs);
  max.rel = std::max(max.rel, e.rel);
  max.ulp = std::max(max.ulp, e.ulp);
}

void look_at_float(const Tensor& result, const Tensor& reference, int64_t i, const Tolerance& near, Findings& found) {
  const double got = float_at(result, i), exact = float_at(reference, i);
  if (!same_pattern(result.dtype, got, exact)) {
    ++found.patterns;
    found.mark_bad(i);
    return;
  }
  if (!std::isfinite(got) || !std::isfinite(exact)) return;
  const Error e = error_between(result.dtype, got, exact);
  raise(found.max, e);
  const double allowed = near.absolute + near.relative * std::fabs(exact);
  if (e.abs <= allowed) return;
  ++found.outside;
  if (found.first_outside < 0) found.first_outside = i;
  if (e.abs <= kFarPast * allowed) return;
  ++found.far;
  found.mark_bad(i);
}

void look_at_integer(const Tensor& result, const Tensor& unfused, const Tensor& reference, int64_t i, bool from_floats,
                     Findings& found) {
  const int64_t offset = i * size_of(result.dtype);
  const auto value = [&](const Tensor& t) { return load_scalar(t.dtype, static_cast<const char*>(t.data) + offset); };
  const Scalar got = value(result), want = value(reference);
  if (got == want) return;
  const Error e = error_between(result.dtype, got.as_double(), want.as_double());
  raise(found.max, e);
  const bool shared = got == value(unfused);
  if (!from_floats || (e.abs > 1 && !shared && e.rel > tolerance_of(DType::F32).relative)) {
    ++found.wrong;
    found.mark_bad(i);
    return;
  }
  if (e.rel <= tolerance_of(DType::F32).relative) return;  // a large number, near enough
  ++found.boundary;
  if (!shared) ++found.unshared;
  if (found.first_outside < 0) found.first_outside = i;
}

Findings examine(const Tensor& result, const Tensor& unfused, const Tensor& reference, bool from_floats, int threads) {
  Findings all;
  std::mutex merging;
  const Tolerance near = tolerance_of(result.dtype);
  runtime::parallel_for(threads, result.count(), 4096, [&](int, int64_t begin, int64_t end) {
    Findings found;
    for (int64_t i = begin; i < end; ++i) {
      if (is_float(result.dtype)) {
        look_at_float(result, reference, i, near, found);
      } else {
        look_at_integer(result, unfused, reference, i, from_floats, found);
      }
    }
    const std::lock_guard lock(merging);
    all.merge(found);
  });
  return all;
}

bool computed_from_floats(const Graph& graph, NodeId output) {
  std::vector<NodeId> open{output};
  std::vector<bool> seen(graph.nodes.size(), false);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(id)]) continue;
    seen[static_cast<size_t>(id)] = true;
    if (is_float(graph.at(id).dtype)) return true;
    open.insert(open.end(), graph.at(id).args.begin(), graph.at(id).args.end());
  }
  return false;
}

// An output whose integers count, or add up, others: a view of a scatter or of a sum.
bool counts(const Graph& graph, NodeId output) {
  while (is_view(graph.at(output).kind) || graph.at(output).kind == NodeKind::Cast) output = graph.at(output).args[0];
  const Node& node = graph.at(output);
  return node.kind == NodeKind::Scatter || (node.kind == NodeKind::Reduce && node.reduce == ReduceKind::Sum);
}

// How many integers were decided by rounding: those of a result, or those that it counts.
double decisions(const Graph& graph, NodeId output, const Tensor& reference) {
  const int64_t n = reference.count();
  if (is_float(reference.dtype) || !counts(graph, output)) return static_cast<double>(n);
  double counted = 0;
  for (int64_t i = 0; i < n; ++i) counted += std::fabs(float_at(reference, i));
  return std::max(counted, static_cast<double>(n));
}

std::string place(const Tensor& t, int64_t index) {
  Dims at(t.dims.size());
  for (size_t d = t.dims.size(); d-- > 0;) {
    at[d] = index % t.dims[d];
    index /= t.dims[d];
  }
  return str(at);
}

std::string difference(size_t output, const Tensor& result, const Tensor& reference, int64_t i) {
  const auto value = [&](const Tensor& t) {
    return load_scalar(t.dtype, static_cast<const char*>(t.data) + i * size_of(t.dtype)).str();
  };
  return fmt::format("output {} at {} is {}, the reference has {}", output + 1, place(result, i), value(result),
                     value(reference));
}

struct Verdict {
  bool correct = true;
  std::string note;
};

void add(Accuracy& all, const Tensor& result, const Findings& found) {
  all.elements += result.count();
  all.outside += found.outside;
  all.patterns += found.patterns;
  all.boundary += found.boundary;
  all.max_abs = std::max(all.max_abs, found.max.abs);
  all.max_rel = std::max(all.max_rel, found.max.rel);
  all.max_ulp = std::max(all.max_ulp, found.max.ulp);
}

// Decides over one output of which `n` elements were decided.
Verdict judge(size_t output, const Tensor& result, const Tensor& unfused, const Tensor& reference,
              const Findings& found, double n, int threads) {
  const auto wrong = [&](int64_t at) { return Verdict{false, difference(output, result, reference, at)}; };
  if (found.patterns + found.far + found.wrong > 0) return wrong(found.first_bad);
  if (static_cast<double>(found.boundary) > kBoundaryShare * n + 1 ||
      static_cast<double>(found.unshared) > kUnsharedShare * n + 1)
    return wrong(found.first_outside);
  Verdict verdict;
  if (found.outside > 0) {
    const Findings theirs = examine(unfused, unfused, reference, true, threads);
    if (found.max.abs > 2 * theirs.max.abs) return wrong(found.first_outside);
    verdict.note =
        fmt::format("{} of {} elements are past the tolerance, by no more than twice the error of the unfused program",
                    format_count(found.outside), format_count(result.count()));
  }
  if (found.boundary > 0)
    verdict.note = fmt::format("{} of {} integers fell on the other side of a rounding boundary",
                               format_count(found.boundary), format_count(result.count()));
  return verdict;
}

// The elements that an output is computed from, and its own.
int64_t elements_behind(const Graph& graph, NodeId output, const SizeBinding& sizes) {
  std::vector<bool> needed(graph.nodes.size(), false);
  needed[static_cast<size_t>(output)] = true;
  int64_t all = 0;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    int64_t count = 1;
    for (const IntExpr& d : graph.nodes[i].shape) count *= d.evaluate(sizes);
    all += count;
    for (const NodeId arg : graph.nodes[i].args) needed[static_cast<size_t>(arg)] = true;
  }
  return all;
}

// By more than `times` the tolerance.
bool past_tolerance(const Tensor& result, const Tensor& reference, int64_t i, double times = 1) {
  const double got = float_at(result, i), exact = float_at(reference, i);
  if (!same_pattern(result.dtype, got, exact)) return true;
  if (!std::isfinite(got) || !std::isfinite(exact)) return false;
  const Tolerance near = tolerance_of(result.dtype);
  return std::fabs(got - exact) > times * (near.absolute + near.relative * std::fabs(exact));
}

// A second look at an output that seems wrong, by bounds for each of its elements; nothing where
// that takes too long.
std::optional<Verdict> judge_by_bounds(Accuracy& all, const Graph& graph, size_t output, const Tensor& result,
                                       const Computed& from) {
  std::vector<Dims> dims;
  for (const TensorView& input : from.inputs) dims.push_back(input.dims);
  if (elements_behind(graph, graph.outputs[output], bind_sizes(graph, dims)) > kMostBounded) return std::nullopt;
  Graph alone = graph;
  alone.outputs = {graph.outputs[output]};
  const Bounded bounded = interpret_bounded(alone, from.inputs, from.on_gpu)[0];
  int64_t either = 0, unbounded = 0, first_unbounded = -1;
  const int64_t n = result.count();
  for (int64_t i = 0; i < n; ++i) {
    if (!past_tolerance(result, bounded.value, i)) continue;
    const Scalar got = load_scalar(result.dtype, static_cast<const char*>(result.data) + i * size_of(result.dtype));
    // A bound that lies far past the tolerance is that of a program that cancels: no digit of its
    // results is right.
    const bool cancelled =
        is_float(result.dtype) && bounded.decided(i) && past_tolerance(result, bounded.value, i, kFarPast);
    if (cancelled || !bounded.allows(i, got)) return Verdict{false, difference(output, result, bounded.value, i)};
    ++either;
    if (!bounded.decided(i) && unbounded++ == 0) first_unbounded = i;
  }
  if (static_cast<double>(unbounded) > kUnboundedShare * static_cast<double>(n) + 1)
    return Verdict{false, difference(output, result, bounded.value, first_unbounded)};
  all.either += either;
  return Verdict{true, either == 0 ? ""
                                   : fmt::format("the last bit of a float decides {} of {} elements",
                                                 format_count(either), format_count(n))};
}

// Errors of elements evenly spread over an output.
void sample(const Tensor& result, const Tensor& reference, std::vector<Error>& errors) {
  const int64_t n = result.count(), step = std::max<int64_t>(1, n / kSamples);
  for (int64_t i = 0; i < n; i += step) {
    const double got = float_at(result, i), exact = float_at(reference, i);
    if (std::isfinite(got) && std::isfinite(exact)) errors.push_back(error_between(result.dtype, got, exact));
  }
}

std::vector<Percentile> percentiles_of(const std::vector<Error>& errors) {
  std::vector<Percentile> out;
  for (const double percent : {50.0, 90.0, 99.0, 99.9, 100.0}) out.push_back({percent});
  if (errors.empty()) return out;
  for (double Error::*const field : {&Error::abs, &Error::rel, &Error::ulp}) {
    std::vector<double> values;
    values.reserve(errors.size());
    for (const Error& e : errors) values.push_back(e.*field);
    std::sort(values.begin(), values.end());
    for (Percentile& p : out) {
      const auto rank = static_cast<size_t>(std::ceil(p.percent * static_cast<double>(values.size()) / 100 - 1e-6));
      const double value = values[std::min(std::max<size_t>(rank, 1), values.size()) - 1];
      (field == &Error::abs ? p.abs : field == &Error::rel ? p.rel : p.ulp) = value;
    }
  }
  return out;
}

}  // namespace

Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::F64: return {1e-12, 1e-12};
    case DType::F32: return {1e-5, 1e-6};
    case DType::F16: return {1e-3, 1e-3};
    case DType::BF16: return {1.6e-2, 1.6e-2};
    case DType::F8E4M3: return {0.13, 2e-3};
    case DType::F8E5M2: return {0.26, 2e-5};
    default: return {};
  }
}

double unit_in_last_place(DType dtype, double value) {
  if (!is_float(dtype)) return 1;
  const FloatFormat format = float_format(dtype);
  const int exponent = value == 0 ? format.least : std::max(std::ilogb(value), format.least);
  return std::ldexp(1.0, exponent - format.mantissa);
}

Accuracy compare(const Graph& graph, const std::vector<Tensor>& results, const std::vector<Tensor>& unfused,
                 const std::vector<Tensor>& reference, int threads, const Computed* from) {
  SMELT_CHECK(
      results.size() == graph.outputs.size() && unfused.size() == results.size() && reference.size() == results.size(),
      "{}, {} and {} results to compare for {} outputs", results.size(), unfused.size(), reference.size(),
      graph.outputs.size());
  Accuracy all;
  std::vector<Error> errors;
  for (size_t o = 0; o < results.size(); ++o) {
    SMELT_CHECK(results[o].dims == reference[o].dims && unfused[o].dims == reference[o].dims,
                "output {} has shape {}, the reference {}", o + 1, str(results[o].dims), str(reference[o].dims));
    const bool from_floats = computed_from_floats(graph, graph.outputs[o]);
    const Findings found = examine(results[o], unfused[o], reference[o], from_floats, threads);
    add(all, results[o], found);
    Verdict verdict = judge(o, results[o], unfused[o], reference[o], found,
                            decisions(graph, graph.outputs[o], reference[o]), threads);
    if (!verdict.correct && from) verdict = judge_by_bounds(all, graph, o, results[o], *from).value_or(verdict);
    if (all.correct && (!verdict.correct || !verdict.note.empty())) all.note = verdict.note;
    all.correct = all.correct && verdict.correct;
    sample(results[o], reference[o], errors);
  }
  all.percentiles = percentiles_of(errors);
  return all;
}

}  // namespace smelt::report
