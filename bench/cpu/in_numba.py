"""The families as one writes them for numba: loops over the cores that LLVM vectorises. Each writes into the arrays `out`."""

import math
import os

import numpy
from exact import HORNER
from numba import config, njit, prange
from numpy import float32

THREADS = config.NUMBA_NUM_THREADS  # a call of get_num_threads() could not be kept
KEPT = "NUMBA_CACHE_DIR" in os.environ  # what was compiled ahead
fast = njit(parallel=True, fastmath=True, error_model="numpy", cache=KEPT)
C = tuple(float32(c) for c in HORNER)


@fast
def quantize_int8(x, out):
    y = out[0]
    for i in prange(x.size):
        v = numpy.rint(x[i] * float32(1 / 4.2) + float32(1.2))
        y[i] = numpy.int8(min(max(v, float32(-128)), float32(127)))


@fast
def add_mul_exp(x, y, out):
    z = out[0]
    for i in prange(x.size):
        z[i] = math.exp((x[i] + y[i]) * float32(2))


@fast
def relu_layernorm(x, out):
    y = out[0]
    rows, n = x.shape
    for r in prange(rows):
        total = float32(0)
        for i in range(n):
            total += max(x[r, i], float32(0))
        mean = total / float32(n)
        squares = float32(0)
        for i in range(n):
            d = max(x[r, i], float32(0)) - mean
            squares += d * d
        scale = float32(1) / math.sqrt(squares / float32(n) + float32(1e-5))
        for i in range(n):
            y[r, i] = (max(x[r, i], float32(0)) - mean) * scale


@fast
def softmax_f32(x, out):
    y = out[0]
    rows, n = x.shape
    for r in prange(rows):
        top = x[r, 0]
        for i in range(n):
            top = max(top, x[r, i])
        total = float32(0)
        for i in range(n):
            e = math.exp(x[r, i] - top)
            y[r, i] = e
            total += e
        scale = float32(1) / total
        for i in range(n):
            y[r, i] *= scale


@fast
def rmsnorm_f32(x, w, out):
    y = out[0]
    rows, n = x.shape
    for r in prange(rows):
        squares = float32(0)
        for i in range(n):
            squares += x[r, i] * x[r, i]
        scale = float32(1) / math.sqrt(squares / float32(n) + float32(1e-6))
        for i in range(n):
            y[r, i] = x[r, i] * scale * w[i]


@fast
def var(x, out):
    y = out[0]
    rows, n = x.shape
    for r in prange(rows):
        total = float32(0)
        for i in range(n):
            total += x[r, i]
        mean = total / float32(n)
        squares = float32(0)
        for i in range(n):
            d = x[r, i] - mean
            squares += d * d
        y[r] = squares / float32(n - 1)


@fast
def cumsum(x, out):
    y = out[0]
    rows, n = x.shape
    for r in prange(rows):
        total = float32(0)
        for i in range(n):
            total += x[r, i]
            y[r, i] = total


@fast
def l2norm(x, out):
    # In parts, or the running sum of a core would be too large for what is added to it.
    part = 1 << 16
    parts = (x.size + part - 1) // part
    sums = numpy.zeros(parts, numpy.float64)
    for p in prange(parts):
        v = x[p * part:(p + 1) * part]
        total = float32(0)
        for i in range(v.size):
            total += v[i] * v[i]
        sums[p] = total
    out[0][()] = math.sqrt(sums.sum())


