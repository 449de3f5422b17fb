// The CUDA C++ that is printed, run: whole programs on an emulated GPU (fake_cuda/emulate.hpp)
// against the reference. Threads take turns at barriers only, so a barrier, a mask or a turn of a
// buffer that is missing gives other numbers, or does not end.
#include <fmt/format.h>

#include <cmath>

#include "aliasing.hpp"
#include "compile/saved.hpp"
#include "emulated_gpu.hpp"
#include "support/programs.hpp"

namespace smelt::testing {
namespace {

Tensor rows(DType t, int64_t count, int64_t length) { return noise(t, {count, length}, static_cast<uint64_t>(length)); }

// Teams from a part of a warp to a whole workgroup, each with rows of other lengths than it was
// made for.
TEST_F(EmulatedGpu, RowsByTeamsOfEverySize) {
  for (const int64_t length : {12, 100, 250, 1000, 6000}) {
    std::vector<Tensor> keep;
    for (const int64_t n : {length, length - 1, length + 1, int64_t{1}}) keep.push_back(rows(DType::F32, 5, n));
    std::vector<std::vector<TensorView>> calls;
    for (const Tensor& t : keep) calls.push_back({t});
    check_calls("input x: f32[R, C]\nreturn softmax(x), argmax(x, axis=1)\n", calls,
                {{"R"_size, 5}, {"C"_size, length}});
  }
}

TEST_F(EmulatedGpu, RowsOfAKnownLength) {
  for (const int64_t length : {20, 256, 1000})
    check(fmt::format("input x: f16[R, {}]\nreturn layernorm(relu(x))\n", length), {rows(DType::F16, 9, length)});
}

// Regions of an array, alone and in rows that are reduced.
TEST_F(EmulatedGpu, RegionsThatAreReplaced) {
  check_calls(
      "input x: f32[R, C]\ninput v: f32[C]\n"
      "u = slice_update(x * 2, (slice(1, -1), slice(None, None, -2)), v[::2] + 1)\nreturn relu(u), softmax(u)\n",
      {{rows(DType::F32, 5, 100), noise(DType::F32, {100})}, {rows(DType::F32, 2, 33), noise(DType::F32, {33})}});
}

// Longer than registers hold: several passes, or one with a running maximum.
TEST_F(EmulatedGpu, LongRows) {
  check("input x: f32[R, C]\nreturn logsumexp(x, axis=1), max(x, axis=1)\n", {rows(DType::F32, 3, 50001)});
  check("input x: f32[R, C]\nreturn layernorm(x)\n", {rows(DType::F32, 2, 40000)});
}

// Made for short rows, which registers hold, and for long ones, whose maximum runs along.
TEST_F(EmulatedGpu, RowsThatBeginWithNothing) {
  for (const int64_t at_hand : {100, 100000}) {
    std::vector<Tensor> keep;
    for (const int64_t n : {1, 2, 9, 40}) keep.push_back(begins_with_nothing(DType::F32, n));
    std::vector<std::vector<TensorView>> calls;
    for (const Tensor& t : keep) calls.push_back({t});
    check_calls("input x: f32[R, C]\nreturn logsumexp(x, axis=1), max(x, axis=1)\n", calls,
                {{"R"_size, 50}, {"C"_size, at_hand}});
    check_calls("input x: f32[R, C]\nreturn softmax(x)\n", calls, {{"R"_size, 50}, {"C"_size, at_hand}});
  }
}

// Two columns side by side, many of such pairs: a tile has a warp all the same.
TEST_F(EmulatedGpu, PairsOfColumns) {
  check("input x: i32[R, 128, 2]\nreturn sum(x, axis=1), max(x, axis=1)\n", {noise(DType::I32, {700, 128, 2}, 5)});
}

// Few columns that are tall are scanned in parts; so are others in the same program, which may be
// one part.
TEST_F(EmulatedGpu, ScansDownTallColumns) {
  for (const auto& [how, reverse] :
       {std::pair("", "False"), std::pair("exclusive=True", "False"), std::pair("reverse=True", "True"),
        std::pair("reverse=True, exclusive=True, restart=r", "True")})
    for (const DType t : {DType::I32, DType::F32, DType::I16}) {
      std::vector<Tensor> keep;
      for (const Dims& dims : {Dims{2, 3000, 5}, Dims{1, 1001, 70}, Dims{3, 31, 2}, Dims{2, 1, 1}, Dims{2, 0, 3}})
        keep.push_back(noise(t, dims, 3));
      std::vector<std::vector<TensorView>> calls;
      for (const Tensor& x : keep) calls.push_back({x});
      const std::string program = fmt::format(
          "input x: {}[A, B, C]\nr = x > {}\ns = cumsum(x * 2, axis=1, {})\n"
          "return s + 1, cummax(x - 1, axis=1, reverse={}, restart=r)\n",
          name_of(t), t == DType::F32 ? "2.7" : "90", how, reverse);
      check_calls(program, calls, {{"A"_size, 2}, {"B"_size, 3000}, {"C"_size, 5}});
    }
  // Kept axes that are one loop, and axes of one element.
  for (const Dims& dims :
       {Dims{3000, 4, 7}, Dims{1, 2000, 1, 7}, Dims{2, 3, 1500, 2, 3}, Dims{2000, 5, 1}, Dims{1500, 0, 2}}) {
    const size_t axis = dims.size() == 3 ? 0 : dims.size() == 4 ? 1 : 2;
    check(fmt::format("input x: i32[{}]\nreturn cumsum(x + 1, axis={})\n", fmt::join(dims, ", "), axis),
          {noise(DType::I32, dims, 3)});
  }
}

// Warps hand each other what they have in a buffer of two halves, several times for a row.
TEST_F(EmulatedGpu, ScansAlongRows) {
  check("input x: i32[R, 9000]\nreturn cumsum(x), cummax(x, reverse=True)\n", {rows(DType::I32, 2, 9000)});
  // What is shifted away leaves a scan that nothing reads.
  check("input x: i32[R, 2]\nreturn cumsum(x) << 100, x + 1\n", {rows(DType::I32, 5, 2)});
  check_calls("input x: i32[R, C]\nreturn cumsum(x, exclusive=True, restart=x > 90)\n",
              {{rows(DType::I32, 3, 1000)}, {rows(DType::I32, 3, 5001)}, {rows(DType::I32, 3, 3)}},
              {{"R"_size, 3}, {"C"_size, 5001}});
  check("input x: f32[R, 1000]\nreturn cumsum(softmax(x)) < 0.9\n", {rows(DType::F32, 5, 1000)});
}

TEST_F(EmulatedGpu, ScansOfLongRowsInParts) {
  check("input x: i32[200000]\nreturn cumsum(x), cumsum(x, reverse=True)\n", {noise(DType::I32, {200000})});
}

// A running maximum, and a sum that it scales, by every way in which scans run.
TEST_F(EmulatedGpu, ScansWithFactors) {
  for (const DType t : {DType::F32, DType::F64, DType::F16}) {
    const std::string row = fmt::format("input x: {}[R, C]\nreturn logcumsumexp(x * 30)\n", name_of(t));
    check_calls(row, {{rows(t, 3, 1000)}, {rows(t, 3, 5001)}, {rows(t, 3, 3)}, {rows(t, 3, 0)}},
                {{"R"_size, 3}, {"C"_size, 5001}});
    check(row, {special_noise(t, {4, 700})}, {{"R"_size, 4}, {"C"_size, 700}});
    check(fmt::format("input x: {}[100000]\nreturn logcumsumexp(x * 30)\n", name_of(t)), {noise(t, {100000})});
    const std::string columns = fmt::format("input x: {}[A, B, C]\nreturn logcumsumexp(x * 30, axis=1)\n", name_of(t));
    check_calls(columns, {{noise(t, {2, 3000, 5}, 3)}, {noise(t, {1, 1001, 70}, 3)}, {special_noise(t, {2, 900, 3})}},
                {{"A"_size, 2}, {"B"_size, 3000}, {"C"_size, 5}});
  }
}

TEST_F(EmulatedGpu, TallColumnsInParts) {
  const Tensor narrow = rows(DType::F32, 30000, 3), odd = rows(DType::BF16, 3001, 37),
               even = rows(DType::I32, 2048, 128);
  check("input x: f32[30000, 3]\nreturn sum(x, axis=0), argmax(x, axis=0)\n", {narrow});
  check("input x: bf16[3001, 37]\nreturn mean(f32(x), axis=0) * 2, min(x, axis=0)\n", {odd});
  check("input x: i32[2048, 128]\nreturn sum(x, axis=0)\n", {even});
  check("input x: i32[8, 256, 128]\nreturn max(x, axis=(0, 1)), sum(x * x, axis=(0, 1))\n",
        {noise(DType::I32, {8, 256, 128})});
  check_calls("input x: i32[R, C]\nreturn sum(x, axis=0), argmin(x, axis=0)\n",
              {{even}, {rows(DType::I32, 1000, 65)}, {rows(DType::I32, 5, 1)}}, {{"R"_size, 2048}, {"C"_size, 128}});
}

// Sums of what is measured from a mean, in one pass with it: tiles of columns in parts, few rows in
// parts, columns that are too narrow for a tile; the calls have parts that are short, or nothing.
TEST_F(EmulatedGpu, VariancesInParts) {
  const std::string columns = "input x: f32[M, N]\nreturn var(x, axis=0, ddof=1), mean(x, axis=0)\n";
  const std::string rows_of = "input x: f32[M, N]\nreturn var(x, axis=1)\n",
                    all = "input x: f32[M, N]\nreturn var(x)\n";
  for (const int64_t width : {3, 64, 133})
    check_calls(columns,
                {{rows(DType::F32, 2500, width)}, {rows(DType::F32, 600, width)}, {rows(DType::F32, 0, width)}},
                {{"M"_size, 1 << 16}, {"N"_size, width}});
  check_calls(rows_of, {{rows(DType::F32, 2, 20003)}, {rows(DType::F32, 3, 1)}}, {{"M"_size, 3}, {"N"_size, 1 << 20}});
  // As many parts as whole words of them.
  check_calls(rows_of, {{rows(DType::F32, 2, 20004)}, {rows(DType::F32, 32, 4096)}},
              {{"M"_size, 32}, {"N"_size, 1 << 18}});
  check_calls(all, {{rows(DType::F32, 40, 501)}, {rows(DType::F32, 1, 1)}}, {{"M"_size, 4096}, {"N"_size, 4096}});
  check("input x: bf16[M, 24]\nreturn std(f32(x), axis=0)\n", {rows(DType::BF16, 3000, 24)}, {{"M"_size, 1 << 16}});
  check("input x: f64[M, 24]\nreturn var(x, axis=0)\n", {rows(DType::F64, 3000, 24)}, {{"M"_size, 1 << 16}});
  // The last workgroup reads the parts one by one, and goes over as many lanes as the rest.
  check("input x: u8[B, N, M, 32]\ninput y: u16[1, N, 1, 1]\nreturn var(hypot(f32(y), f32(x)))\n",
        {noise(DType::U8, {65, 3, 5, 32}), noise(DType::U16, {1, 3, 1, 1})},
        {{"B"_size, 1024}, {"N"_size, 1024}, {"M"_size, 1024}});
}

// The same sum is wanted at two elements by one thread: as it is, and the other way round.
TEST_F(EmulatedGpu, ConvolutionBesideItsReverse) {
  check(
      "input x: f16[7, 1, 3, 13, 5]\ninput w: f16[3, 1, 1, 3, 2]\n"
      "y = conv(x, w, padding=(2, 1, 0), stride=(1, 2, 3))\nreturn abs(y[::-1] - 1), y\n",
      {noise(DType::F16, {7, 1, 3, 13, 5}), noise(DType::F16, {3, 1, 1, 3, 2})});
}

// More sums than have room in shared memory side by side.
TEST_F(EmulatedGpu, SumsBehindANorm) {
  check(
      "input x: f32[M, 128]\ninput g: f32[M, 128]\n"
      "m = mean(x, axis=0)\nr = rsqrt(var(x, axis=0) + 1e-5)\nh = (x - m) * r\n"
      "return r * (g - mean(g, axis=0) - h * mean(g * h, axis=0))\n",
      {rows(DType::F32, 2500, 128), rows(DType::F32, 2500, 128)}, {{"M"_size, 1 << 17}});
}

TEST_F(EmulatedGpu, ColumnsAndTotals) {
  check("input x: f32[3000, 40]\nreturn sum(relu(x), axis=0)\n", {rows(DType::F32, 3000, 40)});
  check("input x: f32[R, C]\nreturn (x - mean(x, axis=0)) / std(x, axis=0)\n", {rows(DType::F32, 70, 33)});
  check("input x: f32[N]\nreturn sqrt(sum(x * x)), argmin(x)\n", {noise(DType::F32, {100001})});
}

// A window that is a loop has no place in a tile of columns.
TEST_F(EmulatedGpu, ColumnsOfLongWindows) {
  check("input x: f32[3, 20, 110]\nreturn softmax(sum(window(x, (40,)), axis=-1), axis=1)\n",
        {noise(DType::F32, {3, 20, 110})});
  check("input x: f32[3000, 90]\nreturn max(sum(window(x, (40,)), axis=-1), axis=0)\n",
        {noise(DType::F32, {3000, 90})});
  check("input x: f32[4, 17, 5, 1]\ninput w: f32[3, 17, 3, 5]\nreturn softmax(conv(x, w, padding=(0, 2)), axis=1)\n",
        {noise(DType::F32, {4, 17, 5, 1}), noise(DType::F32, {3, 17, 3, 5})});
}

// Tiles as narrow as a last axis of coordinates.
TEST_F(EmulatedGpu, ColumnsOfFewNeighbours) {
  for (const int64_t columns : {1, 2, 3, 5}) {
    const Dims d{700, 150, columns};
    const std::string x = fmt::format("input x: f32[700, 150, {}]\n", columns);
    check(x + "return sum(x, axis=1), max(x, axis=1)\n", {noise(DType::F32, d)});
  }
  check(
      "input p: f32[300, 3]\ninput q: f32[700, 3]\nd = p[None, :, :] - q[:, None, :]\n"
      "return sum(d * rsqrt(sum(d * d, axis=-1) + 0.01)[:, :, None], axis=1)\n",
      {noise(DType::F32, {300, 3}), noise(DType::F32, {700, 3})});
}

// Rows of several axes of which the last is short, in one loop.
TEST_F(EmulatedGpu, RowsOfSeveralShortAxes) {
  for (const Dims& d : {Dims{40, 300, 64}, Dims{7, 200, 33}, Dims{5, 140, 3}}) {
    const std::string x = fmt::format("input x: f32[{}, {}, {}]\n", d[0], d[1], d[2]);
    check(x + "return sum(x, axis=(0, 2)), max(x, axis=(0, 2))\n", {noise(DType::F32, d)});
    check(x + "return mean(x, axis=(0, 2), keepdims=True), all(x < 9, axis=(0, 2))\n", {noise(DType::F32, d)});
  }
}

// Short columns of a short last axis: all kept axes are one, in sums, scans, and passes that need
// what others found; with places that the data names.
TEST_F(EmulatedGpu, ShortColumnsOfAShortAxis) {
  for (const int64_t columns : {2, 3, 4}) {
    const Tensor x = noise(DType::F32, {523, 10, columns}, columns);
    const std::string in = fmt::format("input x: f32[N, 10, {}]\n", columns);
    check(in + "return sum(x, axis=1), argmax(x, axis=1)\n", {x});
    check(in + "return cumsum(x, axis=1)\n", {x});
    check(in + "return softmax(x, axis=1)\n", {x});
    check(in + "return sum(x * (1 / f32(arange(1, 11)))[:, None], axis=1)\n", {x});
  }
  check("input x: f32[A, B, 7, 2, 3]\nreturn max(x, axis=2), sum(x, axis=2)\n",
        {noise(DType::F32, {5, 19, 7, 2, 3}, 1)});
  Tensor ids = Tensor::empty(DType::I64, {301, 6});
  for (int64_t i = 0; i < ids.count(); ++i) static_cast<int64_t*>(ids.data)[i] = i * 7 % 40;
  check("input p: f32[40, 3]\ninput ids: i64[N, 6]\nreturn sum(take(p, ids, axis=0), axis=1)\n",
        {noise(DType::F32, {40, 3}, 2), ids});
}

// Rows over several short axes in two passes, read in another order than that of memory.
TEST_F(EmulatedGpu, RowsOfPatches) {
  check(
      "input x: f32[3, 3, 12, 8]\nreturn layernorm(x.reshape(3, 3, 3, 4, 2, 4).transpose(0, 2, 4, 3, 5, 1)"
      ".reshape(3, 6, 48))\n",
      {noise(DType::F32, {3, 3, 12, 8}, 1)});
  check("input x: f32[70, 50, 7]\ninput s: f32[7]\nreturn -sum(0.5 * (x * exp(-s)) ** 2 + s, axis=(-1, -2))\n",
        {noise(DType::F32, {70, 50, 7}, 1), noise(DType::F32, {7}, 2)});
  check("input x: f32[61, 333]\ninput q: f32[9]\nreturn sum(x[:, :, None] < q, axis=1)\n",
        {noise(DType::F32, {61, 333}, 1), noise(DType::F32, {9}, 2)});
}

// Outputs with one element, and with several, for each point; matrices whose elements share most of
// what is computed; reductions of a point's elements.
TEST_F(EmulatedGpu, PointsOfSeveralElements) {
  for (const int64_t n : {1, 255, 256, 777}) {
    for (const DType t : {DType::F32, DType::F64, DType::F16, DType::U8}) {
      const Tensor x = noise(t, {n, 3}, static_cast<uint64_t>(n));
      const std::string in = fmt::format("input x: {}[N, 3]\n", name_of(t));
      check(
          in +
              "a = x[:, 0]\nb = x[:, 1]\nreturn x + a[:, None], a < b, stack((a, b, x[:, 2], a - b, a * b), axis=-1)\n",
          {x}, {{"N"_size, 4000001}});
      check(in + "return x.T, x[:, 0], stack((x[:, 2], x[:, 1]), axis=1)\n", {x}, {{"N"_size, 4000001}});
    }
    check(
        "input e: f32[N, 3]\ns = sin(e)\nc = cos(e)\na = s[:, 0]\nb = s[:, 1]\nx = c[:, 0]\ny = c[:, 1]\n"
        "return stack((y, a * b, a - x * b, x * b + a, y * b, a * b, -b, a * y, x * y), axis=-1).reshape(N, 3, 3)\n",
        {noise(DType::F32, {n, 3}, 5)}, {{"N"_size, 4000001}});
    check(
        "input m: f32[N, 3, 3]\na = m[:, 0]\nb = m[:, 1]\n"
        "x = stack((a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1], a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2], a[:, 0] * b[:, 1] - "
        "a[:, 1] * b[:, 0]), axis=1)\nreturn stack((x, a + x, b * x), axis=2) / (2 + abs(sum(a * x, axis=1)))[:, None, "
        "None]\n",
        {noise(DType::F32, {n, 3, 3}, 6)}, {{"N"_size, 4000001}});
  }
  check(
      "input f: f32[9, A, B]\nr = sum(f, axis=0)\nu = sum(f[:3], axis=0) / (abs(r) + 2)\n"
      "return stack([f[i] - 0.1 * i * (r + u) for i in (0, 1, 2, 3, 4, 5, 6, 7, 8)])\n",
      {noise(DType::F32, {9, 37, 41}, 7)}, {{"A"_size, 1000}, {"B"_size, 2000}});
  check(
      "input x: u8[2, 3, H, W]\ny = f32(x) / 255\nm = max(y, axis=1)\nd = m - min(y, axis=1)\n"
      "return stack((where(m == y[:, 0], d, m), where(m == 0, 0, d / m), m), axis=1)\n",
      {noise(DType::U8, {2, 3, 31, 45}, 8)}, {{"H"_size, 1080}, {"W"_size, 1920}});
}

// Pixels of three bytes or halves, of which threads take words: whole rows of words and odd ones,
// and arrays that begin between two words.
TEST_F(EmulatedGpu, PixelsOfThreeBytes) {
  for (const int64_t n : {1, 3, 4, 256, 1020, 1023, 4096})
    for (const DType t : {DType::U8, DType::I8, DType::F16}) {
      const Tensor x = noise(t, {n, 3}, static_cast<uint64_t>(n)), y = noise(t, {n, 3}, 3),
                   m = noise(DType::U8, {n}, 4);
      const std::string in = fmt::format("input x: {0}[N, 3]\ninput y: {0}[N, 3]\ninput m: u8[N]\n", name_of(t));
      const SizeBinding large{{"N"_size, 4000000}};
      check(in + "a = (f32(m) / 255)[:, None]\nreturn " + std::string(name_of(t)) + "(f32(x) * a + f32(y) * (1 - a))\n",
            {x, y, m}, large);
      check(in + "return f32(x).T * f32(m), 2 * f32(y[:, 1]) + f32(y[:, 2]) - f32(y[:, 0])\n", {x, y, m}, large);
      check(in + "return stack((x[:, 2], y[:, 1], y[:, 0]), axis=1)\n", {x, y, m}, large);
      TensorView odd = x;
      odd.dims = {n - 1, 3}, odd.data = static_cast<char*>(odd.data) + size_of(t);
      if (n > 1) check(fmt::format("input x: {}[N, 3]\nreturn f32(x).T, x[:, ::-1]\n", name_of(t)), {odd}, large);
    }
}

// Whole tiles, one cut short, fewer columns than a tile, and tiles whose rows meet in two steps.
TEST_F(EmulatedGpu, TilesOfColumns) {
  for (const Dims& d : {Dims{2, 64, 96}, Dims{2, 50, 36}, Dims{1, 300, 64}, Dims{2, 33, 7}}) {
    const std::string in = fmt::format("input x: f32[{}, {}, {}]\n", d[0], d[1], d[2]);
    const Tensor x = noise(DType::F32, d);
    check(in + "return log_softmax(x, axis=1)\n", {x});  // of which a column has much to compute once
    check(in + "return softmax(x, axis=1)\n", {x});
    check(in + "m = max(x, axis=1, keepdims=True)\nreturn x - m, m, argmax(x, axis=1), min(x - m, axis=1)\n", {x});
  }
  const Tensor x = noise(DType::F32, {3, 70, 40});
  check("input x: f32[A, B, C]\nreturn x - mean(x, axis=1, keepdims=True)\n", {x});
  check("input x: f32[1, 130, 9000]\nreturn sum(x, axis=1)\n", {noise(DType::F32, {1, 130, 9000})});
}

// Neighbours of a tile as one word, and tiles of extents that are no multiples of it.
TEST_F(EmulatedGpu, TilesOfNarrowElements) {
  for (const DType t : {DType::BF16, DType::U8, DType::F32, DType::F64})
    for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{64, 128}, {68, 36}, {66, 130}, {67, 211}})
      check(fmt::format("input x: {}[3, {}, {}]\nreturn x.mT\n", name_of(t), rows, columns),
            {noise(t, {3, rows, columns}, 1)});
  check("input x: u8[70, 134]\ninput y: f32[134, 70]\nreturn f32(x.T) + y\n",
        {noise(DType::U8, {70, 134}, 1), noise(DType::F32, {134, 70}, 2)});
}

