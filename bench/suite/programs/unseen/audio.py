"""Sound: frames, filters, levels."""

from .. import Row


def torch_hann_frames(t, x, w):
    return x.unfold(1, 400, 160) * w


def torch_mu_law(t, x):
    x = x.clamp(-1, 1)
    y = t.sign(x) * t.log1p(255 * x.abs()) / 5.545177444479562
    return ((y + 1) / 2 * 255 + 0.5).floor().to(t.uint8)


def torch_preemphasis_rms(t, x):
    y = t.cat((x[:, :1], x[:, 1:] - 0.97 * x[:, :-1]), 1)
    return y.reshape(x.shape[0], -1, 441).square().mean(-1).sqrt()


def torch_log_mel(t, re, im, mel):
    return t.log10((mel @ (re * re + im * im)).clamp(min=1e-10))


def torch_mid_side(t, x):
    x = x.int()
    return ((x[:, 0] + x[:, 1]) >> 1).to(t.int16), (x[:, 0] - x[:, 1]).to(t.int16)


def torch_mixdown(t, tracks, gain, pan):
    left, right = gain * t.cos(pan), gain * t.sin(pan)
    mix = t.stack(((tracks * left[:, None]).sum(0), (tracks * right[:, None]).sum(0)), -1)
    return t.tanh(mix)


def torch_zcr(t, x):
    f = x.reshape(x.shape[0], -1, 512)
    s = f >= 0
    return (s[..., 1:] != s[..., :-1]).sum(-1) / 511, f.square().sum(-1)


def torch_fir(t, x, taps):
    return t.nn.functional.conv1d(x[:, None], taps.view(1, 1, -1))[:, 0]


def torch_centroid(t, m, hz):
    total = m.sum(1) + 1e-9
    c = (m * hz[:, None]).sum(1) / total
    spread = t.sqrt((m * (hz[:, None] - c[:, None]) ** 2).sum(1) / total)
    flat = t.exp(t.log(m + 1e-9).mean(1)) / (m.mean(1) + 1e-9)
    return c, spread, flat


def torch_delta(t, x):
    p = t.cat((x[:, :1], x[:, :1], x, x[:, -1:], x[:, -1:]), 1)
    n = x.shape[1]
    d = (p[:, 3:3 + n] - p[:, 1:1 + n] + 2 * (p[:, 4:] - p[:, :n])) / 10
    return t.cat((x, d), -1)


def torch_to_pcm(t, x):
    peak = x.abs().amax(1, keepdim=True)
    return (x / peak.clamp(min=1e-8) * 32767).round().to(t.int16)


def torch_amplitude_db(t, p):
    db = 10 * t.log10(p.clamp(min=1e-10))
    return t.maximum(db, db.amax((1, 2), keepdim=True) - 80)


def torch_agc(t, x):
    e = (x * x).cumsum(-1)
    n = 256
    local = t.sqrt((e[:, n:] - e[:, :-n]) / n + 1e-6)
    return x[:, n:] * (0.1 / local)


ROWS = [
    Row("audio", "hann_frames_400_160", {"x": "f32[B=48,160000]", "w": "uniform:f32[400]"},
        "return window(x, 400, stride=160) * w", torch_hann_frames),
    Row("audio", "mu_law_encode_odd", {"x": "f32[N=39999983]"},
        "x = clamp(x, -1, 1)\ny = sign(x) * log1p(255 * abs(x)) / log1p(255)\nreturn u8(floor((y + 1) / 2 * 255 + 0.5))", torch_mu_law),
    Row("audio", "preemphasis_rms_44100", {"x": "f32[B=120,220500]"},
        "y = concat((x[:, :1], x[:, 1:] - 0.97 * x[:, :-1]), axis=1)\nf = y.reshape(y.shape[0], -1, 441)\nreturn sqrt(mean(f * f, axis=-1))",
        torch_preemphasis_rms),
    Row("audio", "log_mel_80x201", {"re": "f32[B=64,201,998]", "im": "f32[B,201,998]", "mel": "uniform:f32[80,201]"},
        "return log10(maximum(mel @ (re ** 2 + im ** 2), 1e-10))", torch_log_mel),
    Row("audio", "mid_side_i16", {"x": "i16[N=30000000,2]"},
        "l = i32(x[:, 0]); r = i32(x[:, 1])\nreturn i16((l + r) >> 1), i16(l - r)", torch_mid_side),
    Row("audio", "mixdown_8_tracks", {"tracks": "f32[8,N=5000011]", "gain": "uniform:f32[8]", "pan": "uniform:f32[8]"},
        "l = sum(tracks * (gain * cos(pan))[:, None], axis=0)\nr = sum(tracks * (gain * sin(pan))[:, None], axis=0)\n"
        "return tanh(stack((l, r), axis=-1))", torch_mixdown),
    Row("audio", "zero_crossings_and_energy", {"x": "f32[B=300,131072]"},
        "f = x.reshape(x.shape[0], -1, 512)\ns = f >= 0\nreturn f32(sum(s[..., 1:] != s[..., :-1], axis=-1)) / 511, sum(square(f), axis=-1)",
        torch_zcr),
    Row("audio", "fir_31_taps", {"x": "f32[B=7,4800000]", "taps": "f32[31]"}, "return sum(window(x, 31) * taps, axis=-1)", torch_fir),
    Row("audio", "spectral_shape_513", {"m": "uniform:f32[B=96,513,431]", "hz": "uniform:f32[513]"},
        "total = sum(m, axis=1, keepdims=True) + 1e-9\nc = sum(m * hz[:, None], axis=1, keepdims=True) / total\n"
        "spread = sqrt(sum(m * (hz[:, None] - c) ** 2, axis=1) / total[:, 0])\n"
        "flat = exp(mean(log(m + 1e-9), axis=1)) / (mean(m, axis=1) + 1e-9)\nreturn c[:, 0], spread, flat", torch_centroid),
    Row("audio", "mfcc_deltas_13", {"x": "f32[B=1000,998,13]"},
        "p = pad(x, ((0, 0), (2, 2), (0, 0)), mode='edge')\nn = x.shape[1]\n"
        "d = (p[:, 3:3+n] - p[:, 1:1+n] + 2 * (p[:, 4:] - p[:, :n])) / 10\nreturn concat((x, d), axis=-1)", torch_delta),
    Row("audio", "normalize_to_pcm16_batch_7", {"x": "f32[B=7,8640007]"},
        "peak = max(abs(x), axis=1, keepdims=True)\nreturn i16(round(x / maximum(peak, 1e-8) * 32767))", torch_to_pcm),
    Row("audio", "amplitude_to_db_top_80", {"p": "uniform:f32[B=150,128,1501]"},
        "db = 10 * log10(maximum(p, 1e-10))\nreturn maximum(db, max(db, axis=(1, 2), keepdims=True) - 80)", torch_amplitude_db),
    Row("audio", "gain_control_moving_rms", {"x": "f32[B=500,48256]"},
        "e = cumsum(x * x)\nn = 256\nlocal = sqrt((e[:, n:] - e[:, :-n]) / n + 1e-6)\nreturn x[:, n:] * (0.1 / local)", torch_agc),
]
