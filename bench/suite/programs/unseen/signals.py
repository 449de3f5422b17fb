"""Speech and sound, and medical and industrial images."""

from .. import Row


def torch_frames(t, x):
    f = x.unfold(1, 512, 160)
    f = f - f.mean(-1, keepdim=True)
    f = f - 0.97 * t.cat((f[..., :1], f[..., :-1]), -1)
    n = t.arange(512, device=x.device)
    return f * (0.54 - 0.46 * (2 * t.pi * n / 511).cos())


def torch_cepstra(t, re, im, mel, dct):
    p = (re.square() + im.square()) @ mel
    c = p.clamp(min=1e-10).log() @ dct
    return (c - c.mean(1, keepdim=True)) / (c.std(1, correction=0, keepdim=True) + 1e-5)


def torch_pcen(t, e, m):
    return (e / (1e-6 + m) ** 0.98 + 2) ** 0.5 - 2**0.5


def torch_rolloff(t, s):
    p = s * s
    n = s.shape[-1]
    f = t.arange(n, device=s.device) * (8000 / (n - 1))
    total = p.sum(-1) + 1e-9
    centroid = (p * f).sum(-1) / total
    spread = ((p * (f - centroid[..., None]) ** 2).sum(-1) / total).sqrt()
    rolloff = (p.cumsum(-1) < 0.85 * total[..., None]).sum(-1)
    flat = (p + 1e-9).log().mean(-1).exp() / (p.mean(-1) + 1e-9)
    return centroid, spread, rolloff, flat


def torch_a_law(t, x):
    v = x.to(t.int32)
    m = t.where(v < 0, ~v, v) >> 3
    e = sum((m >= 32 << i).to(t.int32) for i in range(7))
    mant = t.where(e < 2, m >> 1, m >> e) & 15
    return ((e << 4 | mant) ^ t.where(v < 0, 0x55, 0xD5)).to(t.uint8)


def torch_one_pole(t, x):
    a = 0.95
    b = x.double().reshape(x.shape[0], -1, 64)
    i = t.arange(64, device=x.device, dtype=t.float64)
    y = a**i * ((1 - a) * b * a**-i).cumsum(-1)
    return y.float().reshape(x.shape), y[..., -1].float()


def torch_envelope(t, x):
    n = x.shape[1]
    slope = t.arange(n, device=x.device) * 0.002
    level = (x.abs() + 1e-6).log()
    env = ((level + slope).cummax(1).values - slope).exp()
    return env, x / env.clamp(min=0.05)


def torch_echo(t, x):
    n = x.shape[1]
    y = x
    for d, g in ((4410, 0.5), (8820, -0.3), (13231, 0.2)):
        y = y + g * t.nn.functional.pad(x, (d, 0))[:, :n]
    return y.clamp(-1, 1)


def torch_mix(t, x, pan, db):
    g = 10 ** (db / 20)
    ang = (pan + 1) * (t.pi / 4)
    left, right = (g * ang.cos())[:, None] * x, (g * ang.sin())[:, None] * x
    y = t.stack((left.sum(0), right.sum(0)), -1)
    return y.tanh()


def torch_meters(t, x):
    b = x.reshape(x.shape[0], -1, 480).float() / 32768
    peak = 20 * b.abs().amax(-1).clamp(min=1e-5).log10()
    rms = 10 * b.square().mean(-1).clamp(min=1e-10).log10()
    clipped = (x.reshape(x.shape[0], -1, 480) >= 32767).sum(-1)
    hold = t.nn.functional.max_pool1d(t.nn.functional.pad(peak[:, None], (9, 0), value=-100.0), 10, 1)[:, 0]
    return peak, rms, hold, clipped


def torch_yin(t, f):
    n = 192
    d = t.stack([(f[:, :n] - f[:, k : k + n]).square().sum(1) for k in range(1, 65)], 1)
    m = d.cumsum(1) / t.arange(1, 65, device=f.device)
    d = d / m.clamp(min=1e-9)
    best, lag = d.min(1)
    return 16000 / (lag + 1).float(), best


