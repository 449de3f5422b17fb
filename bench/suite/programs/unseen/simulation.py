"""Particles, fields, automata and quantum states, one or several steps."""

from .. import Row


def torch_deposit(t, p, q):
    g = p * 512
    i = g.floor()
    f = g - i
    i = i.long() % 512
    out = t.zeros(512 * 512, dtype=p.dtype, device=p.device)
    for dx in (0, 1):
        for dy in (0, 1):
            w = (f[:, 0] if dx else 1 - f[:, 0]) * (f[:, 1] if dy else 1 - f[:, 1])
            out = out.index_add(0, (i[:, 0] + dx) % 512 * 512 + (i[:, 1] + dy) % 512, q * w)
    return out.reshape(512, 512)


def torch_push_1d(t, x, v, e):
    g = x * 1024
    i = g.floor()
    f = g - i
    i = i.long() % 1024
    field = e[i] * (1 - f) + e[(i + 1) % 1024] * f
    v = v - 0.01 * field
    x = (x + 0.01 * v) % 1
    return x, v, 0.5 * (v * v).double().sum().float()


def torch_disks(t, p, v):
    d = p[:, None] - p
    r2 = d.square().sum(-1)
    touch = (r2 < 0.0004) & (r2 > 0)
    vn = ((v[:, None] - v) * d).sum(-1)
    j = t.where(touch & (vn < 0), -vn / r2.clamp(min=1e-12), 0)
    push = t.where(touch, (0.02 - r2.clamp(min=1e-12).sqrt()) / r2.clamp(min=1e-12).sqrt(), 0)
    return v + 0.5 * (j[..., None] * d).sum(1), p + 0.5 * (push[..., None] * d).sum(1), touch.sum(1)


def torch_cloth(t, x, v):
    force = t.zeros_like(x)
    pad = lambda a, r, c: t.nn.functional.pad(a, (0, 0, *c, *r))

    def spring(a, b, rest):
        d = b - a
        n = d.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        return 50 * (n - rest) * d / n

    s = spring(x[:-1], x[1:], 0.1)
    force = force + pad(s, (0, 1), (0, 0)) - pad(s, (1, 0), (0, 0))
    s = spring(x[:, :-1], x[:, 1:], 0.1)
    force = force + pad(s, (0, 0), (0, 1)) - pad(s, (0, 0), (1, 0))
    s = spring(x[:-1, :-1], x[1:, 1:], 0.1414)
    force = force + pad(s, (0, 1), (0, 1)) - pad(s, (1, 0), (1, 0))
    v = 0.99 * (v + 0.01 * force)
    return x + 0.01 * v, v


def torch_weno5(t, u):
    p = t.cat((u[:, -3:], u, u[:, :3]), 1)
    n = u.shape[1]
    a, b, c, d, e = (p[:, i : i + n + 1] for i in range(5))
    b0 = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
    b1 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
    b2 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
    w0, w1, w2 = 0.1 / (1e-6 + b0) ** 2, 0.6 / (1e-6 + b1) ** 2, 0.3 / (1e-6 + b2) ** 2
    f = w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)
    f = f / (6 * (w0 + w1 + w2))
    return u - 0.4 * (f[:, 1:] - f[:, :-1])


def torch_hll(t, h, hu):
    h = h.abs() + 0.5
    pad = lambda a: t.nn.functional.pad(a[None], (1, 1), mode="replicate")[0]
    h, hu = pad(h), pad(hu)
    u = hu / h
    c = (9.81 * h).sqrt()
    hl, hr, ql, qr = h[:, :-1], h[:, 1:], hu[:, :-1], hu[:, 1:]
    sl = t.minimum(u[:, :-1] - c[:, :-1], u[:, 1:] - c[:, 1:])
    sr = t.maximum(u[:, :-1] + c[:, :-1], u[:, 1:] + c[:, 1:])

    def flux(fl, fr, a, b):
        mid = (sr * fl - sl * fr + sl * sr * (b - a)) / (sr - sl)
        return t.where(sl >= 0, fl, t.where(sr <= 0, fr, mid))

    f1 = flux(ql, qr, hl, hr)
    f2 = flux(ql * ql / hl + 4.905 * hl * hl, qr * qr / hr + 4.905 * hr * hr, ql, qr)
    return h[:, 1:-1] - 0.05 * (f1[:, 1:] - f1[:, :-1]), hu[:, 1:-1] - 0.05 * (f2[:, 1:] - f2[:, :-1])