// Views that step and are turned, of sizes that are not known.
TEST_F(EmulatedGpu, PartsOfEightOpenAxes) {
  check(
      "input x: f32[A, B, C, D, E, F, G, H]\n"
      "return transpose(x, (1, 0, 3, 2, 5, 4, 7, 6))[::2, 1:, ::-1, :, ::3, :-1, ::-2]\n",
      {noise(DType::F32, {2, 3, 1, 2, 3, 2, 1, 5})});
}

// Results that are stored across what they read, which begins anywhere: picked, padded, joined and
// pooled; whole tiles and their ends, one range after another.
TEST_F(EmulatedGpu, ResultsThatAreTurned) {
  for (const auto& [h, w, c] : {std::tuple<int64_t, int64_t, int64_t>{5, 130, 70}, {3, 64, 128}, {2, 33, 9}})
    for (const DType t : {DType::F32, DType::BF16, DType::F64, DType::U8}) {
      const std::string inputs = fmt::format("input x: {0}[2, {1}, {2}, {3}]\ninput y: {0}[2, {4}, {2}, {3}]\n",
                                             name_of(t), c, h, w, c / 2 + 3);
      const Tensor x = special_noise(t, {2, c, h, w}, 1), y = special_noise(t, {2, c / 2 + 3, h, w}, 2);
      for (const char* last :
           {"permute(concat((x, -y), axis=1), (0, 2, 3, 1))",
            "permute(take(x, i32(floor(f32(arange(W)) * 0.7)), axis=3) + x, (0, 2, 3, 1))",
            "permute(pad(concat((x + 1, y), axis=1), ((0, 0), (0, 0), (1, 1), (2, 1))), (0, 2, 3, 1)) * 2",
            "permute(max_pool(x, (2, 2)), (0, 2, 3, 1)), max(y)"}) {
        std::string program = inputs + "return " + last + "\n";
        if (const size_t at = program.find('W'); at != std::string::npos) program.replace(at, 1, std::to_string(w));
        check(program, {x, y});
      }
    }
  const Graph graph = lang::parse_program(
      "input x: bf16[4, 64, 64, 256]\ninput y: bf16[4, 64, 64, 256]\n"
      "return permute(concat((take(x, i32(floor(f32(arange(256)) * 0.3)), axis=3), -y), axis=1), (0, 2, 3, 1))\n",
      "turned.smelt");
  EXPECT_TRUE(compile(graph, gpu_.machine, {}).plan().groups[0].schedule->turns_results);
}

