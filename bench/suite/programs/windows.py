"""Pools of one to three dimensions, and depthwise and small dense convolutions."""

from . import Row, functional

conv1d, conv2d = functional("conv1d"), functional("conv2d")


def torch_local_response(t, x):
    s = t.nn.functional.avg_pool3d(t.nn.functional.pad(x * x, (0, 0, 0, 0, 2, 2))[:, None], (5, 1, 1), 1)[:, 0]
    return x / (2 + 1e-4 * s) ** 0.75


ROWS = [
    Row("windows", "max_pool_3_stride_2", {"x": "f32[B=64,64,112,112]"}, "return max_pool(x, (3, 3), stride=2, padding=1)",
        lambda t, x: t.nn.functional.max_pool2d(x, 3, 2, 1)),
    Row("windows", "max_pool_2", {"x": "f32[B=64,128,112,112]"}, "return max_pool(x, (2, 2), stride=2)",
        lambda t, x: t.nn.functional.max_pool2d(x, 2, 2)),
    Row("windows", "avg_pool_11", {"x": "f32[B=8,32,512,512]"}, "return avg_pool(x, (11, 11), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 11, 1)),
    Row("windows", "avg_pool_3", {"x": "f32[B=32,64,128,128]"}, "return avg_pool(x, (3, 3), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 3, 1)),
    Row("windows", "moving_average_20", {"x": "f32[B=1000,1,100000]"}, "return avg_pool(x, (20,), stride=1)",
        lambda t, x: t.nn.functional.avg_pool1d(x, 20, 1)),
    Row("windows", "moving_average_64_odd", {"x": "f32[B=500,1,100001]"}, "return avg_pool(x, (64,), stride=1)",
        lambda t, x: t.nn.functional.avg_pool1d(x, 64, 1)),
    Row("windows", "moving_average_bf16", {"x": "bf16[B=1000,1,100000]"}, "return avg_pool(f32(x), (24,), stride=1)",
        lambda t, x: t.nn.functional.avg_pool1d(x.float(), 24, 1)),
    Row("windows", "avg_pool_7_odd", {"x": "f32[B=8,32,511,513]"}, "return avg_pool(x, (7, 7), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 7, 1)),
    Row("windows", "max_pool_5_same", {"x": "f32[B=16,32,512,512]"}, "return max_pool(x, (5, 5), stride=1, padding=2)",
        lambda t, x: t.nn.functional.max_pool2d(x, 5, 1, 2)),
    Row("windows", "avg_pool_9_small", {"x": "f32[4,8,96,96]"}, "return avg_pool(x, (9, 9), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 9, 1)),
    Row("windows", "avg_pool_8_stride_4", {"x": "f32[B=16,32,512,512]"}, "return avg_pool(x, (8, 8), stride=4)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 8, 4)),
    Row("windows", "max_pool_1d", {"x": "f32[B=64,64,16384]"}, "return max_pool(x, (5,), stride=1)",
        lambda t, x: t.nn.functional.max_pool1d(x, 5, 1)),
    Row("windows", "max_pool_3d", {"x": "f32[B=14,32,32,64,64]"}, "return max_pool(x, (2, 2, 2))",
        functional("max_pool3d", kernel_size=2)),
    Row("windows", "max_pool_3d_overlapping_odd", {"x": "f32[B=37,16,23,53,53]"},
        "return max_pool(x, (3, 3, 3), stride=2, padding=1)", functional("max_pool3d", kernel_size=3, stride=2, padding=1)),
    Row("windows", "avg_pool_9_same_bf16_odd", {"x": "bf16[B=67,13,211,307]"}, "return avg_pool(x, (9, 9), stride=1, padding=4)",
        functional("avg_pool2d", kernel_size=9, stride=1, padding=4)),
    Row("windows", "max_pool_7_same_odd", {"x": "f32[B=41,17,211,307]"}, "return max_pool(x, (7, 7), stride=1, padding=3)",
        functional("max_pool2d", kernel_size=7, stride=1, padding=3)),
    Row("windows", "avg_pool_3d_odd", {"x": "f32[B=17,8,37,97,67]"}, "return avg_pool(x, (3, 3, 3), stride=1)",
        functional("avg_pool3d", kernel_size=3, stride=1)),
    Row("windows", "avg_pool_3_padded", {"x": "f32[B=400,192,28,28]"},
        "return avg_pool(x, (3, 3), stride=1, padding=1, count_padding=False)",
        functional("avg_pool2d", kernel_size=3, stride=1, padding=1, count_include_pad=False)),
    Row("windows", "max_pool_1d_127", {"x": "f32[B=2531,1,46327]"}, "return max_pool(x, (127,), stride=1)",
        functional("max_pool1d", kernel_size=127, stride=1)),
    Row("windows", "max_pool_2_f16_odd", {"x": "f16[B=719,67,53,97]"}, "return max_pool(x, (2, 2))",
        functional("max_pool2d", kernel_size=2)),
    Row("windows", "max_pool_3_dilated", {"x": "f32[B=64,32,128,128]"}, "return max_pool(x, (3, 3), stride=1, dilation=2)",
        functional("max_pool2d", kernel_size=3, stride=1, dilation=2)),
    Row("windows", "avg_pool_31", {"x": "f32[B=64,1,1024,1024]"}, "return avg_pool(x, (31, 31), stride=1)",
        functional("avg_pool2d", kernel_size=31, stride=1)),
    Row("windows", "avg_pool_1d_4_bf16", {"x": "bf16[B=34,256,4096]"}, "return avg_pool(x, (4,))",
        functional("avg_pool1d", kernel_size=4)),
    Row("windows", "local_response_norm", {"x": "f32[B=336,96,56,56]"},
        "s = pad(x * x, ((0, 0), (2, 2), (0, 0), (0, 0)))\n"
        "return x / (2 + 1e-4 * mean(window(s, 5, axis=1), axis=-1)) ** 0.75", torch_local_response),
    Row("windows", "depthwise_3", {"x": "f32[B=48,128,56,56]", "w": "f32[128,1,3,3]"},
        "return conv(x, w, padding=1, groups=128)", lambda t, x, w: conv2d(t, x, w, padding=1, groups=128)),
    Row("windows", "depthwise_3_stride_2_odd", {"x": "f32[B=223,53,149,67]", "w": "f32[53,1,3,3]"},
        "return conv(x, w, stride=2, padding=1, groups=53)", lambda t, x, w: conv2d(t, x, w, stride=2, padding=1, groups=53)),
    Row("windows", "depthwise_7_bf16", {"x": "bf16[B=352,96,56,56]", "w": "bf16[96,1,7,7]", "b": "bf16[96]"},
        "return conv(x, w, b, padding=3, groups=96)", lambda t, x, w, b: conv2d(t, x, w, b, padding=3, groups=96)),
    Row("windows", "depthwise_causal_4", {"x": "f32[B=18,1536,2048]", "w": "f32[1536,1,4]", "b": "f32[1536]"},
        "y = conv(pad(x, ((0, 0), (0, 0), (3, 0))), w, b, groups=1536)\nreturn silu(y)",
        lambda t, x, w, b: t.nn.functional.silu(conv1d(t, t.nn.functional.pad(x, (3, 0)), w, b, groups=1536))),
    Row("windows", "separable_rgb", {"x": "f32[B=256,3,256,256]", "w": "f32[3,1,3,3]", "p": "f32[8,3,1,1]"},
        "return conv(conv(x, w, padding=1, groups=3), p)", lambda t, x, w, p: conv2d(t, conv2d(t, x, w, padding=1, groups=3), p)),
    Row("windows", "conv_3_to_8_odd", {"x": "f32[B=379,3,347,163]", "w": "f32[8,3,3,3]", "b": "f32[8]"},
        "return relu(conv(x, w, b, padding=1))", lambda t, x, w, b: t.relu(conv2d(t, x, w, b, padding=1))),
    Row("windows", "conv_1d_filter_bank", {"x": "f32[B=499,1,48197]", "w": "f32[4,1,25]"}, "return conv(x, w, stride=5)",
        lambda t, x, w: conv1d(t, x, w, stride=5)),
]
