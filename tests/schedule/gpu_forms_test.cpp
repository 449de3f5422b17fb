// How the points of a kernel are spread over the threads of a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <sstream>

#include "frontends/language.hpp"
#include "graph/graph.hpp"
#include "plan/plan.hpp"

namespace smelt::schedule {
namespace {

class Planned {
 public:
  explicit Planned(const std::string& program) {
    options_.target = {"cuda", true, 132, 256, 0, 60 << 20, 0, 90, 227 << 10, true};
    graph_ = with_local_reductions(simplify(lang::parse_program(program, "<test>")), 64, false, true);
    plan_ = plan::make_plan(graph_, options_);
  }
  Schedule only() const {
    EXPECT_EQ(plan_.groups.size(), 1u);
    return *plan_.groups.back().schedule;
  }

 private:
  plan::Options options_;
  Graph graph_;
  plan::Plan plan_;
};

// Three rows of odd length begin at different places of a word: neighbours are stored one by one.
TEST(GpuForms, RowsThatBeginAnywhereAreTakenInSmallerWords) {
  const auto lanes = [](const char* length) {
    return Planned(fmt::format("input s: f32[3, {}]\nx, y, z = s[0], s[1], s[2]\n"
                               "return stack((y - x, x * z - y, x * y - z))",
                               length))
        .only()
        .lanes;
  };
  EXPECT_EQ(lanes("20000000"), 4);
  EXPECT_LT(lanes("20000003"), 4);
}

// Words begin where all axes are one, whatever the length of a row; what lies otherwise is read one
// by one.
TEST(GpuForms, OddRowsAreGoneThroughAsOne) {
  const Schedule near = Planned(
                            "input q: f32[1277, 8663]\ninput u: f32[1277, 8663]\n"
                            "return q - where(u > 0, u * (q - roll(q, 1, -1)), u * (roll(q, -1, -1) - q))")
                            .only();
  EXPECT_EQ(near.lanes, 4);
  EXPECT_TRUE(near.flattened);
  const Schedule vectors = Planned(
                               "input x: f32[14821, 1979]\ninput p: f32[4, 1979]\n"
                               "return (x - p[0]) * p[1] * p[2] + p[3]")
                               .only();
  EXPECT_EQ(vectors.lanes, 1);
}

// Nothing that is read keeps memory busy.
TEST(GpuForms, WhatOnlyWritesStoresMoreAtATime) {
  EXPECT_EQ(Planned("input x: f32[16381]\ninput y: f32[8192]\nreturn x[:, None] * y").only().unroll, 2);
  EXPECT_EQ(Planned("input x: f32[16381, 8192]\ninput y: f32[8192]\nreturn x * y").only().unroll, 1);
}

// A thread that has windows of several elements holds all that they read.
TEST(GpuForms, LongWindowsLeaveRoomForThreads) {
  const Schedule s = Planned(
                         "input x: f64[4000, 3001]\nw = window(x, 31)\n"
                         "return max(w, axis=-1) - min(w, axis=-1)")
                         .only();
  EXPECT_EQ(s.lanes * s.unroll, 1);
}

// Ranges of rows are separate only where no sector of the result belongs to two of them.
TEST(GpuForms, RangesBeginAtSectors) {
  const auto separate = [](int a, int b) {
    return Planned("input a: f32[100000, " + std::to_string(a) + "]\ninput b: f32[100000, " + std::to_string(b) +
                   "]\nreturn concat((a, b), axis=1)\n")
        .only()
        .cut.has_value();
  };
  EXPECT_TRUE(separate(128, 256));
  EXPECT_FALSE(separate(100, 200));
  EXPECT_FALSE(separate(104, 204));
}

TEST(GpuForms, TilesOfNarrowElementsGoInWords) {
  const auto lanes = [](const char* type) {
    return Planned(std::string("input x: ") + type + "\nreturn x.T\n").only().lanes;
  };
  EXPECT_EQ(lanes("f32[4096, 4096]"), 1);
  EXPECT_EQ(lanes("bf16[4096, 4096]"), 2);
  EXPECT_EQ(lanes("u8[4096, 4096]"), 4);
  EXPECT_EQ(lanes("u8[4096, 4098]"), 2);
  EXPECT_EQ(lanes("bf16[4095, 4096]"), 1);
}

// A sum of few elements that is needed once a row is one thread's, and a thread has several.
TEST(GpuForms, ShortRowsAreOfThreads) {
  EXPECT_EQ(Planned("input x: f32[1000000, 2]\nreturn sqrt(sum(x * x, axis=1))\n").only().strategy,
            Strategy::Pointwise);
  EXPECT_EQ(Planned("input x: f32[1000000, 2]\nreturn x / sum(x, axis=1, keepdims=True)\n").only().strategy,
            Strategy::Row);
  EXPECT_EQ(Planned("input x: f32[1000000, 2]\nreturn x + 1, sum(x, axis=1)\n").only().strategy, Strategy::Row);
  EXPECT_EQ(Planned("input x: f32[1000000, 9]\nreturn sum(x, axis=1)\n").only().strategy, Strategy::Row);
}

// Tiles of products are tried with any number of warps; teams that join what they have are halves
// of halves.
TEST(GpuForms, TeamsThatJoinAreAPowerOfTwo) {
  for (const char* sizes : {"129 66 257", "66 130 65", "130 66 65", "200 100 70", "67 40 300", "1000 33 48"}) {
    int64_t a = 0, b = 0, c = 0;
    std::istringstream(sizes) >> a >> b >> c;
    for (const char* dtype : {"f32", "f64"}) {
      const Schedule s =
          Planned(fmt::format("input g: {0}[{1}, {2}]\ninput x: {0}[{1}, {3}]\nreturn g.T @ x\n", dtype, a, b, c))
              .only();
      if (s.strategy == Strategy::Row || s.strategy == Strategy::Split)
        EXPECT_TRUE(std::has_single_bit(static_cast<unsigned>(s.team))) << sizes << ": " << s.note;
    }
  }
}

// Rows of 32 bytes and more have lists of their updates; no sum of floats goes through all of them
// in order.
TEST(GpuForms, UpdatesAreListedByTheirRows) {
  const auto form = [](const std::string& row, const std::string& name) {
    const std::string of = row.empty() ? "" : ", " + row;
    return Planned("input x: f32[100000" + of + "]\ninput i: i64[400000]\ninput u: f32[400000" + of + "]\nreturn " +
                   name + "\n")
        .only()
        .scatter;
  };
  EXPECT_EQ(form("64", "scatter_add(x, i, u)"), ScatterForm::Listed);
  EXPECT_EQ(form("1000", "scatter_add(x, i, u)"), ScatterForm::Listed);
  EXPECT_EQ(form("64", "scatter_max(x, i, u)"), ScatterForm::Listed);
  EXPECT_EQ(form("2", "scatter_add(x, i, u)"), ScatterForm::Levels);
  EXPECT_EQ(form("", "scatter_add(f64(x), i, f64(u))"), ScatterForm::Exact);
  EXPECT_EQ(form("", "scatter_max(x, i, u)"), ScatterForm::Atomic);
  EXPECT_EQ(form("64", "scatter_mul(x, i, u)"), ScatterForm::Ranges);
}

// The columns of a product are the axis along which its result lies in memory.
TEST(GpuForms, ColumnsLieAlongTheResult) {
  const auto columns = [](const char* result) {
    const Schedule s = Planned("input a: f32[2000, 300]\ninput b: f32[300, 700]\nreturn " + std::string(result)).only();
    EXPECT_TRUE(s.product);
    return s.product ? s.domain.axes[static_cast<size_t>(s.product->columns[0])].estimate : 0;
  };
  EXPECT_EQ(columns("a @ b"), 700);
  EXPECT_EQ(columns("(a @ b).T"), 2000);
}

TEST(GpuForms, SumsOfFewGroupsAreMadeOnChip) {
  const auto on_chip = [](int groups, const char* kind) {
    return Planned("input x: " + std::string(kind) + "[500000, 16]\ninput k: i64[500000]\nreturn segment_sum(x, k, " +
                   std::to_string(groups) + ")\n")
        .only()
        .on_chip;
  };
  EXPECT_TRUE(on_chip(32, "f32"));
  EXPECT_TRUE(on_chip(500, "f32"));
  EXPECT_FALSE(on_chip(600, "f32"));
  EXPECT_TRUE(on_chip(600, "i32"));
}

// Few results of many terms fill the GPU by their parts.
TEST(GpuForms, FewResultsHaveManyParts) {
  const auto parts = [](int columns) {
    const std::string n = std::to_string(columns);
    return Planned("input x: f32[1000000, " + n + "]\nreturn x.T @ x\n").only().product->split;
  };
  EXPECT_GE(parts(32), 256);
  EXPECT_LE(parts(2048), 16);
}

// Results of odd rows are stored one by one: neighbours by neighbouring threads.
TEST(GpuForms, BlocksOfOddRowsAreHigh) {
  const auto columns = [](const char* n) {
    const Schedule s = Planned(std::string("input x: f32[5003, 5]\ninput y: f32[") + n +
                               ", 5]\nd = x[:, None, :] - y\nreturn exp(-0.5 * sum(d * d, axis=-1))\n")
                           .only();
    return s.blocking ? s.blocking->block.back() : 0;
  };
  EXPECT_EQ(columns("4001"), 1);
  EXPECT_GE(columns("4096"), 2);
}

// Threads with one column each reach fewer lines where each column is a row of its own, or where
// short windows begin anywhere; long windows have too much in common.
TEST(GpuForms, BlocksOfColumnsApartAreHigh) {
  const auto columns = [](const std::string& program) {
    const Schedule s = Planned(program).only();
    return s.blocking ? s.blocking->block.back() : 0;
  };
  const auto distances = [](int length) {
    return fmt::format(
        "input x: f32[2048, {0}]\ninput y: f32[2048, {0}]\n"
        "return sum(abs(x[:, None, :] - y), axis=-1)\n",
        length);
  };
  EXPECT_EQ(columns(distances(32)), 1);
  EXPECT_EQ(columns(distances(3)), 4);
  const auto depthwise = [](int width, int window) {
    return fmt::format(
        "input x: f32[64, 96, {0}, {0}]\ninput w: f32[96, 1, {1}, {1}]\n"
        "return conv(x, w, padding={2}, groups=96)\n",
        width, window, window / 2);
  };
  EXPECT_EQ(columns(depthwise(57, 3)), 1);
  EXPECT_EQ(columns(depthwise(56, 3)), 4);
  EXPECT_GE(columns(depthwise(57, 7)), 2);
}

// Lanes that one short axis leaves empty have columns of the axes before it.
TEST(GpuForms, ColumnsOfAShortAxisAreOneLoop) {
  const auto flattened = [](const char* type) {
    const Schedule s = Planned(std::string("input x: ") + type + "\nreturn sum(x, axis=1)\n").only();
    EXPECT_EQ(s.strategy, Strategy::Column) << type;
    return s.flattened;
  };
  EXPECT_TRUE(flattened("f32[1000000, 10, 2]"));
  EXPECT_TRUE(flattened("f32[1000000, 24, 3]"));
  EXPECT_FALSE(flattened("f32[10000, 10, 256]"));
}

// Rows over several axes, of which the last is short, are one loop for all threads.
TEST(GpuForms, RowsOfShortAxesAreOneLoop) {
  const auto team = [](const char* program) { return Planned(program).only().team; };
  EXPECT_GE(team("input x: f32[60000, 50, 7]\ninput s: f32[7]\nreturn sum((x - s) ** 2, axis=(1, 2))\n"), 16);
  EXPECT_GE(team("input x: f32[160, 3, 224, 224]\nreturn layernorm(x.reshape(-1, 3, 14, 16, 14, 16)"
                 ".transpose(0, 2, 4, 3, 5, 1).reshape(-1, 196, 768))\n"),
            32);
}

// Two workgroups share a multiprocessor where its registers hold the sums of both.
TEST(GpuForms, LargeTilesOfShortSumsAreAlone) {
  for (const char* terms : {"16", "32", "64"}) {
    const std::string k = terms;
    const Schedule s =
        Planned("input h: f16[8192, " + k + "]\ninput b: f16[2048, " + k + "]\nreturn linear(h, b)\n").only();
    ASSERT_TRUE(s.product);
    if (s.resident == 2) EXPECT_LE(s.product->tile_rows * s.product->tile_columns, 64 * s.team) << k;
  }
}

// Outputs of one kernel may have a few elements for each of its points.
TEST(GpuForms, OutputsShareTheirPoints) {
  const Schedule s = Planned(
                         "input x: f32[3000000, 3]\nn = sqrt(x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1])\n"
                         "return x / n[:, None], n, n < 1\n")
                         .only();
  EXPECT_EQ(s.strategy, Strategy::Pointwise);
  EXPECT_EQ(s.domain.estimate(false), 3000000);
  EXPECT_EQ(s.domain.outputs.size(), 5u);
}

// Elements of points go through scratch where threads would store parts of sectors.
TEST(GpuForms, ElementsOfPointsAreStoredTogether) {
  const auto through_scratch = [](const char* type, const char* axis) {
    const Schedule s =
        Planned(std::string("input x: ") + type + "[4000001]\ns = sin(x)\nc = cos(x)\nreturn stack((s, c, s * c, " +
                "s + c, s - c), axis=" + axis + ")\n")
            .only();
    return !s.interleaved.empty();
  };
  EXPECT_TRUE(through_scratch("f32", "-1"));
  EXPECT_TRUE(through_scratch("bf16", "-1"));
  EXPECT_FALSE(through_scratch("f32", "0"));
}

// A product of quaternions and its norm: each component is computed twice, while memory works.
TEST(GpuForms, WhatMemoryWaitsForIsComputedAgain) {
  Planned(
      "input a: f32[8000003, 4]\ninput b: f32[8000003, 4]\n"
      "q = stack((a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1] - a[:, 2] * b[:, 2] - a[:, 3] * b[:, 3],\n"
      "  a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0] + a[:, 2] * b[:, 3] - a[:, 3] * b[:, 2],\n"
      "  a[:, 0] * b[:, 2] - a[:, 1] * b[:, 3] + a[:, 2] * b[:, 0] + a[:, 3] * b[:, 1],\n"
      "  a[:, 0] * b[:, 3] + a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1] + a[:, 3] * b[:, 0]), axis=1)\n"
      "return q / l2norm(q, axis=1, keepdims=True)\n")
      .only();
}

// Lanes that would each read a row from anywhere read one row together.
TEST(GpuForms, PickedRowsAreReadByTeams) {
  EXPECT_EQ(Planned("input x: f32[50000, 96]\ninput i: i32[400000]\na = take(x, i, axis=0)\n"
                    "return sum(a * a, axis=1)\n")
                .only()
                .strategy,
            Strategy::Row);
}

// Half of the threads for rows of 8 KB and more.
TEST(GpuForms, ThreadsOfRows) {
  const auto threads = [](const char* type) {
    return Planned(std::string("input x: ") + type + "\nreturn x - mean(x, axis=1, keepdims=True)\n").only().workgroup;
  };
  EXPECT_EQ(threads("f32[16384, 4096]"), 256);
  EXPECT_EQ(threads("bf16[16384, 4096]"), 256);
  EXPECT_EQ(threads("f32[16384, 1024]"), 64);
}

}  // namespace
}  // namespace smelt::schedule
