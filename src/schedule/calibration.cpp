#include "schedule/calibration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Measured numbers may differ from built-in ones by such a factor. Machines are that different in
// what they do in a microsecond; functions, and f64 on small GPUs, are more so.
constexpr double kMostFactor = 20, kMostFactorOfOperations = 100;

struct FactRow {
  Fact fact;
  std::string_view name, unit;
};

constexpr std::string_view kRate = "GB/s", kTime = "µs", kOperations = "operations", kEvents = "Gop/s";

constexpr FactRow kFacts[kFactCount] = {
    {Fact::FirstCache, "first_cache", kRate},
    {Fact::SecondCache, "second_cache", kRate},
    {Fact::SharedCache, "shared_cache", kRate},
    {Fact::FullCache, "full_cache", kRate},
    {Fact::Memory, "memory", kRate},
    {Fact::FullCacheRead, "full_cache_read", kRate},
    {Fact::FullCacheWrite, "full_cache_write", kRate},
    {Fact::MemoryRead, "memory_read", kRate},
    {Fact::MemoryWrite, "memory_write", kRate},
    {Fact::Threads, "threads", "threads"},
    {Fact::SharedByAll, "shared_by_all", kRate},
    {Fact::MemoryByAll, "memory_by_all", kRate},
    {Fact::Launch, "launch", kTime},
    {Fact::LaunchByAll, "launch_by_all", kTime},
    {Fact::Operations, "operations", kEvents},
    {Fact::Wide, "wide", kOperations},
    {Fact::Bf16, "bf16", kOperations},
    {Fact::F16, "f16", kOperations},
    {Fact::Gather, "gather", kOperations},
    {Fact::Scan, "scan", kOperations},
    {Fact::ScanExtreme, "scan_extreme", kOperations},
    {Fact::Multiplications, "multiplications", kEvents},
};

bool is_fact(size_t place) { return place < kFactCount; }
Op op_at(size_t place) { return static_cast<Op>((place - kFactCount) / 2); }

// Whatever the locale.
std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

const std::map<std::string, size_t, std::less<>>& places() {
  static const auto* const all = [] {
    auto* map = new std::map<std::string, size_t, std::less<>>;
    for (size_t place = 0; place < kNumbers; ++place) (*map)[name_of_number(place)] = place;
    return map;
  }();
  return *all;
}

}  // namespace

std::string name_of_number(size_t place) {
  if (is_fact(place)) return std::string(kFacts[place].name);
  return fmt::format("{}.{}", name_of(op_at(place)), (place - kFactCount) % 2 ? "f64" : "f32");
}

std::string_view unit_of_number(size_t place) { return is_fact(place) ? kFacts[place].unit : kOperations; }

double rounded(double number) { return number_in(fmt::format("{:.4g}", number)).value_or(0); }

std::string fault_of(const Target& target, size_t place, double number) {
  if (!std::isfinite(number) || number <= 0) return "it is no positive number";
  if (is_fact(place) && kFacts[place].fact == Fact::Threads) return "";
  const double expected = built_in(target, place);
  const bool varies = !is_fact(place) || unit_of_number(place) == kOperations;
  const double most = varies ? kMostFactorOfOperations : kMostFactor;
  if (number <= expected * most && number >= expected / most) return "";
  return fmt::format("it is more than {:g} times {} than the built-in {:.4g}", most,
                     number > expected ? "larger" : "smaller", expected);
}

std::string text_of(const Calibration& calibration) {
  std::string text;
  for (size_t place = 0; place < kNumbers; ++place)
    if (const double number = calibration.numbers[place]; number != 0)
      text += fmt::format("{} {}\n", name_of_number(place), number);
  return text;
}

std::optional<Calibration> calibration_of(std::string_view text) {
  Calibration calibration;
  while (!text.empty()) {
    const size_t end = text.find('\n'), blank = text.find(' ');
    if (end == std::string_view::npos || blank >= end) return std::nullopt;
    const auto found = places().find(text.substr(0, blank));
    const auto number = number_in(text.substr(blank + 1, end - blank - 1));
    if (found == places().end() || !number || !std::isfinite(*number) || *number <= 0) return std::nullopt;
    double& kept = calibration.numbers[found->second];
    if (kept != 0) return std::nullopt;
    kept = *number;
    text.remove_prefix(end + 1);
  }
  return calibration;
}

}  // namespace smelt::schedule
