// The variants of a phase that a GPU is given, and what each of them requires.
#include "kernel/choose_variants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "changes.hpp"
#include "kernel/load_early.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/widen_accesses.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using ::testing::HasSubstr;

const IntExpr g = sym("g"_loop), i = sym("i"_loop), B = sym("B"_size), C = sym("C"_size);

// out[g, i] = in[g, i] for g < rows, i < columns, by a team of 128 threads; what choose_variants()
// makes of the phase.
struct Copy {
  Sample s;
  Copy(const IntExpr& rows, const IntExpr& columns, int lanes, Dialect dialect = Dialect::Gpu) {
    for (const IntExpr& e : {rows, columns})
      if (const auto size = e.as_symbol()) s.size(*size);
    const int in = s.input(DType::F32, {rows, columns}), out = s.output(DType::F32, {rows, columns});
    s.phase(
        grid("g"_loop, rows, {vector("i"_loop, columns, {store({false, out, {g, i}}, s.load(in, {g, i}))}, lanes)}));
    s.kernel.dialect = dialect;
    s.kernel.phases[0].team = {128, 128, 0};
    for (const auto& pass : {shape_vector_loops, load_early, widen_accesses}) pass(s.kernel);
  }
  const std::vector<Variant>& chosen() {
    EXPECT_TRUE(choose_variants(s.kernel));
    EXPECT_EQ(fault(s.kernel), "");
    return s.kernel.phases[0].variants;
  }
};

TEST(ChooseVariants, OneThatTakesEverythingIsAlone) {
  Copy x(4, 1000, 1);
  const auto& variants = x.chosen();
  ASSERT_EQ(variants.size(), 1U);
  EXPECT_EQ(variants[0].form, Variant::Form::Fast);
  EXPECT_FALSE(variants[0].wide);
  const TeamForms& forms = *grid_body(x.s.kernel)[0].get<Loop>().team;
  EXPECT_EQ(forms.shapes.size(), 1U);
  EXPECT_EQ(forms.accesses.size(), 1U);
}

TEST(ChooseVariants, AddressesMayBeAnywhere) {
  Copy x(4, 1024, 4);
  const auto& variants = x.chosen();
  ASSERT_EQ(variants.size(), 2U) << "1024 is a multiple: nothing is peeled";
  EXPECT_EQ(variants[0].alignment, (std::vector<int>{16, 16}));
  EXPECT_EQ(variants[1].form, Variant::Form::Any);
  EXPECT_FALSE(variants[1].wide) << "4096 elements fit";
}

TEST(ChooseVariants, SizesAreMultiplesAndFit32Bits) {
  Copy x(B, C, 4);
  EXPECT_EQ(changes(x.s.kernel, choose_variants),
            (Lines{"- variant fast where -(C % 4) >= 0 and in2, out3 are aligned to 16",
                   "- variant odd where in2, out3 are aligned to 16", "- variant any",
                   "+ variant fast where -max(1, B)*max(1, C) + 2146435072 >= 0 and -B*C + 2146435072 >= 0 and -(C % "
                   "4) >= 0 and in2, out3 are aligned to 16",
                   "+ variant odd where -max(1, B)*max(1, C) + 2146435072 >= 0 and -B*C + 2146435072 >= 0 and in2, "
                   "out3 are aligned to 16",
                   "+ variant any, 64-bit indices"}));
}

TEST(ChooseVariants, WhereNothingIsAMultiple) {
  Copy x(4, 1001, 4);
  const auto& variants = x.chosen();
  ASSERT_EQ(variants.size(), 2U);
  EXPECT_EQ(variants[0].form, Variant::Form::Odd);
}

TEST(ChooseVariants, LargeArraysAreWide) {
  Copy x(4, int64_t{1} << 30, 1);
  const auto& variants = x.chosen();
  ASSERT_EQ(variants.size(), 1U);
  EXPECT_TRUE(variants[0].wide);
}

TEST(VerifyTeams, TheLastVariantTakesEverything) {
  Copy x(B, C, 4);
  x.chosen();
  x.s.kernel.phases[0].variants.back().alignment[2] = 16;
  EXPECT_NE(fault(x.s.kernel).find("no variant of a phase takes every size and address"), std::string::npos);
  x.s.kernel.phases[0].variants.back().alignment[2] = 4;
  x.s.kernel.phases[0].variants.back().when = {C - 4};
  EXPECT_NE(fault(x.s.kernel).find("no variant of a phase takes every size and address"), std::string::npos);
  x.s.kernel.phases[0].variants.pop_back();
  EXPECT_THAT(fault(x.s.kernel), HasSubstr("no variant of a phase takes every size and address"));
}

}  // namespace
}  // namespace smelt::kernel