// A thread has all of a short row, read as one word where it is one.
TEST_F(EmulatedGpu, RowsOfFewElements) {
  for (const int64_t n : {2, 3, 4, 7, 8})
    for (const DType t : {DType::F32, DType::BF16, DType::U8, DType::F64}) {
      const Tensor x = noise(t, {1501, 3, n}, n);
      check(fmt::format("input x: {}[1501, 3, {}]\nreturn max(x, axis=-1), sum(f32(x) ** 2, axis=-1)\n", name_of(t), n),
            {x});
    }
  check("input x: f32[40000, 2]\nreturn hypot(x[:, 0], x[:, 1]), x[:, 1] - x[:, 0]\n",
        {noise(DType::F32, {40000, 2}, 9)});
  check("input x: f32[3000, 4]\nreturn sum(sqrt(sum(x * x, axis=1)))\n", {noise(DType::F32, {3000, 4}, 10)});
}

// Sums of few groups, each workgroup's first in its shared memory; NaN, infinities, and rows that
// there are not.
TEST_F(EmulatedGpu, SumsOfFewGroups) {
  for (const int64_t columns : {1, 3, 16}) {
    Tensor x = noise(DType::F32, {9000, columns}, 1), k = Tensor::empty(DType::I64, {9000});
    auto* const groups = static_cast<int64_t*>(k.data);
    auto* const values = static_cast<float*>(x.data);
    for (int64_t i = 0; i < 9000; ++i) groups[i] = i % 37 == 0 ? -3 : i * 7 % 31;
    check(fmt::format("input x: f32[9000, {}]\ninput k: i64[9000]\nreturn segment_sum(x, k, 30)\n", columns), {x, k});
    for (int64_t i = 0; i < 9000 * columns; ++i) values[i] = 0.001f * static_cast<float>(i % 77 - 38);
    values[5] = INFINITY, values[8 * columns] = NAN, values[9 * columns] = 3e38f;
    check(fmt::format("input x: f32[9000, {}]\ninput k: i64[9000]\nreturn segment_sum(x, k, 30)\n", columns), {x, k});
  }
}

