"""Numerical methods: sweeps over grids, time steps, many small systems, pricing formulas."""

from .. import Row


def torch_jacobi(t, u, f):
    for _ in range(3):
        v = u.clone()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - f[1:-1, 1:-1])
        u = v
    return u


def torch_red_black(t, u, f):
    n, m = u.shape
    par = (t.arange(n, device=u.device)[:, None] + t.arange(m, device=u.device)) % 2
    for colour in (0, 1):
        p = t.nn.functional.pad(u, (1, 1, 1, 1))
        g = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f)
        u = t.where(par == colour, u + 1.5 * (g - u), u)
    return u


def torch_restrict(t, u, f):
    p = t.nn.functional.pad(u, (1, 1, 1, 1))
    r = f - (4 * u - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:])
    a = (r[:-2:2] + 2 * r[1:-1:2] + r[2::2]) / 4
    return (a[:, :-2:2] + 2 * a[:, 1:-1:2] + a[:, 2::2]) / 4


def torch_prolong(t, u, e):
    n, m = e.shape
    p = t.nn.functional.pad(e, (1, 1, 1, 1))
    rows = t.stack((p[:-1], p[:-1]), 1).reshape(-1, m + 2)
    rows[1::2] = 0.5 * (p[:-1] + p[1:])
    cols = t.stack((rows[:, :-1], 0.5 * (rows[:, :-1] + rows[:, 1:])), -1).reshape(rows.shape[0], -1)
    return u + cols[1:, 1:]


def torch_thomas(t, a, b, c, d):
    n = d.shape[0]
    cp, dp = [c[0] / b[0]], [d[0] / b[0]]
    for i in range(1, n):
        m = b[i] - a[i] * cp[-1]
        cp.append(c[i] / m)
        dp.append((d[i] - a[i] * dp[-1]) / m)
    x = [dp[-1]]
    for i in range(n - 2, -1, -1):
        x.append(dp[i] - cp[i] * x[-1])
    return t.stack(x[::-1])


def torch_fdtd(t, ez, hx, hy, eps):
    hx = hx - 0.5 * (ez[:, 1:] - ez[:, :-1])
    hy = hy + 0.5 * (ez[1:] - ez[:-1])
    curl = hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1]
    out = ez.clone()
    out[1:-1, 1:-1] += 0.5 / eps[1:-1, 1:-1] * curl
    return out, hx, hy


def torch_sph(t, p, v):
    d = p[:, None] - p
    r2 = d.square().sum(-1)
    w = (0.04 - r2).clamp(min=0)
    rho = (w**3).sum(1)
    press = 2 * (rho - 1)
    r = (r2 + 1e-9).sqrt()
    g = (0.2 - r).clamp(min=0).square() / r
    force = (d * (g * (press[:, None] + press) / (2 * rho))[..., None]).sum(1)
    visc = ((v - v[:, None]) * ((0.2 - r).clamp(min=0) / rho)[..., None]).sum(1)
    return rho, force + 0.1 * visc


def torch_verlet(t, x, prev):
    p = t.nn.functional.pad(x, (0, 0, 1, 1))
    d1, d2 = p[:, 2:] - x, p[:, :-2] - x
    n = lambda d: d.norm(dim=-1, keepdim=True).clamp(min=1e-6)
    f = 40 * (d1 * (1 - 0.1 / n(d1)) + d2 * (1 - 0.1 / n(d2)))
    g = t.tensor([0, 0, -9.81], device=x.device, dtype=x.dtype)
    return 2 * x - prev + 1e-4 * (f + g)