def torch_windows(t, x):
    hu = x.float() - 1024
    out = [((hu - (c - w / 2)) / w).clamp(0, 1) * 255 for c, w in ((40, 80), (50, 350), (-600, 1500))]
    return t.stack(out, -1).round().to(t.uint8)


def torch_projections(t, x):
    return x.amax(0), x.amax(1), x.amin(0), x.float().mean(0)


def torch_flat_field(t, raw, dark, flat, bad):
    gain = flat.float() - dark
    v = (raw.float() - dark) / gain.clamp(min=1) * gain.mean()
    p = t.nn.functional.pad(v, (1, 1), mode="replicate")
    a, b, c = p[..., :-2], v, p[..., 2:]
    med = t.maximum(t.minimum(a, b), t.minimum(t.maximum(a, b), c))
    return t.where(bad, med, v).clamp(0, 65535)


def torch_median9(t, x):
    p = [x[:, i : x.shape[1] - 2 + i, j : x.shape[2] - 2 + j] for i in range(3) for j in range(3)]
    return t.stack(p).median(0).values


def torch_maxima_3d(t, x):
    top = t.nn.functional.max_pool3d(x[None, None].float(), 3, 1, 1)[0, 0]
    peak = (x >= top) & (x > 3)
    return peak, peak.sum((1, 2))


def torch_otsu(t, n):
    p = n.double() / n.sum(1, keepdim=True).clamp(min=1)
    i = t.arange(256, device=n.device)
    w, m = p.cumsum(1), (p * i).cumsum(1)
    total = m[:, -1:]
    between = (total * w - m) ** 2 / (w * (1 - w)).clamp(min=1e-9)
    return between.argmax(1).to(t.uint8), between.amax(1)


def torch_labels(t, label, mask):
    for _ in range(4):
        p = t.nn.functional.pad(label, (1, 1, 1, 1))
        m = t.maximum(t.maximum(p[:-2, 1:-1], p[2:, 1:-1]), t.maximum(p[1:-1, :-2], p[1:-1, 2:]))
        label = t.where(mask, t.maximum(label, m), 0)
    return label


def torch_city_block(t, x):
    d = t.where(x, 0, 10000)
    for axis in (0, 1):
        i = t.arange(x.shape[axis], device=x.device)
        i = i[:, None] if axis == 0 else i
        down = (d - i).cummin(axis).values + i
        up = (d + i).flip(axis).cummin(axis).values.flip(axis) - i
        d = t.minimum(down, up)
    return d


def torch_vessels(t, x):
    c = x[1:-1, 1:-1]
    xx = x[1:-1, 2:] - 2 * c + x[1:-1, :-2]
    yy = x[2:, 1:-1] - 2 * c + x[:-2, 1:-1]
    xy = (x[2:, 2:] - x[2:, :-2] - x[:-2, 2:] + x[:-2, :-2]) / 4
    root = t.hypot((xx - yy) / 2, xy)
    l1, l2 = (xx + yy) / 2 - root, (xx + yy) / 2 + root
    swap = l1.abs() > l2.abs()
    a, b = t.where(swap, l2, l1), t.where(swap, l1, l2)
    r, s = a * a / (b * b).clamp(min=1e-9), a * a + b * b
    return t.where(b > 0, 0, (-r / 0.5).exp() * (1 - (-s / 2).exp()))


def torch_label_dice(t, p, g):
    out = []
    for k in range(1, 5):
        a, b = p == k, g == k
        both, n = (a & b).sum((1, 2)), a.sum((1, 2)) + b.sum((1, 2))
        out.append(t.where(n > 0, 2 * both.double() / n, 1.0))
    return t.stack(out, 1)


def torch_beams(t, x, delay, w):
    i = t.arange(x.shape[2] - 32, device=x.device)
    return (w * t.take_along_dim(x, i + delay.long()[:, :, None], 2)).sum(1)


def torch_fringe(t, a, b, c, d):
    phase = t.atan2((d - b).float(), (a - c).float())
    mod = 0.5 * t.hypot((d - b).float(), (a - c).float())
    step = phase[:, 1:] - phase[:, :-1]
    wraps = t.where(step > t.pi, -1, t.where(step < -t.pi, 1, 0)).cumsum(1)
    return phase[:, 1:] + 2 * t.pi * wraps, mod > 8