TEST_F(EmulatedGpu, RowsOfSeveralAxesAndRangesSideBySide) {
  const Tensor x = noise(DType::F32, {3, 4, 6, 30}), w = noise(DType::F32, {4});
  for (const char* axes : {"(1, 2, 3)", "(0, 2, 3)"})
    check(fmt::format("input x: f32[3, 4, 6, 30]\ninput w: f32[4]\nm = mean(x, axis={0}, keepdims=True)\n"
                      "return (x - m) * rsqrt(var(x, axis={0}, keepdims=True) + 1e-5) * w[:, None, None]\n",
                      axes),
          {x, w});
  check("input x: f32[9, 256]\na = x[:, :128]\nb = x[:, 128:]\nreturn concat((a - b, a * b), axis=-1)\n",
        {noise(DType::F32, {9, 256})});
  check("input x: f32[57, 3]\ninput y: f32[130, 3]\nreturn argmin(sum(abs(x[:, None] - y[None]), axis=-1), axis=1)\n",
        {noise(DType::F32, {57, 3}), noise(DType::F32, {130, 3}, 2)});
}

// Made for sizes at which lanes run along the kept axis, or along the longer one of two reduced
// axes; called with others.
TEST_F(EmulatedGpu, PairsOfManyPoints) {
  const auto points = [](int64_t n, int64_t k, uint64_t seed) {
    return k ? noise(DType::F32, {n, k}, seed) : noise(DType::F32, {n}, seed);
  };
  const std::vector<Dims> counts = {{70, 33}, {128, 256}, {1, 5}, {129, 601}};
  const auto check_pairs = [&](const std::string& returned, int64_t k, SizeBinding sizes) {
    std::vector<Tensor> keep;
    for (const Dims& n : counts) keep.push_back(points(n[0], k, 3)), keep.push_back(points(n[1], k, 4));
    std::vector<std::vector<TensorView>> calls;
    for (size_t c = 0; c < keep.size(); c += 2) calls.push_back({keep[c], keep[c + 1]});
    const std::string dims = k ? fmt::format(", {}", k) : "";
    check_calls(fmt::format("input x: f32[A{0}]\ninput y: f32[B{0}]\nd = x[:, None] - y[None]\n{1}\n", dims, returned),
                calls, std::move(sizes));
  };
  check_pairs("return max(d, axis=1), sum(d * d, axis=1)", 0, {{"A"_size, 20000}, {"B"_size, 20000}});
  check_pairs("return argmax(d, axis=1)", 0, {{"A"_size, 20001}, {"B"_size, 20000}});
  check_pairs("return max(d), sum(exp(-d * d))", 0, {{"A"_size, 8192}, {"B"_size, 8192}});
  check_pairs("return max(d)", 0, {{"A"_size, 3000000}, {"B"_size, 99}});
  check("input x: f32[40, 50, 61]\ny = x[1:-1, 1:-1, 1:-1]\nreturn sum(y), max(y)\n",
        {noise(DType::F32, {40, 50, 61})});
  check("input x: f32[40, 50, 61]\ny = x[1:-1, 1:-1, 1:-1]\nreturn argmax(y.reshape(-1))\n",
        {noise(DType::F32, {40, 50, 61})});
  check("input x: i32[3, 40, 20, 64]\ny = x[:, 1:-1, 1:-1]\nreturn sum(y, axis=(1, 2, 3))\n",
        {noise(DType::I32, {3, 40, 20, 64})});
  check_pairs("return argmin(sum(d * d, axis=-1), axis=-1)", 16, {{"A"_size, 1000000}, {"B"_size, 64}});
  check_pairs("return min(sum(d * d, axis=-1), axis=-1)", 7, {{"A"_size, 100003}, {"B"_size, 1000}});
}

