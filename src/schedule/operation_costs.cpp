#include "schedule/operation_costs.hpp"

#include <utility>

namespace smelt::schedule {
namespace {

struct OperationCost {
  Op op;
  double f32, f64;  // simple operations on 32 bits
};

// `smelt devices --calibrate` on an AMD EPYC with AVX-512, two digits of each.
constexpr OperationCost kCosts[] = {
    {Op::Div, 6.5, 21},      {Op::FloorDiv, 14, 31},     {Op::Mod, 110, 130},     {Op::Fmod, 110, 120},
    {Op::Pow, 110, 240},     {Op::Sign, 1.4, 2.2},       {Op::Square, 0.93, 1.2}, {Op::Reciprocal, 6.5, 21},
    {Op::Max, 2.3, 3.8},     {Op::Min, 2.3, 3.8},        {Op::Sqrt, 12, 41},      {Op::Rsqrt, 21, 67},
    {Op::Cbrt, 47, 110},     {Op::Hypot, 14, 42},        {Op::Exp, 18, 49},       {Op::Exp2, 14, 40},
    {Op::Expm1, 15, 44},     {Op::Log, 30, 78},          {Op::Log2, 28, 79},      {Op::Log10, 31, 79},
    {Op::Log1p, 30, 82},     {Op::Sin, 67, 290},         {Op::Cos, 66, 290},      {Op::Tan, 67, 300},
    {Op::Asin, 18, 59},      {Op::Acos, 20, 66},         {Op::Atan, 21, 83},      {Op::Atan2, 27, 97},
    {Op::Sinh, 22, 72},      {Op::Cosh, 18, 65},         {Op::Tanh, 18, 53},      {Op::Asinh, 54, 140},
    {Op::Acosh, 42, 110},    {Op::Atanh, 38, 98},        {Op::Erf, 30, 120},      {Op::Erfc, 56, 180},
    {Op::IsInf, 0.86, 0.94}, {Op::IsFinite, 0.84, 0.69},
};

constexpr std::pair<Fact, double> kFacts[] = {
    {Fact::Wide, 2}, {Fact::Bf16, 2.5}, {Fact::F16, 1.4}, {Fact::Scan, 16}, {Fact::ScanExtreme, 20}};

// Sums of four and of twelve evaluations at x + c in one kernel, on an H200, by the clock of the
// device: what the eight take more, less an addition; two digits of each. Where memory hides four
// of them, a twelfth of all.
constexpr OperationCost kGpuCosts[] = {
    {Op::Div, 22, 40},        {Op::FloorDiv, 38, 62}, {Op::Mod, 35, 180},   {Op::Fmod, 32, 170},  {Op::Pow, 115, 330},
    {Op::Reciprocal, 16, 22}, {Op::Sqrt, 20, 40},     {Op::Rsqrt, 8, 60},   {Op::Cbrt, 61, 120},  {Op::Hypot, 46, 75},
    {Op::Exp, 13, 66},        {Op::Exp2, 9, 65},      {Op::Expm1, 26, 68},  {Op::Log, 42, 130},   {Op::Log2, 42, 130},
    {Op::Log10, 43, 130},     {Op::Log1p, 38, 130},   {Op::Sin, 40, 80},    {Op::Cos, 41, 81},    {Op::Tan, 38, 130},
    {Op::Asin, 35, 130},      {Op::Acos, 41, 130},    {Op::Atan, 25, 140},  {Op::Atan2, 41, 170}, {Op::Sinh, 46, 90},
    {Op::Cosh, 21, 87},       {Op::Tanh, 23, 120},    {Op::Asinh, 68, 210}, {Op::Acosh, 63, 170}, {Op::Atanh, 51, 160},
    {Op::Erf, 24, 140},       {Op::Erfc, 73, 280},
};
constexpr std::pair<Fact, double> kGpuFacts[] = {{Fact::Wide, 2}};

template <size_t kFactsOf, size_t kCostsOf>
const Calibration* numbers_of(const std::pair<Fact, double> (&facts)[kFactsOf],
                              const OperationCost (&costs)[kCostsOf]) {
  auto* c = new Calibration;
  for (const auto& [fact, number] : facts) c->numbers[place_of(fact)] = number;
  for (const OperationCost& cost : costs) {
    c->numbers[place_of(cost.op, false)] = cost.f32;
    c->numbers[place_of(cost.op, true)] = cost.f64;
  }
  return c;
}

}  // namespace

// A CPU divides by numbers that differ element by element, and multiplies 64 bits by 64 in parts.
const OperationCosts& built_in_costs() {
  static const OperationCosts costs{.numbers = numbers_of(kFacts, kCosts),
                                    .by_constant = 8,
                                    .wide_by_constant = 70,
                                    .by_any = 140,
                                    .wide_by_any = 140};
  return costs;
}

const OperationCosts& built_in_gpu_costs() {
  static const OperationCosts costs{.numbers = numbers_of(kGpuFacts, kGpuCosts),
                                    .by_constant = 15,
                                    .wide_by_constant = 38,
                                    .by_any = 45,
                                    .wide_by_any = 210,
                                    .converting = 10};
  return costs;
}

}  // namespace smelt::schedule