def torch_potts(t, s, new, u):
    def same(v):
        return sum((v == s.roll(k, d)).to(t.int32) for k in (1, -1) for d in (0, 1))

    d = same(new) - same(s)
    i, j = t.arange(s.shape[0], device=s.device)[:, None], t.arange(s.shape[1], device=s.device)
    accept = ((i + j) % 2 == 0) & (u < (0.9 * d.float()).exp())
    return t.where(accept, new, s), accept.sum(1)


def torch_fitzhugh(t, u, v):
    for _ in range(4):
        lap = u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1) - 4 * u
        u, v = u + 0.1 * (0.5 * lap + u - u**3 / 3 - v), v + 0.1 * 0.08 * (u + 0.7 - 0.8 * v)
    return u, v


def torch_brain(t, s):
    for _ in range(3):
        p = t.nn.functional.pad((s == 1).to(t.uint8), (1, 1, 1, 1))
        n = sum(p[i : i + s.shape[0], j : j + s.shape[1]] for i in range(3) for j in range(3) if (i, j) != (1, 1))
        s = t.where(s == 1, 2, t.where((s == 0) & (n == 2), 1, 0)).to(t.uint8)
    return s


def torch_rule110(t, s):
    for _ in range(8):
        p = t.nn.functional.pad(s, (1, 1))
        code = p[:, :-2] << 2 | p[:, 1:-1] << 1 | p[:, 2:]
        s = 110 >> code & 1
    return s, s.sum(1)


def torch_wave4(t, u, old, c):
    for _ in range(2):
        p = t.nn.functional.pad(u, (2, 2, 2, 2))
        line = lambda a, b, c, d, e: (-a + 16 * b - 30 * c + 16 * d - e) / 12
        m = u.shape
        row = [p[i : i + m[0], 2:-2] for i in range(5)]
        col = [p[2:-2, i : i + m[1]] for i in range(5)]
        u, old = 1.98 * u - 0.98 * old + 0.1 * c * (line(*row) + line(*col)), u
    return u, old


def torch_hermite(t, p, v, m):
    d, w = p - p[:, None], v - v[:, None]
    r2 = d.square().sum(-1) + 0.01
    i3 = m * r2**-1.5
    rv = 3 * (d * w).sum(-1) / r2
    acc = (i3[..., None] * d).sum(1)
    jerk = (i3[..., None] * (w - rv[..., None] * d)).sum(1)
    return acc, jerk


def torch_morse(t, p, a, b):
    a, b = a.long(), b.long()
    d = p[b] - p[a]
    r = (d.square().sum(1) + 1e-6).sqrt()
    e = (-1.5 * (r - 1)).exp()
    f = (2 * 4.0 * 1.5 * (1 - e) * e / r)[:, None] * d
    force = t.zeros_like(p).index_add(0, a, f).index_add(0, b, -f)
    return force, (4.0 * (1 - e) ** 2).sum()


def torch_ewald(t, d, q, qi):
    r2 = d.square().sum(-1) + 0.1
    r = r2.sqrt()
    qq = qi[:, None] * q
    erfc = t.erfc(0.8 * r)
    buck = 100 * (-3 * r).exp() - 2 / r2**3
    keep = r2 < 9
    e = t.where(keep, qq * erfc / r + buck, 0)
    s = qq * (erfc / r + 2 * 0.8 / t.pi**0.5 * (-0.64 * r2).exp()) / r2 + 300 * (-3 * r).exp() / r - 12 / r2**4
    return e.sum(1) / 2, (t.where(keep, s, 0)[..., None] * d).sum(1)


def torch_oscillator(t, x, w):
    a = (-0.5 * x * x).exp() * t.pi**-0.25
    b = 2**0.5 * x * a
    rho, psi = w[0] * a * a + w[1] * b * b, [a, b]
    for n in range(2, 7):
        a, b = b, (2 / n) ** 0.5 * x * b - ((n - 1) / n) ** 0.5 * a
        rho = rho + w[n] * b * b
    return rho, b