// Blocks of results of windows, made for sizes at which rows are words, and called with others too.
TEST_F(EmulatedGpu, WindowsThatShareWhatTheyRead) {
  std::vector<Tensor> keep;
  for (const Dims& d : {Dims{2, 64, 64}, Dims{2, 70, 66}, Dims{1, 31, 47}, Dims{1, 12, 13}})
    keep.push_back(noise(DType::F32, d, 9));
  std::vector<std::vector<TensorView>> calls;
  for (const Tensor& t : keep) calls.push_back({t});
  for (const char* pool : {"avg_pool(x, (11, 11), stride=1)", "max_pool(x, (5, 5), stride=1, padding=2)",
                           "avg_pool(x, (8, 4), stride=2) * 2", "relu(avg_pool(x, (1, 12), stride=1))"})
    check_calls(fmt::format("input x: f32[A, B, C]\nreturn {}\n", pool), calls,
                {{"A"_size, 32}, {"B"_size, 512}, {"C"_size, 512}});
  check("input x: f16[2, 4000]\nreturn avg_pool(x, (50,), stride=1), max_pool(x, (16,), stride=1)\n",
        {noise(DType::F16, {2, 4000})});
  check("input x: i32[3, 4001]\nreturn sum(window(x, (24,)), axis=-1)\n", {noise(DType::I32, {3, 4001})});
}

