// Counters as Nsight Compute prints them.
#include "report/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "smelt/error.hpp"

namespace smelt::report {
namespace {

constexpr const char* kTable =
    "==PROF== Connected to process 7 (/usr/bin/smelt)\n"
    "==PROF== Profiling \"k0_p0\" - 0: 0%....50%....100% - 3 passes\n"
    "a line, of the program itself\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\","
    "\"gpu__time_duration.sum\",\"sm__warps_active.avg.pct_of_peak_sustained_active\"\n"
    "\"\",\"\",\"\",\"\",\"byte\",\"Mbyte\",\"nsecond\",\"%\"\n"
    "\"0\",\"7\",\"k0_p0(const float *, \"\"x\"\")\",\"(256, 1, 1)\",\"1,000,000\",\"2.5\",\"4000\",\"80\"\n"
    "\"1\",\"7\",\"k0_p1\",\"(32, 1, 1)\",\"0\",\"0.5\",\"1000\",\"30\"\n"
    "==PROF== Disconnected from process 7\n";

std::string refusal(const std::string& text) {
  try {
    parse_counters(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Profile, ReadsTheTableOfNsightCompute) {
  const std::vector<CountedLaunch> launches = parse_counters(kTable);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].function, "k0_p0(const float *, \"x\")");
  EXPECT_EQ(launches[0].read_bytes, 1e6);
  EXPECT_EQ(launches[0].written_bytes, 2.5e6);
  EXPECT_DOUBLE_EQ(launches[0].ms, 0.004);
  EXPECT_DOUBLE_EQ(launches[0].occupancy, 0.8);
  ProfileSide side{1, 500'000, 3'000'000, launches};
  EXPECT_EQ(side.written(), 3e6);
  EXPECT_DOUBLE_EQ(side.occupancy(), (0.8 * 4 + 0.3) / 5);
  const Profile profile{{"softmax(x)", "cuda", "sm_90", 132, "a GPU", "13.0", "13.0"}, {"x: f32[8]"}, side, side};
  EXPECT_EQ(to_json(profile)["fused"]["read_ratio"], 2.0);
  EXPECT_EQ(to_json(profile)["fused"]["written_ratio"], 1.0);
  EXPECT_EQ(to_json(profile)["fused"]["launches"].size(), 2u);
  EXPECT_THAT(to_text(profile, Style{}), ::testing::HasSubstr("2.000"));
}

TEST(Profile, SaysWhyNothingWasCounted) {
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
                      "Counters on the target device 0.\n==WARNING== No kernels were profiled.\n"),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(
      refusal("==PROF== Connected\n==ERROR== The application returned an error code (2).\nerror: no such size\n"),
      HasSubstr("\n==ERROR== The application returned an error code (2).\nerror: no such size"));
  EXPECT_THAT(refusal(""), HasSubstr("counted no launch"));
  std::string broken = kTable;
  broken.replace(broken.find("\"80\""), 4, "\"n/a\"");
  EXPECT_THAT(refusal(broken), HasSubstr("\"n/a\" for sm__warps_active"));
  std::string unit = kTable;
  unit.replace(unit.find("Mbyte"), 5, "sheep");
  EXPECT_THAT(refusal(unit), HasSubstr("counts in \"sheep\""));
  std::string missing = kTable;
  missing.replace(missing.find("dram__bytes_write.sum"), 21, "dram__something_else.");
  EXPECT_THAT(refusal(missing), HasSubstr("did not count dram__bytes_write.sum"));
}

}  // namespace
}  // namespace smelt::report
