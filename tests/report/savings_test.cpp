#include "report/savings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "smelt/error.hpp"

namespace smelt::report {
namespace {

using ::testing::HasSubstr;

Savings savings(const std::string& text, int64_t dtype_bytes) {
  return chain_savings(parse_chain(text, "ops.json"), dtype_bytes);
}

std::string failure(const std::string& text, int64_t dtype_bytes = 2) {
  try {
    savings(text, dtype_bytes);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Savings, AChainOfThree) {
  const Savings s = savings(R"([{"name": "relu", "input_size": 1000, "output_size": 1000},
                                {"name": "scale", "input_size": 1000, "output_size": 1000},
                                {"name": "sum", "input_size": 1000, "output_size": 1}])",
                            2);
  EXPECT_EQ(s.unfused_bytes, 10002);
  EXPECT_EQ(s.fused_bytes, 2002);
  EXPECT_EQ(s.savings_bytes, 8000);
  EXPECT_EQ(s.savings_pct, 79.98);
  EXPECT_EQ(s.speedup_estimate, 5.0);
}

TEST(Savings, OneOperationSavesNothing) {
  const Savings s = savings(R"([{"name": "copy", "input_size": 3, "output_size": 3}])", 4);
  EXPECT_EQ(s.unfused_bytes, 24);
  EXPECT_EQ(s.fused_bytes, 24);
  EXPECT_EQ(s.savings_pct, 0);
  EXPECT_EQ(s.speedup_estimate, 1);
}

TEST(Savings, NothingGivesZeros) {
  for (const char* text : {"[]", R"([{"name": "a", "input_size": 0, "output_size": 0}])"}) {
    const Savings s = savings(text, 2);
    EXPECT_EQ(s.unfused_bytes, 0);
    EXPECT_EQ(s.fused_bytes, 0);
    EXPECT_EQ(s.savings_bytes, 0);
    EXPECT_EQ(s.savings_pct, 0);
    EXPECT_EQ(s.speedup_estimate, 0);
  }
}

TEST(Savings, NothingMovedFusedHasNoSpeedup) {
  const Savings s = savings(
      R"([{"name": "fill", "input_size": 0, "output_size": 8}, {"name": "drop", "input_size": 8, "output_size": 0}])",
      1);
  EXPECT_EQ(s.unfused_bytes, 16);
  EXPECT_EQ(s.fused_bytes, 0);
  EXPECT_EQ(s.savings_pct, 100);
  EXPECT_EQ(s.speedup_estimate, 0);
}

TEST(Savings, RoundsToTwoDecimals) {
  const Savings s = savings(
      R"([{"name": "a", "input_size": 1, "output_size": 1}, {"name": "b", "input_size": 1, "output_size": 2}])", 1);
  EXPECT_EQ(s.savings_pct, 40);
  EXPECT_EQ(s.speedup_estimate, 1.67);
  EXPECT_EQ(round_to_decimals(2.675, 2), 2.67);  // the double below 2.675
  EXPECT_EQ(round_to_decimals(1e300, 2), 1e300);
}

TEST(Savings, WrongEntriesAreNamed) {
  const std::string first = R"([{"name": "ok", "input_size": 1, "output_size": 1}, )";
  struct Row {
    std::string entry, says;
  };
  const Row rows[] = {
      {R"({"name": "bad", "input_size": -1, "output_size": 1}])",
       R"(entry 2 ("bad"): "input_size" must not be negative, and is -1)"},
      {R"({"name": "bad", "input_size": 1, "output_size": -5}])", R"("output_size" must not be negative, and is -5)"},
      {R"({"name": "bad", "input_size": 1.5, "output_size": 1}])",
       R"("input_size" must be a whole number, and is 1.5)"},
      {R"({"name": "bad", "input_size": 1.0, "output_size": 1}])", R"(must be a whole number, and is 1.0)"},
      {R"({"name": "bad", "input_size": "8", "output_size": 1}])", R"(must be a whole number, and is "8")"},
      {R"({"name": "bad", "input_size": true, "output_size": 1}])", R"(must be a whole number, and is true)"},
      {R"({"name": "bad", "input_size": null, "output_size": 1}])", R"(must be a whole number, and is null)"},
      {R"({"name": "bad", "input_size": 1e30, "output_size": 1}])", R"(must be a whole number)"},
      {R"({"name": "bad", "input_size": 18446744073709551615, "output_size": 1}])", "does not fit 64 bits"},
      {R"({"name": "bad", "output_size": 1}])", R"(entry 2 ("bad") has no "input_size")"},
      {R"({"name": "bad", "input_size": 1}])", R"(entry 2 ("bad") has no "output_size")"},
      {R"({"input_size": 1, "output_size": 1}])", R"(entry 2 has no "name")"},
      {R"({"name": 7, "input_size": 1, "output_size": 1}])", R"("name" must be a string)"},
      {R"(7])", "entry 2 must be an object"},
      {R"({"name": "huge", "input_size": 9223372036854775807, "output_size": 9223372036854775807}])",
       R"(up to entry 2 ("huge"))"},
  };
  for (const Row& row : rows) {
    const std::string message = failure(first + row.entry);
    EXPECT_NE(message.find(row.says), std::string::npos) << row.entry << "\n" << message;
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
  }
}

TEST(Savings, OtherTextIsRefused) {
  EXPECT_NE(failure("{}").find("must hold a list"), std::string::npos);
  EXPECT_NE(failure("[").find("is not JSON"), std::string::npos);
  EXPECT_NE(failure("").find("is not JSON"), std::string::npos);
  EXPECT_NE(failure("[1] x").find("is not JSON"), std::string::npos);
  EXPECT_NE(failure("\xff").find("is not JSON"), std::string::npos);
  EXPECT_NE(failure("[]", 0).find("--dtype-bytes"), std::string::npos);
  EXPECT_NE(failure("[]", -2).find("--dtype-bytes"), std::string::npos);
  const std::string control = failure("[{\"name\": \"a\\u001b[31m\", \"input_size\": -1, \"output_size\": 1}]");
  EXPECT_NE(control.find("(\"a?[31m\")"), std::string::npos) << control;
}

TEST(Savings, DeepJsonDoesNotOverflowTheStack) {
  EXPECT_THAT(failure(std::string(200000, '[')), HasSubstr("ops.json is nested more than 64 deep"));
  EXPECT_THAT(failure(std::string(200000, '[') + std::string(200000, ']')),
              HasSubstr("ops.json is nested more than 64 deep"));
}

TEST(Savings, JsonHasTheFiveKeysInOrder) {
  const auto json = to_json(savings(R"([{"name": "a", "input_size": 1, "output_size": 2}])", 2));
  EXPECT_EQ(json.dump(),
            R"({"unfused_bytes":6,"fused_bytes":6,"savings_bytes":0,"savings_pct":0.0,"speedup_estimate":1.0})");
}

}  // namespace
}  // namespace smelt::report
