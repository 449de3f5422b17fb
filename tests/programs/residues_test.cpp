// Every length modulo the lanes, with padding of every width modulo the lanes, and rows that begin
// with nothing but -inf: where loops are taken apart into whole steps and ends, and where the first
// steps of a row have nothing yet.
#include <fmt/format.h>

#include <cstring>

#include "frontends/language.hpp"
#include "graph/bounds.hpp"
#include "run.hpp"
#include "support/symbols.hpp"

namespace smelt::testing {
namespace {

int64_t lanes() { return device().is_gpu ? 32 : std::max(128, device().facts.vector_bits) / 32; }

// One executable, several calls. What is around the inputs is no zero: who reads next to them
// sees something else.
::testing::AssertionResult right_for(const std::string& program, const std::vector<Tensor>& inputs,
                                     SizeBinding sizes = {}) {
  const Graph graph = lang::parse_program(program, "residues.smelt");
  CompileOptions options;
  options.sizes = std::move(sizes);
  const Executable executable = compile(graph, device(), options);
  for (const Tensor& input : inputs) {
    const Guarded place(input.dtype, input.dims, 0);
    const TensorView x = place.view();
    if (input.count()) std::memcpy(x.data, input.data, static_cast<size_t>(input.bytes()));
    const std::vector<Bounded> expected = interpret_bounded(graph, {x}, device().is_gpu);
    std::vector<Guarded> memory;
    const std::vector<Dims> dims = executable.output_dims({x});
    for (size_t o = 0; o < dims.size(); ++o) memory.emplace_back(graph.at(graph.outputs[o]).dtype, dims[o], 0);
    run_guarded(executable, {x}, memory);
    for (size_t o = 0; o < memory.size(); ++o) {
      const std::string difference = differences(memory[o].view(), expected[o]);
      if (!difference.empty() || !memory[o].intact())
        return ::testing::AssertionFailure() << program << str(x.dims) << ", output " << o << ": "
                                             << (difference.empty() ? "bytes around it were written" : difference);
    }
  }
  return ::testing::AssertionSuccess();
}

std::vector<Tensor> of_all_lengths(DType t, const Dims& before, const Dims& behind, int64_t from = 0) {
  std::vector<Tensor> all;
  for (int64_t n = from; n <= 3 * lanes() + 1; ++n) {
    Dims dims = before;
    dims.push_back(n);
    dims.insert(dims.end(), behind.begin(), behind.end());
    all.push_back(noise(t, dims, static_cast<uint64_t>(n + 1)));
  }
  return all;
}

// Widths on either side, so that all residues of both, and of their sum, occur.
std::vector<std::pair<int64_t, int64_t>> paddings() {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (int64_t a = 0; a <= lanes(); ++a) all.emplace_back(a, (a * 5 + 3) % (lanes() + 1));
  return all;
}

TEST(Residues, PaddedRows) {
  NEEDS_LLVM();
  const std::vector<Tensor> rows = of_all_lengths(DType::F32, {2}, {});
  for (const auto& [a, b] : paddings())
    ASSERT_TRUE(right_for(fmt::format("input x: f32[R, N]\nreturn pad(x, ((0, 0), ({}, {}))) * 2\n", a, b), rows));
}

// After the padding two dimensions become one: the mask is of a quotient.
TEST(Residues, PaddedRowsOfPairsAndTriples) {
  NEEDS_LLVM();
  for (const int64_t width : {2, 3}) {
    const std::vector<Tensor> arrays = of_all_lengths(DType::F32, {}, {width});
    for (const auto& [a, b] : paddings())
      ASSERT_TRUE(right_for(
          fmt::format("input x: f32[N, {}]\nreturn pad(x, (({}, {}), (0, 0))).reshape(-1) * 2\n", width, a, b),
          arrays));
  }
}

TEST(Residues, DifferencesOfNeighboursWithPadding) {
  NEEDS_LLVM();
  const std::vector<Tensor> rows = of_all_lengths(DType::F32, {2}, {}, 1);
  for (int64_t a = 1; a <= lanes() + 1; a += 3)
    ASSERT_TRUE(right_for(fmt::format("input x: f32[R, N]\np = pad(x, ((0, 0), ({0}, {0})))\nreturn p[:, :-{1}] - x, "
                                      "p[:, {1}:] + x\n",
                                      a, 2 * a),
                          rows));
}

TEST(Residues, SumsAndMaximaOfRows) {
  NEEDS_LLVM();
  ASSERT_TRUE(right_for("input x: i32[R, N]\nreturn sum(x, axis=1), max(pad(x, ((0, 0), (3, 5))), axis=1)\n",
                        of_all_lengths(DType::I32, {3}, {}, 1)));
  ASSERT_TRUE(right_for("input x: i32[N, C]\nreturn sum(x, axis=0), x[::-1] - max(x, axis=0)\n",
                        of_all_lengths(DType::I32, {}, {3}, 1)));
}

TEST(Residues, NarrowLanes) {
  NEEDS_LLVM();
  std::vector<Tensor> rows;
  for (int64_t n = 0; n <= 3 * 4 * lanes() + 1; n += n < 2 * lanes() ? 1 : 7) rows.push_back(noise(DType::I8, {2, n}));
  for (const int64_t a : {int64_t{1}, 2 * lanes() - 1, 4 * lanes()})
    ASSERT_TRUE(right_for(fmt::format("input x: i8[R, N]\nreturn pad(x, ((0, 0), ({}, 3))) * 3\n", a), rows));
}

// By every way of going over rows: kept, in passes, and with a running maximum. Which one is taken
// is up to the sizes at hand.
TEST(RowsThatBeginWithNothing, SoftmaxLogsumexpAndMaximum) {
  NEEDS_LLVM();
  if (device().is_gpu) GTEST_SKIP() << "a GPU has other ways";
  for (const DType t : {DType::F32, DType::F64}) {
    std::vector<Tensor> rows;
    for (int64_t n = 1; n <= 3 * lanes() + 1; n += n < lanes() + 3 ? 1 : 5) rows.push_back(begins_with_nothing(t, n));
    for (const int64_t at_hand : {16, 5000, 1 << 20})
      for (const char* returned : {"softmax(x)", "logsumexp(x, axis=1), max(x, axis=1)", "cummax(x), logcumsumexp(x)"})
        ASSERT_TRUE(right_for(fmt::format("input x: {}[R, C]\nreturn {}\n", name_of(t), returned), rows,
                              {{"R"_size, 64}, {"C"_size, at_hand}}))
            << at_hand;
  }
}

TEST(RowsThatBeginWithNothing, ColumnsToo) {
  NEEDS_LLVM();
  std::vector<Tensor> columns;
  for (int64_t n = 1; n <= lanes() + 1; ++n) columns.push_back(begins_with_nothing(DType::F32, n));
  for (const char* returned :
       {"softmax(x.T, axis=0)", "logsumexp(x.T, axis=0), max(x.T, axis=0)", "softmax(x, axis=0)"})
    ASSERT_TRUE(right_for(fmt::format("input x: f32[R, C]\nreturn {}\n", returned), columns)) << returned;
}

// Axes that a reshape has made one, in reverse.
TEST(ScansOfMergedAxes, InReverse) {
  NEEDS_LLVM();
  for (const Dims& dims : {Dims{3, 5, 7}, Dims{2, 1, 33}, Dims{4, 70, 2}, Dims{1, 3, 1}})
    for (const std::string how : {"reverse=True", "reverse=True, exclusive=True", "exclusive=True"}) {
      const auto [a, b, c] = std::tuple(dims[0], dims[1], dims[2]);
      const std::string program = fmt::format(
          "input x: i32[{0}, {1}, {2}]\n"
          "rows = cumsum(x.reshape({0}, {3}), axis=1, {6})\n"
          "columns = cumsum(x.reshape({4}, {2}), axis=0, {6})\n"
          "all = cumsum(x.reshape({5}), {6})\n"
          "turned = cummax(x.transpose(2, 0, 1).reshape({2}, {4}), axis=1, {6})\n"
          "return rows, columns, all, turned, all.reshape({0}, {1}, {2}) - x, rows.reshape({0}, {1}, {2}) * x\n",
          a, b, c, b * c, a * b, a * b * c, how);
      ASSERT_TRUE(right(program, {noise(DType::I32, dims)})) << program;
    }
}

TEST(ScansOfMergedAxes, ReadFromBehind) {
  NEEDS_LLVM();
  std::vector<Tensor> arrays;
  for (const Dims& dims : {Dims{3, 5}, Dims{1, 40}, Dims{17, 33}, Dims{6, 1}})
    arrays.push_back(noise(DType::I32, dims));
  for (const char* returned :
       {"cumsum(x.reshape(-1), reverse=True), cumsum(x.reshape(-1)[::-1])", "cumsum(x[::-1].reshape(-1), reverse=True)",
        "cumsum(x.T.reshape(-1), reverse=True, exclusive=True)", "cumprod(x[:, ::-1].reshape(-1), reverse=True)"})
    ASSERT_TRUE(right_for(fmt::format("input x: i32[A, B]\nreturn {}\n", returned), arrays)) << returned;
}

}  // namespace
}  // namespace smelt::testing
