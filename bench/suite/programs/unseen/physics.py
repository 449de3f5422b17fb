"""Fields and particles."""

from .. import Row


def torch_heat3d(t, u):
    c = u[:, 1:-1, 1:-1, 1:-1]
    lap = (u[:, 2:, 1:-1, 1:-1] + u[:, :-2, 1:-1, 1:-1] + u[:, 1:-1, 2:, 1:-1] + u[:, 1:-1, :-2, 1:-1]
           + u[:, 1:-1, 1:-1, 2:] + u[:, 1:-1, 1:-1, :-2] - 6 * c)
    out = u.clone()
    out[:, 1:-1, 1:-1, 1:-1] = c + 0.1 * lap
    return out


def torch_wave(t, u, v):
    lap = sum(t.roll(u, s, d) for s in (1, -1) for d in (1, 2)) - 4 * u
    v = v + 0.1 * lap
    return u + 0.1 * v, v


def torch_gravity(t, p, m):
    d = p[None] - p[:, None]
    r2 = (d * d).sum(-1) + 1e-3
    return (d * (m * r2 ** -1.5)[..., None]).sum(1)


def torch_lennard_jones(t, p, all, ids):
    d = all[ids.long()] - p[:, None]
    r2 = (d * d).sum(-1) + 0.5
    i6 = 1 / (r2 * r2 * r2)
    near = r2 < 9.0
    e = t.where(near, 4 * (i6 * i6 - i6), 0)
    f = t.where(near, 24 * (2 * i6 * i6 - i6) / r2, 0)
    return e.sum(1), -(f[..., None] * d).sum(1)


def torch_euler_flux(t, q):
    q = 0.5 + q
    rho, mom, e = q.unbind(1)
    u = mom / rho
    p = 0.4 * (e - 0.5 * mom * u)
    f = t.stack((mom, mom * u + p, (e + p) * u), 1)
    a = u.abs() + t.sqrt(1.4 * p.clamp(min=1e-6) / rho)
    s = t.maximum(a[:, 1:], a[:, :-1])[:, None]
    return 0.5 * (f[..., 1:] + f[..., :-1]) - 0.5 * s * (q[..., 1:] - q[..., :-1])


def torch_bounce(t, x, v):
    x = x + 0.02 * v
    out = (x < 0) | (x > 1)
    return t.where(x < 0, -x, t.where(x > 1, 2 - x, x)), t.where(out, -0.9 * v, v)


def torch_mac_divergence(t, u, v):
    d = u[:, 1:] - u[:, :-1] + v[:, :, 1:] - v[:, :, :-1]
    return d, d.abs().amax((1, 2)), d.square().mean((1, 2)).sqrt()


def torch_yee(t, ex, ey, ez, hx, hy, hz):
    d = lambda f, axis: t.roll(f, -1, axis) - f
    return (hx - 0.5 * (d(ez, 1) - d(ey, 2)), hy - 0.5 * (d(ex, 2) - d(ez, 0)), hz - 0.5 * (d(ey, 0) - d(ex, 1)))


LBM = ((0, 0, 4 / 9), (1, 0, 1 / 9), (0, 1, 1 / 9), (-1, 0, 1 / 9), (0, -1, 1 / 9),
       (1, 1, 1 / 36), (-1, 1, 1 / 36), (-1, -1, 1 / 36), (1, -1, 1 / 36))


def torch_boltzmann(t, f):
    f = 0.1 + f
    rho = f.sum(0)
    cx = t.tensor([c[0] for c in LBM], dtype=f.dtype, device=f.device)[:, None, None]
    cy = t.tensor([c[1] for c in LBM], dtype=f.dtype, device=f.device)[:, None, None]
    w = t.tensor([c[2] for c in LBM], dtype=f.dtype, device=f.device)[:, None, None]
    ux, uy = (f * cx).sum(0) / rho, (f * cy).sum(0) / rho
    cu = cx * ux + cy * uy
    eq = w * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy))
    return f + 0.6 * (eq - f)


def torch_phase_kick(t, psi, v):
    c, s = t.cos(0.01 * v), t.sin(0.01 * v)
    re, im = psi[..., 0], psi[..., 1]
    out = t.stack((re * c + im * s, im * c - re * s), -1)
    return out / out.square().sum((1, 2, 3), keepdim=True).sqrt()


def torch_boris(t, v, e, b):
    v = v + 0.05 * e
    k = 0.05 * b
    u = v + t.linalg.cross(v, k)
    s = 2 * k / (1 + (k * k).sum(-1, keepdim=True))
    return v + t.linalg.cross(u, s) + 0.05 * e


def torch_angular(t, r, v, m):
    l = m[:, None] * t.linalg.cross(r, v)
    return l.sum(0), 0.5 * (m * v.square().sum(1)).sum(), (m[:, None] * r).sum(0) / m.sum()


CROSS = ("def cross(a, b): return stack((a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1], a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2], "
         "a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]), axis=-1)\n")

