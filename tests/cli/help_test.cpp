// The command line itself: completion, the manual page, single operations, filled inputs, progress
// for programs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_here(const std::string& program) { return std::system((program + " --version > /dev/null 2>&1").c_str()) == 0; }

// The words that bash offers for the last of these, one to a line.
std::string offered(const TemporaryFolder& folder, const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  const std::string script = folder.file("try.sh", "cd '" + (folder / ".") + "'\n. ./smelt.bash\nCOMP_WORDS=(" + line +
                                                       ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_smelt\n"
                                                       "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
  const std::string out = folder / "offered.txt";
  EXPECT_EQ(std::system(("bash '" + script + "' > '" + out + "' 2>&1").c_str()), 0);
  return contents(out);
}

TEST(CliHelp, BashCompletesCommandsOptionsAndValues) {
  if (!is_here("bash")) GTEST_SKIP() << "no bash";
  const TemporaryFolder folder;
  folder.file("smelt.bash", tool({"completion", "bash"}).out);
  folder.file("norm.smelt", "");
  folder.file("x.npy", "");
  EXPECT_EQ(offered(folder, {"smelt", "ex"}), "explain\n");
  EXPECT_EQ(offered(folder, {"smelt", "help", "sav"}), "savings\n");
  EXPECT_EQ(offered(folder, {"smelt", "explain", "--ed"}), "--edges\n");
  EXPECT_EQ(offered(folder, {"smelt", "run", "x", "--device", "cu"}), "cuda\n");
  EXPECT_EQ(offered(folder, {"smelt", "emit", "x", "--as", ""}), "cpp\ncuda\nopencl\n");
  EXPECT_EQ(offered(folder, {"smelt", "ops", "layern"}), "layernorm\n");
  EXPECT_EQ(offered(folder, {"smelt", "run", "no"}), "norm.smelt\n");
  EXPECT_EQ(offered(folder, {"smelt", "run", "x", "-o", ""}), "x.npy\n");
}

TEST(CliHelp, ZshAndFishReadTheirScripts) {
  const TemporaryFolder folder;
  const Result zsh = tool({"completion", "zsh"}), fish = tool({"completion", "fish"});
  EXPECT_EQ(zsh.out.rfind("#compdef smelt\n", 0), 0u) << zsh.out.substr(0, 80);
  EXPECT_TRUE(zsh.out_has("'explain:show what is fused, why, and what that saves'")) << zsh.out;
  EXPECT_TRUE(zsh.out_has("'--device[")) << zsh.out;
  EXPECT_TRUE(fish.out_has("complete -c smelt -n '__fish_seen_subcommand_from explain' -l edges -d ")) << fish.out;
  for (const auto& [shell, script] : {std::pair("zsh", zsh.out), std::pair("fish", fish.out)})
    if (is_here(shell)) {
      const std::string check = std::string(shell) + " -n '" + folder.file(shell, script) + "'";
      EXPECT_EQ(std::system(check.c_str()), 0) << shell;
    }
  if (!is_here("fish")) return;
  const std::string out = folder / "offered.txt";
  const std::string ask =
      "fish -c \"source '" + (folder / "fish") + "'; complete -C'smelt explain --ed'\" > '" + out + "' 2>&1";
  EXPECT_EQ(std::system(ask.c_str()), 0);
  EXPECT_EQ(contents(out), "--edges\tlist every edge between two operations, fused or cut\n");
}

TEST(CliHelp, TheManualPageHasEveryCommandAndOption) {
  const Result page = tool({"help", "man"});
  EXPECT_EQ(page.status, 0);
  EXPECT_EQ(page.out.rfind(".TH SMELT 1", 0), 0u);
  for (const char* command :
       {"run", "bench", "explain", "emit", "profile", "savings", "devices", "ops", "cache", "help"})
    EXPECT_TRUE(page.out_has(std::string(".SS smelt ") + command)) << command;
  for (const char* part : {"\\-\\-sweep NAME=N,N,..", ".SH EXIT STATUS", ".SH ENVIRONMENT", "SMELT_CACHE_DIR"})
    EXPECT_TRUE(page.out_has(part)) << part;
  EXPECT_FALSE(page.out_has("profile\\-run"));
  if (std::system("man --version > /dev/null 2>&1") != 0) return;
  const TemporaryFolder folder;
  const std::string check =
      "man --warnings -l '" + folder.file("smelt.1", page.out) + "' 2>&1 >/dev/null | grep -q . && exit 1; exit 0";
  EXPECT_EQ(std::system(check.c_str()), 0);
}

// The manual of the tool and the page of the project must name the same variables.
TEST(CliHelp, TheManualPageAndTheDocumentAgreeOnVariables) {
  const Result page = tool({"help", "man"});
  const std::string document = contents(std::string(SMELT_SOURCE_DIR) + "/docs/cli.md");
  for (size_t at = 0; (at = page.out.find("\n.B SMELT_", at)) != std::string::npos; ++at) {
    const std::string name = page.out.substr(at + 4, page.out.find('\n', at + 1) - at - 4);
    EXPECT_NE(document.find("`" + name), std::string::npos) << name;
  }
}

TEST(CliHelp, OpsDescribesOneFunction) {
  const Result sqrt = tool({"ops", "sqrt"});
  EXPECT_EQ(sqrt.status, 0);
  EXPECT_EQ(sqrt.out,
            "sqrt(a)\n  square root\n  takes   floats\n  gives   the same\n"
            "  error   at most 0.5 ULP of f32, 0.5 ULP of f64\n");
  EXPECT_TRUE(tool({"ops", "+"}).out_has("add(a, b)\n"));
  EXPECT_TRUE(tool({"ops", "//"}).out_has("floor_divide(a, b)\n"));
  EXPECT_TRUE(tool({"ops", "<="}).out_has("less_equal(a, b)\n"));
  EXPECT_TRUE(tool({"ops", "arcsin"}).out_has("asin(a)\n"));
  EXPECT_TRUE(tool({"ops", "layer_norm"}).out_has("layernorm("));
  const auto json = tool({"ops", "exp", "--json", "-"}).json();
  EXPECT_EQ(json["ops"][0]["name"], "exp");
  EXPECT_EQ(json["function"]["signature"], "exp(a)");
  EXPECT_TRUE(tool({"ops", "softmax", "--json", "-"}).json()["ops"].empty());
}

TEST(CliHelp, RunFillsWhatIsNotGiven) {
  const TemporaryFolder folder;
  const std::string program =
      folder.file("p.smelt", "input x: f32[B, 4]\ninput s: f32\ninput i: i32[B]\nreturn sum(x, axis=1) * s + f32(i)");
  const Result filled = interpreted({"run", program, "--fill", "--size", "B=3", "--json", "-"});
  ASSERT_EQ(filled.status, 0) << filled.err;
  EXPECT_EQ(filled.json()["outputs"][0]["shape"], nlohmann::json::array({3}));
  EXPECT_EQ(interpreted({"run", program, "--fill", "-i", "s=0", "-i", "i=zeros:i32[3]", "--json", "-"})
                .json()["outputs"][0]["max"],
            0.0);
  const Result missing = interpreted({"run", program, "--fill"});
  EXPECT_TRUE(missing.err_has("the size B of the input x (f32[B,4]) has no value")) << missing.err;
  EXPECT_TRUE(interpreted({"run", program}).err_has("--fill"));
}

TEST(CliHelp, ProgressIsALineOfJsonPerStage) {
  const Result r = run({{"run", "x + 1", "-i", "x=f32[4]", "--progress", "json", "--fallback", "warn"},
                        {{"SMELT_LLVM", "/nonexistent/libLLVM.so"}},
                        "",
                        false});
  EXPECT_EQ(r.status, 0) << r.err;
  std::vector<std::string> stages;
  std::istringstream lines(r.err);
  double before = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line[0] != '{') continue;  // the note that there is no compiler
    const auto json = nlohmann::json::parse(line);
    stages.push_back(json["stage"]);
    EXPECT_GE(json["elapsed_s"].get<double>(), before);
    before = json["elapsed_s"];
  }
  EXPECT_EQ(stages, (std::vector<std::string>{"compiling", "making inputs", "running"}));
  EXPECT_FALSE(r.out_has("stage"));
  const std::map<std::string, std::string> at_once = {{"SMELT_PROGRESS_DELAY", "0"}};
  const Result none =
      run({{"run", "x + 1", "-i", "x=f32[4]", "--progress", "none", "--fallback", "warn"}, at_once, "", true});
  EXPECT_EQ(none.out.find("\x1b[K"), std::string::npos) << none.out;
}

