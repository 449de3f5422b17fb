"""Parts of vision networks."""

from .. import Row


def torch_depthwise_bn(t, x, w, s, b):
    y = t.nn.functional.conv2d(x, w, padding=1, groups=x.shape[1])
    return (y * s[:, None, None] + b[:, None, None]).clamp(0, 6)


def torch_stem_pool(t, x, b):
    return t.nn.functional.max_pool2d(t.relu(x + b[:, None, None]), 3, 2, 1)


def torch_squeeze_excite(t, x, w1, w2):
    z = t.sigmoid(t.relu(x.mean((2, 3)) @ w1.T) @ w2.T)
    return x * z[:, :, None, None]


def torch_pixel_shuffle(t, x, b):
    return t.nn.functional.pixel_shuffle(x + b[:, None, None], 2).clamp(0, 1)


def torch_rgb_matrix(t, x, w, b):
    return t.nn.functional.conv2d(x, w[:, :, None, None], b)


def torch_conv_small(t, x, w, b):
    return t.nn.functional.gelu(t.nn.functional.conv2d(x, w, b, stride=2, padding=1))


def torch_upsample_skip(t, x, skip):
    return t.cat((t.nn.functional.interpolate(x, scale_factor=2, mode="nearest"), skip), 1)


def torch_instance_norm(t, x):
    return t.nn.functional.leaky_relu(t.nn.functional.instance_norm(x), 0.2)


def torch_causal_conv(t, x, w):
    return t.tanh(t.nn.functional.conv1d(t.nn.functional.pad(x, (8, 0)), w, dilation=4, groups=x.shape[1]))


def torch_avg_pool3d(t, x):
    return t.nn.functional.avg_pool3d(x, 2)


def torch_peaks(t, h):
    m = t.nn.functional.max_pool2d(h, 3, 1, 1)
    return t.where((h == m) & (h > 0.5), h, 0), ((h == m) & (h > 0.5)).sum((2, 3))


def torch_channel_shuffle(t, x):
    b, c, h, w = x.shape
    return x.view(b, 4, c // 4, h, w).transpose(1, 2).reshape(b, c, h, w)


def torch_soft_argmax(t, h):
    p = h.flatten(2).softmax(-1).view_as(h)
    x = (p.sum(2) * t.arange(h.shape[3], device=h.device)).sum(-1)
    y = (p.sum(3) * t.arange(h.shape[2], device=h.device)).sum(-1)
    return t.stack((x, y), -1)


def torch_groupnorm_silu(t, x, w, b, e):
    return t.nn.functional.silu(t.nn.functional.group_norm(x, 8, w, b) + e[:, :, None, None])


ROWS = [
    Row("vision", "depthwise_3x3_bn_relu6", {"x": "f32[B=64,96,57,57]", "w": "f32[96,1,3,3]", "s": "f32[96]", "b": "f32[96]"},
        "y = conv(x, w, padding=1, groups=96)\nreturn clamp(y * s[:, None, None] + b[:, None, None], 0, 6)", torch_depthwise_bn),
    Row("vision", "bias_relu_max_pool_3_2", {"x": "f32[B=48,64,112,112]", "b": "f32[64]"},
        "return max_pool(relu(x + b[:, None, None]), (3, 3), stride=2, padding=1)", torch_stem_pool),
    Row("vision", "squeeze_excite_144", {"x": "f32[B=128,144,28,28]", "w1": "f32[36,144]", "w2": "f32[144,36]"},
        "z = sigmoid(linear(relu(linear(mean(x, axis=(2, 3)), w1)), w2))\nreturn x * z[:, :, None, None]", torch_squeeze_excite),
    Row("vision", "pixel_shuffle_x2", {"x": "f32[B=24,12,270,480]", "b": "f32[12]"},
        "x = x + b[:, None, None]\nh = x.shape[2]; w = x.shape[3]\ny = x.reshape(-1, 3, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3)\n"
        "return clamp(y.reshape(-1, 3, 2 * h, 2 * w), 0, 1)", torch_pixel_shuffle),
    Row("vision", "color_matrix_3x3", {"x": "f32[B=12,3,1080,1920]", "w": "f32[3,3]", "b": "f32[3]"},
        "return einsum('oc,bchw->bohw', w, x) + b[:, None, None]", torch_rgb_matrix),
    Row("vision", "stem_conv_3_to_16_gelu", {"x": "f32[B=64,3,224,224]", "w": "f32[16,3,3,3]", "b": "f32[16]"},
        "return gelu(conv(x, w, b, stride=2, padding=1))", torch_conv_small),
    Row("vision", "upsample_2x_and_skip", {"x": "f32[B=20,32,61,91]", "skip": "f32[B,16,122,182]"},
        "up = repeat(repeat(x, 2, axis=2), 2, axis=3)\nreturn concat((up, skip), axis=1)", torch_upsample_skip),
    Row("vision", "instance_norm_leaky_odd", {"x": "f32[B=11,67,181,183]"},
        "m = mean(x, axis=(2, 3), keepdims=True)\nv = var(x, axis=(2, 3), keepdims=True)\nreturn leaky_relu((x - m) / sqrt(v + 1e-5), 0.2)",
        torch_instance_norm),
    Row("vision", "dilated_causal_depthwise_1d", {"x": "f32[B=16,64,16000]", "w": "f32[64,1,3]"},
        "return tanh(conv(pad(x, ((0, 0), (0, 0), (8, 0))), w, dilation=4, groups=64))", torch_causal_conv),
    Row("vision", "avg_pool_3d_rank_5", {"x": "f32[B=8,8,32,112,112]"}, "return avg_pool(x, (2, 2, 2))", torch_avg_pool3d),
    Row("vision", "heatmap_peaks_and_counts", {"h": "uniform:f32[B=64,17,128,96]"},
        "m = max_pool(h, (3, 3), stride=1, padding=1)\npeak = (h == m) & (h > 0.5)\nreturn where(peak, h, 0), sum(peak, axis=(2, 3))", torch_peaks),
    Row("vision", "channel_shuffle_4_groups_f16", {"x": "f16[B=256,116,28,28]"},
        "s = x.shape\nreturn swapaxes(x.reshape(-1, 4, 29, 28, 28), 1, 2).reshape(-1, 116, 28, 28)", torch_channel_shuffle),
    Row("vision", "soft_argmax_17x64x48", {"h": "f32[B=1024,17,64,48]"},
        "p = softmax(h, axis=(2, 3))\nx = sum(p * f32(arange(48)), axis=(2, 3))\ny = sum(p * f32(arange(64))[:, None], axis=(2, 3))\n"
        "return stack((x, y), axis=-1)", torch_soft_argmax),
    Row("vision", "group_norm_add_silu", {"x": "f32[B=40,64,48,49]", "w": "f32[64]", "b": "f32[64]", "e": "f32[B,64]"},
        "return silu(groupnorm(x, 8, w, b) + e[:, :, None, None])", torch_groupnorm_silu),
]
