// What smelt does with NVIDIA's programs, which stand-ins play here.
#include <gtest/gtest.h>

#include <filesystem>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

const std::vector<std::string> kProfile = {"profile",     "(x + y) * 2", "-i",    "x=f32[B,64]", "-i",
                                           "y=f32[B,64]", "--size",      "B=100", "--device",    "cuda"};

// The stand-in driver, and the tools of a folder.
std::map<std::string, std::string> with_tools(const TemporaryFolder& folder) {
  return {{"SMELT_CUDA", SMELT_FAKE_CUDA},
          {"SMELT_NVRTC", SMELT_FAKE_CUDA},
          {"SMELT_CACHE_DIR", "off"},
          {"CUDA_HOME", "/nonexistent"},
          {"PATH", folder / "bin" + ":/usr/bin:/bin"}};
}

// An executable file in the folder that with_tools() has on the PATH.
void add_tool(const TemporaryFolder& folder, const std::string& name, const std::string& script) {
  namespace fs = std::filesystem;
  const fs::path bin = folder / "bin";
  fs::create_directories(bin);
  fs::copy_file(folder.file(name, "#!/bin/sh\n" + script), bin / name, fs::copy_options::overwrite_existing);
  fs::permissions(bin / name, fs::perms::owner_all);
}

// Runs the program after the options, as ncu does, and writes a table of two launches per kernel
// of the unfused side.
constexpr const char* kNcu = R"(
log= ; side=
while [ $# -gt 0 ]; do
  case $1 in
    --log-file) log=$2; shift 2;;
    --csv) shift;;
    --page|--print-units|--clock-control|--kernel-name|--metrics) shift 2;;
    *) break;;
  esac
done
"$@" || { echo "==ERROR== The application returned an error code ($?)." >"$log"; exit 1; }
for word; do [ "$word" = unfused ] && side=unfused; done
{
  echo '==PROF== Connected to process 1'
  echo '"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum","sm__warps_active.avg.pct_of_peak_sustained_active"'
  echo '"","","byte","byte","ns","%"'
  echo '"0","k0_p0","51200","25600","2000","50"'
  [ "$side" = unfused ] && echo '"1","k1_p0","25600","25600","2000","50"'
} >"$log"
)";

TEST(CliProfile, CountsBothSides) {
  const TemporaryFolder folder;
  add_tool(folder, "ncu", kNcu);
  const Result r = run({kProfile, with_tools(folder), "", false});
  ASSERT_EQ(r.status, 0) << r.err;
  for (const char* part : {"unfused", "fused", "launches", "51.2 kB", "1.000", "50 %"})
    EXPECT_TRUE(r.out_has(part)) << part << "\n" << r.out;
  std::vector<std::string> arguments = kProfile;
  arguments.insert(arguments.end(), {"--json", "-"});
  const auto json = run({arguments, with_tools(folder), "", false}).json();
  EXPECT_EQ(json["fused"]["kernels"], 1);
  EXPECT_EQ(json["unfused"]["kernels"], 2);
  EXPECT_EQ(json["unfused"]["launches"].size(), 2u);
  EXPECT_EQ(json["fused"]["predicted_read_bytes"], 2 * 100 * 64 * 4);
  EXPECT_EQ(json["fused"]["ratio"], 1.0);
  EXPECT_EQ(json["unfused"]["ratio"], 1.0);
}

TEST(CliProfile, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  add_tool(folder, "ncu", "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'; exit 1\n");
  const Result refused = run({kProfile, with_tools(folder), "", false});
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.err_has("NVreg_RestrictProfilingToAdminUsers")) << refused.err;
  const Result cpu = run({{"profile", "x + 1", "-i", "x=f32[4]", "--device", "cpu"}, {}, "", false});
  EXPECT_EQ(cpu.status, 2);
  EXPECT_TRUE(cpu.err_has("reads the counters of a GPU")) << cpu.err;
  if (std::filesystem::exists("/usr/local/cuda/bin/ncu") || std::filesystem::exists("/usr/bin/ncu"))
    GTEST_SKIP() << "this machine has ncu";
  const TemporaryFolder empty;
  const Result absent = run({kProfile, with_tools(empty), "", false});
  EXPECT_EQ(absent.status, 2);
  EXPECT_TRUE(absent.err_has("there is no ncu here") && absent.err_has("help: ")) << absent.err;
}