@fast
def colsum(x, out):
    y = out[0]
    rows, n = x.shape
    parts = THREADS
    sums = numpy.zeros((parts, n), numpy.float32)
    for p in prange(parts):
        for r in range(rows * p // parts, rows * (p + 1) // parts):
            for i in range(n):
                sums[p, i] += max(x[r, i], float32(0))
    for i in range(n):
        total = float32(0)
        for p in range(parts):
            total += sums[p, i]
        y[i] = total


@fast
def chain10(x, out):
    y = out[0]
    for i in prange(x.size):
        v = x[i]
        for _ in range(5):
            v = math.tanh(v * float32(1.01)) + float32(0.1)
        y[i] = v


@fast
def poly20(x, out):
    y = out[0]
    for i in prange(x.size):
        v = x[i] * float32(0.000002) + C[0]
        v = v * x[i] + C[1]
        v = v * x[i] + C[2]
        v = v * x[i] + C[3]
        v = v * x[i] + C[4]
        v = v * x[i] + C[5]
        v = v * x[i] + C[6]
        v = v * x[i] + C[7]
        v = v * x[i] + C[8]
        y[i] = v * x[i] + C[9]


@fast
def gelu_bias(x, b, out):
    y = out[0]
    rows, n = x.shape
    for r in prange(rows):
        for i in range(n):
            h = x[r, i] + b[i]
            y[r, i] = h * float32(0.5) * (float32(1) + math.erf(h * float32(0.70710678)))


@fast
def loop2(b, c, e, out):
    y, z = out[0], out[1]
    for i in prange(b.size):
        a = b[i] + c[i]
        y[i] = a
        z[i] = a * e[i]


@fast
def dropout_relu(x, out):
    y = out[0]
    for i in prange(x.size):
        y[i] = max(x[i], float32(0)) * float32(1 / 0.9) if numpy.random.random() >= 0.1 else float32(0)


@fast
def transpose_add(x, y, out):
    z = out[0]
    rows, columns = y.shape
    tile = 32
    for t in prange((rows + tile - 1) // tile):
        for j in range(0, columns, tile):
            for r in range(t * tile, min(rows, (t + 1) * tile)):
                for c in range(j, min(columns, j + tile)):
                    z[r, c] = x[c, r] + y[r, c]


@fast
def black_scholes(s, k, t, out):
    calls, puts = out[0], out[1]
    for i in prange(s.size):
        root = math.sqrt(t[i]) * float32(0.3)
        d1 = (math.log(s[i] / k[i]) + t[i] * float32(0.065)) / root
        n1 = float32(0.5) + float32(0.5) * math.erf(d1 * float32(0.70710678))
        n2 = float32(0.5) + float32(0.5) * math.erf((d1 - root) * float32(0.70710678))
        paid = k[i] * math.exp(t[i] * float32(-0.02))
        call = s[i] * n1 - paid * n2
        calls[i] = call
        puts[i] = call - s[i] + paid


@njit(fastmath=True, cache=KEPT)
def row_sums(x, r, sums):
    """The sums of three neighbours along row r, zero outside of the image."""
    rows, n = x.shape
    if r < 0 or r >= rows:
        sums[:] = float32(0)
        return
    row = x[r]
    sums[0] = row[0] + row[1]
    for i in range(1, n - 1):
        sums[i] = row[i - 1] + row[i] + row[i + 1]
    sums[n - 1] = row[n - 2] + row[n - 1]


@njit(fastmath=True, cache=KEPT)
def blurred_row(x, r, sums, line):
    """Row r of the 3x3 mean, with a zero at either end; the three lines of sums hold rows r-1 and r already."""
    rows, n = x.shape
    line[0] = line[n + 1] = float32(0)
    row_sums(x, r + 1, sums[(r + 1) % 3])
    if r < 0 or r >= rows:
        line[:] = float32(0)
        return
    a, b, c = sums[(r + 2) % 3], sums[r % 3], sums[(r + 1) % 3]
    for i in range(n):
        line[i + 1] = (a[i] + b[i] + c[i]) * float32(1 / 9)


@fast
def blur(x, out):
    y = out[0]
    rows, n = x.shape
    parts = 4 * THREADS
    for p in prange(parts):
        sums = numpy.zeros((3, n), numpy.float32)
        line = numpy.zeros(n + 2, numpy.float32)
        first, last = rows * p // parts, rows * (p + 1) // parts
        row_sums(x, first - 1, sums[(first + 2) % 3])
        row_sums(x, first, sums[first % 3])
        for r in range(first, last):
            blurred_row(x, r, sums, line)
            y[r] = line[1:n + 1]


@fast
def blur_sobel(x, out):
    y = out[0]
    rows, n = x.shape
    parts = 4 * THREADS
    for p in prange(parts):
        sums = numpy.zeros((3, n), numpy.float32)
        lines = numpy.zeros((3, n + 2), numpy.float32)
        first, last = rows * p // parts, rows * (p + 1) // parts
        row_sums(x, first - 2, sums[(first + 1) % 3])
        row_sums(x, first - 1, sums[(first + 2) % 3])
        blurred_row(x, first - 1, sums, lines[(first + 2) % 3])
        blurred_row(x, first, sums, lines[first % 3])
        for r in range(first, last):
            blurred_row(x, r + 1, sums, lines[(r + 1) % 3])
            a, b, c = lines[(r + 2) % 3], lines[r % 3], lines[(r + 1) % 3]
            for i in range(n):
                gx = (a[i + 2] - a[i]) + float32(2) * (b[i + 2] - b[i]) + (c[i + 2] - c[i])
                gy = (c[i] + float32(2) * c[i + 1] + c[i + 2]) - (a[i] + float32(2) * a[i + 1] + a[i + 2])
                y[r, i] = max(math.sqrt(gx * gx + gy * gy) - float32(0.05), float32(0))
