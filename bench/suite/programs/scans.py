"""Running sums, products and extrema of each kind and direction."""

from . import Row


def torch_segmented(t, x, start):
    c, i = x.cumsum(-1), t.arange(x.shape[-1], device=x.device)
    first = t.where(start, i, 0).cummax(-1).values
    return c - t.where(first > 0, (c - x).gather(-1, first), 0.0)


def torch_discounted(t, r):
    scale = 0.99 ** t.arange(r.shape[-1], device=r.device, dtype=t.float32)
    return (r * scale).flip(-1).cumsum(-1).flip(-1) / scale


ROWS = [
    Row("scans", "cumsum_mid", {"x": "f32[B=64,512,1024]"}, "return cumsum(x, axis=1)", lambda t, x: x.cumsum(1)),
    Row("scans", "cumsum_1d", {"x": "f32[N=100000007]"}, "return cumsum(x)", lambda t, x: x.cumsum(0)),
    Row("scans", "cumsum_first", {"x": "f32[8192,N=8192]"}, "return cumsum(x, axis=0)", lambda t, x: x.cumsum(0)),
    Row("scans", "cumsum_mid_long", {"x": "f32[8,65536,N=128]"}, "return cumsum(x, axis=1)", lambda t, x: x.cumsum(1)),
    Row("scans", "cumsum_first_narrow", {"x": "f32[N=400000,16]"}, "return cumsum(x, axis=0)", lambda t, x: x.cumsum(0)),
    Row("scans", "cumsum_rows_odd", {"x": "f32[N=69019,1009]"}, "return cumsum(x)", lambda t, x: x.cumsum(-1)),
    Row("scans", "cumsum_short_odd", {"x": "f32[N=1393904,20]"}, "return cumsum(x)", lambda t, x: x.cumsum(-1)),
    Row("scans", "cumsum_bf16", {"x": "bf16[N=31216,4096]"}, "return cumsum(f32(x))", lambda t, x: x.float().cumsum(-1)),
    Row("scans", "cumsum_reverse", {"x": "f32[N=61616,1232]"}, "return cumsum(x, reverse=True)",
        lambda t, x: x.flip(-1).cumsum(-1).flip(-1)),
    Row("scans", "cumsum_exclusive_counts", {"x": "u8[N=63467,3907]"}, "return cumsum(i32(x > 3), exclusive=True)",
        lambda t, x: (x > 3).cumsum(-1) - (x > 3).long()),
    Row("scans", "cumsum_masked", {"x": "f32[N=11024,2048]", "m": "bool[N,2048]"}, "return cumsum(where(m, x, 0))",
        lambda t, x, m: t.where(m, x, 0.0).cumsum(-1)),
    Row("scans", "cumsum_segmented", {"x": "f32[N=27424,4096]", "start": "below=50:i32[N,4096]"},
        "return cumsum(x, restart=start == 0)", lambda t, x, start: torch_segmented(t, x, start == 0)),
    Row("scans", "cumprod_odd", {"x": "uniform:f32[N=408997,163]"}, "return cumprod(0.98 + 0.04 * x)",
        lambda t, x: (0.98 + 0.04 * x).cumprod(-1)),
    Row("scans", "cumprod_first", {"x": "uniform:f32[252,N=244320]"}, "return cumprod(0.98 + 0.04 * x, axis=0)",
        lambda t, x: (0.98 + 0.04 * x).cumprod(0)),
    Row("scans", "cummax_rows", {"x": "f32[N=39856,1024]"}, "return cummax(x)", lambda t, x: x.cummax(-1).values),
    Row("scans", "cummax_mid_odd", {"x": "f32[B=727,277,331]"}, "return cummax(x, axis=1)",
        lambda t, x: x.cummax(1).values),
    Row("scans", "cummin_reverse_first", {"x": "f32[3907,N=8803]"}, "return cummin(x, axis=0, reverse=True)",
        lambda t, x: x.flip(0).cummin(0).values.flip(0)),
    Row("scans", "logcumsumexp", {"x": "f32[N=21424,2048]"}, "return logcumsumexp(x)", lambda t, x: x.logcumsumexp(-1)),
    Row("scans", "softmax_cumsum_odd", {"x": "f32[N=97213,1277]"}, "return cumsum(softmax(x))",
        lambda t, x: t.softmax(x, -1).cumsum(-1)),
    Row("scans", "discounted_returns", {"r": "f32[N=469248,256]"},
        "scale = exp(f32(arange(r.shape[1])) * log(0.99))\nreturn cumsum(r * scale, reverse=True) / scale", torch_discounted),
]