ROWS = [
    Row("physics", "heat_3d_fixed_walls", {"u": "f32[B=5,192,256,320]"},
        "c = u[:, 1:-1, 1:-1, 1:-1]\nlap = (u[:, 2:, 1:-1, 1:-1] + u[:, :-2, 1:-1, 1:-1] + u[:, 1:-1, 2:, 1:-1] + u[:, 1:-1, :-2, 1:-1]\n"
        "  + u[:, 1:-1, 1:-1, 2:] + u[:, 1:-1, 1:-1, :-2] - 6 * c)\n"
        "return slice_update(u, (slice(None), slice(1, -1), slice(1, -1), slice(1, -1)), c + 0.1 * lap)", torch_heat3d),
    Row("physics", "wave_periodic_odd", {"u": "f32[B=29,997,1009]", "v": "f32[B,997,1009]"},
        "lap = roll(u, 1, 1) + roll(u, -1, 1) + roll(u, 1, 2) + roll(u, -1, 2) - 4 * u\nv = v + 0.1 * lap\nreturn u + 0.1 * v, v",
        torch_wave),
    Row("physics", "gravity_all_pairs_3000", {"p": "f32[N=3000,3]", "m": "uniform:f32[N]"},
        "d = p[None] - p[:, None]\nr2 = sum(d * d, axis=-1) + 1e-3\nreturn sum(d * (m * r2 ** -1.5)[..., None], axis=1)", torch_gravity),
    Row("physics", "lennard_jones_24_neighbours", {"p": "f32[N=1000000,3]", "all": "f32[200000,3]", "ids": "below=200000:i32[N,24]"},
        "d = take(all, ids, axis=0) - p[:, None]\nr2 = sum(d * d, axis=-1) + 0.5\ni6 = 1 / (r2 * r2 * r2)\nnear = r2 < 9.0\n"
        "e = where(near, 4 * (i6 * i6 - i6), 0)\nf = where(near, 24 * (2 * i6 * i6 - i6) / r2, 0)\n"
        "return sum(e, axis=1), -sum(f[..., None] * d, axis=1)", torch_lennard_jones),
    Row("physics", "euler_rusanov_flux", {"q": "uniform:f32[B=2000,3,8192]"},
        "q = 0.5 + q\nrho = q[:, 0]; mom = q[:, 1]; e = q[:, 2]\nu = mom / rho\np = 0.4 * (e - 0.5 * mom * u)\n"
        "f = stack((mom, mom * u + p, (e + p) * u), axis=1)\na = abs(u) + sqrt(1.4 * maximum(p, 1e-6) / rho)\n"
        "s = maximum(a[:, 1:], a[:, :-1])[:, None]\n"
        "return 0.5 * (f[..., 1:] + f[..., :-1]) - 0.5 * s * (q[..., 1:] - q[..., :-1])", torch_euler_flux),
    Row("physics", "bounce_in_box_odd", {"x": "uniform:f32[N=7654321,3]", "v": "f32[N,3]"},
        "x = x + 0.02 * v\nlow = x < 0; high = x > 1\nreturn where(low, -x, where(high, 2 - x, x)), where(low | high, -0.9 * v, v)",
        torch_bounce),
    Row("physics", "mac_divergence_norms", {"u": "f32[B=100,513,512]", "v": "f32[B,512,513]"},
        "d = u[:, 1:] - u[:, :-1] + v[:, :, 1:] - v[:, :, :-1]\n"
        "return d, max(abs(d), axis=(1, 2)), sqrt(mean(d ** 2, axis=(1, 2)))", torch_mac_divergence),
    Row("physics", "yee_magnetic_update",
        {k: ("f32[B=128,192,160]" if k == "ex" else "f32[B,192,160]") for k in ("ex", "ey", "ez", "hx", "hy", "hz")},
        "def d0(f): return roll(f, -1, 0) - f\ndef d1(f): return roll(f, -1, 1) - f\ndef d2(f): return roll(f, -1, 2) - f\n"
        "return hx - 0.5 * (d1(ez) - d2(ey)), hy - 0.5 * (d2(ex) - d0(ez)), hz - 0.5 * (d0(ey) - d1(ex))", torch_yee),
    Row("physics", "lattice_boltzmann_d2q9", {"f": "uniform:f32[9,H=1536,2000]"},
        "f = 0.1 + f\nrho = sum(f, axis=0)\nux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho\n"
        "uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho\nq = 1.5 * (ux * ux + uy * uy)\n"
        "def equilibrium(w, rho, q, c): return w * rho * (1 + 3 * c + 4.5 * c * c - q)\na = 1 / 9; b = 1 / 36\n"
        "e = stack((equilibrium(4 / 9, rho, q, 0 * ux), equilibrium(a, rho, q, ux), equilibrium(a, rho, q, uy),\n"
        "  equilibrium(a, rho, q, -ux), equilibrium(a, rho, q, -uy),\n"
        "  equilibrium(b, rho, q, ux + uy), equilibrium(b, rho, q, uy - ux), equilibrium(b, rho, q, -ux - uy), equilibrium(b, rho, q, ux - uy)))\n"
        "return f + 0.6 * (e - f)", torch_boltzmann),
    Row("physics", "schroedinger_phase_kick", {"psi": "f32[B=30,500,600,2]", "v": "f32[B,500,600]"},
        "c = cos(0.01 * v); s = sin(0.01 * v)\nre = psi[..., 0]; im = psi[..., 1]\nout = stack((re * c + im * s, im * c - re * s), axis=-1)\n"
        "return out / sqrt(sum(out * out, axis=(1, 2, 3), keepdims=True))", torch_phase_kick),
    Row("physics", "boris_push", {"v": "f32[N=6000000,3]", "e": "f32[N,3]", "b": "f32[N,3]"},
        CROSS + "v = v + 0.05 * e\nk = 0.05 * b\nu = v + cross(v, k)\ns = 2 * k / (1 + sum(k * k, axis=-1, keepdims=True))\n"
        "return v + cross(u, s) + 0.05 * e", torch_boris),
    Row("physics", "angular_momentum_f64", {"r": "f64[N=3000017,3]", "v": "f64[N,3]", "m": "uniform:f64[N]"},
        CROSS + "l = m[:, None] * cross(r, v)\nreturn sum(l, axis=0), 0.5 * sum(m * sum(v * v, axis=1)), sum(m[:, None] * r, axis=0) / sum(m)",
        torch_angular),
]
