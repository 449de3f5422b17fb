// What must not compile, and the first line that the compiler says of it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace smelt {
namespace {

namespace fs = std::filesystem;

struct Case {
  const char* name;
  const char* text;   // statements of a function that has the arrays a and b
  const char* first;  // a part of the first error; empty: it compiles
};

constexpr const char* kUpdate = "a[i] = v does not change a: write a = slice_update(a, i, v)";
constexpr const char* kAdded = "a[i] += v does not change a: write a = slice_update(a, i, a[i] + v)";
constexpr const char* kAxis = "an axis is an integer, not a bool: keepdims comes behind it, as in sum(x, -1, keepdims)";
constexpr const char* kParameter =
    "a parameter of what is compiled is Array or std::vector<Array>: write Array x in place of float x";
constexpr const char* kAuto =
    "compile() must know the parameters: write Array x, or std::vector<Array> xs, in place of auto";
constexpr const char* kResult =
    "what is compiled returns Array, or a std::pair, std::tuple, std::array or std::vector of Array";
constexpr const char* kFunction = "compile() takes a function of arrays; compile_text() takes programs in text";
constexpr const char* kScalar =
    "the function of elementwise() takes an Array for each argument: write Array x in place of float x";

const Case kCases[] = {
    {"assigned_element", "a[0] = 3;", kUpdate},
    {"assigned_array", "a[{0, ellipsis}] = b;", kUpdate},
    {"added_to_slice", "a[slice(0, 2)] += 10;", kAdded},
    {"subtracted", "a[0] -= b;", kAdded},
    {"multiplied", "a[0] *= 2.0;", kAdded},
    {"divided", "a[0] /= 2;", kAdded},
    {"assigned_result", "sum(a) = b;", kUpdate},
    {"sum_true", "sum(a, true);", kAxis},
    {"sum_list", "sum(a, {0, true});", kAxis},
    {"max_false", "max(a, false);", kAxis},
    {"var_true", "var(a, true);", kAxis},
    {"softmax_true", "softmax(a, true);", kAxis},
    {"cumsum_true", "cumsum(a, true);", kAxis},
    {"concat_true", "concat({a, b}, true);", kAxis},
    {"swapaxes_true", "swapaxes(a, 0, true);", kAxis},
    {"method_true", "a.sum(true);", kAxis},
    {"split_true", "split(a, 2, true);", kAxis},
    {"extent_true", "a.extent(true);", kAxis},
    {"keepdims_integer", "sum(a, 0, 1);", "no"},
    {"index_of_bool", "a[true];", "no"},
    {"compile_float", "compile([](float x) { return Array(x); });", kParameter},
    {"compile_reference", "compile([](const Array& x, double& y) { return x * y; });", kParameter},
    {"compile_auto", "compile([](auto x) { return x + 1; });", kAuto},
    {"compile_auto_called", "auto f = compile([](auto x) { return x + 1; }); f(a);", kAuto},
    {"compile_number", "compile([](Array x) { return 2.0; });", kResult},
    {"compile_void", "compile([](Array x) {});", kResult},
    {"compile_struct", "struct Both { Array x, y; }; compile([](Array x) { return Both{x, x}; });", kResult},
    {"compile_text", "compile(\"x + 1\");", kFunction},
    {"elementwise_float", "elementwise(\"f\", [](float x) { return x; }, a);", kScalar},
    {"elementwise_struct", "struct S {}; elementwise(\"f\", [](const Array&) { return S{}; }, a);",
     "the function of elementwise() returns an Array, or a number"},
    // And what looks like these and is right.
    {"names", "Array c = a; c = b; c += 1; c -= a; std::vector<Array> v(2); v[0] = a; v[1] *= b; std::swap(a, b);", ""},
    {"reductions",
     "sum(a, {}, true); sum(a, -1, keepdims); sum(a, std::vector<int>{}); a.sum({0, 1}, true); sum(a, int64_t{0});",
     ""},
    {"functions",
     "compile([](const Array& x, std::vector<Array> y) { return std::pair{x, y[0]}; });"
     "compile(+[](Array x) { return std::tuple{x, x, x}; }); compile([n = 0](Array x) mutable noexcept { ++n; return "
     "std::array{x, x}; });"
     "compile({\"x\", \"gain\"}, [](Array x, Array g) { return x * g; });"
     "compile(std::function<Array(Array)>([](Array x) { return x; }));",
     ""},
    {"functions_of_the_library", "compile(relu); compile(smelt::where); compile({\"x\"}, smelt::exp);", ""},
    {"elementwise_auto",
     "elementwise(\"f\", [](auto x) { return x + 1; }, a); elementwise(\"f\", [](const Array&) { return 2.0; }, a);",
     ""},
    {"old_names",
     "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n a.dims(); a.rank(); a.count(); a.dim(0); Options "
     "o; o.most = 3;",
     ""},
    {"dims_is_deprecated", "a.dims();", "use shape()"},
    {"most_is_deprecated", "Options o; o.most = 3;", "use max_executables"},
    {"slice_of_one_is_deprecated", "a[slice(2)];", "write slice(start, none), or slice(none, stop)"},
    {"run_into_is_deprecated", "compile_text(\"x\", {\"x\"}).run_into({a}, {{\"x\", b}});",
     "use into(outputs)(arguments)"},
};

class Refused : public testing::Test {
 protected:
  Refused() : folder_(fs::temp_directory_path() / ("smelt_refused_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Refused() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // What the compiler says: its first error, empty when there is none.
  std::string compiled(const std::string& arguments) const {
    const std::string command = std::string(SMELT_TEST_CXX) +
                                " -std=c++20 -Wall -Werror=deprecated-declarations -Wno-unused -Wno-unused-value -I" +
                                SMELT_SOURCE_DIR + "/include " + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    std::string all;
    while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) all.append(buffer.data(), n);
    const bool failed = pclose(pipe) != 0;
    const size_t at = all.find("error: ");
    if (at == std::string::npos) return failed ? all : "";
    return all.substr(at, all.find('\n', at) - at);
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

 private:
  fs::path folder_;
};

TEST_F(Refused, WithOneReadableLine) {
  if (std::system((std::string(SMELT_TEST_CXX) + " --version > /dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "no " << SMELT_TEST_CXX << " here";
  write("all.hpp", "#include <functional>\n#include <smelt/smelt.hpp>\n");
  ASSERT_EQ(compiled("-x c++-header " + path("all.hpp") + " -o " + path("all.hpp.gch")), "");
  // Each takes a second, most of which is the compiler's own start.
  std::atomic<size_t> next = 0;
  std::array<std::string, std::size(kCases)> firsts;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::clamp(std::thread::hardware_concurrency(), 1u, 8u); ++t)
    threads.emplace_back([&] {
      for (size_t i = next++; i < std::size(kCases); i = next++) {
        const std::string file = std::string(kCases[i].name) + ".cpp";
        write(file, "using namespace smelt;\nvoid f(Array a, Array b) {\n" + std::string(kCases[i].text) + "\n}\n");
        firsts[i] = compiled("-fsyntax-only -include " + path("all.hpp") + " " + path(file));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < std::size(kCases); ++i) {
    const Case& c = kCases[i];
    if (*c.first)
      EXPECT_NE(firsts[i].find(c.first), std::string::npos) << c.name << ": " << firsts[i];
    else
      EXPECT_EQ(firsts[i], "") << c.name;
  }
}

}  // namespace
}  // namespace smelt
