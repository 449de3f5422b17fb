// What every command has in common: help, exit statuses, JSON, colour, errors.
#include <gtest/gtest.h>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

const std::vector<std::string> kCommands = {"run", "bench", "explain", "emit", "savings", "devices", "ops"};

TEST(Cli, EveryCommandHasHelpWithAnExample) {
  const Result all = tool({"--help"});
  EXPECT_EQ(all.status, 0);
  EXPECT_EQ(all.err, "");
  for (const std::string& command : kCommands) {
    EXPECT_TRUE(all.out_has("\n  " + command + " ")) << command;
    const Result r = tool({command, "--help"});
    EXPECT_EQ(r.status, 0) << command;
    EXPECT_TRUE(r.out_has("Example")) << command;
    EXPECT_TRUE(r.out_has("smelt " + command)) << command;
    EXPECT_TRUE(r.out_has("--json")) << command;
    EXPECT_EQ(tool({"help", command}).out, r.out) << command;
  }
}

TEST(Cli, VersionIsOneLine) {
  const Result r = tool({"--version"});
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.out.rfind("smelt ", 0), 0u) << r.out;
}

TEST(Cli, MistakesExitWithTwoAndSayWhatToDo) {
  struct Row {
    std::vector<std::string> arguments;
    std::string says;
  };
  const Row rows[] = {
      {{}, "Usage"},
      {{"fuse"}, "there is no command \"fuse\"\n  help: one of run, bench"},
      {{"--fast"}, "help: smelt --help"},
      {{"run"}, "PROGRAM is required\n  help: smelt run PROGRAM [options]"},
      {{"run", "x", "--fast"}, "help: smelt run --help"},
      {{"run", "x", "-i", "x=f32[4]", "--threads", "0"}, "--threads"},
      {{"run", "x", "-i", "x=f32[4]", "--threads", "many"}, "--threads"},
      {{"run", "x", "-i", "x=f32[4]", "--device", "cuda"}, "libcuda.so cannot be used"},
      {{"run", "x", "--device", "abacus"}, "there is no device \"abacus\""},
      {{"explain", "x", "--device", "cuda:x"}, "there is no device \"cuda:x\""},
      {{"bench", "x", "-i", "x=f32[4]", "--device", "sm_12345"}, "there is no device"},
      {{"ops", "--json"}, "--json"},
      {{"run", "-x + 1", "-i", "x=f32[4]"}, "put -- before an expression"},
      {{"run", "x", "x"}, "the program is several words: x x\n  help: put it in single quotes: smelt run 'x x'"},
      {{"run", "p.smelt", "x.npy"},
       "\"x.npy\" is an array, and the program is p.smelt\n  help: pass it as an input: -i x=@x.npy"},
      {{"run", "p.smelt", "q.smelt"}, "smelt run takes one PROGRAM: q.smelt is one too many"},
      {{"runn"}, "did you mean run? one of run, bench"},
      {{"x * 2"}, "to run a program: smelt run 'x * 2'"},
      {{"help", "explan"}, "did you mean explain?"},
      {{"ops", "--device", "cpu"}, "smelt ops has no option --device, which is an option of run, bench, explain"},
      {{"savings", "x.json", "--threads", "2"}, "smelt savings has no option --threads"},
      {{"emit", "x", "--seed", "2"}, "smelt emit has no option --seed"},
      {{"explain", "x", "--dmp", "graph"}, "smelt explain has no option --dmp\n  help: did you mean --dump?"},
      {{"explain", "x", "--edges", "--dump", "graph"}, "--edges changes nothing beside --dump"},
      {{"explain", "x", "--no-fuse", "--depth"}, "leave one of them out"},
      {{"emit", "x", "--as", "opencl", "--name", "f"}, "--name is of the host function"},
      {{"run", "x", "--tune=yes"}, "--tune takes no value"},
      {{"run", "x", "--seed", "1", "--seed", "2"}, "--seed is given twice"},
      {{"run", "x", "--seed", "-1"}, "--seed \"-1\": not a whole number of at least 0"},
      {{"run", "x", "--json", "--tune"}, "--json requires a value, FILE"},
      {{"run", "x", "--progress", "xml"}, "not one of auto, none, json"},
      {{"bench", "x", "--time-limit", "long"}, "not a number of seconds from 0.001 to 3600"},
      {{"bench", "x", "-i", "x=f32[4]", "--plot", "out.png"}, "a picture is an SVG file\n  help: --plot out.svg"},
      {{"bench", "x", "-i", "x=f32[N]", "--sweep", "M=4"},
       "no input has a size of that name\n  help: the inputs have the sizes N"},
      {{"emit", "x", "-i", "x=f32[4]"}, "smelt emit requires --as"},
      {{"cache", "fill"}, "there is no smelt cache fill"},
      {{"devices", "cpu"}, "help: smelt devices --calibrate cpu"},
      {{"devices", "--calibrate", "--forget"}, "leave one of them out"},
      {{"devices", "--calibrate", "--threads", "1"}, "--threads has no meaning here"},
      {{"devices", "--forget", "gpu"}, "there is no device \"gpu\""},
      {{"devices", "--calibrate", "sm_90"}, "sm_90 is an architecture to look at"},
      {{"devices", "--calibrate=cpu"}, "takes no value"},
      {{"completion", "csh"}, "bash, zsh or fish"},
      {{"ops", "sqtr"}, "did you mean sqrt?"},
      {{"ops", "sort"}, "smelt has no functions that sort"},
      {{"ops", "sqrt", "--markdown"}, "leave one of them out"},
  };
  for (const Row& row : rows) {
    const Result r = tool(row.arguments);
    std::string command;
    for (const std::string& argument : row.arguments) command += " " + argument;
    EXPECT_EQ(r.status, 2) << command;
    EXPECT_TRUE(r.err_has(row.says)) << command << "\n" << r.err;
    EXPECT_EQ(r.out, "") << command;
    EXPECT_EQ(r.err.find('\x1b'), std::string::npos);
  }
}

