// Helpers in front of a module: what their tables say of them is what their texts do.
#include "emit/prelude.hpp"

#include "emit/cuda_text.hpp"
#include "emit/opencl.hpp"
#include "fixture.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "support/prelude_calls.hpp"

namespace smelt::test {
namespace {

using testing::message_of;

using emit::Definition;
using emit::HelperList;
using emit::UsedHelpers;

// A kernel that may call every helper: it draws, scans over the grid, and runs in clusters.
Kernel kernel_of_everything(kernel::Dialect dialect) {
  Maker m;
  const ExprId zero = m.build.constant(Scalar::of_int(DType::U64, 0));
  m.build.random(philox::Draw::Words, {zero, zero, zero}, 0, 1);
  m.phase({kernel::scan(0, Op::Add, 0, zero, zero, false)});
  m.kernel.phases[0].counter = 0;
  m.kernel.phases[0].team = {512, 256, 0};
  m.kernel.dialect = dialect;
  return m.kernel;
}

std::vector<HelperList> all_lists() {
  std::vector<HelperList> lists;
  for (const int compute : {75, 80, 90, 100})
    lists.push_back(emit::cuda::helpers(kernel_of_everything(kernel::Dialect::Gpu), {.compute = compute}));
  for (const kernel::Dialect dialect : {kernel::Dialect::PlainTeam, kernel::Dialect::PlainThread})
    for (const bool f64 : {false, true})
      for (const bool atomics64 : {false, true})
        for (const bool ptx : {false, true})
          lists.push_back(emit::opencl_helpers(kernel_of_everything(dialect), {f64, atomics64, ptx}));
  return lists;
}

TEST(Helpers, NeedThoseThatTheyCallAndNoOthers) {
  for (const HelperList& list : all_lists()) {
    std::set<std::string> names;
    for (const Definition& helper : list) names.insert(helper.names.begin(), helper.names.end());
    for (const Definition& helper : list)
      for (const std::string& name : names) {
        const bool own = std::count(helper.names.begin(), helper.names.end(), name) > 0;
        const bool needed = std::count(helper.needs.begin(), helper.needs.end(), name) > 0;
        EXPECT_EQ(needed, !own && calls_helper(helper.text, name)) << name << " in\n" << helper.text;
        EXPECT_TRUE(!own || calls_helper(helper.text, name)) << name << " is not defined by\n" << helper.text;
      }
  }
}

TEST(Helpers, StandBehindThoseThatTheyNeed) {
  for (const HelperList& list : all_lists()) {
    std::set<std::string> before;
    for (const Definition& helper : list) {
      for (const std::string& name : helper.needs) EXPECT_TRUE(before.count(name)) << name << " for\n" << helper.text;
      before.insert(helper.names.begin(), helper.names.end());
    }
  }
}

// Each alone: no definition hides in another's text.
TEST(Helpers, AreOneDefinitionEach) {
  for (const HelperList& list : all_lists())
    for (const Definition& helper : list) {
      size_t functions = 0;
      for (size_t at = helper.text.find("SMELT_INLINE "); at != std::string::npos;
           at = helper.text.find("SMELT_INLINE ", at + 1))
        ++functions;
      EXPECT_LE(functions, 1u) << helper.text;
      EXPECT_FALSE(helper.text.ends_with("}\n")) << helper.text;
    }
}

const HelperList kList = {{{}, "start"},
                          {{}, ""},
                          {{"first"}, "int first();"},
                          {{"other"}, "other;"},
                          {{}, ""},
                          {{"second"}, "second: first", {"first"}},
                          {{"third"}, "third: second", {"second"}},
                          {{"macro"}, "#define macro", {}, true}};

std::string text_for(const std::vector<std::string>& calls) {
  UsedHelpers used;
  for (const std::string& name : calls) EXPECT_EQ(used(name), name);
  return text_of(kList, used);
}

TEST(Helpers, OfAModuleAreThoseThatItCallsAndWhatTheseCall) {
  EXPECT_EQ(text_for({"third"}), "start\n\nint first();\n\nsecond: first\nthird: second\n#define macro\n");
  EXPECT_EQ(text_for({"other", "macro"}), "start\n\nother;\n\n#define macro\n");
}

TEST(Helpers, LeaveOneBlankLineBehind) { EXPECT_EQ(text_for({}), "start\n\n#define macro\n"); }

TEST(Helpers, ThatATargetLacksAreABug) {
  EXPECT_EQ(message_of<InternalError>([&] { text_for({"fourth"}); }),
            "internal error in smelt: the helper fourth is called, which the target does not have");
}

}  // namespace
}  // namespace smelt::test
