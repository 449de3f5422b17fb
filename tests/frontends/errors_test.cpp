// Every program of tests/errors must fail with exactly its message. A file is a topic and has cases
// of this form, with an empty line between two:
//
//   === NAME
//   program
//   ---
//   message
//
// SMELT_UPDATE_GOLDENS=1 writes the messages again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <sstream>

#include "frontends/language.hpp"

namespace smelt::lang {

namespace fs = std::filesystem;

static const fs::path kFolder = fs::path(SMELT_SOURCE_DIR) / "tests" / "errors";

struct ErrorCase {
  std::string topic, name, program, message;
};

static void PrintTo(const ErrorCase& c, std::ostream* out) { *out << c.name << " of " << c.topic << ".txt"; }

// Lines with their ends, so that the bytes of a program are kept.
static std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line + '\n');
  return lines;
}

static std::vector<ErrorCase> cases_of(const fs::path& path) {
  const std::string begin = "=== ";
  std::vector<ErrorCase> cases;
  bool in_message = false;
  for (const std::string& line : lines_of(path)) {
    if (line.rfind(begin, 0) == 0) {
      if (!cases.empty() && cases.back().message.ends_with("\n\n")) cases.back().message.pop_back();
      cases.push_back({path.stem().string(), line.substr(begin.size(), line.size() - begin.size() - 1), "", ""});
      in_message = false;
    } else if (!in_message && line == "---\n") {
      in_message = true;
    } else if (!cases.empty()) {
      (in_message ? cases.back().message : cases.back().program) += line;
    }
  }
  return cases;
}

static std::vector<fs::path> topics() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

static std::vector<ErrorCase> all_cases() {
  std::vector<ErrorCase> all;
  for (const fs::path& path : topics())
    for (ErrorCase& c : cases_of(path)) all.push_back(std::move(c));
  return all;
}

static void write_message(const ErrorCase& changed, const std::string& message) {
  const fs::path path = kFolder / (changed.topic + ".txt");
  std::string text;
  for (const ErrorCase& c : cases_of(path))
    text += (text.empty() ? "=== " : "\n=== ") + c.name + "\n" + c.program + "---\n" +
            (c.name == changed.name ? message : c.message);
  std::ofstream(path, std::ios::binary) << text;
}

static std::string message_of(const std::string& text, const std::string& file) {
  try {
    parse_program(text, file);
  } catch (const UserError& e) {
    return std::string(e.what()) + "\n";
  }
  return "no error\n";
}

class Errors : public testing::TestWithParam<ErrorCase> {};

TEST_P(Errors, HaveTheirMessage) {
  const std::string message = message_of(GetParam().program, GetParam().name + ".smelt");
  ASSERT_NE(message, "no error\n") << "this program must fail";
  if (std::getenv("SMELT_UPDATE_GOLDENS")) return write_message(GetParam(), message);
  EXPECT_EQ(message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Programs, Errors, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.name; });

// A file that is not read as cases would be a test that is never run.
TEST(Errors, EveryCaseIsWhole) {
  std::set<std::string> names;
  for (const fs::path& path : topics()) {
    EXPECT_FALSE(cases_of(path).empty()) << path;
    EXPECT_EQ(lines_of(path).at(0).rfind("=== ", 0), 0u) << path;
  }
  for (const ErrorCase& c : all_cases()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name << " is there twice";
    EXPECT_FALSE(c.program.empty()) << c.name;
    EXPECT_FALSE(c.message.empty()) << c.name;
  }
  EXPECT_GE(names.size(), 45u);
}

TEST(Errors, TheFolderHasTopicsAlone) {
  for (const auto& entry : fs::directory_iterator(kFolder))
    EXPECT_TRUE(entry.path().extension() == ".txt" || entry.path().filename() == "programs.sh") << entry.path();
}

}  // namespace smelt::lang
