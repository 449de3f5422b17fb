// The text of a few kernels, compared with tests/golden/emit. SMELT_UPDATE_GOLDENS=1 updates the
// files.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fixture.hpp"
#include "support/symbols.hpp"

namespace smelt::test {

static void expect_golden(const std::string& name, Kernel kernel) {
  kernel::partition_loops(kernel);
  kernel::classify_accesses(kernel);
  const std::string text = emit::emit_llvm(kernel, {"x86_64-pc-linux-gnu", 19, 256});
  EXPECT_EQ(text, emit::emit_llvm(kernel, {"x86_64-pc-linux-gnu", 19, 256})) << "printing twice differs";
  const std::string path = std::string(SMELT_SOURCE_DIR) + "/tests/golden/emit/" + name + ".ll";
  if (std::getenv("SMELT_UPDATE_GOLDENS")) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ostringstream expected;
  expected << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text, expected.str()) << path;
}

TEST(Golden, Saxpy) {
  Maker m;
  const IntExpr n = m.size("N"_size);
  m.size("stream"_launch);
  const int a = m.array(ParamKind::Scalar, DType::F32, {});
  const int x = m.input(DType::F32, {n}), y = m.input(DType::F32, {n}), out = m.output(DType::F32, {n});
  const IntExpr chunk = 1024, i = sym("i0"_loop) * chunk + sym("i1"_loop);
  const ExprId value = m.op(Op::Add, {m.op(Op::Mul, {m.load(a, {}), m.load(x, {i})}), m.load(y, {i})});
  m.phase({grid(ceildiv(n, chunk), {vector("i1"_loop, min(chunk, n - sym("i0"_loop) * chunk),
                                           {m.build.store(m.at(out, {i}), value, kernel::kNoExpr, true)}, 8)})});
  expect_golden("saxpy", m.kernel);
}

// Rows of a constant size that the lanes do not divide: the mean, and the quantised difference from
// it.
TEST(Golden, CentreAndQuantiseRows) {
  Maker m;
  const IntExpr rows = m.size("R"_size), i = sym("i0"_loop), j = sym("i1"_loop);
  const int x = m.input(DType::F16, {rows, 100}), out = m.output(DType::I8, {rows, 100});
  const LocalId sum = m.build.new_local(DType::F32, true);
  const ExprId mean = m.op(Op::Mul, {m.build.local(sum), m.f32(0.01)});
  const ExprId scaled = m.op(Op::Round, {m.op(Op::Mul, {m.op(Op::Sub, {m.load(x, {i, j}), mean}), m.f32(127)})});
  m.phase({grid(rows,
                {kernel::assign(sum, m.f32(0)),
                 vector("i1"_loop, 100, {kernel::assign(sum, m.op(Op::Add, {m.build.local(sum), m.load(x, {i, j})}))}),
                 kernel::combine(sum, Op::Add),
                 vector("i1"_loop, 100, {m.build.store(m.at(out, {i, j}), m.build.cast(scaled, DType::I8))})})});
  expect_golden("centre_and_quantise_rows", m.kernel);
}

// A transposed tile through scratch: reversed, strided and scratch accesses.
TEST(Golden, ReversedTranspose) {
  Maker m;
  const IntExpr n = m.size("N"_size), j = sym("i1"_loop), r = sym("i2"_loop);
  const int x = m.input(DType::F32, {n, 8}), out = m.output(DType::F32, {8, n});
  const int tile = m.scratch(DType::F32, {8, 4096});
  const Stmt fill = serial(
      "i2"_loop, 8, {vector("i1"_loop, n, {m.build.store(m.in_scratch(tile, {r, n - 1 - j}), m.load(x, {j, r}))}, 8)});
  const ExprId kept = m.build.load(m.in_scratch(tile, {r, j}));
  const Stmt drain = serial("i2"_loop, 8, {vector("i1"_loop, n, {m.build.store(m.at(out, {r, j}), kept)}, 8)});
  m.phase({grid(1, {kernel::alloc(tile), fill, drain})});
  expect_golden("reversed_transpose", m.kernel);
}

}  // namespace smelt::test
