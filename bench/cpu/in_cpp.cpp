// The families as loops that a careful programmer writes: restrict, OpenMP threads and vectors, one
// pass over memory where one loop can do it. in_cpp.py compiles this file for this processor. A
// function takes its inputs, their number, its outputs, and the sizes of the workload in their
// order.
#include <math.h>

#include <cstdint>
#include <vector>

// Vectors of these are in libmvec, whose header declares them under -ffast-math only.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
extern "C" {
#pragma omp declare simd notinbranch
float expf(float) noexcept;
#pragma omp declare simd notinbranch
float logf(float) noexcept;
#pragma omp declare simd notinbranch
float cosf(float) noexcept;
}
#endif

namespace {

using In = const void* const*;
using Out = void* const*;

template <class T>
const T* input(In in, int64_t i) {
  return static_cast<const T*>(in[i]);
}
template <class T>
T* output(Out out, int64_t i) {
  return static_cast<T*>(out[i]);
}

// A step of the heat equation over a row, zero outside. The rows above and below may be null.
void heat_row(const float* __restrict up, const float* __restrict at, const float* __restrict down,
              float* __restrict to, int64_t width) {
  const auto one = [&](int64_t j) {
    const float left = j > 0 ? at[j - 1] : 0, right = j + 1 < width ? at[j + 1] : 0;
    to[j] = 0.6f * at[j] + 0.1f * ((up ? up[j] : 0) + (down ? down[j] : 0) + left + right);
  };
  one(0);
  if (up && down) {
#pragma omp simd
    for (int64_t j = 1; j < width - 1; ++j) to[j] = 0.6f * at[j] + 0.1f * (up[j] + down[j] + at[j - 1] + at[j + 1]);
  } else {
    for (int64_t j = 1; j < width - 1; ++j) one(j);
  }
  if (width > 1) one(width - 1);
}

void heat_step(const float* from, float* to, int64_t height, int64_t width) {
#pragma omp parallel for
  for (int64_t i = 0; i < height; ++i) {
    const float* at = from + i * width;
    heat_row(i > 0 ? at - width : nullptr, at, i + 1 < height ? at + width : nullptr, to + i * width, width);
  }
}

uint8_t to_byte(float x) {
  const float rounded = rintf(x);
  return static_cast<uint8_t>(static_cast<int32_t>(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded));
}

float unit(uint32_t word) { return (static_cast<float>(static_cast<int32_t>(word >> 8)) + 0.5f) * 0x1p-24f; }

float normalised(uint8_t x) { return (x / 255.0f - 0.5f) / 0.25f; }

void nearest_of_any(const float* x, const float* c, int64_t* nearest, int64_t n, int64_t centres, int64_t dims) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) {
    float least = INFINITY;
    nearest[i] = 0;
    for (int64_t k = 0; k < centres; ++k) {
      float sum = 0;
      for (int64_t d = 0; d < dims; ++d) {
        const float apart = x[i * dims + d] - c[k * dims + d];
        sum += apart * apart;
      }
      if (sum < least) least = sum, nearest[i] = k;
    }
  }
}

// Lanes along the centres, which are turned first; their sums stay in registers.
template <int64_t K, int64_t D>
void nearest_of_many(const float* __restrict x, const float* __restrict c, int64_t* __restrict nearest, int64_t n) {
  float turned[D][K];
  for (int64_t k = 0; k < K; ++k)
    for (int64_t d = 0; d < D; ++d) turned[d][k] = c[k * D + d];
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) {
    float sum[K] = {};
    for (int64_t d = 0; d < D; ++d) {
      const float at = x[i * D + d];
#pragma omp simd
      for (int64_t k = 0; k < K; ++k) sum[k] += (at - turned[d][k]) * (at - turned[d][k]);
    }
    float least = sum[0];
#pragma omp simd reduction(min : least)
    for (int64_t k = 0; k < K; ++k) least = sum[k] < least ? sum[k] : least;
    int32_t first = K;
#pragma omp simd reduction(min : first)
    for (int32_t k = 0; k < K; ++k) {
      const int32_t here = sum[k] == least ? k : static_cast<int32_t>(K);
      first = here < first ? here : first;
    }
    nearest[i] = first;
  }
}