TEST(Cli, OpsIsTheTable) {
  const Result text = tool({"ops"});
  EXPECT_EQ(text.status, 0);
  for (const char* part : {"name", "ULP f32", "floor_divide", "rounded down as in Python", "exp", "left_shift"})
    EXPECT_TRUE(text.out_has(part)) << part;
  const Result markdown = tool({"ops", "--markdown"});
  EXPECT_EQ(markdown.out.rfind("| name |", 0), 0u) << markdown.out.substr(0, 80);
  EXPECT_TRUE(markdown.out_has("a \\| b")) << "the bar of bitwise or";
  const Result r = tool({"ops", "--json", "-"});
  const auto ops = r.json()["ops"];
  ASSERT_GT(ops.size(), 50u);
  for (const auto& op : ops)
    for (const char* key : {"name", "arity", "dtypes", "gives", "max_ulp_f32", "max_ulp_f64", "doc"})
      EXPECT_TRUE(op.contains(key)) << op << key;
  EXPECT_EQ(ops[0]["name"], "add");
  EXPECT_EQ(ops[0]["gives"]["f32"], "f32");
}

TEST(Cli, JsonGoesToAFileBesideTheText) {
  const TemporaryFolder folder;
  const Result r = tool({"ops", "--json", folder / "ops.json"});
  EXPECT_EQ(r.status, 0);
  EXPECT_TRUE(r.out_has("floor_divide"));
  EXPECT_EQ(nlohmann::json::parse(bytes_of(folder / "ops.json"))["ops"][0]["name"], "add");
  EXPECT_EQ(folder.entries(), 1u);
  const Result bad = tool({"ops", "--json", folder / "no/ops.json"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_TRUE(bad.err_has("mkdir -p"));
}

TEST(Cli, AFullDiskIsAnError) {
  const Result r = tool({"ops", "--json", "/dev/full"});
  EXPECT_EQ(r.status, 2);
  EXPECT_TRUE(r.err_has("cannot write /dev/full")) << r.err;
}

TEST(Cli, DevicesSaysWhatIsThereAndWhatIsMissing) {
  const Result r =
      run({{"devices", "--threads", "1", "--json", "-"}, {{"SMELT_LLVM", "/nonexistent/libLLVM.so"}}, "", false});
  EXPECT_EQ(r.status, 0) << r.err;
  const auto devices = r.json()["devices"];
  EXPECT_EQ(devices[0]["name"], "cpu");
  EXPECT_GE(devices[0]["vector_bits"], 128);
  EXPECT_GT(devices[0]["copy_gbs"], 0.0);
  EXPECT_GT(devices[0]["memory_bytes"], 1 << 20);
  EXPECT_EQ(devices[0]["llvm"]["available"], false);
  EXPECT_NE(devices[0]["llvm"]["missing"].get<std::string>().find("apt-get install libllvm19"), std::string::npos);
  EXPECT_EQ(devices[1]["name"], "cuda");
  EXPECT_EQ(devices[1]["available"], false);
  EXPECT_NE(devices[1]["missing"].get<std::string>().find("SMELT_CUDA=/nonexistent"), std::string::npos);
}

TEST(Cli, DevicesAreCalibratedAndForgotten) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM";
  const std::string folder = std::string(SMELT_BINARY_DIR) + "/test-calibration-of-the-tool";
  const std::map<std::string, std::string> own = {{"SMELT_CACHE_DIR", folder}};
  const std::vector<std::string> forget = {"devices", "--forget", "cpu"};
  EXPECT_EQ(run({forget, own, "", false}).status, 0);
  EXPECT_TRUE(run({forget, own, "", false}).out_has("cpu: there is no calibration"));
  const Result made = run({{"devices", "--calibrate", "cpu", "--json", "-"}, own, "", false});
  ASSERT_EQ(made.status, 0) << made.err;
  const auto cpu = made.json()["calibrated"][0];
  EXPECT_EQ(cpu["name"], "cpu");
  EXPECT_GT(cpu["numbers"].size(), 10u);
  for (const auto& [name, number] : cpu["numbers"].items()) EXPECT_GT(number["measured"], 0.0) << name;
  const auto seen = run({{"devices", "--json", "-"}, own, "", false}).json()["devices"][0]["calibration"];
  EXPECT_EQ(seen["used"], true);
  EXPECT_EQ(seen["measured"], cpu["measured"]);
  EXPECT_TRUE(run({{"devices"}, own, "", false}).out_has("calibrated   " + seen["measured"].get<std::string>()));
  // Plans and predictions follow from it, the same ones every time.
  const std::vector<std::string> explain = {"explain",      "exp(x)", "-i", "x=f32[10000000]", "--device", "cpu",
                                            "--candidates", "--json", "-"};
  const auto predicted = [&] {
    return run({explain, own, "", false}).json()["kernels"][0]["candidates"][0]["predicted_us"].get<double>();
  };
  const double measured = predicted();
  EXPECT_EQ(predicted(), measured);
  EXPECT_TRUE(run({forget, own, "", false}).out_has("cpu: the calibration is removed"));
  EXPECT_NE(predicted(), measured);
  EXPECT_EQ(run({{"devices", "--json", "-"}, own, "", false}).json()["devices"][0]["calibration"]["used"], false);
  const Result off = run({{"devices", "--calibrate", "cpu"}, {{"SMELT_CACHE_DIR", "off"}}, "", false});
  EXPECT_EQ(off.status, 2);
  EXPECT_TRUE(off.err_has("the calibration cannot be kept")) << off.err;
}

TEST(Cli, CacheTellsAndClears) {
  const std::string folder = std::string(SMELT_BINARY_DIR) + "/test-cache-of-the-tool";
  const std::map<std::string, std::string> gpu = {
      {"SMELT_CUDA", SMELT_FAKE_CUDA}, {"SMELT_NVRTC", SMELT_FAKE_CUDA}, {"SMELT_CACHE_DIR", folder}};
  EXPECT_EQ(run({{"cache", "clear"}, gpu, "", false}).status, 0);
  const std::vector<std::string> explain = {"explain", "x + 1", "-i", "x=f32[4]"};
  EXPECT_TRUE(run({explain, gpu, "", false}).out_has("0 of 1 kernels came from the cache"));
  EXPECT_TRUE(run({explain, gpu, "", false}).out_has("1 of 1 kernels came from the cache"));
  const auto info = run({{"cache", "info", "--json", "-"}, gpu, "", false}).json();
  EXPECT_EQ(info["folder"], folder);
  EXPECT_EQ(info["entries"], 1);
  EXPECT_GT(info["bytes"], 100);
  EXPECT_TRUE(run({{"cache", "info"}, gpu, "", false}).out_has("at most 256.0 MiB"));
  EXPECT_TRUE(run({{"cache", "clear"}, gpu, "", false}).out_has("removed 1 compiled kernel from"));
  EXPECT_TRUE(run({explain, gpu, "", false}).out_has("0 of 1 kernels"));
  EXPECT_TRUE(run({{"cache", "info"}, {{"SMELT_CACHE_DIR", "off"}}, "", false}).out_has("the cache is not used"));
  EXPECT_EQ(run({{"cache"}, {}, "", false}).status, 2);
}

TEST(Cli, RunsAndMeasuresOnAGpu) {
  const std::map<std::string, std::string> gpu = {
      {"SMELT_CUDA", SMELT_FAKE_CUDA}, {"SMELT_NVRTC", SMELT_FAKE_CUDA}, {"SMELT_CACHE_DIR", "off"}};
  const Result ran = run({{"run", "x + 1", "-i", "x=f32[4]", "--json", "-"}, gpu, "", false});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.json()["device"], "cuda");
  EXPECT_EQ(
      run({{"run", "x + 1", "-i", "x=f32[4]", "--device", "cpu", "--json", "-"}, gpu, "", false}).json()["device"],
      "cpu");
  const Result bench =
      run({{"bench", "exp(x + 1) * 2", "-i", "x=f32[4096]", "--no-check", "--time-limit", "0.05", "--json", "-"},
           gpu,
           "",
           false});
  EXPECT_EQ(bench.status, 0) << bench.err;
  const auto json = bench.json();
  EXPECT_EQ(json["gpu"]["name"], "GPU of the tests");
  EXPECT_EQ(json["isa"], "sm_90");
  const auto fused = json["results"][0]["fused"];
  EXPECT_EQ(fused["kernels"], 1);
  EXPECT_EQ(fused["bytes"], 2 * 4096 * 4);
  EXPECT_EQ(fused["cold_ms"]["median"], 0.25);
  EXPECT_GT(fused["call_ms"]["median"], 0.0);
  EXPECT_EQ(fused["copy_ms"]["cold"]["median"], 0.25);
  EXPECT_EQ(fused["of_copy"], 1.0);
  EXPECT_TRUE(fused["fresh_ms"].is_null());
  EXPECT_EQ(fused["functions"][0]["registers"], 32);
  EXPECT_EQ(json["results"][0]["unfused"]["kernels"], 3);
  const Result table =
      run({{"bench", "exp(x + 1) * 2", "-i", "x=f32[4096]", "--no-check", "--time-limit", "0.05"}, gpu, "", false});
  EXPECT_TRUE(table.out_has("cuda: GPU of the tests, sm_90")) << table.out;
  EXPECT_TRUE(table.out_has("32 registers")) << table.out;
  // An architecture can be looked at, and not run on.
  EXPECT_TRUE(run({{"explain", "x + 1", "-i", "x=f32[4]", "--device", "sm_80", "--dump", "source"}, gpu, "", false})
                  .out_has("__global__"));
  EXPECT_TRUE(run({{"run", "x + 1", "-i", "x=f32[4]", "--device", "sm_80"}, gpu, "", false})
                  .err_has("not a GPU of this machine"));
  EXPECT_TRUE(run({{"run", "x", "-i", "x=f32[4]", "--device", "cuda:7"}, gpu, "", false}).err_has("there is no GPU 7"));
}

