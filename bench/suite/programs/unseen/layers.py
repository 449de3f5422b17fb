"""Layers of networks: products with what stands around them."""

from .. import Row


def torch_autoencoder(t, x, w1, b1, w2, b2, w3, b3, w4, b4):
    lin = t.nn.functional.linear
    code = lin(lin(x, w1, b1).relu(), w2, b2)
    out = lin(lin(code, w3, b3).relu(), w4, b4).sigmoid()
    return code, (out - x).square().mean(1)


def torch_mixer_tokens(t, x, g, b, w1, w2):
    f = t.nn.functional
    h = f.layer_norm(x, x.shape[-1:], g, b).mT
    return x + (f.gelu(h @ w1.T) @ w2.T).mT


def torch_low_rank_gate(t, x, down, gate, up):
    h = x @ down
    return t.nn.functional.silu(h @ gate) * (h @ up)


def torch_maxout(t, x, w, b):
    return (x @ w + b).reshape(x.shape[0], -1, 5).amax(-1)


def torch_film(t, x, cond, w, wc, bc):
    gamma, beta = (cond @ wc + bc).chunk(2, -1)
    return (x @ w * (1 + gamma[:, None]) + beta[:, None]).relu()


def torch_highway(t, x, wt, bt, wh, bh):
    gate = (x @ wt + bt).sigmoid()
    return gate * (x @ wh + bh).relu() + (1 - gate) * x


def torch_post_norm(t, x, w, b, g, c):
    return t.nn.functional.layer_norm(x + (x @ w + b).tanh(), x.shape[-1:], g, c)


def torch_capsules(t, u, w):
    s = t.einsum("bid,kidj->bkij", u, w).mean(2)
    n2 = s.square().sum(-1, keepdim=True)
    return n2 / (1 + n2) * s / (n2 + 1e-9).sqrt()


def torch_kronecker(t, x, a, b, bias):
    return t.nn.functional.gelu(a @ x @ b.T + bias)


def torch_conv1x1_bn(t, x, w, s, b):
    y = t.nn.functional.conv2d(x, w[:, :, None, None])
    return t.nn.functional.silu(y * s[:, None, None] + b[:, None, None])


def torch_conv_nhwc(t, x, w, b):
    y = t.nn.functional.conv2d(x.permute(0, 3, 1, 2), w, b, padding=1)
    return t.nn.functional.gelu(y).permute(0, 2, 3, 1)


def torch_up_2x2(t, x, w, b):
    y = t.nn.functional.conv_transpose2d(x.permute(0, 3, 1, 2), w, b, stride=2)
    return y.relu().permute(0, 2, 3, 1)


def torch_input_gradient(t, x, w, g, stride, padding):
    ones = [1, 1]
    return t.ops.aten.convolution_backward(g, x, w, None, [stride] * 2, [padding] * 2, ones, False, [0, 0], 1, [True, False, False])[0]


def torch_separable(t, x, dw, pw, b):
    f = t.nn.functional
    h = f.relu6(f.conv2d(x, dw, padding=1, groups=x.shape[1]))
    return f.relu6(f.conv2d(h, pw[:, :, None, None], b))


def torch_wavenet(t, x, w, b):
    h = t.nn.functional.conv1d(t.nn.functional.pad(x, (8, 0)), w, b, dilation=8)
    u, v = h.chunk(2, 1)
    return x + u.tanh() * v.sigmoid()


def torch_patches(t, x, w, b, pos):
    y = t.nn.functional.conv2d(x, w, b, stride=16)
    return y.flatten(2).mT + pos


def torch_mlp_of_list(t, x, ws, bs):
    acts = (t.tanh, t.nn.functional.silu, t.nn.functional.elu, t.sigmoid)
    for act, w, b in zip(acts, ws, bs):
        x = act(x @ w + b)
    return x


def torch_int8_requantize(t, x, w, b, scale):
    acc = (x.double() @ w.double().T).to(t.int32) + b
    y = (acc.float() * scale).round()
    return y.relu().clamp(max=127).to(t.int8)


def torch_concat_mlp(t, a, b, c, w, bias, w2):
    return (t.cat((a, b, c), -1) @ w + bias).relu() @ w2


def torch_classifier(t, x, w1, b1, w2, b2, y):
    f = t.nn.functional
    z = f.leaky_relu(x @ w1 + b1, 0.1) @ w2 + b2
    return f.cross_entropy(z, y.long()), z.argmax(1)


def torch_siamese(t, a, b, w):
    p, q = a @ w, b @ w
    d = (p - q).square().sum(1)
    cos = (p * q).sum(1) / (p.norm(dim=1) * q.norm(dim=1) + 1e-8)
    return d, cos


