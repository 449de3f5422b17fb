// The same meaning gets the same speed, however it is spelled: both programs of a pair are planned
// for large arrays, and evaluated by the reference interpreter on small ones. SMELT_PRINT=1 prints
// the costs of every pair.
#include "spellings.hpp"
#include "support/arrays.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <regex>
#include <sstream>
#include <string_view>

#include "frontends/language.hpp"
#include "graph/bounds.hpp"
#include "graph/graph.hpp"
#include "graph/short_results.hpp"
#include "plan/channels_last.hpp"
#include "plan/phases.hpp"
#include "plan/plan.hpp"
#include "plan/turned_copies.hpp"
#include "schedule/candidates.hpp"

namespace smelt::testing {

void PrintTo(const Spelling& pair, std::ostream* out) { *out << pair.name; }

namespace {

constexpr double kAlike = 1.10;  // ratios of bytes and of predicted times up to this one count as equal

struct Where {
  const char* name;
  bool gpu;
};
constexpr Where kGpu = {"gpu", true}, kCpu = {"cpu", false};

plan::Options options_of(const Where& where) {
  plan::Options options;
  if (where.gpu) {
    options.target = {"cuda", true, 132, 256, 0, 60 << 20, 0, 90, 227 << 10, true};
  } else {
    options.target.threads = schedule::kThreadsOfACpu;
    options.target.l3_bytes = 32 << 20;
  }
  return options;
}

// With the numbers of "B=4096 C=1024" in place of the symbols.
std::string program_of(const Spelling& pair, const std::string& body, const std::string& sizes) {
  std::string text = std::regex_replace("input " + std::string(pair.inputs), std::regex("; "), "\ninput ") + "\n";
  text += (body.find("return") == std::string::npos ? "return " : "") + body;
  std::istringstream all(sizes);
  for (std::string size; all >> size;)
    text = std::regex_replace(text, std::regex("\\b" + size.substr(0, 1) + "\\b"), size.substr(2));
  return text;
}

struct Work {
  size_t kernels = 0;
  int64_t bytes = 0;
  double us = 0;      // predicted
  std::string kinds;  // "row 18 us, pointwise 34 us"
};

Work work_of(const std::string& program, const Where& where) {
  plan::Options options = options_of(where);
  // As compile() prepares it.
  const auto finished = [&](const Graph& made) {
    return with_local_reductions(where.gpu ? made : simplify(with_windows_in_steps(made)), where.gpu ? 64 : 8,
                                 !where.gpu, where.gpu);
  };
  Graph simple = simplify(lang::parse_program(program, "<pair>"));
  if (auto by_phases = plan::with_phases(simple, options, finished)) simple = std::move(*by_phases);
  Graph graph = with_short_results_apart(finished(simple));
  if (auto copied = where.gpu ? plan::with_channels_last(graph, options) : plan::with_turned_copies(graph, options)) {
    graph = std::move(copied->graph);
    options.splits = std::move(copied->splits);
  }
  const plan::Plan plan = plan::make_plan(graph, options);
  plan::verify(graph, plan);
  Work work = {plan.groups.size(), plan.traffic.fused_bytes, 0, ""};
  const auto add = [&](const plan::FusionGroup& one) {
    const double us = schedule::predict(graph, one, *one.schedule, options).us;
    work.us += us;
    work.kinds += fmt::format("{}{} {:.0f} us", work.kinds.empty() ? "" : ", ", name_of(one.strategy()), us);
  };
  for (const plan::FusionGroup& group : plan.groups) {
    if (group.parts.empty()) add(group);
    for (const plan::FusionGroup& part : group.parts) add(part);
  }
  return work;
}

std::string str(const Work& work) {
  return fmt::format("{} kernels, {:.1f} MB, {:.1f} us ({})", work.kernels, static_cast<double>(work.bytes) / 1e6,
                     work.us, work.kinds);
}

bool alike(double a, double b) { return std::max(a, b) <= kAlike * std::min(a, b); }
bool alike(const Work& a, const Work& b) {
  return a.kernels == b.kernels && alike(static_cast<double>(a.bytes), static_cast<double>(b.bytes)) &&
         alike(a.us, b.us);
}

std::vector<Bounded> evaluated(const std::string& program) {
  const Graph graph = lang::parse_program(program, "<pair>");
  std::mt19937_64 random(1);
  std::vector<Tensor> arrays;
  for (const NodeId id : graph.inputs)
    arrays.push_back(noise(graph.at(id).dtype, evaluate(graph.at(id).shape, {}), random, 100));
  return interpret_bounded(graph, {arrays.begin(), arrays.end()}, false);
}

// Where both are certain: rounding decides some comparisons.
bool same(const Bounded& a, const Bounded& b) {
  if (a.value.dtype != b.value.dtype || a.value.dims != b.value.dims) return false;
  bool compared = false;
  for (int64_t i = 0; i < a.value.count(); ++i) {
    if (!a.decided(i) || !b.decided(i)) continue;
    compared = true;
    const double p = a.at(i).as_double(), q = b.at(i).as_double();
    const double error = a.error[static_cast<size_t>(i)] + b.error[static_cast<size_t>(i)];
    if (!(std::isnan(p) && std::isnan(q)) && p != q && !(std::abs(p - q) <= error)) return false;
  }
  return compared;
}

class Meaning : public ::testing::TestWithParam<Spelling> {};

// Outputs may come in another order.
TEST_P(Meaning, IsTheSame) {
  const Spelling& pair = GetParam();
  const std::string first = program_of(pair, pair.a, pair.sizes.small);
  const std::string second = program_of(pair, pair.b, pair.sizes.small);
  const std::vector<Bounded> a = evaluated(first);
  std::vector<Bounded> b = evaluated(second);
  ASSERT_EQ(a.size(), b.size()) << first << "\n\n" << second;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto found = std::find_if(b.begin(), b.end(), [&](const Bounded& other) { return same(a[i], other); });
    ASSERT_NE(found, b.end()) << "output " << i << " of the first program is none of the second:\n"
                              << first << "\n\n"
                              << second;
    b.erase(found);
  }
}

struct Case {
  Spelling pair;
  Where where;
  const char* why;  // the costs differ; nullptr: they must not
};

class Spellings : public ::testing::TestWithParam<Case> {};

TEST_P(Spellings, CostTheSame) {
  const auto& [pair, where, why] = GetParam();
  const std::string first = program_of(pair, pair.a, pair.sizes.large);
  const std::string second = program_of(pair, pair.b, pair.sizes.large);
  const Work a = work_of(first, where), b = work_of(second, where);
  const std::string text = fmt::format("{}\n  {}\n\n{}\n  {}\n", first, str(a), second, str(b));
  if (std::getenv("SMELT_PRINT"))
    fmt::print("{} {} {}\n{}\n", alike(a, b) ? "SAME" : "DIFF", pair.name, where.name, text);
  if (why)
    EXPECT_FALSE(alike(a, b)) << "costs the same now: take " << where.name << " from its targets in kDiffer, or move it"
                              << " to the pairs that cost the same. It was: " << why << "\n"
                              << text;
  else
    EXPECT_TRUE(alike(a, b)) << text;
}

std::vector<Spelling> pairs() {
  std::vector<Spelling> all = kFunctions;
  all.insert(all.end(), kLayouts.begin(), kLayouts.end());
  all.insert(all.end(), kDiffer.begin(), kDiffer.end());
  return all;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Where& where : {kGpu, kCpu}) {
    for (const auto* same : {&kFunctions, &kLayouts})
      for (const Spelling& pair : *same) all.push_back({pair, where, nullptr});
    for (const Differing& pair : kDiffer) {
      const bool differs = std::string_view(pair.targets).find(where.name) != std::string_view::npos;
      all.push_back({pair, where, differs ? pair.why : nullptr});
    }
  }
  return all;
}

void PrintTo(const Case& one, std::ostream* out) { *out << one.pair.name << " on " << one.where.name; }

INSTANTIATE_TEST_SUITE_P(Pairs, Meaning, ::testing::ValuesIn(pairs()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Pairs, Spellings, ::testing::ValuesIn(cases()), [](const auto& info) {
  return fmt::format("{}_{}", info.param.pair.name, info.param.where.name);
});

}  // namespace
}  // namespace smelt::testing