TEST(Cli, DevicesShowsGpus) {
  const Result r = run({{"devices", "--threads", "1"},
                        {{"SMELT_CUDA", SMELT_FAKE_CUDA}, {"SMELT_NVRTC", "/nonexistent/libnvrtc.so"}},
                        "",
                        false});
  EXPECT_EQ(r.status, 0) << r.err;
  for (const char* text : {"GPU of the tests, compute capability 9.0", "L2 1.0 MiB", "GB/s", "CUDA 13.0, ",
                           "NVRTC is missing", "pip install nvidia-cuda-nvrtc"})
    EXPECT_TRUE(r.out_has(text)) << text << "\n" << r.out;
  const Result json = run({{"devices", "--threads", "1", "--json", "-"},
                           {{"SMELT_CUDA", SMELT_FAKE_CUDA}, {"SMELT_NVRTC", "/nonexistent/libnvrtc.so"}},
                           "",
                           false});
  const auto gpu = json.json()["devices"][1];
  EXPECT_EQ(gpu["name"], "cuda");
  EXPECT_EQ(gpu["available"], false);
  EXPECT_EQ(gpu["compute"], "9.0");
  EXPECT_EQ(gpu["multiprocessors"], 4);
  EXPECT_GT(gpu["copy_gbs"], 0.0);
  EXPECT_EQ(gpu["driver"]["version"], "13.0");
  EXPECT_EQ(gpu["nvrtc"]["available"], false);
}

