"""softmax, log_softmax and logsumexp along each axis, forward and backward."""

from . import Row


def torch_softmax_backward_mid(t, y, g):
    return (g - (g * y).sum(1, keepdim=True)) * y


def torch_log_softmax_backward(t, y, g):
    return g - t.exp(y) * g.sum(-1, keepdim=True)


ROWS = [
    Row("softmax", "softmax_mid", {"x": "f32[B=64,512,784]"}, "return softmax(x, axis=1)", lambda t, x: t.softmax(x, 1)),
    Row("softmax", "softmax_mid_odd", {"x": "f32[B=61,509,787]"}, "return softmax(x, axis=1)", lambda t, x: t.softmax(x, 1)),
    Row("softmax", "softmax_mid_short", {"x": "f32[B=32,21,N=262144]"}, "return softmax(x, axis=1)", lambda t, x: t.softmax(x, 1)),
    Row("softmax", "log_softmax_mid_bf16", {"x": "bf16[B=64,1000,1024]"}, "return log_softmax(x, axis=1)",
        lambda t, x: t.log_softmax(x, 1)),
    Row("softmax", "softmax_short", {"x": "f32[N=2000003,48]"}, "return softmax(x, axis=-1)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_10", {"x": "f32[N=3000000,10]"}, "return softmax(x)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_600_bf16", {"x": "bf16[N=200000,600]"}, "return softmax(x)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_backward", {"y": "f32[N=16384,2048]", "g": "f32[N,2048]"},
        "return (g - sum(g * y, axis=-1, keepdims=True)) * y", lambda t, y, g: (g - (g * y).sum(-1, keepdim=True)) * y),
    Row("softmax", "softmax_first", {"x": "f32[4096,N=8192]"}, "return softmax(x, axis=0)", lambda t, x: t.softmax(x, 0)),
    Row("softmax", "softmax_first_odd", {"x": "f32[4001,N=8191]"}, "return softmax(x, axis=0)", lambda t, x: t.softmax(x, 0)),
    Row("softmax", "softmax_vocabulary_bf16", {"x": "bf16[N=727,50257]"}, "return softmax(x)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_few_long", {"x": "f32[16,N=4129872]"}, "return softmax(x)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_4096_f16", {"x": "f16[N=13584,4096]"}, "return softmax(x)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_temperature_odd", {"x": "f32[N=11351,1511]"}, "return softmax(x / 0.7)",
        lambda t, x: t.softmax(x / 0.7, -1)),
    Row("softmax", "softmin_mid", {"x": "f32[B=176,384,272]"}, "return softmax(-x, axis=1)",
        lambda t, x: t.nn.functional.softmin(x, 1)),
    Row("softmax", "softmax_pixels", {"x": "f32[B=1009,16,53,73]"},
        "e = exp(x - max(x, axis=(2, 3), keepdims=True))\nreturn e / sum(e, axis=(2, 3), keepdims=True)",
        lambda t, x: t.softmax(x.flatten(2), -1).view_as(x)),
    Row("softmax", "log_softmax_odd", {"x": "f32[N=39191,653]"}, "return log_softmax(x)", lambda t, x: t.log_softmax(x, -1)),
    Row("softmax", "log_softmax_first", {"x": "f32[976,N=35984]"}, "return log_softmax(x, axis=0)",
        lambda t, x: t.log_softmax(x, 0)),
    Row("softmax", "logsumexp_rows_bf16", {"x": "bf16[N=1648,32000]"}, "return logsumexp(f32(x), axis=-1)",
        lambda t, x: t.logsumexp(x.float(), -1)),
    Row("softmax", "logsumexp_mid_odd", {"x": "f32[B=1213,97,521]"}, "return logsumexp(x, axis=1)",
        lambda t, x: t.logsumexp(x, 1)),
    Row("softmax", "logsumexp_first", {"x": "f32[4001,N=5839]"}, "return logsumexp(x, axis=0)",
        lambda t, x: t.logsumexp(x, 0)),
    Row("softmax", "softmax_backward_mid_odd", {"y": "f32[B=127,233,967]", "g": "f32[B,233,967]"},
        "return (g - sum(g * y, axis=1, keepdims=True)) * y", torch_softmax_backward_mid),
    Row("softmax", "log_softmax_backward_bf16", {"y": "bf16[N=2576,8192]", "g": "bf16[N,8192]"},
        "y = f32(y); g = f32(g)\nreturn bf16(g - exp(y) * sum(g, axis=-1, keepdims=True))",
        lambda t, y, g: torch_log_softmax_backward(t, y.float(), g.float()).to(t.bfloat16)),
    Row("softmax", "log_softmax_backward_short", {"y": "f32[N=1957523,31]", "g": "f32[N,31]"},
        "return g - exp(y) * sum(g, axis=-1, keepdims=True)", torch_log_softmax_backward),
]