// The programs' own command lines: `nvdisasm -c FILE`, `cuobjdump -sass FILE`, with a cubin in the
// file.
TEST(CliExplain, DumpsMachineInstructionsOfAGpu) {
  const std::vector<std::string> arguments = {"explain",  "x + 1", "-i",     "x=f32[4]",
                                              "--device", "sm_90", "--dump", "sass"};
  const TemporaryFolder folder;
  add_tool(folder, "cuobjdump",
           "[ \"$1\" = -sass ] && [ $# = 2 ] && head -c 4 \"$2\" | tail -c 3 && echo ' by cuobjdump'\n");
  const Result cuobjdump = run({arguments, with_tools(folder), "", false});
  EXPECT_EQ(cuobjdump.status, 0) << cuobjdump.err;
  EXPECT_EQ(cuobjdump.out, "ELF by cuobjdump\n");
  add_tool(folder, "nvdisasm",
           "[ \"$1\" = -c ] && [ $# = 2 ] && head -c 4 \"$2\" | tail -c 3 && echo ' by nvdisasm'\n");
  EXPECT_EQ(run({arguments, with_tools(folder), "", false}).out, "ELF by nvdisasm\n");
  add_tool(folder, "nvdisasm", "echo 'nvdisasm fatal : does not know sm_90'; exit 1\n");
  EXPECT_EQ(run({arguments, with_tools(folder), "", false}).out, "ELF by cuobjdump\n") << "the next one can";
  add_tool(folder, "cuobjdump", "exit 3\n");
  const Result neither = run({arguments, with_tools(folder), "", false});
  EXPECT_EQ(neither.status, 2);
  EXPECT_TRUE(neither.err_has("does not know sm_90")) << neither.err;
}

// The ranges that a profiler sees. Every result has the right to be wrong: the GPU computes nothing
// here.
std::string ranges_of(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const std::string log = folder / "ranges";
  const Result r = run({arguments,
                        {{"SMELT_CUDA", SMELT_FAKE_CUDA},
                         {"SMELT_NVRTC", SMELT_FAKE_CUDA},
                         {"SMELT_CACHE_DIR", "off"},
                         {"NVTX_INJECTION64_PATH", SMELT_FAKE_NVTX},
                         {"FAKE_NVTX_LOG", log}},
                        "",
                        false});
  EXPECT_EQ(r.status, 0) << r.err;
  return bytes_of(log);
}

TEST(CliProfile, AProfilerSeesRangesNamedAfterOperations) {
  EXPECT_EQ(ranges_of({"run", "exp(x) * 2", "-i", "x=f32[8]", "--device", "cuda"}),
            "domain smelt\npush kernel 1 (exp, *)\npop\n");
  // Bound calls of several kernels are graphs: one range.
  const std::string bench =
      ranges_of({"bench", "exp(x) * 2", "-i", "x=f32[8]", "--device", "cuda", "--no-check", "--time-limit", "0.01"});
  EXPECT_NE(bench.find("push kernel 1 (exp, *)\npop\n"), std::string::npos);
  EXPECT_NE(bench.find("push kernel 1 (exp), kernel 2 (*)\npop\n"), std::string::npos);
}

TEST(CliProfile, AProfilerThatIsNotThereIsNoMatter) {
  const Result r = run({{"run", "exp(x) * 2", "-i", "x=f32[8]", "--device", "cuda"},
                        {{"SMELT_CUDA", SMELT_FAKE_CUDA},
                         {"SMELT_NVRTC", SMELT_FAKE_CUDA},
                         {"SMELT_CACHE_DIR", "off"},
                         {"NVTX_INJECTION64_PATH", "/nonexistent/libprofiler.so"}},
                        "",
                        false});
  EXPECT_EQ(r.status, 0) << r.err;
}

}  // namespace