def torch_rk4_lorenz(t, s):
    def f(s):
        x, y, z = s
        return t.stack((10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z))

    h = 0.01
    k1 = f(s)
    k2 = f(s + h / 2 * k1)
    k3 = f(s + h / 2 * k2)
    k4 = f(s + h * k3)
    return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def torch_rk4_double_pendulum(t, a, b, wa, wb):
    def f(a, b, wa, wb):
        d = a - b
        den = 3 - (2 * d).cos()
        ga = (-29.43 * a.sin() - 9.81 * (a - 2 * b).sin() - 2 * d.sin() * (wb**2 + wa**2 * d.cos())) / den
        gb = 2 * d.sin() * (2 * wa**2 + 19.62 * a.cos() + wb**2 * d.cos()) / den
        return wa, wb, ga, gb

    h, y = 0.005, (a, b, wa, wb)
    step = lambda k, w: [p + w * q for p, q in zip(y, k)]
    k1 = f(*y)
    k2 = f(*step(k1, h / 2))
    k3 = f(*step(k2, h / 2))
    k4 = f(*step(k3, h))
    return [p + h / 6 * (i + 2 * j + 2 * k + m) for p, i, j, k, m in zip(y, k1, k2, k3, k4)]


def torch_asian(t, z):
    n = z.shape[1]
    dt = 1 / n
    path = 100 * t.exp(((0.03 - 0.02) * dt + 0.2 * dt**0.5 * z).cumsum(1))
    arith = (path.mean(1) - 100).clamp(min=0)
    geo = (path.log().mean(1).exp() - 100).clamp(min=0)
    return arith, geo, path.amax(1)


def torch_sabr(t, f, k, alpha, rho, nu):
    beta, years = 0.5, 1.5
    m = (f * k) ** ((1 - beta) / 2)
    lfk = (f / k).log()
    z = nu / alpha * m * lfk
    x = (((1 - 2 * rho * z + z * z).sqrt() + z - rho) / (1 - rho)).log()
    zx = t.where(z.abs() < 1e-6, 1, z / x)
    den = m * (1 + (1 - beta) ** 2 / 24 * lfk**2 + (1 - beta) ** 4 / 1920 * lfk**4)
    c = (1 - beta) ** 2 / 24 * alpha**2 / m**2 + rho * beta * nu * alpha / (4 * m) + (2 - 3 * rho**2) / 24 * nu**2
    return alpha / den * zx * (1 + c * years)


def torch_cholesky6(t, a):
    rows = []
    for i in range(6):
        d = a[:, 0, 0].sqrt()
        col = a[:, :, 0] / d[:, None]
        rows.append(t.nn.functional.pad(col, (i, 0)))
        a = a[:, 1:, 1:] - col[:, 1:, None] * col[:, None, 1:]
    return t.stack(rows, -1)


def torch_solve3(t, a, b):
    x, y, z = a.unbind(-1)
    c = t.linalg.cross(y, z)
    det = (x * c).sum(-1, keepdim=True)
    r0 = (b * c).sum(-1, keepdim=True)
    r1 = (x * t.linalg.cross(b, z)).sum(-1, keepdim=True)
    r2 = (x * t.linalg.cross(y, b)).sum(-1, keepdim=True)
    return t.cat((r0, r1, r2), -1) / det


def torch_se3(t, a, b, p):
    r = a[:, :3, :3] @ b[:, :3, :3]
    s = (a[:, :3, :3] @ b[:, :3, 3:])[..., 0] + a[:, :3, 3]
    inv = -(r.mT @ s[..., None])[..., 0]
    return t.cat((r, s[..., None]), -1), (r @ p[..., None])[..., 0] + s, inv


def torch_slerp(t, a, b, u):
    d = (a * b).sum(-1, keepdim=True)
    b = t.where(d < 0, -b, b)
    d = d.abs().clamp(max=0.9995)
    th = t.acos(d)
    s = t.sin(th)
    q = t.sin((1 - u[:, None]) * th) / s * a + t.sin(u[:, None] * th) / s * b
    return q / q.norm(dim=-1, keepdim=True)


