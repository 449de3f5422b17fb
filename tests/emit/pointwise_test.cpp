#include <cmath>
#include <functional>
#include <numeric>

#include "fixture.hpp"
#include "support/symbols.hpp"

namespace smelt::test {

class Pointwise : public OnEveryLlvm {};
INSTANTIATE_TEST_SUITE_P(Llvm, Pointwise, testing::ValuesIn(libraries()), library_name);

// out[i] = a * x[i] + y[i] over chunks of 64 elements.
TEST_P(Pointwise, Saxpy) {
  Maker m;
  const IntExpr n = m.size("N"_size);
  const int a = m.array(ParamKind::Scalar, DType::F32, {});
  const int x = m.input(DType::F32, {n}), y = m.input(DType::F32, {n}), out = m.output(DType::F32, {n});
  const IntExpr chunk = 64, i = sym("i0"_loop) * chunk + sym("i1"_loop);
  const ExprId value = m.op(Op::Add, {m.op(Op::Mul, {m.load(a, {}), m.load(x, {i})}), m.load(y, {i})});
  const IntExpr left = min(chunk, n - sym("i0"_loop) * chunk);
  m.phase({grid(ceildiv(n, chunk), {vector("i1"_loop, left, {m.build.store(m.at(out, {i}), value)})})});
  for (int bits : {128, 256, 512}) {
    auto module = load(m.kernel, bits);
    for (size_t count : kOddSizes)
      for (size_t misalign : {0, 1, 3}) {
        Guarded<float> gx(count, misalign), gy(count, 1), go(count, misalign);
        for (size_t k = 0; k < count; ++k) {
          gx[k] = static_cast<float>(k) - 7.5f;
          gy[k] = 1.0f / static_cast<float>(k + 1);
        }
        float factor = 3.0f;
        run(*module, 0, static_cast<int64_t>((count + 63) / 64), {&factor, gx.data(), gy.data(), go.data()},
            {static_cast<int64_t>(count)});
        for (size_t k = 0; k < count; ++k) ASSERT_EQ(go[k], factor * gx[k] + gy[k]) << k << " of " << count;
        ASSERT_TRUE(go.guards_intact() && gx.guards_intact()) << count;
      }
  }
}

// out[i] = x[n-1-i], x[3*i], x[0] and x[i] by a stride of the launch.
TEST_P(Pointwise, ReverseStridedBroadcast) {
  Maker m;
  const IntExpr n = m.size("N"_size), stride = m.size(Symbol::stride(0, 0));
  const int x = m.input(DType::F32, {n * 3}), out = m.output(DType::F32, {4, n});
  const int s = m.input(DType::F32, {n});
  m.kernel.params[static_cast<size_t>(s)].strides = {stride};
  const IntExpr i = sym("i1"_loop);
  m.phase({grid(1, {vector("i1"_loop, n,
                           {m.build.store(m.at(out, {0, i}), m.load(x, {n - 1 - i})),
                            m.build.store(m.at(out, {1, i}), m.load(x, {i * 3})),
                            m.build.store(m.at(out, {2, i}), m.load(x, {0})),
                            m.build.store(m.at(out, {3, n - 1 - i}), m.load(s, {i}))})})});
  for (int bits : {128, 512}) {
    auto module = load(m.kernel, bits);
    for (size_t count : kOddSizes) {
      Guarded<float> gx(3 * count), go(4 * count);
      for (size_t k = 0; k < 3 * count; ++k) gx[k] = static_cast<float>(k + 1);
      for (int64_t step : {0, 1, 2, -1}) {
        float* base = gx.data() + (step < 0 && count ? count - 1 : 0);
        run(*module, 0, 1, {gx.data(), go.data(), base}, {static_cast<int64_t>(count), step});
        for (size_t k = 0; k < count; ++k) {
          ASSERT_EQ(go[k], gx[count - 1 - k]);
          ASSERT_EQ(go[count + k], gx[3 * k]);
          ASSERT_EQ(go[2 * count + k], gx[0]);
          ASSERT_EQ(go[3 * count + count - 1 - k], base[static_cast<int64_t>(k) * step]) << step;
        }
        ASSERT_TRUE(go.guards_intact());
      }
    }
  }
}

// A padded shift: out[i] = x[i - 2] where that exists, else 9; and only even i are stored in the
// second output.
TEST_P(Pointwise, MaskedLoadAndStore) {
  Maker m;
  const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
  const int x = m.input(DType::F32, {n}), out = m.output(DType::F32, {n}), even = m.output(DType::F32, {n});
  const ExprId inside = m.op(Op::Ge, {m.build.index(i), m.i64(2)});
  const ExprId value = m.build.load(m.at(x, {i - 2}), inside, m.f32(9));
  const ExprId is_even = m.op(Op::Eq, {m.build.index(mod(i, 2)), m.i64(0)});
  m.phase({grid(1, {vector("i1"_loop, n,
                           {m.build.store(m.at(out, {i}), value), m.build.store(m.at(even, {i}), value, is_even)})})});
  auto module = load(m.kernel);
  for (size_t count : kOddSizes) {
    Guarded<float> gx(count), go(count), ge(count);
    for (size_t k = 0; k < count; ++k) gx[k] = static_cast<float>(k), ge[k] = -1;
    run(*module, 0, 1, {gx.data(), go.data(), ge.data()}, {static_cast<int64_t>(count)});
    for (size_t k = 0; k < count; ++k) {
      ASSERT_EQ(go[k], k < 2 ? 9.0f : gx[k - 2]) << k;
      ASSERT_EQ(ge[k], k % 2 ? -1.0f : go[k]) << k;
    }
    ASSERT_TRUE(go.guards_intact() && ge.guards_intact());
  }
}

// A uniform load under a mask that is false must not touch memory.
TEST_P(Pointwise, MaskedUniformLoadReadsNothing) {
  Maker m;
  const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
  const int x = m.input(DType::F32, {n}), out = m.output(DType::F32, {4});
  const ExprId some = m.op(Op::Gt, {m.build.index(n), m.i64(0)});
  const ExprId value = m.build.load(m.at(x, {0}), some, m.f32(5));
  const ExprId never = m.op(Op::And, {some, m.op(Op::Lt, {m.build.index(i), m.i64(0)})});
  const ExprId sum = m.op(Op::Add, {value, m.build.load(m.at(x, {1000}), never, m.f32(1))});
  m.phase({grid(1, {vector("i1"_loop, 4, {m.build.store(m.at(out, {i}), sum)})})});
  auto module = load(m.kernel);
  Guarded<float> out_memory(4);
  run(*module, 0, 1, {nullptr, out_memory.data()}, {0});
  EXPECT_EQ(out_memory[0], 6);
  EXPECT_EQ(out_memory[3], 6);
}

// An empty inner loop whose invariant load has nothing to read.
TEST_P(Pointwise, HoistedLoadsStayInsideTheirLoop) {
  Maker m;
  const IntExpr rows = m.size("R"_size), n = m.size("N"_size), i = sym("i0"_loop), j = sym("i1"_loop);
  const int x = m.input(DType::F32, {rows, n}), out = m.output(DType::F32, {rows, n});
  m.phase({grid(rows, {vector("i1"_loop, n, {m.build.store(m.at(out, {i, j}), m.load(x, {i, 0}))})})});
  auto module = load(m.kernel);
  run(*module, 0, 5, {nullptr, nullptr}, {5, 0});
  Guarded<float> gx(6), go(6);
  for (size_t k = 0; k < 6; ++k) gx[k] = static_cast<float>(k);
  run(*module, 0, 2, {gx.data(), go.data()}, {2, 3});
  EXPECT_EQ(go[2], 0);
  EXPECT_EQ(go[5], 3);
  EXPECT_TRUE(go.guards_intact());
}

// Integer division of indices rounds down, also below zero, in lanes and in scalars; a division by
// an empty size does not trap.
TEST_P(Pointwise, IndexDivision) {
  Maker m;
  const IntExpr n = m.size("N"_size), d = m.size("D"_size), i = sym("i1"_loop);
  const int out = m.output(DType::I64, {7, n});
  const IntExpr shifted = i - 20;
  m.phase({grid(1, {vector("i1"_loop, n,
                           {m.build.store(m.at(out, {0, i}), m.build.index(floordiv(shifted, 7))),
                            m.build.store(m.at(out, {1, i}), m.build.index(mod(shifted, 7))),
                            m.build.store(m.at(out, {2, i}), m.build.index(floordiv(i, d))),
                            m.build.store(m.at(out, {3, i}), m.build.index(mod(shifted * 3, d))),
                            m.build.store(m.at(out, {4, i}), m.build.index(max(min(i, 9), 5) + floordiv(n, d))),
                            m.build.store(m.at(out, {5, i}), m.build.index(floordiv(shifted * 3 + n, 100))),
                            m.build.store(m.at(out, {6, i}), m.build.index(mod(shifted * 3 + n, 100)))})})});
  auto module = load(m.kernel);
  auto floor_mod = [](int64_t a, int64_t b) { return ((a % b) + b) % b; };
  for (int64_t count : {0, 1, 16, 45})
    for (int64_t divisor : {1, 5, 8}) {
      Guarded<int64_t> go(static_cast<size_t>(7 * count));
      run(*module, 0, 1, {go.data()}, {count, divisor});
      for (int64_t k = 0; k < count; ++k) {
        auto at = [&](int64_t row) { return go[static_cast<size_t>(row * count + k)]; };
        ASSERT_EQ(at(0), (k - 20 - floor_mod(k - 20, 7)) / 7);
        ASSERT_EQ(at(1), floor_mod(k - 20, 7));
        ASSERT_EQ(at(2), k / divisor);
        ASSERT_EQ(at(3), floor_mod((k - 20) * 3, divisor));
        const int64_t x = (k - 20) * 3 + count;
        ASSERT_EQ(at(5), (x - floor_mod(x, 100)) / 100);
        ASSERT_EQ(at(6), floor_mod(x, 100));
        ASSERT_EQ(at(4), std::max<int64_t>(std::min<int64_t>(k, 9), 5) + count / divisor);
      }
      ASSERT_TRUE(go.guards_intact());
    }
  run(*module, 0, 1, {nullptr}, {0, 0});
}

// A flat loop over a matrix: dividing its variable into indices and adding them up again costs
// nothing.
TEST_P(Pointwise, FlatLoopOverDimensions) {
  Maker m;
  const IntExpr rows = m.size("R"_size), n = m.size("N"_size), f = sym("i1"_loop);
  const int x = m.input(DType::F32, {rows, n}), out = m.output(DType::F32, {rows, n});
  const std::vector<IntExpr> index = {floordiv(f, n), mod(f, n)};
  m.phase({grid(1, {vector("i1"_loop, rows * n, {m.build.store(m.at(out, index), m.load(x, index))})})});
  const std::string printed = text(m.kernel);
  EXPECT_EQ(printed.find("div"), std::string::npos);
  EXPECT_EQ(printed.find("gather"), std::string::npos);
  Guarded<float> gx(35), go(35);
  for (size_t k = 0; k < 35; ++k) gx[k] = static_cast<float>(k);
  run(*load(m.kernel), 0, 1, {gx.data(), go.data()}, {5, 7});
  for (size_t k = 0; k < 35; ++k) ASSERT_EQ(go[k], gx[k]);
  EXPECT_TRUE(go.guards_intact());
}

// Tiled and repeated rows: indices that wrap around now and then, by sizes small and large.
TEST_P(Pointwise, WrappingIndices) {
  Maker m;
  const IntExpr n = m.size("N"_size), d = m.size("D"_size), i = sym("i1"_loop);
  const int x = m.input(DType::I32, {n + d}), out = m.output(DType::I32, {5, n});
  const std::vector<IntExpr> reads = {mod(i + 3, d), floordiv(i, d), mod(i, 200) + floordiv(i, 200), mod(2 * i, d),
                                      d * floordiv(i, d) + mod(i + 1, d)};
  std::vector<Stmt> body;
  for (int k = 0; k < 5; ++k)
    body.push_back(m.build.store(m.at(out, {k, i}), m.load(x, {reads[static_cast<size_t>(k)]})));
  m.phase({grid(1, {vector("i1"_loop, n, body)})});
  auto module = load(m.kernel);
  for (int64_t count : {1, 16, 40, 1000, 1025})
    for (int64_t size : {1, 2, 5, 16, 17, 100, 1000, 100000}) {
      Guarded<int32_t> gx(static_cast<size_t>(count + size)), go(static_cast<size_t>(5 * count));
      for (size_t k = 0; k < gx.size(); ++k) gx[k] = static_cast<int32_t>(k * 3);
      run(*module, 0, 1, {gx.data(), go.data()}, {count, size});
      for (int64_t k = 0; k < count; ++k) {
        const int64_t expected[] = {(k + 3) % size, k / size, k % 200 + k / 200, 2 * k % size,
                                    k / size * size + (k + 1) % size};
        for (int64_t r = 0; r < 5; ++r)
          ASSERT_EQ(go[static_cast<size_t>(r * count + k)], 3 * expected[r]) << r << ": " << k << " by " << size;
      }
      ASSERT_TRUE(go.guards_intact());
    }
}

// Masks made of indices, near and far from the lanes.
TEST_P(Pointwise, ComparedIndices) {
  Maker m;
  const IntExpr n = m.size("N"_size), b = m.size(Symbol::stride(9, 9)), i = sym("i1"_loop);
  const int out = m.output(DType::Bool, {7, n});
  auto at = [&](const IntExpr& e) { return m.build.index(e); };
  const std::vector<ExprId> masks = {m.op(Op::Lt, {at(i), at(b)}),     m.op(Op::Le, {at(b), at(3 * i)}),
                                     m.op(Op::Gt, {at(0 - i), at(b)}), m.op(Op::Ge, {at(i + b), m.i64(7)}),
                                     m.op(Op::Eq, {at(i), at(b)}),     m.op(Op::Ne, {at(2 * i), at(b + i)}),
                                     m.op(Op::Lt, {at(b), m.i64(5)})};
  std::vector<Stmt> body;
  for (int k = 0; k < 7; ++k) body.push_back(m.build.store(m.at(out, {k, i}), masks[static_cast<size_t>(k)]));
  m.phase({grid(1, {vector("i1"_loop, n, body)})});
  auto module = load(m.kernel);
  constexpr int64_t count = 41;
  for (int64_t bound : {int64_t{0}, int64_t{1}, int64_t{20}, int64_t{-20}, int64_t{1} << 31, -(int64_t{1} << 32),
                        int64_t{1} << 50, -(int64_t{1} << 50)}) {
    std::vector<uint8_t> result(7 * count);
    run(*module, 0, 1, {result.data()}, {count, bound});
    for (int64_t k = 0; k < count; ++k) {
      const bool expected[] = {k<bound, bound <= 3 * k, -k> bound, k + bound >= 7, k == bound, 2 * k != bound + k,
                               bound < 5};
      for (int64_t r = 0; r < 7; ++r)
        ASSERT_EQ(result[static_cast<size_t>(r * count + k)], expected[r]) << r << ": " << k << " against " << bound;
    }
  }
}

// Gathered rows: out[i, j] = x[index[i], j], and out2[j] = x[0, index[j]] where the index differs
// between lanes.
TEST_P(Pointwise, IndexLocals) {
  Maker m;
  const IntExpr n = m.size("N"_size), i = sym("i0"_loop), j = sym("i1"_loop);
  const int x = m.input(DType::I32, {8, n}), index = m.input(DType::I64, {n}), out = m.output(DType::I32, {8, n}),
            picked = m.output(DType::I32, {n});
  const LocalId row = m.build.new_local(DType::I64, false), column = m.build.new_local(DType::I64, false);
  m.kernel.index_locals = {{row, 8}, {column, n}};
  const IntExpr row_index = sym(Symbol::local(row)), column_index = sym(Symbol::local(column));
  m.phase({grid(
      8, {kernel::let(row, m.build.index(7 - i)),
          vector("i1"_loop, n,
                 {kernel::let(column, m.load(index, {j})), m.build.store(m.at(out, {i, j}), m.load(x, {row_index, j})),
                  m.build.store(m.at(picked, {j}), m.load(x, {0, column_index}))})})});
  auto module = load(m.kernel);
  for (size_t count : {1, 16, 21, 40}) {
    Guarded<int32_t> gx(8 * count), go(8 * count), gp(count);
    Guarded<int64_t> gi(count);
    for (size_t k = 0; k < 8 * count; ++k) gx[k] = static_cast<int32_t>(k);
    for (size_t k = 0; k < count; ++k) gi[k] = static_cast<int64_t>((k * 7) % count);
    run(*module, 0, 8, {gx.data(), gi.data(), go.data(), gp.data()}, {static_cast<int64_t>(count)});
    for (size_t k = 0; k < count; ++k) {
      ASSERT_EQ(gp[k], gx[static_cast<size_t>(gi[k])]);
      for (size_t r = 0; r < 8; ++r) ASSERT_EQ(go[r * count + k], gx[(7 - r) * count + k]);
    }
    ASSERT_TRUE(go.guards_intact() && gp.guards_intact());
  }
}

// Streaming stores: wherever the arrays begin in their lines, wanted and not. The two outputs meet
// a line at the same element only when `misalign` is a multiple of 16.
TEST_P(Pointwise, Streaming) {
  for (int lanes : {16, 64}) {
    Maker m;
    const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
    m.size("stream"_launch);
    const int x = m.input(DType::F32, {n}), out = m.output(DType::F32, {n}), small = m.output(DType::I8, {n});
    const ExprId twice = m.op(Op::Add, {m.load(x, {i}), m.load(x, {i})});
    m.phase({grid(1, {vector("i1"_loop, n,
                             {m.build.store(m.at(out, {i}), twice, kernel::kNoExpr, true),
                              m.build.store(m.at(small, {i}), m.build.cast(twice, DType::I8), kernel::kNoExpr, true)},
                             lanes)})});
    EXPECT_NE(text(m.kernel).find("!nontemporal"), std::string::npos);
    EXPECT_NE(open(GetParam())->assembly(text(m.kernel)).find("movnt"), std::string::npos);
    auto module = load(m.kernel);
    for (size_t count : kOddSizes)
      for (const auto& [misalign, small_misalign] :
           {std::pair<size_t, size_t>{0, 0}, {1, 1}, {4, 4}, {4, 52}, {13, 61}, {15, 63}, {15, 15}})
        for (int64_t stream : {0, 1}) {
          Guarded<float> gx(count), go(count, misalign);
          Guarded<int8_t> gs(count, small_misalign);
          for (size_t k = 0; k < count; ++k) gx[k] = static_cast<float>(k % 61);
          run(*module, 0, 1, {gx.data(), go.data(), gs.data()}, {static_cast<int64_t>(count), stream});
          for (size_t k = 0; k < count; ++k) {
            ASSERT_EQ(go[k], 2 * gx[k]);
            ASSERT_EQ(gs[k], 2 * (k % 61));
          }
          ASSERT_TRUE(go.guards_intact() && gs.guards_intact());
        }
  }
}

// Steps that begin anywhere: the ends are whole lines and parts of lines.
template <class T>
void stream_ends(DType dtype, const std::function<std::shared_ptr<runtime::Module>(const Kernel&)>& load,
                 const std::function<void(const runtime::Module&, std::vector<void*>, std::vector<int64_t>)>& run) {
  for (const int lanes : {16, 32, 48, 64, 128}) {
    Maker m;
    const IntExpr n = m.size("N"_size), i = sym("i1"_loop);
    m.size("stream"_launch);
    const int x = m.input(dtype, {n}), out = m.output(dtype, {n});
    Stmt loop = vector("i1"_loop, n, {m.build.store(m.at(out, {i}), m.load(x, {i}), kernel::kNoExpr, true)}, lanes);
    loop.get<kernel::Loop>().begins = 1;
    m.phase({grid(1, {loop})});
    const auto module = load(m.kernel);
    for (size_t count : {1, 63, 64, 65, 127, 129, 190, 191, 192, 193, 255, 257, 319, 1000})
      for (size_t misalign = 0; misalign < 64 / sizeof(T); misalign += 1 + misalign / 3)
        for (int64_t stream : {0, 1}) {
          Guarded<T> gx(count, 3), go(count, misalign);
          for (size_t k = 0; k < count; ++k) gx[k] = static_cast<T>(k % 113 + 1);
          run(*module, {gx.data(), go.data()}, {static_cast<int64_t>(count), stream});
          for (size_t k = 0; k < count; ++k)
            ASSERT_EQ(go[k], gx[k]) << k << " of " << count << " from " << misalign << ", " << lanes << " lanes";
          ASSERT_TRUE(go.guards_intact());
        }
  }
}

TEST_P(Pointwise, StreamingToBothEnds) {
  for (const int bits : {0, 256}) {
    const auto made = [&](const Kernel& kernel) { return load(kernel, bits); };
    const auto runs = [](const runtime::Module& module, std::vector<void*> arrays, std::vector<int64_t> sizes) {
      run(module, 0, 1, std::move(arrays), std::move(sizes));
    };
    stream_ends<float>(DType::F32, made, runs);
    stream_ends<double>(DType::F64, made, runs);
    stream_ends<uint16_t>(DType::BF16, made, runs);
    stream_ends<int8_t>(DType::I8, made, runs);
  }
}

// One output, so that every start in a line has a head; and an address that no element lies at.
TEST_P(Pointwise, StreamingFromTheFirstWholeLine) {
  for (const bool constant : {false, true}) {
    Maker m;
    const IntExpr n = constant ? IntExpr(1024) : m.size("N"_size), i = sym("i1"_loop);
    const int x = m.input(DType::F32, {n}), out = m.output(DType::F32, {n});
    m.phase({grid(
        1, {vector("i1"_loop, n,
                   {m.build.store(m.at(out, {i}), m.op(Op::Add, {m.load(x, {i}), m.f32(1)}), kernel::kNoExpr, true)},
                   32)})});
    auto module = load(m.kernel);
    for (const size_t count : constant ? std::vector<size_t>{1024} : kOddSizes)
      for (size_t misalign = 0; misalign < 17 * 4; ++misalign) {
        Guarded<float> gx(count);
        Guarded<char> go(count * 4, misalign);  // in bytes
        for (size_t k = 0; k < count; ++k) gx[k] = static_cast<float>(k);
        run(*module, 0, 1, {gx.data(), go.data()},
            constant ? std::vector<int64_t>{} : std::vector{static_cast<int64_t>(count)});
        for (size_t k = 0; k < count; ++k) {
          float got;
          std::memcpy(&got, go.data() + 4 * k, 4);
          ASSERT_EQ(got, static_cast<float>(k + 1)) << k << " of " << count << " at byte " << misalign;
        }
        ASSERT_TRUE(go.guards_intact());
      }
  }
}

// A load that a condition of the whole row forbids reads from somewhere, at the ends of rows too:
// addresses without memory behind them cost much even where no lane is read.
TEST_P(Pointwise, RowsThatAreNotReadHaveAnAddress) {
  Maker m;
  const IntExpr rows = m.size("M"_size), n = m.size("N"_size), r = sym("r"_loop), i = sym("i1"_loop);
  const int x = m.input(DType::I8, {rows, n}), out = m.output(DType::I8, {rows, n});
  const ExprId zero = m.build.constant(Scalar::of_int(DType::I8, 0));
  const ExprId inside = m.op(Op::Ge, {m.build.index(r - 1), m.i64(0)});
  const ExprId above = m.build.load(m.at(x, {r - 1, i}), inside, zero);
  m.phase({grid(1, {serial("r"_loop, rows, {vector("i1"_loop, n, {m.build.store(m.at(out, {r, i}), above)})})})});
  const std::string printed = text(m.kernel, 512);
  size_t loads = 0;
  for (size_t at = printed.find("@llvm.masked.load"); at != std::string::npos;
       at = printed.find("@llvm.masked.load", at + 1)) {
    if (printed.compare(printed.rfind('\n', at) + 1, 7, "declare") == 0) continue;
    const size_t begin = printed.find("(ptr ", at) + 5, end = printed.find(',', begin);
    EXPECT_NE(printed.find(printed.substr(begin, end - begin) + " = select i1"), std::string::npos) << printed;
    ++loads;
  }
  EXPECT_EQ(loads, 2u) << printed;  // of whole steps, and of the tail
  const auto module = load(m.kernel);
  for (const size_t count : {1, 15, 16, 17, 63, 64, 65, 100}) {
    Guarded<int8_t> gx(3 * count, 1), go(3 * count, 5);
    for (size_t k = 0; k < 3 * count; ++k) gx[k] = static_cast<int8_t>(k % 101 + 1);
    run(*module, 0, 1, {gx.data(), go.data()}, {3, static_cast<int64_t>(count)});
    for (size_t k = 0; k < 3 * count; ++k) ASSERT_EQ(go[k], k < count ? 0 : gx[k - count]) << k << " of " << count;
    ASSERT_TRUE(go.guards_intact());
  }
}

// Lanes at a distance, of which a condition allows some: what lies before and behind the array is
// not read, in whole steps and tails.
template <class T>
void strided_with_ends(
    DType dtype, int64_t step, int lanes, const std::function<std::shared_ptr<runtime::Module>(const Kernel&)>& load,
    const std::function<void(const runtime::Module&, std::vector<void*>, std::vector<int64_t>)>& run) {
  Maker m;
  const IntExpr n = m.size("N"_size), count = m.size("M"_size), i = sym("i1"_loop), at = i * step - 3;
  const int x = m.input(dtype, {n}), out = m.output(dtype, {count});
  const ExprId place = m.build.index(at);
  const ExprId inside = m.op(Op::And, {m.op(Op::Ge, {place, m.i64(0)}), m.op(Op::Lt, {place, m.build.index(n)})});
  const ExprId other = m.build.cast(m.i64(7), dtype);
  m.phase({grid(1, {vector("i1"_loop, count,
                           {m.build.store(m.at(out, {i}), m.build.load(m.at(x, {at}), inside, other))}, lanes)})});
  const auto module = load(m.kernel);
  for (const int64_t length : {1, 2, 31, 32, 33, 64, 100, 129, 300}) {
    const int64_t results = length / step + 4;  // the last ones lie behind the array
    Guarded<T> gx(static_cast<size_t>(length), 1), go(static_cast<size_t>(results), 3);
    for (int64_t k = 0; k < length; ++k) gx[static_cast<size_t>(k)] = static_cast<T>(k % 113 + 1);
    run(*module, {gx.data(), go.data()}, {length, results});
    for (int64_t k = 0; k < results; ++k) {
      const int64_t from = k * step - 3;
      const T expected = from < 0 || from >= length ? T(7) : gx[static_cast<size_t>(from)];
      ASSERT_EQ(go[static_cast<size_t>(k)], expected) << k << " of " << length << " by " << step << ", " << lanes;
    }
    ASSERT_TRUE(go.guards_intact());
  }
}

TEST_P(Pointwise, LanesAtADistanceThatAConditionAllows) {
  for (const int bits : {128, 256, 512})
    for (const int lanes : {16, 32, 48, 64})
      for (const int64_t step : {2, 3, 4, 5}) {
        const auto made = [&](const Kernel& kernel) { return load(kernel, bits); };
        const auto runs = [](const runtime::Module& module, std::vector<void*> arrays, std::vector<int64_t> sizes) {
          run(module, 0, 1, std::move(arrays), std::move(sizes));
        };
        strided_with_ends<float>(DType::F32, step, lanes, made, runs);
        strided_with_ends<double>(DType::F64, step, lanes, made, runs);
        strided_with_ends<int8_t>(DType::I8, step, lanes, made, runs);
      }
}

// A square of scratch, turned by blocks of every width.
template <class T>
void turns(DType dtype, const std::function<std::shared_ptr<runtime::Module>(const Kernel&, int)>& load) {
  constexpr int64_t kSide = 48;
  Maker m;
  const int x = m.input(dtype, {kSide, kSide}), out = m.output(dtype, {kSide, kSide});
  const int from = m.scratch(dtype, {kSide, kSide}), to = m.scratch(dtype, {kSide, kSide});
  const IntExpr r = sym("r"_loop), i = sym("i1"_loop);
  const Access source{true, from, {r, i}};
  m.phase({grid(1, {kernel::alloc(from), kernel::alloc(to),
                    serial("r"_loop, kSide, {vector("i1"_loop, kSide, {m.build.store(source, m.load(x, {r, i}))})}),
                    kernel::Turn{{true, to, {0, 0}}, {true, from, {0, 0}}, kSide, kSide},
                    serial("q"_loop, kSide,
                           {vector("i2"_loop, kSide,
                                   {m.build.store(m.at(out, {sym("q"_loop), sym("i2"_loop)}),
                                                  m.build.load({true, to, {sym("q"_loop), sym("i2"_loop)}}))})})})});
  for (int bits : {128, 256, 512}) {
    auto module = load(m.kernel, bits);
    Guarded<T> gx(kSide * kSide, 1), go(kSide * kSide, 3);
    for (size_t k = 0; k < kSide * kSide; ++k) gx[k] = static_cast<T>(k);
    std::vector<char> scratch(2 * kSide * kSide * 8 + 64);
    char* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
    void* arrays[] = {gx.data(), go.data()};
    module->function("k0_p0")(0, 1, arrays, nullptr, aligned);
    for (size_t a = 0; a < kSide; ++a)
      for (size_t b = 0; b < kSide; ++b)
        ASSERT_EQ(go[a * kSide + b], gx[b * kSide + a]) << a << " " << b << " " << bits;
    ASSERT_TRUE(go.guards_intact());
  }
}

TEST_P(Pointwise, Turn) {
  const auto loading = [&](const Kernel& kernel, int bits) { return load(kernel, bits); };
  turns<float>(DType::F32, loading);
  turns<double>(DType::F64, loading);
  turns<int64_t>(DType::I64, loading);
}

TEST_P(Pointwise, UserTextReachesCommentsOnlyAsPrintableText) {
  Maker m;
  const int out = m.output(DType::F32, {});
  m.kernel.params[0].note = "x;}asm(\"\n\ndefine void @evil() { ret void }\n\xff" + std::string(100000, 'y');
  m.phase({grid(1, {m.build.store(m.at(out, {}), m.f32(1.5))})});
  const std::string printed = text(m.kernel);
  EXPECT_LT(printed.size(), 2000u);
  EXPECT_EQ(printed.find("\ndefine void @evil"), std::string::npos);
  float value = 0;
  run(*load(m.kernel), 0, 1, {&value}, {});
  EXPECT_EQ(value, 1.5f);
}

}  // namespace smelt::test
