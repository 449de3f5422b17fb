#include <gtest/gtest.h>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

const std::string kChain = R"([{"name": "relu", "input_size": 1000, "output_size": 1000},
                                {"name": "sum", "input_size": 1000, "output_size": 1}])";

TEST(CliSavings, TextAndJsonAgree) {
  const TemporaryFolder folder;
  const std::string path = folder.file("ops.json", kChain);
  const Result text = tool({"savings", path});
  EXPECT_EQ(text.status, 0) << text.err;
  for (const char* part : {"unfused_bytes", "6002", "fused_bytes", "2002", "savings_bytes", "4000", "66.64", "3.00"})
    EXPECT_TRUE(text.out_has(part)) << part;
  const auto json = tool({"savings", path, "--json", "-"}).json();
  EXPECT_EQ(json["unfused_bytes"], 6002);
  EXPECT_EQ(json["fused_bytes"], 2002);
  EXPECT_EQ(json["savings_bytes"], 4000);
  EXPECT_EQ(json["savings_pct"], 66.64);
  EXPECT_EQ(json["speedup_estimate"], 3.0);
}

TEST(CliSavings, DtypeBytesScale) {
  const TemporaryFolder folder;
  const std::string path = folder.file("ops.json", kChain);
  EXPECT_EQ(tool({"savings", path, "--dtype-bytes", "4", "--json", "-"}).json()["unfused_bytes"], 12004);
  for (const char* wrong : {"0", "-2", "2.5", "x"})
    EXPECT_EQ(tool({"savings", path, "--dtype-bytes", wrong}).status, 2) << wrong;
}

TEST(CliSavings, EmptyListGivesZeros) {
  const Result r = run({{"savings", "-", "--json", "-"}, {}, "[]", false});
  EXPECT_EQ(r.status, 0) << r.err;
  for (const char* key : {"unfused_bytes", "fused_bytes", "savings_bytes", "savings_pct", "speedup_estimate"})
    EXPECT_EQ(r.json()[key], 0) << key;
}

TEST(CliSavings, MistakesNameTheEntry) {
  const TemporaryFolder folder;
  const auto err = [&](const std::string& text) {
    const Result r = tool({"savings", folder.file("ops.json", text)});
    EXPECT_EQ(r.status, 2) << text;
    EXPECT_EQ(r.out, "");
    return r.err;
  };
  EXPECT_NE(err(R"([{"name": "a", "input_size": 1, "output_size": -3}])")
                .find("entry 1 (\"a\"): \"output_size\" must not be negative"),
            std::string::npos);
  EXPECT_NE(err(R"([{"name": "a", "input_size": 1.5, "output_size": 3}])")
                .find("entry 1 (\"a\"): \"input_size\" must be a whole number"),
            std::string::npos);
  EXPECT_NE(err(R"([{"name": "a", "input_size": 1}])").find("entry 1 (\"a\") has no \"output_size\""),
            std::string::npos);
  EXPECT_NE(err("{").find("is not JSON"), std::string::npos);
  EXPECT_NE(tool({"savings", folder / "none.json"}).err.find("No such file"), std::string::npos);
}

}  // namespace
