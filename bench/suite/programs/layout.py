"""Transposes, joins, and elements in other places."""

from . import Row


def torch_pixel_shuffle(t, x):
    return t.nn.functional.pixel_shuffle(x, 2)


def torch_patches(t, x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 16, 16, w // 16, 16, c).permute(0, 1, 3, 2, 4, 5).reshape(b, -1, 256 * c)


def torch_shuffle(t, x):
    b, c, n = x.shape
    return x.reshape(b, 4, c // 4, n).transpose(1, 2).reshape(b, c, n)


ROWS = [
    Row("layout", "transpose_odd", {"x": "f32[M=8191,N=8193]"}, "return x.T + 1", lambda t, x: (x.T + 1).contiguous()),
    Row("layout", "transpose_bf16", {"x": "bf16[M=16384,N=8192]"}, "return x.T * 2", lambda t, x: (x.T * 2).contiguous()),
    Row("layout", "transpose_add", {"x": "f32[M=4096,N=6000]", "y": "f32[N,M]"}, "return x.T + y", lambda t, x, y: x.T + y),
    Row("layout", "transpose_u8", {"x": "u8[M=16384,N=16384]"}, "return x.T", lambda t, x: x.T.contiguous()),
    Row("layout", "concat_last", {"a": "f32[N=100000,100]", "b": "f32[N,200]"}, "return concat((a, b), axis=1)",
        lambda t, a, b: t.cat((a, b), 1)),
    Row("layout", "split_heads_bf16", {"x": "bf16[B=48,2048,16,64]"}, "return x.transpose(0, 2, 1, 3) * 0.125",
        lambda t, x: x.permute(0, 2, 1, 3).contiguous() * 0.125),
    Row("layout", "merge_heads_odd", {"x": "f32[B=23,29,1597,80]"},
        "return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)", lambda t, x: x.transpose(1, 2).flatten(2)),
    Row("layout", "nhwc_to_nchw_f16_odd", {"x": "f16[B=211,47,67,59]"}, "return x.transpose(0, 3, 1, 2)",
        lambda t, x: x.permute(0, 3, 1, 2).contiguous()),
    Row("layout", "transpose_skewed", {"x": "f32[N=4063888,7]"}, "return x.T", lambda t, x: x.T.contiguous()),
    Row("layout", "transpose_batches_odd", {"x": "f32[B=3229,173,83]"}, "return x.mT", lambda t, x: x.mT.contiguous()),
    Row("layout", "reverse_axes", {"x": "f32[A=256,512,256]"}, "return x.transpose(2, 1, 0)",
        lambda t, x: x.permute(2, 1, 0).contiguous()),
    Row("layout", "symmetrize", {"x": "f32[N=8192,N]"}, "return 0.5 * (x + x.T)", lambda t, x: 0.5 * (x + x.T)),
    Row("layout", "concat_channels_odd", {"a": "f32[B=211,37,59,47]", "b": "f32[B,91,59,47]"},
        "return relu(concat((a, b), axis=1))", lambda t, a, b: t.relu(t.cat((a, b), 1))),
    Row("layout", "stack_last_f16", {"a": "f16[N=46889696]", "b": "f16[N]", "c": "f16[N]"}, "return stack((a, b, c), axis=-1)",
        lambda t, a, b, c: t.stack((a, b, c), -1)),
    Row("layout", "pad_reflect_odd", {"x": "f32[B=113,3,293,401]"},
        "return pad(x, ((0, 0), (0, 0), (3, 3), (3, 3)), mode='reflect')",
        lambda t, x: t.nn.functional.pad(x, (3, 3, 3, 3), mode="reflect")),
    Row("layout", "roll_windows", {"x": "f32[B=48,56,56,96]"}, "return roll(x, (-3, -3), (1, 2))",
        lambda t, x: t.roll(x, (-3, -3), (1, 2))),
    Row("layout", "flip_rows_bf16_odd", {"x": "bf16[N=126473,1399]"}, "return flip(x, 1)", lambda t, x: x.flip(1)),
    Row("layout", "every_third_column", {"x": "f32[N=29376,3072]"}, "return x[:, ::3] + 1", lambda t, x: x[:, ::3] + 1),
    Row("layout", "pixel_shuffle", {"x": "f32[B=48,12,256,256]"},
        "b, c, h, w = x.shape\nreturn x.reshape(b, c // 4, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(b, c // 4, 2 * h, 2 * w)",
        torch_pixel_shuffle),
    Row("layout", "patches_16", {"x": "f32[B=752,224,224,3]"},
        "b = x.shape[0]\nreturn x.reshape(b, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, 196, 768)", torch_patches),
    Row("layout", "channel_shuffle_odd", {"x": "f32[B=127,116,1301]"},
        "b, c, n = x.shape\nreturn x.reshape(b, 4, c // 4, n).transpose(0, 2, 1, 3).reshape(b, c, n)", torch_shuffle),
    Row("layout", "lower_triangle", {"x": "f32[B=112,1024,1024]"}, "return tril(x)", lambda t, x: t.tril(x)),
    Row("layout", "repeat_rows_f16", {"x": "f16[B=192,8,512,128]"}, "return repeat(x, 4, axis=1)",
        lambda t, x: x.repeat_interleave(4, 1)),
    Row("layout", "take_columns_odd", {"x": "f32[N=16871,1009]", "i": "below=1009:i64[499]"}, "return take(x, i, axis=1)",
        lambda t, x, i: x[:, i]),
    Row("layout", "scatter_rows", {"x": "f32[N=200003,256]", "i": "below=1000:i64[1000]", "u": "f32[1000,256]"},
        "return scatter_add(x, i, u)", lambda t, x, i, u: x.index_add(0, i, u)),
]