// What a shell makes of an unquoted *: the names of the files here.
TEST(CliHelp, AnExpandedStarIsRecognized) {
  const Result r =
      tool({"run", "x", SMELT_SOURCE_DIR "/README.md", SMELT_SOURCE_DIR "/LICENSE", "2", "-i", "x=f32[8]"});
  EXPECT_EQ(r.status, 2);
  EXPECT_TRUE(r.err_has("2 are the names of files")) << r.err;
  EXPECT_TRUE(r.err_has("put the program in single quotes: smelt run 'x * 2' -i x=f32[8]")) << r.err;
}

// Whatever is wrong, the message is smelt's own, and says where.
TEST(CliHelp, NoMessageComesFromALibrary) {
  const TemporaryFolder folder;
  std::vector<std::vector<std::string>> mistakes;
  for (const char* json : {"{", "[1, 2", "[{\"name\": 1e999}]", "\xff", "",
                           "[{\"name\": \"a\", \"input_size\": 1e400}]", "[\"\\ud800\"]", "nul", "[] x"})
    mistakes.push_back({"savings", folder.file("ops" + std::to_string(mistakes.size()) + ".json", json)});
  for (const char* number : {"", "1e9999", "99999999999999999999999", "-1", "0x10", "1.5", "nan", " 1"})
    for (const char* option : {"--threads", "--seed"})
      mistakes.push_back({"run", "x", "-i", "x=f32[4]", option, number});
  for (const char* spec :
       {"", "=", "x", "x=", "x=f32[", "x=f32[-1]", "x=f32[1e3]", "x=f32[99999999999999999999]", "x=@", "x=@/",
        "x=@/dev/null", "x=normal:", ":f32[3]", "x=3*f32[2]+", "x=\xff", "x[=f32[2]", "x[]=f32[2]"})
    mistakes.push_back({"run", "x", "-i", spec});
  for (const char* size : {"", "B", "B=", "=4", "B=x", "B=-1", "B=1.5"})
    mistakes.push_back({"run", "x", "-i", "x=f32[B]", "--size", size});
  for (const std::vector<std::string>& arguments : mistakes) {
    const Result r = tool_without_llvm(arguments);
    std::string command;
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    EXPECT_EQ(r.status, 2) << command << "\n" << r.err;
    for (const char* foreign : {"json.exception", "nlohmann", "std::", "fmt", "stoi", "stol", "CLI", "what()", "bad_",
                                "basic_string", "vector::", "filesystem error"})
      EXPECT_EQ(r.err.find(foreign), std::string::npos) << command << "\n" << r.err;
    EXPECT_TRUE(r.err_has("error: ")) << command;
  }
}

}  // namespace
