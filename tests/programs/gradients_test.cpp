// Gradients of random programs: in f64 against central differences of the reference, and compiled
// against the reference. SMELT_SEED=N      program N alone, and prints it
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <regex>

#include "check.hpp"
#include "frontends/language.hpp"
#include "generator_scatter.hpp"
#include "run.hpp"
#include "smelt/error.hpp"

namespace smelt::testing {
namespace {

using Generate = Program (*)(uint64_t);
constexpr Generate kGenerators[] = {random_program, random_window_program, random_stencil_program,
                                    random_scatter_program, random_function_program};
constexpr uint64_t kParts = 12;

Graph parsed(const Program& program) { return lang::parse_program(program.text(), "random.smelt"); }

Program in_f64(Program program) {
  static const std::regex floats(R"(\b(f32|f16|bf16)\b)");
  for (InputSpec& input : program.inputs)
    if (is_float(input.dtype)) input.dtype = DType::F64;
  for (Statement& s : program.statements) s.expression = std::regex_replace(s.expression, floats, "f64");
  return program;
}

// `total`: one number from all floats that the program makes, each bounded so that none of them
// drowns the others; nothing when there are none, or no floats that they are made of.
bool end_with_total(Program& program, std::vector<std::string>& by) {
  const Graph graph = parsed(program);
  std::string sum;
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    const DType dtype = graph.at(graph.outputs[o]).dtype;
    if (!is_float(dtype)) continue;
    const std::string& name = program.outputs[o];
    const std::string wide = dtype == DType::F64 ? name : fmt::format("f32({})", name);
    sum += fmt::format("{}f64(sum(where(isfinite({}), tanh({} * 0.{}), 0)))", sum.empty() ? "" : " + ", name, wide,
                       2 + o % 7);
  }
  if (sum.empty()) return false;
  program.statements.push_back({"total", sum});
  program.outputs = {"total"};
  for (const NodeId id : parsed(program).inputs)
    if (is_float(parsed(program).at(id).dtype)) by.push_back(parsed(program).at(id).name);
  return !by.empty();
}

Program gradient_of(Program program, const std::vector<std::string>& by) {
  std::string list;
  for (const std::string& name : by) list += name + ", ";
  program.statements.push_back({"slopes", fmt::format("gradient(total, ({}))", list)});
  program.outputs = {"slopes"};
  return program;
}

struct Counts {
  int programs = 0, right = 0, undecided = 0;
};

double total_at(const Graph& graph, const std::vector<Tensor>& inputs) {
  return numbers(interpret(graph, {inputs.begin(), inputs.end()})[0])[0];
}

// A few elements of every input. Where the differences over h and h / 2, forward and backward, do
// not agree there is a kink, a step or noise within reach, and nothing is said.
std::string compare(const Graph& total, const std::vector<Tensor>& inputs, const std::vector<Tensor>& slopes,
                    const std::vector<size_t>& places, std::mt19937_64& random, Counts& counts) {
  const double middle = total_at(total, inputs);
  for (size_t k = 0; k < places.size(); ++k) {
    const std::vector<double> given = numbers(slopes[k]), before = numbers(inputs[places[k]]);
    for (int pick = 0; pick < 5 && !before.empty(); ++pick) {
      const size_t e = random() % before.size();
      const auto moved = [&](double by) {
        std::vector<Tensor> at = inputs;
        std::vector<double> values = before;
        values[e] += by;
        at[places[k]] = array(DType::F64, inputs[places[k]].dims, values);
        return total_at(total, at);
      };
      const double h = 1e-5 * std::max(1.0, std::fabs(before[e]));
      const double above = moved(h), below = moved(-h), near = (moved(h / 2) - moved(-h / 2)) / h;
      const double forward = (above - middle) / h, backward = (middle - below) / h, slope = (above - below) / (2 * h);
      const double size = 1 + std::fabs(slope);
      if (!(std::fabs(slope - near) < 1e-5 * size && std::fabs(forward - backward) < 1e-3 * size) ||
          std::isnan(given[e])) {
        ++counts.undecided;
        continue;
      }
      if (!(std::fabs(given[e] - slope) < 1e-4 * size))
        return fmt::format("element {} of input {}: the gradient is {}, the difference {} over h and {} over h / 2\n",
                           e, k, given[e], slope, near);
      ++counts.right;
    }
  }
  return {};
}

constexpr int64_t kMostElements = 4000;  // of all nodes but views, per program

int64_t elements_of(const Graph& graph, const SizeBinding& sizes) {
  int64_t all = 0;
  for (const Node& node : graph.nodes) all += element_count(evaluate(node.shape, sizes));
  return all;
}

// Empty when all is right, and where the program has no gradient to look at.
std::string check_differences(uint64_t seed, Counts& counts) {
  Program program = in_f64(kGenerators[seed % std::size(kGenerators)](seed / std::size(kGenerators)));
  program.data = kNormal;
  // Functions in C stay in float, whose roundings are larger than the differences.
  for (const Statement& s : program.statements)
    if (s.expression.starts_with("cfunction")) return {};
  std::vector<std::string> by;
  try {
    if (!end_with_total(program, by)) return {};
  } catch (const UserError&) {
    return {};  // as f64 it is no program
  }
  const Graph total = parsed(program), slopes = parsed(gradient_of(program, by));
  verify(slopes);
  std::mt19937_64 random(seed);
  for (const SizeBinding& sizes : program.sizes) {
    if (elements_of(total, sizes) > 40 * kMostElements) continue;
    const std::vector<Tensor> inputs = random_inputs(program, total, sizes);
    std::vector<size_t> places;
    for (const std::string& name : by)
      for (size_t i = 0; i < total.inputs.size(); ++i)
        if (total.at(total.inputs[i]).name == name) places.push_back(i);
    try {
      const std::vector<Tensor> got = interpret(simplify(slopes), {inputs.begin(), inputs.end()});
      if (std::string wrong = compare(total, inputs, got, places, random, counts); !wrong.empty())
        return program.text() + "by " + fmt::format("{}", by[0]) + ", ..\n" + wrong;
      ++counts.programs;
    } catch (const UserError& e) {
      try {
        total_at(total, inputs);
        return program.text() + "the program runs, but its gradient says: " + e.what();
      } catch (const UserError&) {
        continue;  // so does the program
      }
    }
    break;
  }
  return {};
}

class RandomGradients : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomGradients, MatchCentralDifferences) {
  const char* one = std::getenv("SMELT_SEED");
  Counts counts;
  const uint64_t first = one ? std::strtoull(one, nullptr, 10) : GetParam() * 40, end = one ? first + 1 : first + 40;
  for (uint64_t seed = first; seed < end; ++seed) {
    const std::string wrong = check_differences(seed, counts);
    EXPECT_TRUE(wrong.empty()) << "SMELT_SEED=" << seed << "\n" << wrong;
  }
  fmt::print("{} programs, {} derivatives right, {} undecided\n", counts.programs, counts.right, counts.undecided);
  EXPECT_TRUE(one || counts.right > 60) << counts.right;
}