ROWS = [
    Row("layers", "autoencoder_784_256_32", {"x": "uniform:f32[B=60000,784]", "w1": "f32[256,784]", "b1": "f32[256]", "w2": "f32[32,256]",
        "b2": "f32[32]", "w3": "f32[256,32]", "b3": "f32[256]", "w4": "f32[784,256]", "b4": "f32[784]"},
        "w1 = w1 / 28; w2 = w2 / 16; w3 = w3 / 16; w4 = w4 / 16\ncode = linear(relu(linear(x, w1, b1)), w2, b2)\n"
        "out = sigmoid(linear(relu(linear(code, w3, b3)), w4, b4))\nreturn code, mean((out - x) ** 2, axis=1)",
        lambda t, x, w1, b1, w2, b2, w3, b3, w4, b4: torch_autoencoder(t, x, w1 / 28, b1, w2 / 16, b2, w3 / 16, b3, w4 / 16, b4)),
    Row("layers", "mixer_tokens_196_bf16", {"x": "bf16[B=400,196,512]", "g": "bf16[512]", "b": "bf16[512]", "w1": "bf16[256,196]", "w2": "bf16[196,256]"},
        "h = layernorm(x, g, b).mT\nreturn x + (gelu(h @ w1.T / 14) @ w2.T / 16).mT",
        lambda t, x, g, b, w1, w2: torch_mixer_tokens(t, x, g, b, w1 / 14, w2 / 16)),
    Row("layers", "low_rank_gate_64_f16", {"x": "f16[B=32768,1024]", "down": "f16[1024,64]", "gate": "f16[64,2048]", "up": "f16[64,2048]"},
        "h = x @ (down / 32)\nreturn silu(h @ (gate / 8)) * (h @ (up / 8))",
        lambda t, x, d, g, u: torch_low_rank_gate(t, x, d / 32, g / 8, u / 8)),
    Row("layers", "bilinear_32x48_to_16", {"x": "f32[B=300000,32]", "y": "f32[B,48]", "w": "f32[16,32,48]", "b": "f32[16]"},
        "return tanh(einsum('bi,oij,bj->bo', x, w, y) / 40 + b)",
        lambda t, x, y, w, b: (t.nn.functional.bilinear(x, y, w) / 40 + b).tanh()),
    Row("layers", "squared_relu_ffn_bf16", {"x": "bf16[T=8192,1024]", "w1": "bf16[1024,4096]", "w2": "bf16[4096,1024]"},
        "return (relu(x @ (w1 / 32)) ** 2) @ (w2 / 64)", lambda t, x, w1, w2: (x @ (w1 / 32)).relu() ** 2 @ (w2 / 64)),
    Row("layers", "maxout_5_pieces", {"x": "f32[B=65536,512]", "w": "f32[512,640]", "b": "f32[640]"},
        "return max((x @ w + b).reshape(x.shape[0], 128, 5), axis=-1)", torch_maxout),
    Row("layers", "film_by_condition", {"x": "f32[B=250,1024,64]", "cond": "f32[B,100]", "w": "f32[64,96]", "wc": "f32[100,192]", "bc": "f32[192]"},
        "gamma, beta = split(cond @ wc + bc, 2, axis=-1)\nreturn relu(x @ w * (1 + gamma[:, None]) + beta[:, None])", torch_film),
    Row("layers", "highway_509", {"x": "f32[B=40009,509]", "wt": "f32[509,509]", "bt": "f32[509]", "wh": "f32[509,509]", "bh": "f32[509]"},
        "gate = sigmoid(x @ wt / 20 + bt - 2)\nreturn gate * relu(x @ wh / 20 + bh) + (1 - gate) * x",
        lambda t, x, wt, bt, wh, bh: torch_highway(t, x, wt / 20, bt - 2, wh / 20, bh)),
    Row("layers", "tanh_residual_post_norm_f16", {"x": "f16[B=50000,768]", "w": "f16[768,768]", "b": "f16[768]", "g": "f16[768]", "c": "f16[768]"},
        "return layernorm(x + tanh(x @ w / 28 + b), g, c)", lambda t, x, w, b, g, c: torch_post_norm(t, x, w / 28, b, g, c)),
    Row("layers", "capsule_votes_squash", {"u": "f32[B=1000,1152,8]", "w": "f32[10,1152,8,16]"},
        "s = mean(einsum('bid,kidj->bkij', u, w), axis=2)\nn2 = sum(s * s, axis=-1, keepdims=True)\nreturn n2 / (1 + n2) * s / sqrt(n2 + 1e-9)",
        torch_capsules),
    Row("layers", "kronecker_32x32_gelu", {"x": "f32[B=32768,32,32]", "a": "f32[32,32]", "b": "f32[32,32]", "bias": "f32[32,32]"},
        "return gelu(a @ x @ b.T / 32 + bias)", lambda t, x, a, b, c: torch_kronecker(t, x, a / 32, b, c)),
    Row("layers", "conv1x1_scale_silu_f16", {"x": "f16[B=64,256,56,56]", "w": "f16[128,256]", "s": "f16[128]", "b": "f16[128]"},
        "y = conv2d(x, w[:, :, None, None] / 16)\nreturn silu(y * s[:, None, None] + b[:, None, None])",
        lambda t, x, w, s, b: torch_conv1x1_bn(t, x, w / 16, s, b)),
    Row("layers", "conv3x3_32_to_32_relu", {"x": "f32[B=40,32,112,112]", "w": "f32[32,32,3,3]", "b": "f32[32]"},
        "return relu(conv2d(x, w, b, padding=1))", lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, padding=1).relu()),
    Row("layers", "conv3x3_nhwc_gelu_bf16", {"x": "bf16[B=64,56,56,128]", "w": "bf16[128,128,3,3]", "b": "bf16[128]"},
        "y = conv(moveaxis(x, -1, 1), w / 32, b, padding=1)\nreturn moveaxis(gelu(y), 1, -1)",
        lambda t, x, w, b: torch_conv_nhwc(t, x, w / 32, b)),
    Row("layers", "conv_transpose_2x2_nhwc", {"x": "f32[B=40,64,64,128]", "w": "f32[128,64,2,2]", "b": "f32[64]"},
        "n, h, k, c = x.shape\ny = (x @ w.reshape(c, -1)).reshape(n, h, k, 64, 2, 2)\n"
        "return relu(y.permute(0, 1, 4, 2, 5, 3).reshape(n, 2 * h, 2 * k, 64) + b)", torch_up_2x2),
    Row("layers", "conv_transpose_4x4_stride_2", {"x": "f32[B=100,32,64,64]", "w": "f32[32,16,4,4]", "b": "f32[16]"},
        "n, c, h, k = x.shape\nz = pad(x[:, :, :, None, :, None], ((0, 0), (0, 0), (0, 0), (0, 1), (0, 0), (0, 1))).reshape(n, c, 2 * h, 2 * k)\n"
        "return tanh(conv(pad(z[:, :, :-1, :-1], ((0, 0), (0, 0), (2, 2), (2, 2))), flip(swapaxes(w, 0, 1), axis=(2, 3)), b))",
        lambda t, x, w, b: t.nn.functional.conv_transpose2d(x, w, b, stride=2, padding=1).tanh()),
    Row("layers", "conv_transpose_3x3_stride_2", {"x": "f32[B=120,64,28,28]", "w": "f32[64,32,3,3]", "b": "f32[32]"},
        "n, c, h, k = x.shape\nz = pad(x[:, :, :, None, :, None], ((0, 0), (0, 0), (0, 0), (0, 1), (0, 0), (0, 1))).reshape(n, c, 2 * h, 2 * k)\n"
        "return relu(conv(pad(z, ((0, 0), (0, 0), (1, 1), (1, 1))), flip(swapaxes(w, 0, 1), axis=(2, 3)), b))",
        lambda t, x, w, b: t.nn.functional.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1).relu()),
    Row("layers", "conv_transpose_5x5_stride_3", {"x": "f32[B=60,48,30,30]", "w": "f32[48,24,5,5]"},
        "n, c, h, k = x.shape\nz = pad(x[:, :, :, None, :, None], ((0, 0), (0, 0), (0, 0), (0, 2), (0, 0), (0, 2))).reshape(n, c, 3 * h, 3 * k)\n"
        "return conv(pad(z[:, :, :-2, :-2], ((0, 0), (0, 0), (3, 3), (3, 3))), flip(swapaxes(w, 0, 1), axis=(2, 3)))",
        lambda t, x, w: t.nn.functional.conv_transpose2d(x, w, stride=3, padding=1)),
    Row("layers", "conv_transpose_vocoder_16_stride_8", {"x": "f32[B=16,128,1000]", "w": "f32[128,64,16]", "b": "f32[64]"},
        "n, c, h = x.shape\nz = pad(x[:, :, :, None], ((0, 0), (0, 0), (0, 0), (0, 7))).reshape(n, c, 8 * h)[:, :, :-7]\n"
        "return leaky_relu(conv1d(pad(z, ((0, 0), (0, 0), (11, 11))), flip(swapaxes(w, 0, 1), axis=2), b), 0.1)",
        lambda t, x, w, b: t.nn.functional.leaky_relu(t.nn.functional.conv_transpose1d(x, w, b, stride=8, padding=4), 0.1)),
    Row("layers", "conv7x7_stride_2_input_gradient", {"x": "f32[B=40,3,112,112]", "w": "f32[64,3,7,7]", "g": "f32[B=40,64,56,56]"},
        "return vjp(conv(x, w, stride=2, padding=3), x, g)", lambda t, x, w, g: torch_input_gradient(t, x, w, g, 2, 3)),
    Row("layers", "conv3x3_input_gradient", {"x": "f32[B=40,64,56,56]", "w": "f32[64,64,3,3]", "g": "f32[B=40,64,56,56]"},
        "return vjp(conv(x, w, padding=1), x, g)", lambda t, x, w, g: torch_input_gradient(t, x, w, g, 1, 1)),
    Row("layers", "depthwise_then_pointwise_relu6", {"x": "f32[B=50,64,80,80]", "dw": "f32[64,1,3,3]", "pw": "f32[128,64]", "b": "f32[128]"},
        "def relu6(x): return clamp(x, 0, 6)\nh = relu6(conv(x, dw, padding=1, groups=64))\nreturn relu6(conv(h, pw[:, :, None, None], b))",
        torch_separable),
    Row("layers", "wavenet_dilated_gate", {"x": "f32[B=24,64,16000]", "w": "f32[128,64,2]", "b": "f32[128]"},
        "h = conv1d(pad(x, ((0, 0), (0, 0), (8, 0))), w / 8, b, dilation=8)\nu, v = split(h, 2, axis=1)\nreturn x + tanh(u) * sigmoid(v)",
        lambda t, x, w, b: torch_wavenet(t, x, w / 8, b)),
    Row("layers", "patch_embedding_16_bf16", {"x": "bf16[B=256,3,224,224]", "w": "bf16[768,3,16,16]", "b": "bf16[768]", "pos": "bf16[196,768]"},
        "n = x.shape[0]\np = x.reshape(n, 3, 14, 16, 14, 16).permute(0, 2, 4, 1, 3, 5).reshape(n, 196, 768)\n"
        "return linear(p, w.reshape(768, 768) / 28, b) + pos", lambda t, x, w, b, pos: torch_patches(t, x, w / 28, b, pos)),
    Row("layers", "mlp_of_4_activations", {"x": "f32[B=100000,256]", "ws": "f32[256,256]+f32[256,256]+f32[256,128]+f32[128,10]",
        "bs": "f32[256]+f32[256]+f32[128]+f32[10]"},
        "w1, w2, w3, w4 = [w / 16 for w in ws]\nb1, b2, b3, b4 = bs\n"
        "return sigmoid(elu(silu(tanh(x @ w1 + b1) @ w2 + b2) @ w3 + b3) @ w4 + b4)",
        lambda t, x, ws, bs: torch_mlp_of_list(t, x, [w / 16 for w in ws], bs)),
    Row("layers", "int8_linear_requantize_relu", {"x": "i8[B=100000,512]", "w": "i8[256,512]", "b": "i32[256]", "scale": "uniform:f32[256]"},
        "acc = i32(x) @ i32(w).T + b\nreturn i8(clamp(round(f32(acc) * (scale / 100)), 0, 127))",
        lambda t, x, w, b, s: torch_int8_requantize(t, x, w, b, s / 100)),
    Row("layers", "concat_3_inputs_mlp", {"a": "f32[B=120000,100]", "b": "f32[B,61]", "c": "f32[B,7]", "w": "f32[168,128]", "bias": "f32[128]",
        "w2": "f32[128,1]"}, "return relu(concat((a, b, c), axis=-1) @ w + bias) @ w2", torch_concat_mlp),
    Row("layers", "leaky_mlp_loss_and_classes", {"x": "f32[B=200001,129]", "w1": "f32[129,65]", "b1": "f32[65]", "w2": "f32[65,11]", "b2": "f32[11]",
        "y": "below=11:i32[B]"}, "z = leaky_relu(x @ w1 / 11 + b1, 0.1) @ w2 / 8 + b2\nreturn cross_entropy(z, y), argmax(z, axis=1)",
        lambda t, x, w1, b1, w2, b2, y: torch_classifier(t, x, w1 / 11, b1, w2 / 8, b2, y)),
    Row("layers", "siamese_128_distance_cosine", {"a": "f32[B=150000,256]", "b": "f32[B,256]", "w": "f32[256,128]"},
        "p = a @ w / 16; q = b @ w / 16\nreturn sum((p - q) ** 2, axis=1), vecdot(p, q) / (l2norm(p, axis=1) * l2norm(q, axis=1) + 1e-8)",
        lambda t, a, b, w: torch_siamese(t, a, b, w / 16)),
]
