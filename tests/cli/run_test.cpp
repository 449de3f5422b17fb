// smelt run, with the reference interpreter so that it needs no LLVM; the engine is compared with
// it where there is one.
#include <gtest/gtest.h>

#include <cstring>

#include "../report/temporary_folder.hpp"
#include "process.hpp"
#include "report/npy.hpp"

namespace {

using smelt::DType;
using smelt::Tensor;
using smelt::report::read_npy;
using smelt::report::write_npy;

Tensor floats(const smelt::Dims& dims, const std::vector<float>& values) {
  Tensor t = Tensor::empty(DType::F32, dims);
  std::memcpy(t.data, values.data(), values.size() * sizeof(float));
  return t;
}
std::vector<float> values(const Tensor& t) {
  const auto* data = static_cast<const float*>(t.data);
  return {data, data + t.count()};
}

TEST(CliRun, WithoutACompilerIsAnErrorUnlessAllowed) {
  const Result error = tool_without_llvm({"run", "x * 2", "-i", "x=iota:f32[2,3]"});
  EXPECT_EQ(error.status, 2);
  EXPECT_TRUE(error.err_has("x * 2 cannot be compiled: ")) << error.err;
  EXPECT_TRUE(error.err_has("apt-get install libllvm19")) << error.err;
  EXPECT_TRUE(error.err_has("--fallback warn")) << error.err;
  const Result warned = tool_without_llvm({"run", "x * 2", "-i", "x=iota:f32[2,3]", "--fallback", "warn"});
  EXPECT_EQ(warned.status, 0) << warned.err;
  EXPECT_TRUE(warned.err_has("the reference interpreter runs the program, slowly")) << warned.err;
  const Result allowed = tool_without_llvm({"run", "x * 2", "-i", "x=iota:f32[2,3]", "--fallback", "allow"});
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_EQ(allowed.err, "");
  EXPECT_EQ(allowed.out, warned.out);
  const Result wrong = tool({"run", "x * 2", "-i", "x=iota:f32[2,3]", "--fallback", "maybe"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.err_has("--fallback is \"maybe\"\n  help: one of error, warn, allow")) << wrong.err;
}

TEST(CliRun, ShowsShapeViewAndStatistics) {
  const Result r = interpreted({"run", "x * 2", "-i", "x=iota:f32[2,3]"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, "f32[2,3]   min 0   mean 5.0000   max 10.000\n[[ 0,  2,  4],\n [ 6,  8, 10]]\n");
  EXPECT_TRUE(r.err_has("there is no compiler"));
}

TEST(CliRun, JsonDescribesTheOutputs) {
  const Result r = interpreted({"run", "x * 2, x.sum()", "-i", "x=iota:i32[2,3]", "--json", "-"});
  EXPECT_EQ(r.status, 0) << r.err;
  const auto json = r.json();
  EXPECT_EQ(json["interpreted"], true);
  ASSERT_EQ(json["outputs"].size(), 2u);
  EXPECT_EQ(json["outputs"][0]["dtype"], "i32");
  EXPECT_EQ(json["outputs"][0]["shape"], (std::vector<int>{2, 3}));
  EXPECT_EQ(json["outputs"][0]["max"], 10);
  EXPECT_EQ(json["outputs"][1]["shape"], std::vector<int>{});
}

TEST(CliRun, NanAndInfinityAreStringsInJson) {
  const Result r = interpreted({"run", "x / 0", "-i", "x=ones:f32[2]", "--json", "-"});
  EXPECT_EQ(r.json()["outputs"][0]["max"], "inf") << r.out;
  EXPECT_EQ(r.json()["outputs"][0]["inf"], 2);
}

TEST(CliRun, ReadsAndWritesNpy) {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", floats({2, 2}, {1, -2, 3, -4}));
  write_npy(folder / "y.npy", floats({2}, {10, 20}));
  const Result r = interpreted({"run", "maximum(x, 0) + y, x.T", "-i", "x=@" + (folder / "x.npy"), "-i",
                                "y=@" + (folder / "y.npy"), "-o", folder / "a.npy", "-o", folder / "b.npy"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(values(read_npy(folder / "a.npy")), (std::vector<float>{11, 20, 13, 20}));
  EXPECT_EQ(values(read_npy(folder / "b.npy")), (std::vector<float>{1, 3, -2, -4}));
  EXPECT_TRUE(r.out_has("output 1: f32[2,2]   written to ")) << r.out;
}

TEST(CliRun, TheEngineAgreesWithTheInterpreter) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const TemporaryFolder folder;
  for (const char* program : {"x * 2 + 1", "x.sum(axis=1)", "x.T", "x[::-1, 1:]"}) {
    const auto go = [&](const std::string& out, bool engine) {
      const std::vector<std::string> arguments = {"run",    program, "-i", "x=f32[7,9]",
                                                  "--seed", "3",     "-o", folder / out};
      return engine ? tool(arguments) : interpreted(arguments);
    };
    const Result engine = go("engine.npy", true), interpreter = go("interpreter.npy", false);
    ASSERT_EQ(engine.status, 0) << engine.err;
    ASSERT_EQ(interpreter.status, 0) << interpreter.err;
    const Tensor got = read_npy(folder / "engine.npy"), want = read_npy(folder / "interpreter.npy");
    ASSERT_EQ(got.dims, want.dims) << program;
    for (size_t i = 0; i < values(got).size(); ++i)
      EXPECT_NEAR(values(got)[i], values(want)[i], 1e-5) << program << " " << i;
  }
}

TEST(CliRun, OutputMayBeTheInputFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  write_npy(path, floats({3}, {1, 2, 3}));
  EXPECT_EQ(interpreted({"run", "x + 1", "-i", "x=@" + path, "-o", path}).status, 0);
  EXPECT_EQ(values(read_npy(path)), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(CliRun, ProgramsComeFromFiles) {
  const TemporaryFolder folder;
  const std::string program = folder.file("double.smelt", "input x: f32[B, C]\ninput s: f64\nreturn x * f32(s)\n");
  const Result r = interpreted({"run", program, "-i", "x=ones:f32[N,3]", "--size", "N=2", "-i", "s=2.5"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(r.out_has("f32[2,3]   min 2.5000")) << r.out;
  // A file without the ending is a program too when it is there.
  const std::string plain = folder.file("double", "input x: f32[B]\nreturn x * 3\n");
  EXPECT_TRUE(interpreted({"run", plain, "-i", "x=ones:f32[2]"}).out_has("[3, 3]"));
  EXPECT_TRUE(tool({"run", folder / "none.smelt"}).err_has("No such file"));
}

TEST(CliRun, DeclarationsAreToldFromExpressions) {
  struct Row {
    const char* program;
    std::vector<std::string> inputs;
    const char* says;
  };
  const Row rows[] = {
      {"inputs + 1", {"inputs=ones:f32[2]"}, "[2, 2]"},
      {"# input y: f32[3]\nx + 1", {"x=ones:f32[2]"}, "[2, 2]"},
      {"# all; input y: f32[3]\nx + 1", {"x=ones:f32[2]"}, "[2, 2]"},
      {"input x : f32[B]; return x + 1", {"x=ones:f32[2]"}, "[2, 2]"},
      {"k = 3\n  input\tx: f32[B]\nreturn x * k", {"x=ones:f32[2]"}, "[3, 3]"},
      {"input größe: f32[B]\nreturn größe", {"größe=ones:f32[2]"}, "[1, 1]"},
      {"größe * 2", {"größe=ones:f32[2]"}, "[2, 2]"},
      {"arange(3)", {}, "[0, 1, 2]"},
  };
  for (const Row& row : rows) {
    std::vector<std::string> arguments = {"run", row.program};
    for (const std::string& input : row.inputs) arguments.insert(arguments.end(), {"-i", input});
    const Result r = interpreted(arguments);
    EXPECT_EQ(r.status, 0) << row.program << "\n" << r.err;
    EXPECT_TRUE(r.out_has(row.says)) << row.program << "\n" << r.out;
  }
}

TEST(CliRun, NumbersAreWeakInExpressions) {
  for (const auto& [type, dtype] : {std::pair{"f16[2]", "f16[2]"}, {"f64[2]", "f64[2]"}, {"i8[2]", "i8[2]"}}) {
    const Result r = interpreted({"run", "x * s", "-i", std::string("x=ones:") + type, "-i", "s=2"});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_TRUE(r.out_has(dtype)) << r.out;
  }
  EXPECT_TRUE(interpreted({"run", "s * 2", "-i", "s=2"}).out_has("i64"));
  EXPECT_TRUE(interpreted({"run", "s * 2", "-i", "s=f64(2)"}).out_has("f64"));
}

TEST(CliRun, SizesFromOneInputServeAnother) {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  const std::string program = folder.file("p.smelt", "input x: f32[B, C]\ninput y: f32[C]\nreturn x + y\n");
  const Result r = interpreted({"run", program, "-i", "x=@" + (folder / "x.npy"), "-i", "y=ones:f32[C]"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(r.out_has("f32[2,3]"));
}

TEST(CliRun, TheSeedDecidesTheNumbers) {
  const auto out = [](const char* seed) { return interpreted({"run", "x", "-i", "x=f32[5]", "--seed", seed}).out; };
  EXPECT_EQ(out("1"), out("1"));
  EXPECT_NE(out("1"), out("2"));
  EXPECT_TRUE(interpreted({"run", "(x == y).any()", "-i", "x=f32[50]", "-i", "y=f32[50]"}).out_has("0.00 % true"));
}

struct Mistake {
  std::vector<std::string> arguments;
  std::string says;
};

TEST(CliRun, MistakesAreNamed) {
  const TemporaryFolder folder;
  const std::string program = folder.file("p.smelt", "input x: f32[B, 4]\nreturn x + 1\n");
  folder.file("bad.npy", "not an array");
  write_npy(folder / "f64.npy", Tensor::zeros(DType::F64, {2, 4}));
  const Mistake mistakes[] = {
      {{"x + y", "-i", "x=f32[4]"}, "there is no 'y'"},
      {{"x +", "-i", "x=f32[4]"}, "error: "},
      {{"x", "-i", "x=f32[4]", "-i", "x=f32[4]"}, "-i gives the input x twice"},
      {{"x", "-i", "x=f32[B]"}, "the size B of the input x (f32[B]) has no value\n  help: give it one: --size B=1024"},
      {{"x", "-i", "x=f32[4]", "--size", "B=4"}, "no input has a size of that name"},
      {{"x", "-i", "x=f32[B]", "--size", "B=4", "--size", "B=5"}, "--size gives B twice"},
      {{"x", "-i", "x=f32[B]", "--size", "B=-4"}, "is not a size"},
      {{"x", "-i", "x=f31[4]"}, "there is no type 'f31'"},
      {{"x", "-i", "x=f32[4"}, "error: "},
      {{"x", "-i", "x=4.2.1"}, "is neither a file (@), nor a type, nor a number"},
      {{"x", "-i", "x=nornal:f32[4]"}, "there is no filler \"nornal\"; did you mean normal?"},
      {{"x", "-i", "x=weights.npy"}, "a file name follows an @: -i x=@weights.npy"},
      {{"x * 2", "-i", "y=f32[4]"}, "give it a type: -i x=f32[1024]; given is y"},
      {{"sort(x)", "-i", "x=f32[4]"}, "help: smelt has no functions that sort"},
      {{folder / "f64.npy"},
       "f64.npy is an array, not a program\n  help: pass it as an input: smelt run 'x * 2' -i x=@"},
      {{folder / "."}, "is a folder, not a program"},
      {{folder / "q.smelt"}, "did you mean " + (folder / "p.smelt") + "?"},
      {{program, "-i", "y=f32[2,4]"}, "the program has no input 'y'\n  help: it has x"},
      {{program, "--fill", "--size", "C=4"},
       "--size C=4: no input has a size of that name\n  help: the inputs have the sizes B"},
      {{"x", "-i", "x=f32[4]", "-o", folder / "y.txt"},
       "an output is written as a .npy file\n  help: -o " + (folder / "y.npy")},
      {{"x", "-i", "x=f32[4]", "-o", "-"}, "not to standard output"},
      {{"x", "-i", "x=f32[1000000000000000000,1000000000000000000]"}, "error: "},
      {{"x", "-i", "x=f32[100000000000000]"}, "this machine has"},
      {{"x", "-i", "x=@" + (folder / "bad.npy")}, "does not begin as one"},
      {{"x", "-i", "x=@" + (folder / "none.npy")}, "No such file"},
      {{"x + 1", "-i", "x=i8(300)"}, "cannot hold this number"},
      {{program}, "the input x (f32[B,4]) is not given\n  help: -i x=@file.npy"},
      {{"input x: f32[...]\nreturn x", "--size", "B=2"},
       "takes any shape, and is not given\n  help: give it one: -i x=f32[1024]"},
      {{program, "-i", "x=f32[2,5]"}, "declared f32[B, 4]"},
      {{program, "-i", "x=@" + (folder / "f64.npy")}, "f64"},
      {{program, "-i", "z=f32[2,4]"}, "no input 'z'"},
      {{program, "-i", "x=4.2"}, "error: "},
      {{"x, x", "-i", "x=f32[4]", "-o", folder / "a.npy"}, "the program has 2 outputs, and -o names 1 file"},
      {{"x, x", "-i", "x=f32[4]", "-o", folder / "a.npy", "-o", folder / "a.npy"}, "twice"},
      {{"bf16(x)", "-i", "x=f32[4]", "-o", folder / "a.npy"},
       "is bf16, which NumPy does not have\n  help: cast it in the program: return f32(...)"},
      {{"x", "-i", "x=f32[4]", "-o", folder / "no/a.npy"}, "mkdir -p"},
      {{std::string(100000, '(')}, "error: "},
      {{std::string("x\0y", 3), "-i", "y=f32[4]"}, "error: "},
      {{"x", "-i", "x=take([0])"}, "error: "},
  };
  for (const Mistake& mistake : mistakes) {
    std::vector<std::string> arguments = mistake.arguments;
    arguments.insert(arguments.begin(), "run");
    const Result r = interpreted(arguments);
    EXPECT_EQ(r.status, 2) << arguments[1].substr(0, 80) << "\n" << r.err;
    EXPECT_TRUE(r.err_has(mistake.says)) << arguments[1].substr(0, 80) << "\n" << r.err.substr(0, 1000);
    EXPECT_EQ(r.out, "");
    EXPECT_TRUE(r.err_has("error: "));
    EXPECT_EQ(r.err.find("error: error"), std::string::npos);
  }
  EXPECT_EQ(folder.entries(), 3u) << "nothing half-written stays";
}

TEST(CliRun, WritesNothingWhenARunFails) {
  const TemporaryFolder folder;
  const Result r = interpreted({"run", "take(x, i)", "-i", "x=f32[4]", "-i", "i=iota:i64[9]", "-o", folder / "a.npy"});
  EXPECT_EQ(r.status, 2) << r.err;
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