TEST_P(RandomGradients, MatchTheReferenceCompiled) {
  NEEDS_LLVM();
  const char* one = std::getenv("SMELT_SEED");
  Coverage coverage;
  const uint64_t first = one ? std::strtoull(one, nullptr, 10) : GetParam() * 8, end = one ? first + 1 : first + 8;
  for (uint64_t seed = first; seed < end; ++seed) {
    Program program = kGenerators[seed % std::size(kGenerators)](seed / std::size(kGenerators));
    std::vector<std::string> by;
    if (!end_with_total(program, by)) continue;
    const Program slopes = gradient_of(program, by);
    const std::string complaint = check(slopes, device(), &coverage);
    EXPECT_TRUE(complaint.empty()) << "SMELT_SEED=" << seed << "\n" << describe(slopes) << complaint;
  }
  fmt::print("{} runs, {} kernels, {} elements compared, {} undecidable\n", coverage.runs, coverage.kernels,
             coverage.elements, coverage.undecidable);
}

INSTANTIATE_TEST_SUITE_P(Part, RandomGradients, ::testing::Range(uint64_t{0}, kParts));

// ---- programs with sizes that are not known, odd, 1 and 0

TEST(Gradients, CompiledAsTheReferenceAtEverySize) {
  NEEDS_LLVM();
  const std::string inputs = "input x: f32[B, C]\ninput w: f32[C]\n";
  for (const char* value : {"sum(gelu(layernorm(x) * w))", "mean(square(log_softmax(x * w)))",
                            "sum(cumsum(x * w, axis=0) * tanh(x))", "sum(max(x * w, axis=1)) + logsumexp(x)",
                            "sum(exp(-abs(x[::-1] - w)) * x)", "sum(softmax(x, axis=0) * w) + sum(var(x, axis=1))",
                            "sum(cumprod(tanh(x) + w))", "sum(concat((x, x * x), axis=1)[:, 1:] * 0.5)"}) {
    const std::string program = inputs + "total = " + value + "\nreturn gradient(total, (x, w))\n";
    std::vector<std::vector<TensorView>> calls;
    std::vector<Tensor> data;
    data.reserve(16);
    for (const Dims& dims : {Dims{3, 33}, Dims{1, 1}, Dims{31, 7}, Dims{5, 130}}) {
      data.push_back(noise(DType::F32, dims, 3));
      data.push_back(noise(DType::F32, {dims[1]}, 4));
      calls.push_back({data[data.size() - 2], data.back()});
    }
    EXPECT_TRUE(right(program, calls)) << value;
  }
}

TEST(Gradients, OfNothing) {
  NEEDS_LLVM();
  for (const char* value :
       {"sum(gelu(x * w))", "sum(cumsum(x) * x)", "sum(softmax(x * x + 1) * w)", "sum(x[:, ::-1] * w)"}) {
    const std::string program =
        fmt::format("input x: f32[B, 5]\ninput w: f32[5]\nreturn gradient({}, (x, w))\n", value);
    const Tensor none = noise(DType::F32, {0, 5}), w = noise(DType::F32, {5});
    EXPECT_TRUE(right(program, {none, w})) << value;
  }
}

TEST(Gradients, OfHalvesAddUpInF32) {
  NEEDS_LLVM();
  // 4096 ones: sums in f16 would end at 2048.
  const std::string program = "input x: f16[B, 4]\ninput w: f16[4]\nreturn gradient(sum(f32(x * w)), w)\n";
  const Tensor x = filled(DType::F16, {4096, 4}, 1), w = filled(DType::F16, {4}, 0.5);
  EXPECT_EQ(numbers(run(program, {x, w})), (std::vector<double>{4096, 4096, 4096, 4096}));
  EXPECT_TRUE(right(program, {x, w}));
}

}  // namespace
}  // namespace smelt::testing