def torch_density(t, re, im, w):
    n2 = (re * re + im * im).sum(1, keepdim=True)
    re, im = re / n2.sqrt(), im / n2.sqrt()
    rr = re[:, :, None] * re[:, None] + im[:, :, None] * im[:, None]
    ri = im[:, :, None] * re[:, None] - re[:, :, None] * im[:, None]
    rr, ri = rr * w[:, None, None], ri * w[:, None, None]
    return rr, ri, (rr * rr + ri * ri).sum((1, 2))


def torch_gross_pitaevskii(t, re, im, v):
    n2 = re * re + im * im
    ph = -0.01 * (v + 2 * n2)
    c, s = ph.cos(), ph.sin()
    a, b = re * c - im * s, re * s + im * c
    norm = (n2.sum((1, 2), keepdim=True) / n2[0].numel()).sqrt()
    return a / norm, b / norm


def torch_rx_cnot(t, re, im):
    c, s = 0.8775825618903728, 0.479425538604203
    a, b = re.reshape(-1, 2, 1024), im.reshape(-1, 2, 1024)
    ra, rb = c * a + s * b.flip(1), c * b - s * a.flip(1)

    def cnot(x):
        x = x.reshape(-1, 2, 16, 2, 64)
        return t.stack((x[:, 0], x[:, 1].flip(2)), 1).reshape(-1)

    return cnot(ra), cnot(rb)


def torch_zz(t, re, im):
    n = re.shape[0]
    p = re * re + im * im
    i = t.arange(n, device=re.device)
    z = (1 - 2 * ((i >> 3 ^ i >> 11) & 1)).to(re.dtype)
    ph = 0.3 * z
    return re * ph.cos() + im * ph.sin(), im * ph.cos() - re * ph.sin(), (p * z).sum()


def torch_kuramoto(t, th, w):
    d = th - th[:, None]
    return th + 0.05 * (w + 2 * d.sin().mean(1)), t.hypot(th.cos().mean(), th.sin().mean())


def torch_allen_cahn(t, u):
    for _ in range(2):
        p = t.cat((u[:, -1:], u, u[:, :1]), 1)
        p = t.cat((p[-1:], p, p[:1]), 0)
        lap = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) * (2 / 3) + (p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]) / 6 - 10 / 3 * u
        u = u + 0.05 * (lap - u * (u * u - 1))
    return u


def torch_traffic(t, gap, v):
    noise = v.roll(1, 1) & 7
    v = t.minimum(t.minimum(v + 1, t.full_like(v, 5)), gap)
    v = t.where(noise == 0, (v - 1).clamp(min=0), v)
    return v, v.double().mean(1)