TEST_F(EmulatedGpu, ScratchThatThreadsShare) {
  check(shared_program("transpose_add", {"f32[M, N]", "f32[N, M]"}),
        {rows(DType::F32, 70, 101), rows(DType::F32, 101, 70)});
  check("input x: f32[H, W]\ninput k: f32[3, 3]\nreturn relu(filter(x, k))\n",
        {rows(DType::F32, 40, 50), rows(DType::F32, 3, 3)});
  check(
      "input x: f32[60, 70]\np = pad(x, 1)\nb = (p[:-2, 1:-1] + p[2:, 1:-1] + x) / 3\nq = pad(b, 1)\n"
      "return b, q[1:-1, 2:] - q[1:-1, :-2]\n",
      {rows(DType::F32, 60, 70)});
  // Columns of a thread apart, whose neighbours in the last and the first thread are in another
  // column.
  for (const int64_t width : {131, 251, 389}) {
    const std::string x = fmt::format("input x: f32[40, {}]\n", width);
    check(x + "p = pad(x, 1, mode='edge')\nb = p[:-2, :-2] + 2 * p[1:-1, 2:] + exp(p[2:, 1:-1])\nq = pad(b, ((0, 0), "
              "(2, 3)))\n"
              "return q[:, 5:] - q[:, :-5] * q[:, 1:-4], b\n",
          {rows(DType::F32, 40, width)});
    check(x + "def step(z): p = pad(z, 1); return z + 0.1 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] - p[1:-1, :-2])\n"
              "return step(step(step(x)))\n",
          {rows(DType::F32, 40, width)});
  }
  // Sums over windows of one size go through them together; what one of two reads is elsewhere.
  check(
      "input x: f32[2, 31, 41]\ns = window(pad(x, ((0, 0), (2, 2), (2, 2)), mode='reflect'), (5, 5))\n"
      "w = exp(-(s - x[..., None, None]) ** 2)\nreturn sum(w * s, axis=(-2, -1)) / sum(w, axis=(-2, -1))\n",
      {noise(DType::F32, {2, 31, 41})});
  check(
      "input x: f32[2, 31, 63]\ns = window(x, (1, 11))\ne = exp(s * 0.3)\na = sum(e * s, axis=(-2, -1))\n"
      "m = max(e - s, axis=(-2, -1))\nreturn a[:, :, 1:] * m[:, :, :-1], sum(e, axis=(-2, -1))\n",
      {noise(DType::F32, {2, 31, 63})});
  check("input x: f32[2, 4, 9, 9]\ninput w: f32[4, 4, 3, 3]\nreturn relu(conv(x, w, padding=1))\n",
        {noise(DType::F32, {2, 4, 9, 9}), noise(DType::F32, {4, 4, 3, 3}, 2)});
}

