#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

const std::vector<std::string> kProgram = {"emit", "exp(x * 2) + y", "-i",     "x=f32[N]",
                                           "-i",   "y=f32[N]",       "--size", "N=1000"};

std::vector<std::string> with(std::vector<std::string> more) {
  std::vector<std::string> all = kProgram;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(CliEmit, WritesAFileThatIsTheOutput) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.cpp", "before");
  const Result text = tool(with({"--as", "cpp", "--name", "chain"}));
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* part : {"// chain: a program fused by smelt", "x0: input x, f32[N]", "n0: the size N",
                           "extern \"C\" int chain(", "extern \"C\" int64_t chain_workspace_bytes("})
    EXPECT_TRUE(text.out_has(part)) << part;
  const Result file = tool(with({"--as", "cpp", "--name", "chain", "-o", path}));
  EXPECT_EQ(file.status, 0) << file.err;
  EXPECT_EQ(file.out, "");
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text.out);
}

TEST(CliEmit, Mistakes) {
  const auto err = [](std::vector<std::string> more) {
    const Result r = tool(with(std::move(more)));
    EXPECT_EQ(r.status, 2);
    EXPECT_EQ(r.out, "");
    return r.err;
  };
  EXPECT_NE(err({}).find("--as"), std::string::npos);
  EXPECT_NE(err({"--as", "rust"}).find("there is no way to emit a program as \"rust\""), std::string::npos);
  EXPECT_NE(err({"--as", "cpp", "--name", "2x"}).find("cannot be the name of a C function"), std::string::npos);
  EXPECT_NE(err({"--as", "cpp", "--device", "sm_90"}).find("leave --device out"), std::string::npos);
  EXPECT_NE(err({"--as", "cuda", "--device", "cpu"}).find("--device sm_90"), std::string::npos);
  EXPECT_NE(err({"--as", "cpp", "-o", "/no/such/folder/x.cpp"}).find("/no/such/folder"), std::string::npos);
}

TEST(CliEmit, Help) {
  const Result r = tool({"emit", "--help"});
  EXPECT_EQ(r.status, 0);
  EXPECT_TRUE(r.out_has("--as"));
  EXPECT_TRUE(r.out_has("relu_layernorm"));
}

TEST(CliEmit, ForAnArchitecture) {
  const Result r = tool(with({"--as", "cuda", "--device", "sm_80"}));
  if (r.status != 0) GTEST_SKIP() << r.err;  // no NVRTC here
  for (const char* part :
       {"-arch=sm_80", "cudaStream_t stream", "cudaLaunchKernelExC", "namespace k0_code", "k0_p0_any"})
    EXPECT_TRUE(r.out_has(part)) << part;
  EXPECT_EQ(r.out, tool(with({"--as", "cuda", "--device", "sm_80"})).out);
}

}  // namespace
