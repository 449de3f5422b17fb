// Every program of tests/errors must fail with exactly the message beside it. SMELT_UPDATE_GOLDENS=1 writes the messages anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontends/language.hpp"

namespace smelt::lang {

namespace fs = std::filesystem;

static const fs::path kFolder = fs::path(SMELT_SOURCE_DIR) / "tests" / "errors";

static std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

static std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".smelt") result.push_back(entry.path().stem().string());
  std::sort(result.begin(), result.end());
  return result;
}

static std::string message_of(const std::string& text, const std::string& file) {
  try {
    parse_program(text, file);
  } catch (const UserError& e) {
    return std::string(e.what()) + "\n";
  }
  return "no error\n";
}

class Errors : public testing::TestWithParam<std::string> {};

TEST_P(Errors, HaveTheirMessage) {
  const std::string message = message_of(contents(kFolder / (GetParam() + ".smelt")), GetParam() + ".smelt");
  ASSERT_NE(message, "no error\n") << "this program must fail";
  const fs::path expected = kFolder / (GetParam() + ".expected");
  if (std::getenv("SMELT_UPDATE_GOLDENS")) std::ofstream(expected, std::ios::binary) << message;
  EXPECT_EQ(message, contents(expected));
}

INSTANTIATE_TEST_SUITE_P(Programs, Errors, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST(Errors, AreMany) { EXPECT_GE(names().size(), 45u); }

TEST(Errors, EveryMessageHasAProgram) {
  for (const auto& entry : fs::directory_iterator(kFolder))
    EXPECT_TRUE(fs::exists(kFolder / (entry.path().stem().string() + ".smelt"))) << entry.path();
}

}  // namespace smelt::lang