TEST_F(EmulatedGpu, Gradients) {
  for (const char* value : {"softmax(x)", "layernorm(x)", "gelu(x)", "cumsum(x)", "cummax(x)", "dropout(x, 0.5, 7)"})
    check(fmt::format("input x: f32[B, 70]\ninput g: f32[B, 70]\nreturn vjp({}, x, g)", value),
          {rows(DType::F32, 5, 70), noise(DType::F32, {5, 70}, 3)});
  check(
      "input x: f32[B, 3, 9, 8]\ninput w: f32[4, 3, 3, 3]\ninput g: f32[B, 4, 9, 8]\n"
      "return vjp(conv(x, w, padding=1), (x, w), g)",
      {noise(DType::F32, {2, 3, 9, 8}, 1), noise(DType::F32, {4, 3, 3, 3}, 2), noise(DType::F32, {2, 4, 9, 8}, 3)});
  check("input x: f32[B, 9, 8]\ninput g: f32[B, 4, 4]\nreturn vjp(max_pool(x, (3, 2), stride=2, padding=(0, 0)), x, g)",
        {noise(DType::F32, {2, 9, 8}, 1), noise(DType::F32, {2, 4, 4}, 3)});
}

TEST_F(EmulatedGpu, ElementsOfEveryDtype) {
  check("input x: bf16[N]\ninput y: f16[N]\nreturn bf16(x * 3), f16(x) + y, i8(clamp(f32(y) * 9, -128, 127))\n",
        {noise(DType::BF16, {1001}), noise(DType::F16, {1001}, 2)});
  check("input x: i32[N]\ninput y: i8[N]\nreturn x // 7 + x % 7, u16(x), (x << 3) ^ 5, -y * y, max(y, 0)\n",
        {noise(DType::I32, {1003}), noise(DType::I8, {1003}, 2)});
  check("input x: f64[N]\nreturn maximum(x, -x), x > 0, where(x > 1, x, -x)\n", {noise(DType::F64, {517})});
}