TEST(Cli, AProcessorCanBeChosen) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "SMELT_CPU is for x86";
#endif
  const std::vector<std::string> devices = {"devices", "--threads", "1"};
  const Result wrong = run({devices, {{"SMELT_CPU", "z80"}}, "", false});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.err_has("SMELT_CPU is \"z80\", no processor")) << wrong.err;
  const Result least = run({devices, {{"SMELT_CPU", "x86-64"}}, "", false});
  EXPECT_EQ(least.status, 0) << least.err;
  EXPECT_TRUE(least.out_has("sse2 (128 bits)")) << least.out;
  if (!has_llvm()) return;
  const Result sum = run({{"run", "sum(x)", "-i", "x=iota:f32[100]"}, {{"SMELT_CPU", "x86-64"}}, "", false});
  EXPECT_TRUE(sum.out_has("4950")) << sum.out << sum.err;
}

TEST(Cli, ColourOnlyOnATerminalWithoutNoColor) {
  const std::vector<std::string> explain = {"explain", "x + 1", "-i", "x=f32[4]"};
  const std::map<std::string, std::string> no_llvm = {{"SMELT_LLVM", "/nonexistent/libLLVM.so"}};
  std::map<std::string, std::string> plain = no_llvm, dumb = no_llvm, empty = no_llvm;
  plain["NO_COLOR"] = "1";
  dumb["TERM"] = "dumb";
  empty["NO_COLOR"] = "";
  EXPECT_NE(run({explain, no_llvm, "", true}).out.find('\x1b'), std::string::npos);
  EXPECT_NE(run({explain, empty, "", true}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(run({explain, plain, "", true}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(run({explain, dumb, "", true}).out.find('\x1b'), std::string::npos);
  EXPECT_EQ(run({explain, no_llvm, "", false}).out.find('\x1b'), std::string::npos);
  EXPECT_NE(run({{"run", "y"}, no_llvm, "", true}).out.find("error"), std::string::npos);
}

TEST(Cli, ProgressShowsOnATerminalOnlyAndGoesAway) {
  const std::vector<std::string> program = {"run", "sum(x)", "-i", "x=f32[8]", "--fallback", "allow"};
  const auto variables = [](const std::string& delay) {
    return std::map<std::string, std::string>{{"SMELT_LLVM", "/nonexistent/libLLVM.so"},
                                              {"SMELT_PROGRESS_DELAY", delay}};
  };
  const Result shown = run({program, variables("0"), "", true});
  EXPECT_EQ(shown.status, 0) << shown.out;
  const size_t at = shown.out.find("\r\x1b[K");
  ASSERT_NE(at, std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find(" s)", at), std::string::npos);
  EXPECT_GT(shown.out.find("f32   min"), shown.out.rfind("\r\x1b[K")) << "the line is wiped before the result";
  const Result piped = run({program, variables("0"), "", false});
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.err.find('\r'), std::string::npos);
  EXPECT_EQ(piped.err.find(" s)"), std::string::npos);
  const Result quick = run({program, variables("1000"), "", true});
  EXPECT_EQ(quick.status, 0) << quick.out;
  EXPECT_EQ(quick.out.find("\r\x1b[K"), std::string::npos) << quick.out;
  const Result wrong = run({program, variables("soon"), "", false});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.err_has("SMELT_PROGRESS_DELAY is \"soon\"")) << wrong.err;
}

}  // namespace