ROWS = [
    Row("signals", "hamming_frames_512_160", {"x": "f32[B=100,160000]"},
        "f = window(x, 512, axis=1, stride=160)\nf = f - mean(f, axis=-1, keepdims=True)\nf = f - 0.97 * concat((f[..., :1], f[..., :-1]), axis=-1)\n"
        "return f * (0.54 - 0.46 * cos(2 * pi * f32(arange(512)) / 511))", torch_frames),
    Row("signals", "cepstra_40_to_13_normalised", {"re": "f32[B=100,1000,257]", "im": "f32[B,1000,257]", "mel": "uniform:f32[257,40]", "dct": "f32[40,13]"},
        "p = (re * re + im * im) @ (mel / 50)\nc = log(maximum(p, 1e-10)) @ dct\n"
        "return (c - mean(c, axis=1, keepdims=True)) / (std(c, axis=1, keepdims=True) + 1e-5)",
        lambda t, re, im, mel, dct: torch_cepstra(t, re, im, mel / 50, dct)),
    Row("signals", "pcen_64_bands_f16", {"e": "uniform:f16[B=500,1001,64]", "m": "uniform:f16[B,1001,64]"},
        "return f16((f32(e) / (1e-6 + f32(m)) ** 0.98 + 2) ** 0.5 - sqrt(2))", lambda t, e, m: torch_pcen(t, e.float(), m.float()).half()),
    Row("signals", "centroid_spread_rolloff_flatness_513", {"s": "f32[B=64,1000,513]"},
        "p = s * s\nn = s.shape[-1]\nf = f32(arange(n)) * (8000 / (n - 1))\ntotal = sum(p, axis=-1) + 1e-9\nc = sum(p * f, axis=-1) / total\n"
        "spread = sqrt(sum(p * (f - c[..., None]) ** 2, axis=-1) / total)\nrolloff = sum(cumsum(p, axis=-1) < 0.85 * total[..., None], axis=-1)\n"
        "return c, spread, rolloff, exp(mean(log(p + 1e-9), axis=-1)) / (mean(p, axis=-1) + 1e-9)", torch_rolloff),
    Row("signals", "a_law_encode_i16", {"x": "i16[N=80000001]"},
        "v = i32(x) * 500\nv = clamp(v, -32768, 32767)\nm = where(v < 0, ~v, v) >> 3\n"
        "e0, e1, e2, e3, e4, e5, e6 = [i32(m >= 32 << i) for i in (0, 1, 2, 3, 4, 5, 6)]\ne = e0 + e1 + e2 + e3 + e4 + e5 + e6\n"
        "mant = where(e < 2, m >> 1, m >> e) & 15\nreturn u8((e << 4 | mant) ^ where(v < 0, 0x55, 0xD5))",
        lambda t, x: torch_a_law(t, (x.to(t.int32) * 500).clamp(-32768, 32767))),
    Row("signals", "one_pole_blocks_of_64_f64", {"x": "f32[B=64,640000]"},
        "a = 0.95\nb = f64(x).reshape(x.shape[0], -1, 64)\ni = f64(arange(64))\ny = a ** i * cumsum((1 - a) * b * a ** -i, axis=-1)\n"
        "return f32(y).reshape(x.shape), f32(y[..., -1])", torch_one_pole),
    Row("signals", "peak_envelope_and_level", {"x": "f32[B=2000,20011]"},
        "slope = f32(arange(x.shape[1])) * 0.002\nenv = exp(cummax(log(abs(x) + 1e-6) + slope, axis=1) - slope)\nreturn env, x / maximum(env, 0.05)",
        torch_envelope),
    Row("signals", "echo_3_taps", {"x": "f32[B=200,220500]"},
        "n = x.shape[1]\ndef late(x, d, g, n): return g * pad(x, ((0, 0), (d, 0)))[:, :n]\n"
        "return clamp(x + late(x, 4410, 0.5, n) + late(x, 8820, -0.3, n) + late(x, 13231, 0.2, n), -1, 1)", torch_echo),
    Row("signals", "pan_and_mix_16_tracks", {"x": "f32[16,N=5000011]", "pan": "uniform:f32[16]", "db": "f32[16]"},
        "g = 10 ** (db / 20); angle = (2 * pan) * (pi / 4)\nleft = (g * cos(angle))[:, None] * x; right = (g * sin(angle))[:, None] * x\n"
        "return tanh(stack((sum(left, axis=0), sum(right, axis=0)), axis=-1))", lambda t, x, p, d: torch_mix(t, x, 2 * p - 1, d)),
    Row("signals", "peak_rms_hold_meters_i16", {"x": "i16[B=200,480000]"},
        "b = f32(x.reshape(x.shape[0], -1, 480)) / 32768\npeak = 20 * log10(maximum(max(abs(b), axis=-1), 1e-5))\n"
        "rms = 10 * log10(maximum(mean(b * b, axis=-1), 1e-10))\nhold = max_pool(pad(peak, ((0, 0), (9, 0)), value=-100), 10, stride=1)\n"
        "return peak, rms, hold, sum(x.reshape(x.shape[0], -1, 480) >= 32767, axis=-1)", torch_meters),
    Row("signals", "yin_pitch_64_lags", {"f": "f32[N=300000,256]"},
        f"n = 192\nd = stack([sum((f[:, :n] - f[:, k:k + n]) ** 2, axis=1) for k in {tuple(range(1, 65))}], axis=1)\n"
        "d = d / maximum(cumsum(d, axis=1) / f32(arange(1, 65)), 1e-9)\nreturn 16000 / f32(argmin(d, axis=1) + 1), min(d, axis=1)", torch_yin),
    Row("signals", "ct_three_windows_u8", {"x": "below=3000:i16[B=200,512,512]"},
        "hu = f32(x) - 1024\nreturn u8(round(stack([clamp((hu - (c - w / 2)) / w, 0, 1) * 255 for c, w in zip((40, 50, -600), (80, 350, 1500))], axis=-1)))",
        torch_windows),
    Row("signals", "volume_projections_i16", {"x": "i16[N=401,512,512]"},
        "return max(x, axis=0), max(x, axis=1), min(x, axis=0), mean(f32(x), axis=0)", torch_projections),
    Row("signals", "flat_field_dead_pixels_i16", {"raw": "below=4096:i16[B=20,2048,2049]", "dark": "below=64:i16[2048,2049]", "flat": "below=4096:i16[2048,2049]",
        "bad": "bool[2048,2049]"},
        "dark = f32(dark); gain = f32(flat) - dark\nv = (f32(raw) - dark) / maximum(gain, 1) * mean(gain)\np = pad(v, ((0, 0), (0, 0), (1, 1)), mode='edge')\n"
        "a = p[..., :-2]; c = p[..., 2:]\nreturn clamp(where(bad, maximum(minimum(a, v), minimum(maximum(a, v), c)), v), 0, 65535)", torch_flat_field),
    Row("signals", "median_3x3_network", {"x": "f32[B=16,1501,1999]"},
        "def sort3(v):\n  a, b, c = v\n  lo = minimum(a, b); hi = maximum(a, b)\n  return (minimum(lo, c), maximum(lo, minimum(hi, c)), maximum(hi, c))\n"
        "h = x.shape[1]; w = x.shape[2]\np, q, r = [sort3([x[:, i:h - 2 + i, j:w - 2 + j] for j in (0, 1, 2)]) for i in (0, 1, 2)]\n"
        "lo = maximum(maximum(p[0], q[0]), r[0]); hi = minimum(minimum(p[2], q[2]), r[2])\nm = sort3((p[1], q[1], r[1]))[1]\n"
        "return sort3((lo, m, hi))[1]", torch_median9),
    Row("signals", "local_maxima_26_neighbours_f16", {"x": "f16[N=300,400,401]"},
        "peak = x >= max_pool(x, (3, 3, 3), stride=1, padding=1) and x > 3\nreturn peak, sum(peak, axis=(1, 2))", torch_maxima_3d),
    Row("signals", "otsu_from_histograms_i32", {"n": "below=1000:i32[B=300000,256]"},
        "p = f64(n) / f64(maximum(sum(n, axis=1, keepdims=True), 1))\ni = f64(arange(256))\nw = cumsum(p, axis=1); m = cumsum(p * i, axis=1)\n"
        "b = (m[:, -1:] * w - m) ** 2 / maximum(w * (1 - w), 1e-9)\nreturn u8(argmax(b, axis=1)), max(b, axis=1)", torch_otsu),
    Row("signals", "label_propagation_4_steps_i32", {"label": "iota:i32[N=5000,5003]", "mask": "bool[N,5003]"},
        "def step(label, mask):\n  p = pad(label, 1)\n  m = maximum(maximum(p[:-2, 1:-1], p[2:, 1:-1]), maximum(p[1:-1, :-2], p[1:-1, 2:]))\n"
        "  return where(mask, maximum(label, m), 0)\ndef two(label, mask): return step(step(label, mask), mask)\nreturn two(two(label, mask), mask)",
        torch_labels),
    Row("signals", "city_block_distance_transform", {"x": "uniform:f32[N=4001,M=4003]"},
        "d = where(x > 0.999, 0, i64(10000))\ndef line(d, i, axis): return minimum(cummin(d - i, axis=axis) + i, cummin(d + i, axis=axis, reverse=True) - i)\n"
        "d = line(d, arange(x.shape[0])[:, None], 0)\nreturn line(d, arange(x.shape[1]), 1)", lambda t, x: torch_city_block(t, x > 0.999)),
    Row("signals", "vesselness_2d_odd", {"x": "f32[N=6001,6007]"},
        "c = x[1:-1, 1:-1]\nxx = x[1:-1, 2:] - 2 * c + x[1:-1, :-2]; yy = x[2:, 1:-1] - 2 * c + x[:-2, 1:-1]\n"
        "xy = (x[2:, 2:] - x[2:, :-2] - x[:-2, 2:] + x[:-2, :-2]) / 4\nroot = hypot((xx - yy) / 2, xy); mid = (xx + yy) / 2\nl1 = mid - root; l2 = mid + root\n"
        "swap = abs(l1) > abs(l2)\na = where(swap, l2, l1); b = where(swap, l1, l2)\nr = a * a / maximum(b * b, 1e-9); s = a * a + b * b\n"
        "return where(b > 0, 0, exp(-r / 0.5) * (1 - exp(-s / 2)))", torch_vessels),
    Row("signals", "dice_of_4_labels_u8", {"p": "below=5:u8[B=1500,256,257]", "g": "below=5:u8[B,256,257]"},
        "def dice(a, b):\n  both = sum(a & b, axis=(1, 2))\n  n = sum(a, axis=(1, 2)) + sum(b, axis=(1, 2))\n"
        "  return where(n > 0, 2 * f64(both) / f64(n), 1)\nreturn stack([dice(p == k, g == k) for k in (1, 2, 3, 4)], axis=1)", torch_label_dice),
    Row("signals", "delay_and_sum_beams", {"x": "f32[B=64,32,20032]", "delay": "below=32:i32[B,32]", "w": "f32[32,1]"},
        "i = i32(arange(x.shape[2] - 32))\nreturn sum(w * take_along_axis(x, i + delay[:, :, None], axis=2), axis=1)", torch_beams),
    Row("signals", "four_step_phase_unwrap_i16", {k: "below=4096:i16[N=4000,4001]" if k == "a" else "below=4096:i16[N,4001]" for k in "abcd"},
        "s = f32(d - b); c = f32(a - c)\nphase = atan2(s, c)\nstep = phase[:, 1:] - phase[:, :-1]\n"
        "wraps = cumsum(where(step > pi, -1, where(step < -pi, i64(1), 0)), axis=1)\nreturn phase[:, 1:] + 2 * pi * f32(wraps), 0.5 * hypot(s, c) > 8",
        torch_fringe),
]