def torch_kalman(t, x, p, z, f, q):
    x = x @ f.T
    p = f @ p @ f.T + q
    y = z - x[:, :2]
    s = p[:, :2, :2] + 0.5 * t.eye(2, device=x.device, dtype=x.dtype)
    det = s[:, 0, 0] * s[:, 1, 1] - s[:, 0, 1] * s[:, 1, 0]
    adj = t.stack((t.stack((s[:, 1, 1], -s[:, 0, 1]), -1), t.stack((-s[:, 1, 0], s[:, 0, 0]), -1)), -2)
    k = p[:, :, :2] @ (adj / det[:, None, None])
    return x + (k @ y[..., None])[..., 0], p - k @ p[:, :2]


def torch_sir(t, s, i, beta, gamma):
    r = 1 - s - i
    for _ in range(8):
        new, out = 0.1 * beta * s * i, 0.1 * gamma * i
        s, i, r = s - new, i + new - out, r + out
    return s, i, r


def torch_van_leer(t, u):
    d = u.roll(-1, 1) - u
    up = d.roll(1, 1)
    r = up / t.where(d.abs() < 1e-12, 1e-12, d)
    phi = (r + r.abs()) / (1 + r.abs())
    flux = u + 0.5 * (1 - 0.4) * phi * d
    return u - 0.4 * (flux - flux.roll(1, 1))


def torch_cg_step(t, x, r, p, ap):
    rr = (r * r).sum(1, keepdim=True)
    a = rr / (p * ap).sum(1, keepdim=True)
    x, r = x + a * p, r - a * ap
    b = (r * r).sum(1, keepdim=True) / rr
    return x, r, r + b * p


