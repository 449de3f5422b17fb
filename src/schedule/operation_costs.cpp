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

Calibration all() {
  Calibration c;
  for (const auto& [fact, number] : kFacts) c.numbers[place_of(fact)] = number;
  for (const OperationCost& cost : kCosts) {
    c.numbers[place_of(cost.op, false)] = cost.f32;
    c.numbers[place_of(cost.op, true)] = cost.f64;
  }
  return c;
}

}  // namespace

const Calibration& built_in_costs() {
  static const auto* const costs = new Calibration(all());
  return *costs;
}

}  // namespace smelt::schedule