// Elements of the rows of a scan beside the scan; windows that begin far from each other.
TEST_F(EmulatedGpu, EndsOfScansAndFramesOfSignals) {
  for (const int64_t length : {1, 7, 100, 1000}) {
    check("input x: f32[R, C]\ns = cumsum(abs(x) + 1, axis=1)\nreturn s / s[:, -1:], s[:, :1]\n",
          {rows(DType::F32, 5, length)});
    check("input x: i32[R, C]\ns = cumprod(x, axis=1, reverse=True)\nreturn s - s[:, :1] // 2\n",
          {rows(DType::I32, 5, length)});
  }
  check("input x: f32[R, C]\nf = window(x, 100, axis=1, stride=40)\nreturn f - mean(f, axis=-1, keepdims=True)\n",
        {rows(DType::F32, 3, 1000)});
}

// Quotients of every size, those that are nearly whole, and operands that are not finite.
TEST_F(EmulatedGpu, RemaindersOfFloats) {
  std::vector<double> x, y;
  const double special[] = {0.0,    -0.0,          1,    -1,    0.1, 360,      -7.5,      0x1p-149, -0x1p-126,
                            0x1p24, 0x1p21 + 0.25, 3e38, -3e38, NAN, HUGE_VAL, -HUGE_VAL, 0x1p100,  2.5,
                            1e-20,  0x1.8p22,      -1e7};
  for (const double a : special)
    for (const double b : special) x.push_back(a), y.push_back(b);
  for (int k = 0; k < 2000; ++k) {
    const double b = std::ldexp(static_cast<float>((k * 7919) % 1009 - 504.5), k % 11 - 5), n = (k * 31) % 4099 - 2049;
    y.push_back(b), x.push_back(static_cast<float>(k % 3 ? b * n : b * (n + 0.5 + k * 0x1p-12)));
  }
  const auto count = static_cast<int64_t>(x.size());
  const Tensor a = array(DType::F32, {count}, x), b = array(DType::F32, {count}, y);
  check("input x: f32[N]\ninput y: f32[N]\nreturn x % y, x // y, fmod(x, y)\n", {a, b});
  check("input x: f32[N]\nreturn x % 360, x // 0.1, fmod(x, -2.5), x % -7, x // -3, x % 1\n", {a});
}

TEST_F(EmulatedGpu, DrawsConcatsAndLists) {
  check("input seed: u64\nreturn random_bits((4, 6), seed).T, random_bits((501, 3), seed)\n", {scalar(DType::U64, 11)});
  check("input x: f32[A, 8]\ninput y: f32[B, 8]\nreturn concat([x, y[:, ::-1]], axis=0) * 2\n",
        {rows(DType::F32, 10, 8), rows(DType::F32, 21, 8)});
  check("input a: f32[40, 25]; input b: f32[6, 25]\nreturn softmax(a), softmax(b)\n",
        {rows(DType::F32, 40, 25), rows(DType::F32, 6, 25)});
}

// Arrays of any strides, negative ones too, over and next to each other in memory of the GPU.
TEST_F(EmulatedGpu, ArraysAnywhereInOneBuffer) {
  check_aliasing(gpu_.machine, 20);
  EXPECT_EQ(gpu_.driver->fault, "");
}

// Saved with its code and run by a machine that has no NVRTC: for sizes and addresses that other
// functions of its kernels take, too.
TEST_F(EmulatedGpu, RunsWhatWasSaved) {
  const Graph graph = lang::parse_program(
      "input x: f32[R, C]\nh = softmax(x)\nreturn h, sum(h * x, axis=0), cumsum(x, axis=1)\n", "saved.smelt");
  CompileOptions options;
  options.sizes = {{"R"_size, 9}, {"C"_size, 64}};
  Saver saver(gpu_.machine);
  options.settled = std::make_shared<const Settled>(saver.add(graph, options, nullptr));
  Machine without = gpu_.machine;
  without.nvrtc = nullptr;
  const Executable loaded = compile(graph, machine_with_code(saver.target("here"), without), options);
  for (const auto& [count, length] : {std::pair(9, 64), std::pair(1, 1), std::pair(33, 61), std::pair(300, 5)}) {
    const Tensor x = rows(DType::F32, count, length);
    const std::vector<Bounded> expected = interpret_bounded(graph, {x}, true);
    const std::vector<Tensor> got = loaded.run({x});
    ASSERT_EQ(gpu_.driver->fault, "");
    for (size_t o = 0; o < got.size(); ++o)
      ASSERT_EQ(differences(got[o], expected[o]), "") << count << ", output " << o;
  }
}

}  // namespace
}  // namespace smelt::testing