// Lanes along the points.
template <int64_t K, int64_t D>
void nearest_of_few(const float* __restrict x, const float* __restrict c, int64_t* __restrict nearest, int64_t n) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; ++i) {
    float least = INFINITY;
    int32_t first = 0;
    for (int32_t k = 0; k < K; ++k) {
      float sum = 0;
      for (int64_t d = 0; d < D; ++d) sum += (x[i * D + d] - c[k * D + d]) * (x[i * D + d] - c[k * D + d]);
      first = sum < least ? k : first;
      least = sum < least ? sum : least;
    }
    nearest[i] = first;
  }
}

}  // namespace

extern "C" {

void adamw(In in, int64_t inputs, Out out, const int64_t* sizes) {
  const int64_t count = (inputs - 2) / 4, n = sizes[0];
  const float lr = *input<float>(in, inputs - 2), step = *input<float>(in, inputs - 1);
  const float c1 = -expm1f(step * -0.105360515657826f), c2 = -expm1f(step * -0.00100050033358353f);
  const float keep = 1 - 0.01f * lr;
  for (int64_t t = 0; t < count; ++t) {
    const float* __restrict p = input<float>(in, t), * __restrict g = input<float>(in, count + t);
    const float* __restrict m = input<float>(in, 2 * count + t), * __restrict v = input<float>(in, 3 * count + t);
    float* __restrict p2 = output<float>(out, t), * __restrict m2 = output<float>(out, count + t);
    float* __restrict v2 = output<float>(out, 2 * count + t);
#pragma omp parallel for simd
    for (int64_t i = 0; i < n; ++i) {
      const float a = 0.9f * m[i] + 0.1f * g[i], b = 0.999f * v[i] + 0.001f * g[i] * g[i];
      m2[i] = a;
      v2[i] = b;
      p2[i] = p[i] * keep - lr * (a / c1) / (sqrtf(b / c2) + 1e-8f);
    }
  }
}

void nearest_centre(In in, int64_t, Out out, const int64_t* sizes) {
  const int64_t n = sizes[0], centres = sizes[1], dims = sizes[2];
  const float *x = input<float>(in, 0), *c = input<float>(in, 1);
  int64_t* nearest = output<int64_t>(out, 0);
  if (centres == 32 && dims == 16) {
    nearest_of_many<32, 16>(x, c, nearest, n);
  } else if (centres == 8 && dims == 3) {
    nearest_of_few<8, 3>(x, c, nearest, n);
  } else {
    nearest_of_any(x, c, nearest, n, centres, dims);
  }
}

// Sums of three rows first, in a row of each thread's own.
void image_blur(In in, int64_t, Out out, const int64_t* sizes) {
  const int64_t height = sizes[0], line = sizes[1] * 3, outside = line - 6;
  const uint8_t* x = input<uint8_t>(in, 0);
  uint8_t* y = output<uint8_t>(out, 0);
#pragma omp parallel
  {
    std::vector<float> row(line);
    float* __restrict sums = row.data();
#pragma omp for
    for (int64_t i = 0; i < height - 2; ++i) {
      const uint8_t* __restrict a = x + i * line;
      uint8_t* __restrict to = y + i * outside;
#pragma omp simd
      for (int64_t j = 0; j < line; ++j)
        sums[j] = normalised(a[j]) + normalised(a[j + line]) + normalised(a[j + 2 * line]);
#pragma omp simd
      for (int64_t j = 0; j < outside; ++j)
        to[j] = to_byte((sums[j] + sums[j + 3] + sums[j + 6]) * (1 / 9.0f) * 64 + 128);
    }
  }
}

// Sums of two rows first, so that only one loop takes every second pixel.
void image_half(In in, int64_t, Out out, const int64_t* sizes) {
  const int64_t height = sizes[0] / 2, width = sizes[1] / 2, line = sizes[1] * 3;
  const uint8_t* x = input<uint8_t>(in, 0);
  uint8_t* y = output<uint8_t>(out, 0);
#pragma omp parallel
  {
    std::vector<float> row(line);
    float* __restrict sums = row.data();
#pragma omp for
    for (int64_t i = 0; i < height; ++i) {
      const uint8_t* __restrict a = x + 2 * i * line;
      uint8_t* __restrict to = y + i * width * 3;
#pragma omp simd
      for (int64_t j = 0; j < line; ++j) sums[j] = normalised(a[j]) + normalised(a[j + line]);
#pragma omp simd
      for (int64_t j = 0; j < width; ++j)
        for (int64_t k = 0; k < 3; ++k)
          to[3 * j + k] = to_byte((sums[6 * j + k] + sums[6 * j + 3 + k]) * 0.25f * 64 + 128);
    }
  }
}

void heat(In in, int64_t, Out out, const int64_t* sizes) {
  heat_step(input<float>(in, 0), output<float>(out, 0), sizes[0], sizes[1]);
}

// Each thread takes bands of rows through all five steps: its two buffers stay in the caches, and
// two rows are computed twice for each step and band.
void heat5(In in, int64_t, Out out, const int64_t* sizes) {
  constexpr int64_t kSteps = 5, kBand = 24;
  const int64_t height = sizes[0], width = sizes[1];
  const float* x = input<float>(in, 0);
  float* y = output<float>(out, 0);
#pragma omp parallel
  {
    std::vector<float> even((kBand + 2 * kSteps) * width), odd(even.size());
#pragma omp for
    for (int64_t band = 0; band < (height + kBand - 1) / kBand; ++band) {
      const int64_t first = band * kBand, last = first + kBand < height ? first + kBand : height;
      const int64_t base = first - kSteps;  // the row of the image that is row 0 of the buffers
      for (int64_t step = 1; step <= kSteps; ++step) {
        const int64_t halo = kSteps - step;
        const int64_t begin = first - halo > 0 ? first - halo : 0, end = last + halo < height ? last + halo : height;
        const float* from = step == 1 ? x : (step % 2 ? odd.data() : even.data()) - base * width;
        float* to = step == kSteps ? y : (step % 2 ? even.data() : odd.data()) - base * width;
        for (int64_t i = begin; i < end; ++i) {
          const float* at = from + i * width;
          heat_row(i > 0 ? at - width : nullptr, at, i + 1 < height ? at + width : nullptr, to + i * width, width);
        }
      }
    }
  }
}

// Philox 4x32-10 and the method of Box and Muller, a loop for each, so that each is vectors.
void monte_carlo(In in, int64_t, Out out, const int64_t* sizes) {
  constexpr int64_t kPaths = 16384;
  constexpr int32_t kBlocks = 256;
  const float* s = input<float>(in, 0);
  float* y = output<float>(out, 0);
#pragma omp parallel for
  for (int64_t i = 0; i < sizes[0]; ++i) {
    const float spot = s[i];
    float total = 0, u[4][kBlocks], z[4 * kBlocks];
    for (int32_t first = 0; first < kPaths / 4; first += kBlocks) {
#pragma omp simd
      for (int32_t l = 0; l < kBlocks; ++l) {
        uint32_t c0 = static_cast<uint32_t>(first + l), c1 = static_cast<uint32_t>(i), c2 = 0, c3 = 0, k0 = 7, k1 = 0;
        for (int round = 0; round < 10; ++round) {
          const uint64_t a = uint64_t{0xD2511F53} * c0, b = uint64_t{0xCD9E8D57} * c2;
          c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
          c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
          c1 = static_cast<uint32_t>(b);
          c3 = static_cast<uint32_t>(a);
          k0 += 0x9E3779B9;
          k1 += 0xBB67AE85;
        }
        u[0][l] = unit(c0);
        u[1][l] = unit(c1);
        u[2][l] = unit(c2);
        u[3][l] = unit(c3);
      }
      for (int pair = 0; pair < 4; pair += 2) {
#pragma omp simd
        for (int32_t l = 0; l < kBlocks; ++l) {
          const float r = sqrtf(-2 * logf(u[pair][l])), angle = 6.2831853f * u[pair + 1][l];
          z[pair * kBlocks + l] = r * cosf(angle);
          z[(pair + 1) * kBlocks + l] = r * cosf(angle - 1.5707964f);  // sinf beside cosf becomes a call for each lane
        }
      }
#pragma omp simd reduction(+ : total)
      for (int32_t l = 0; l < 4 * kBlocks; ++l) {
        const float above = spot * expf(0.2f * z[l] - 0.02f) - 30;
        total += above > 0 ? above : 0;
      }
    }
    y[i] = 0.98f * total / kPaths;
  }
}

}  // extern "C"