ROWS = [
    Row("solvers", "jacobi_3_sweeps_odd", {"u": "f32[N=5003,5001]", "f": "f32[N,5001]"},
        "def sweep(u, f):\n  v = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - f[1:-1, 1:-1])\n"
        "  return slice_update(u, (slice(1, -1), slice(1, -1)), v)\nreturn sweep(sweep(sweep(u, f), f), f)", torch_jacobi),
    Row("solvers", "red_black_sor_f64", {"u": "f64[N=4096,4096]", "f": "f64[N,4096]"},
        "def half(u, f, colour):\n  n, m = u.shape\n  p = pad(u, 1)\n  par = (arange(n)[:, None] + arange(m)) % 2\n"
        "  g = 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] + f)\n  return where(par == colour, u + 1.5 * (g - u), u)\n"
        "return half(half(u, f, 0), f, 1)", torch_red_black),
    Row("solvers", "multigrid_residual_restrict", {"u": "f32[N=6001,6001]", "f": "f32[N,6001]"},
        "p = pad(u, 1)\nr = f - (4 * u - p[:-2, 1:-1] - p[2:, 1:-1] - p[1:-1, :-2] - p[1:-1, 2:])\na = (r[:-2:2] + 2 * r[1:-1:2] + r[2::2]) / 4\n"
        "return (a[:, :-2:2] + 2 * a[:, 1:-1:2] + a[:, 2::2]) / 4", torch_restrict),
    Row("solvers", "multigrid_prolong_correct", {"u": "f32[6001,6001]", "e": "f32[3000,3000]"},
        "p = pad(e, 1)\nn, m = u.shape\nrows = stack((p[:-1], 0.5 * (p[:-1] + p[1:])), axis=1).reshape(n + 1, -1)\n"
        "cols = stack((rows[:, :-1], 0.5 * (rows[:, :-1] + rows[:, 1:])), axis=-1).reshape(n + 1, m + 1)\nreturn u + cols[1:, 1:]", torch_prolong),
    Row("solvers", "thomas_8_points_batch", {k: "f32[8,N=3000001]" if k == "a" else "f32[8,N]" for k in "abcd"},
        "b = 4 + abs(b)\ndef c_of(a, b, c, cp): return c / (b - a * cp)\ndef d_of(a, b, d, cp, dp): return (d - a * dp) / (b - a * cp)\n"
        "c0 = c[0] / b[0]; d0 = d[0] / b[0]\n"
        + "".join(f"c{i} = c_of(a[{i}], b[{i}], c[{i}], c{i - 1}); d{i} = d_of(a[{i}], b[{i}], d[{i}], c{i - 1}, d{i - 1})\n" for i in range(1, 8))
        + "x7 = d7\n" + "".join(f"x{i} = d{i} - c{i} * x{i + 1}\n" for i in range(6, -1, -1))
        + "return stack((x0, x1, x2, x3, x4, x5, x6, x7))", lambda t, a, b, c, d: torch_thomas(t, a, 4 + b.abs(), c, d)),
    Row("solvers", "fdtd_2d_tm_step", {"ez": "f32[N=4000,4001]", "hx": "f32[N,4000]", "hy": "f32[3999,4001]", "eps": "uniform:f32[N,4001]"},
        "hx = hx - 0.5 * (ez[:, 1:] - ez[:, :-1])\nhy = hy[:ez.shape[0] - 1] + 0.5 * (ez[1:] - ez[:-1])\n"
        "curl = hy[1:, 1:-1] - hy[:-1, 1:-1] - hx[1:-1, 1:] + hx[1:-1, :-1]\ninner = (slice(1, -1), slice(1, -1))\n"
        "return slice_update(ez, inner, ez[1:-1, 1:-1] + 0.5 / (1 + eps[1:-1, 1:-1]) * curl), hx, hy",
        lambda t, ez, hx, hy, eps: torch_fdtd(t, ez, hx, hy[: ez.shape[0] - 1], 1 + eps)),
    Row("solvers", "sph_density_forces_3000", {"p": "uniform:f32[N=3000,2]", "v": "f32[N,2]"},
        "d = p[:, None] - p\nr2 = sum(d * d, axis=-1)\nrho = sum(maximum(0.04 - r2, 0) ** 3, axis=1)\npress = 2 * (rho - 1)\nr = sqrt(r2 + 1e-9)\n"
        "g = maximum(0.2 - r, 0) ** 2 / r\nforce = sum(d * (g * (press[:, None] + press) / (2 * rho))[..., None], axis=1)\n"
        "visc = sum((v - v[:, None]) * (maximum(0.2 - r, 0) / rho)[..., None], axis=1)\nreturn rho, force + 0.1 * visc", torch_sph),
    Row("solvers", "verlet_chains_of_springs", {"x": "f32[B=40000,101,3]", "prev": "f32[B,101,3]"},
        "p = pad(x, ((0, 0), (1, 1), (0, 0)))\nd1 = p[:, 2:] - x; d2 = p[:, :-2] - x\n"
        "def n(d): return maximum(l2norm(d, axis=-1, keepdims=True), 1e-6)\nf = 40 * (d1 * (1 - 0.1 / n(d1)) + d2 * (1 - 0.1 / n(d2)))\n"
        "g = where(arange(3) == 2, f32(-9.81), 0)\nreturn 2 * x - prev + 1e-4 * (f + g)", torch_verlet),
    Row("solvers", "rk4_lorenz_batch", {"s": "f32[3,N=20000003]"},
        "def f(s):\n  x, y, z = s[0], s[1], s[2]\n  return stack((10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z))\n"
        "h = 0.01\nk1 = f(s); k2 = f(s + h / 2 * k1); k3 = f(s + h / 2 * k2); k4 = f(s + h * k3)\n"
        "return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)", torch_rk4_lorenz),
    Row("solvers", "rk4_double_pendulum_f64", {k: "f64[N=4000000]" if k == "a" else "f64[N]" for k in ("a", "b", "wa", "wb")},
        "def f(y):\n  a, b, wa, wb = y\n  d = a - b\n  den = 3 - cos(2 * d)\n"
        "  ga = (-29.43 * sin(a) - 9.81 * sin(a - 2 * b) - 2 * sin(d) * (wb ** 2 + wa ** 2 * cos(d))) / den\n"
        "  gb = 2 * sin(d) * (2 * wa ** 2 + 19.62 * cos(a) + wb ** 2 * cos(d)) / den\n  return (wa, wb, ga, gb)\n"
        "def step(y, k, w): return [p + w * q for p, q in zip(y, k)]\nh = 0.005\ny = (a, b, wa, wb)\n"
        "k1 = f(y); k2 = f(step(y, k1, h / 2)); k3 = f(step(y, k2, h / 2)); k4 = f(step(y, k3, h))\n"
        "return [p + h / 6 * (i + 2 * j + 2 * k + m) for p, i, j, k, m in zip(y, k1, k2, k3, k4)]", torch_rk4_double_pendulum),
    Row("solvers", "asian_option_252_days", {"z": "f32[N=300000,252]"},
        "n = z.shape[1]\ndt = 1 / n\npath = 100 * exp(cumsum((0.03 - 0.02) * dt + 0.2 * sqrt(dt) * z, axis=1))\n"
        "return relu(mean(path, axis=1) - 100), relu(exp(mean(log(path), axis=1)) - 100), max(path, axis=1)", torch_asian),
    Row("solvers", "sabr_volatility_f64", {k: "uniform:f64[N=5000011]" if k == "f" else "uniform:f64[N]" for k in ("f", "k", "alpha", "rho", "nu")},
        "f = f + 0.5; k = k + 0.5; alpha = alpha + 0.1; rho = rho - 0.5; nu = nu + 0.1; beta = 0.5; years = 1.5\n"
        "m = (f * k) ** ((1 - beta) / 2)\nlfk = log(f / k)\nz = nu / alpha * m * lfk\n"
        "x = log((sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))\n"
        "zx = where(abs(z) < 1e-6, 1, z / x)\nden = m * (1 + (1 - beta) ** 2 / 24 * lfk ** 2 + (1 - beta) ** 4 / 1920 * lfk ** 4)\n"
        "c = (1 - beta) ** 2 / 24 * alpha ** 2 / m ** 2 + rho * beta * nu * alpha / (4 * m) + (2 - 3 * rho ** 2) / 24 * nu ** 2\n"
        "return alpha / den * zx * (1 + c * years)",
        lambda t, f, k, a, r, n: torch_sabr(t, f + 0.5, k + 0.5, a + 0.1, r - 0.5, n + 0.1)),
    Row("solvers", "cholesky_6x6_batch", {"m": "f32[N=1000000,6,6]"},
        "def column(a): return a[:, :, 0] / sqrt(a[:, 0, 0])[:, None]\ndef rest(a, l): return a[:, 1:, 1:] - l[:, 1:, None] * l[:, None, 1:]\n"
        "a = m @ m.mT + 3 * eye(6)\nl0 = column(a)\na1 = rest(a, l0); l1 = column(a1)\na2 = rest(a1, l1); l2 = column(a2)\n"
        "a3 = rest(a2, l2); l3 = column(a3)\na4 = rest(a3, l3); l4 = column(a4)\nl5 = column(rest(a4, l4))\n"
        "return stack((l0, pad(l1, ((0, 0), (1, 0))), pad(l2, ((0, 0), (2, 0))), pad(l3, ((0, 0), (3, 0))), pad(l4, ((0, 0), (4, 0))), "
        "pad(l5, ((0, 0), (5, 0)))), axis=-1)", lambda t, m: torch_cholesky6(t, m @ m.mT + 3 * t.eye(6, device=m.device, dtype=m.dtype))),
    Row("solvers", "cramer_3x3_f64", {"a": "f64[N=2000000,3,3]", "b": "f64[N,3]"},
        "def cross(u, v):\n  i = u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1]\n  j = u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2]\n"
        "  return stack((i, j, u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]), axis=-1)\n"
        "x = a[:, :, 0]; y = a[:, :, 1]; z = a[:, :, 2]\nc = cross(y, z)\n"
        "r = stack((vecdot(b, c), vecdot(x, cross(b, z)), vecdot(x, cross(y, b))), axis=-1)\nreturn r / vecdot(x, c)[:, None]", torch_solve3),
    Row("solvers", "se3_compose_apply", {"a": "f32[N=3000000,3,4]", "b": "f32[N,3,4]", "p": "f32[N,3]"},
        "r = a[:, :, :3] @ b[:, :, :3]\ns = (a[:, :, :3] @ b[:, :, 3:])[..., 0] + a[:, :, 3]\n"
        "return concat((r, s[..., None]), axis=-1), (r @ p[..., None])[..., 0] + s, -(r.mT @ s[..., None])[..., 0]", torch_se3),
    Row("solvers", "quaternion_slerp", {"a": "f32[N=6000007,4]", "b": "f32[N,4]", "u": "uniform:f32[N]"},
        "def unit(q): return q / l2norm(q, axis=-1, keepdims=True)\na = unit(a); b = unit(b)\nd = sum(a * b, axis=-1, keepdims=True)\n"
        "b = where(d < 0, -b, b)\nth = acos(minimum(abs(d), 0.9995))\ns = sin(th)\n"
        "return unit(sin((1 - u[:, None]) * th) / s * a + sin(u[:, None] * th) / s * b)",
        lambda t, a, b, u: torch_slerp(t, a / a.norm(dim=-1, keepdim=True), b / b.norm(dim=-1, keepdim=True), u)),
    Row("solvers", "kalman_4_states_2_measured", {"x": "f32[N=2000000,4]", "p": "uniform:f32[N,4,4]", "z": "f32[N,2]", "f": "f32[4,4]",
        "q": "uniform:f32[4,4]"},
        "p = p @ p.mT + eye(4)\nx = x @ f.T\np = f @ p @ f.T + q @ q.T\ny = z - x[:, :2]\ns = p[:, :2, :2] + 0.5 * eye(2)\n"
        "det = s[:, 0, 0] * s[:, 1, 1] - s[:, 0, 1] * s[:, 1, 0]\n"
        "adj = stack((stack((s[:, 1, 1], -s[:, 0, 1]), axis=-1), stack((-s[:, 1, 0], s[:, 0, 0]), axis=-1)), axis=-2)\n"
        "k = p[:, :, :2] @ (adj / det[:, None, None])\nreturn x + (k @ y[..., None])[..., 0], p - k @ p[:, :2]",
        lambda t, x, p, z, f, q: torch_kalman(t, x, p @ p.mT + t.eye(4, device=x.device, dtype=x.dtype), z, f, q @ q.T)),
    Row("solvers", "sir_8_euler_steps", {k: "uniform:f32[N=15000000]" if k == "s" else "uniform:f32[N]" for k in ("s", "i", "beta", "gamma")},
        "def step(y, beta, gamma):\n  s, i, r = y\n  new = 0.1 * beta * s * i; out = 0.1 * gamma * i\n  return (s - new, i + new - out, r + out)\n"
        "y = (s, i, 1 - s - i)\ny = step(step(step(step(y, beta, gamma), beta, gamma), beta, gamma), beta, gamma)\n"
        "return step(step(step(step(y, beta, gamma), beta, gamma), beta, gamma), beta, gamma)", torch_sir),
    Row("solvers", "advection_van_leer_periodic", {"u": "f32[B=5000,8191]"},
        "d = roll(u, -1, axis=1) - u\nr = roll(d, 1, axis=1) / where(abs(d) < 1e-12, 1e-12, d)\nphi = (r + abs(r)) / (1 + abs(r))\n"
        "flux = u + 0.5 * (1 - 0.4) * phi * d\nreturn u - 0.4 * (flux - roll(flux, 1, axis=1))", torch_van_leer),
    Row("solvers", "conjugate_gradient_updates", {k: "f32[B=2000,10007]" if k == "x" else "f32[B,10007]" for k in ("x", "r", "p", "ap")},
        "ap = ap + 4 * p\nrr = sum(r * r, axis=1, keepdims=True)\na = rr / sum(p * ap, axis=1, keepdims=True)\nx = x + a * p; r = r - a * ap\n"
        "b = sum(r * r, axis=1, keepdims=True) / rr\nreturn x, r, r + b * p", lambda t, x, r, p, ap: torch_cg_step(t, x, r, p, ap + 4 * p)),
]
