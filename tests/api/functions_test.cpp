// The C++ functions against the language's table.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "function_header.hpp"

namespace smelt::api_test {
namespace {

// Line breaks are clang-format's business.
std::string without_blanks(const std::string& text) {
  std::string result;
  for (char c : text)
    if (c != ' ' && c != '\n') result += c;
  return result;
}

// The headers are the table's; SMELT_UPDATE_GOLDENS=1 writes them again, to be laid out by `make
// format`.
TEST(Functions, TheHeadersAreThoseOfTheTable) {
  for (const auto& [name, text] : function_files()) {
    const std::string path = std::string(SMELT_SOURCE_DIR) + "/" + name;
    if (std::getenv("SMELT_UPDATE_GOLDENS")) std::ofstream(path, std::ios::binary) << text;
    std::ifstream in(path, std::ios::binary);
    std::stringstream contents;
    contents << in.rdbuf();
    EXPECT_EQ(without_blanks(contents.str()), without_blanks(text)) << path;
  }
}

}  // namespace
}  // namespace smelt::api_test