ROWS = [
    Row("simulation", "charge_deposit_cic_512", {"p": "uniform:f32[N=4000000,2]", "q": "f32[N]"},
        "g = p * 512\ni = floor(g); f = g - i\nix = i32(i[:, 0]); iy = i32(i[:, 1]); fx = f[:, 0]; fy = f[:, 1]\n"
        "def at(ix, iy): return ix % 512 * 512 + iy % 512\nout = zeros(512 * 512)\nout = scatter_add(out, at(ix, iy), q * (1 - fx) * (1 - fy))\n"
        "out = scatter_add(out, at(ix, iy + 1), q * (1 - fx) * fy)\nout = scatter_add(out, at(ix + 1, iy), q * fx * (1 - fy))\n"
        "return scatter_add(out, at(ix + 1, iy + 1), q * fx * fy).reshape(512, 512)", torch_deposit),
    Row("simulation", "particles_push_1d_energy", {"x": "uniform:f32[N=20000003]", "v": "f32[N]", "e": "f32[1024]"},
        "g = x * 1024\ni = i32(floor(g)); f = g - floor(g)\nv = v - 0.01 * (e[i % 1024] * (1 - f) + e[(i + 1) % 1024] * f)\n"
        "return (x + 0.01 * v) % 1, v, 0.5 * f32(sum(f64(v * v)))", torch_push_1d),
    Row("simulation", "disks_contact_impulses_3001", {"p": "uniform:f32[N=3001,2]", "v": "f32[N,2]"},
        "d = p[:, None] - p\nr2 = sum(d * d, axis=-1)\ntouch = r2 < 0.0004 and r2 > 0\nvn = sum((v[:, None] - v) * d, axis=-1)\nsafe = maximum(r2, 1e-12)\n"
        "j = where(touch and vn < 0, -vn / safe, 0)\npush = where(touch, (0.02 - sqrt(safe)) / sqrt(safe), 0)\n"
        "return v + 0.5 * sum(j[..., None] * d, axis=1), p + 0.5 * sum(push[..., None] * d, axis=1), sum(touch, axis=1)", torch_disks),
    Row("simulation", "cloth_springs_step", {"x": "f32[N=3000,2001,3]", "v": "f32[N,2001,3]"},
        "def spring(a, b, rest):\n  d = b - a\n  n = maximum(l2norm(d, axis=-1, keepdims=True), 1e-6)\n  return 50 * (n - rest) * d / n\n"
        "def ends(s, r, c): return pad(s, ((0, r), (0, c), (0, 0))) - pad(s, ((r, 0), (c, 0), (0, 0)))\n"
        "force = ends(spring(x[:-1], x[1:], 0.1), 1, 0) + ends(spring(x[:, :-1], x[:, 1:], 0.1), 0, 1) + "
        "ends(spring(x[:-1, :-1], x[1:, 1:], 0.1414), 1, 1)\nv = 0.99 * (v + 0.01 * force)\nreturn x + 0.01 * v, v", torch_cloth),
    Row("simulation", "weno5_advection_f64", {"u": "f64[N=4000,4001]"},
        "n = u.shape[1]\np = pad(u, ((0, 0), (3, 3)), mode='wrap')\na, b, c, d, e = [p[:, i:i + n + 1] for i in (0, 1, 2, 3, 4)]\n"
        "b0 = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2\nb1 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2\n"
        "b2 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2\n"
        "w0 = 0.1 / (1e-6 + b0) ** 2; w1 = 0.6 / (1e-6 + b1) ** 2; w2 = 0.3 / (1e-6 + b2) ** 2\n"
        "f = (w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)) / (6 * (w0 + w1 + w2))\n"
        "return u - 0.4 * (f[:, 1:] - f[:, :-1])", torch_weno5),
    Row("simulation", "shallow_water_hll_1d", {"h": "f32[N=4000,5000]", "hu": "f32[N,5000]"},
        "edge = ((0, 0), (1, 1))\nh = pad(abs(h) + 0.5, edge, mode='edge'); hu = pad(hu, edge, mode='edge')\nu = hu / h; c = sqrt(9.81 * h)\n"
        "hl = h[:, :-1]; hr = h[:, 1:]; ql = hu[:, :-1]; qr = hu[:, 1:]\nlo = u - c; hi = u + c\n"
        "sl = minimum(lo[:, :-1], lo[:, 1:]); sr = maximum(hi[:, :-1], hi[:, 1:])\ndef flux(fl, fr, a, b, sl, sr):\n"
        "  mid = (sr * fl - sl * fr + sl * sr * (b - a)) / (sr - sl)\n  return where(sl >= 0, fl, where(sr <= 0, fr, mid))\n"
        "f1 = flux(ql, qr, hl, hr, sl, sr)\nf2 = flux(ql * ql / hl + 4.905 * hl * hl, qr * qr / hr + 4.905 * hr * hr, ql, qr, sl, sr)\n"
        "return h[:, 1:-1] - 0.05 * (f1[:, 1:] - f1[:, :-1]), hu[:, 1:-1] - 0.05 * (f2[:, 1:] - f2[:, :-1])", torch_hll),
    Row("simulation", "potts_4_states_checkerboard_i8", {"s": "below=4:i8[N=6000,6002]", "new": "below=4:i8[N,6002]", "u": "uniform:f32[N,6002]"},
        "near = [roll(s, k, axis=d) for k, d in zip((1, -1, 1, -1), (0, 0, 1, 1))]\na, b, c, e = near\n"
        "def same(v, a, b, c, e): return i32(v == a) + i32(v == b) + i32(v == c) + i32(v == e)\nd = same(new, a, b, c, e) - same(s, a, b, c, e)\n"
        "n, m = s.shape\ncolour = (arange(n)[:, None] + arange(m)) % 2 == 0\naccept = colour and u < exp(0.9 * f32(d))\n"
        "return where(accept, new, s), sum(accept, axis=1)", torch_potts),
    Row("simulation", "fitzhugh_nagumo_4_steps", {"u": "f32[N=4096,4096]", "v": "f32[N,4096]"},
        "def step(u, v):\n  lap = roll(u, 1, axis=0) + roll(u, -1, axis=0) + roll(u, 1, axis=1) + roll(u, -1, axis=1) - 4 * u\n"
        "  return (u + 0.1 * (0.5 * lap + u - u ** 3 / 3 - v), v + 0.1 * 0.08 * (u + 0.7 - 0.8 * v))\n"
        "u, v = step(u, v); u, v = step(u, v); u, v = step(u, v); u, v = step(u, v)\nreturn u, v", torch_fitzhugh),
    Row("simulation", "brians_brain_3_steps_u8", {"s": "below=3:u8[N=8000,8001]"},
        "def step(s):\n  h, w = s.shape\n  p = pad(u8(s == 1), 1)\n  r = p[:-2] + p[1:-1] + p[2:]\n  n = r[:, :-2] + r[:, 1:-1] + r[:, 2:] - p[1:-1, 1:-1]\n"
        "  return where(s == 1, u8(2), where(s == 0 and n == 2, u8(1), 0))\nreturn step(step(step(s)))", torch_brain),
    Row("simulation", "rule_110_8_steps_u8", {"s": "below=2:u8[N=20000,4099]"},
        "def step(s):\n  p = pad(s, ((0, 0), (1, 1)))\n  return u8(110) >> (p[:, :-2] << 2 | p[:, 1:-1] << 1 | p[:, 2:]) & 1\n"
        "def four(s): return step(step(step(step(s))))\ns = four(four(s))\nreturn s, i64(sum(s, axis=1))", torch_rule110),
    Row("simulation", "wave_4th_order_2_steps", {"u": "f32[N=4000,4001]", "old": "f32[N,4001]", "c": "uniform:f32[N,4001]"},
        "def line(a, b, c, d, e): return (-a + 16 * b - 30 * c + 16 * d - e) / 12\ndef step(u, old, c):\n  n, m = u.shape\n  p = pad(u, 2)\n"
        "  row = line(p[0:n, 2:-2], p[1:n + 1, 2:-2], u, p[3:n + 3, 2:-2], p[4:, 2:-2])\n"
        "  col = line(p[2:-2, 0:m], p[2:-2, 1:m + 1], u, p[2:-2, 3:m + 3], p[2:-2, 4:])\n  return (1.98 * u - 0.98 * old + 0.1 * c * (row + col), u)\n"
        "u, old = step(u, old, c)\nu, old = step(u, old, c)\nreturn u, old", torch_wave4),
    Row("simulation", "hermite_acceleration_jerk_2500", {"p": "f32[N=2500,3]", "v": "f32[N,3]", "m": "uniform:f32[N]"},
        "d = p - p[:, None]; w = v - v[:, None]\nr2 = sum(d * d, axis=-1) + 0.01\ni3 = m * r2 ** -1.5\nrv = 3 * sum(d * w, axis=-1) / r2\n"
        "return sum(i3[..., None] * d, axis=1), sum(i3[..., None] * (w - rv[..., None] * d), axis=1)", torch_hermite),
    Row("simulation", "morse_bonds_scatter", {"p": "f32[200000,3]", "a": "below=200000:i32[N=2000000]", "b": "below=200000:i32[N]"},
        "d = p[b] - p[a]\nr = sqrt(sum(d * d, axis=1) + 1e-6)\ne = exp(-1.5 * (r - 1))\nf = (12 * (1 - e) * e / r)[:, None] * d\n"
        "return scatter_add(scatter_add(zeros_like(p), a, f), b, -f), sum(4 * (1 - e) ** 2)", torch_morse),
    Row("simulation", "ewald_buckingham_40_neighbours_f64", {"d": "f64[N=200000,40,3]", "q": "f64[N,40]", "qi": "f64[N]"},
        "r2 = sum(d * d, axis=-1) + 0.1; r = sqrt(r2)\nqq = qi[:, None] * q; c = erfc(0.8 * r)\nkeep = r2 < 9\n"
        "e = where(keep, qq * c / r + 100 * exp(-3 * r) - 2 / r2 ** 3, 0)\n"
        "s = qq * (c / r + 2 * 0.8 / sqrt(pi) * exp(-0.64 * r2)) / r2 + 300 * exp(-3 * r) / r - 12 / r2 ** 4\n"
        "return sum(e, axis=1) / 2, sum(where(keep, s, 0)[..., None] * d, axis=1)", torch_ewald),
    Row("simulation", "oscillator_density_7_levels_f64", {"x": "f64[N=16000001]", "w": "uniform:f64[7]"},
        "def level(a, b, x, n): return sqrt(2 / n) * x * b - sqrt((n - 1) / n) * a\na = exp(-0.5 * x * x) * pi ** -0.25; b = sqrt(2) * x * a\n"
        "c = level(a, b, x, 2); d = level(b, c, x, 3); e = level(c, d, x, 4); f = level(d, e, x, 5); g = level(e, f, x, 6)\n"
        "rho = 0\n" + "".join(f"rho = rho + w[{i}] * {k} * {k}\n" for i, k in enumerate("abcdefg")) + "return rho, g", torch_oscillator),
    Row("simulation", "density_matrices_16", {"re": "f32[N=100000,16]", "im": "f32[N,16]", "w": "uniform:f32[N]"},
        "n = l2norm(stack((re, im)), axis=(0, 2))[:, None]\nre = re / n; im = im / n\nw = w[:, None, None]\n"
        "rr = (re[:, :, None] * re[:, None] + im[:, :, None] * im[:, None]) * w\nri = (im[:, :, None] * re[:, None] - re[:, :, None] * im[:, None]) * w\n"
        "return rr, ri, sum(rr * rr + ri * ri, axis=(1, 2))", torch_density),
    Row("simulation", "gross_pitaevskii_potential_step", {"re": "f32[B=10,1501,1500]", "im": "f32[B,1501,1500]", "v": "f32[1501,1500]"},
        "n2 = re * re + im * im\nph = -0.01 * (v + 2 * n2)\nc = cos(ph); s = sin(ph)\nnorm = sqrt(mean(n2, axis=(1, 2), keepdims=True))\n"
        "return (re * c - im * s) / norm, (re * s + im * c) / norm", torch_gross_pitaevskii),
    Row("simulation", "qubits_rx_then_cnot", {"re": "f32[N=8192,4096]", "im": "f32[N,4096]"},
        "c = cos(0.5); s = sin(0.5)\na = re.reshape(-1, 2, 1024); b = im.reshape(-1, 2, 1024)\ndef cnot(x):\n  x = x.reshape(-1, 2, 16, 2, 64)\n"
        "  return stack((x[:, 0], flip(x[:, 1], axis=2)), axis=1).reshape(-1)\n"
        "return cnot(c * a + s * flip(b, axis=1)), cnot(c * b - s * flip(a, axis=1))", torch_rx_cnot),
    Row("simulation", "qubits_zz_phase_expectation_f64", {"re": "f64[N=16777216]", "im": "f64[N]"},
        "i = arange(re.shape[0])\nz = f64(1 - 2 * ((i >> 3 ^ i >> 11) & 1))\nc = cos(0.3 * z); s = sin(0.3 * z)\n"
        "return re * c + im * s, im * c - re * s, sum((re * re + im * im) * z)",
        torch_zz),
    Row("simulation", "kuramoto_all_pairs_6000", {"th": "f32[N=6000]", "w": "f32[N]"},
        "return th + 0.05 * (w + 2 * mean(sin(th - th[:, None]), axis=1)), hypot(mean(cos(th)), mean(sin(th)))", torch_kuramoto),
    Row("simulation", "allen_cahn_9_points_2_steps", {"u": "f32[N=6000,6001]"},
        "def step(u):\n  p = pad(u, 1, mode='wrap')\n"
        "  lap = (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]) * 2 / 3 + (p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]) / 6\n"
        "  return u + 0.05 * (lap - 10 / 3 * u - u * (u * u - 1))\nreturn step(step(u))", torch_allen_cahn),
    Row("simulation", "traffic_cells_i8", {"gap": "below=9:i8[N=20000,5003]", "v": "below=6:i8[N,5003]"},
        "noise = roll(v, 1, axis=1) & 7\nv = minimum(minimum(v + 1, 5), gap)\nv = where(noise == 0, maximum(v - 1, 0), v)\n"
        "return v, mean(f64(v), axis=1)", torch_traffic),
]
