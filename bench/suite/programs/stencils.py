"""Stencils of two and three dimensions, of second and fourth order, of one and several steps."""

from . import Row


def torch_stencil3d(t, u):
    c, i = u[1:-1, 1:-1, 1:-1], slice(1, -1)
    near = u[2:, i, i] + u[:-2, i, i] + u[i, 2:, i] + u[i, :-2, i] + u[i, i, 2:] + u[i, i, :-2]
    return c + 0.1 * (near - 6 * c)


def torch_laplace_4th(t, u):
    near = u[1:-3, 2:-2] + u[3:-1, 2:-2] + u[2:-2, 1:-3] + u[2:-2, 3:-1]
    far = u[:-4, 2:-2] + u[4:, 2:-2] + u[2:-2, :-4] + u[2:-2, 4:]
    return (16 * near - far - 60 * u[2:-2, 2:-2]) / 12


def torch_jacobi(t, u):
    return 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])


def torch_wave(t, u, old):
    near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    c = u[1:-1, 1:-1]
    return 2 * c - old[1:-1, 1:-1] + 0.2 * (near - 4 * c)


def laplace(t, u):
    return t.roll(u, 1, 0) + t.roll(u, -1, 0) + t.roll(u, 1, 1) + t.roll(u, -1, 1) - 4 * u


def torch_gray_scott(t, u, v):
    r = u * v * v
    return u + 0.16 * laplace(t, u) - r + 0.035 * (1 - u), v + 0.08 * laplace(t, v) + r - 0.1 * v


def torch_life(t, x):
    p = t.nn.functional.pad(x, (1, 1, 1, 1))
    n = sum(p[i:i + x.shape[0], j:j + x.shape[1]] for i in range(3) for j in range(3)) - x
    return ((n == 3) | ((x == 1) & (n == 2))).to(t.uint8)


def torch_curl(t, u, v):
    return (v[1:-1, 2:] - v[1:-1, :-2] - u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5


def torch_fourth_3d(t, u):
    out, n = -90 * u[2:-2, 2:-2, 2:-2], u.shape
    for axis in range(3):
        for shift, weight in ((0, -1), (1, 16), (3, 16), (4, -1)):
            at = [slice(2, -2)] * 3
            at[axis] = slice(shift, n[axis] - 4 + shift)
            out = out + weight * u[tuple(at)]
    return out / 12


FOURTH_3D = "return (-90 * u[2:-2, 2:-2, 2:-2]" + "".join(
    f" + {weight} * u[{', '.join(s if k == axis else '2:-2' for k in range(3))}]"
    for axis in range(3) for s, weight in ((":-4", "(-1)"), ("1:-3", "16"), ("3:-1", "16"), ("4:", "(-1)"))) + ") / 12"


def torch_upwind(t, q, u):
    left, right = q - t.roll(q, 1, -1), t.roll(q, -1, -1) - q
    return q - 0.1 * t.where(u > 0, u * left, u * right)


def torch_shallow_water(t, h, u, v):
    dx, dy = lambda a: 0.5 * (t.roll(a, -1, 1) - t.roll(a, 1, 1)), lambda a: 0.5 * (t.roll(a, -1, 0) - t.roll(a, 1, 0))
    return h - 0.1 * (dx(h * u) + dy(h * v)), u - 0.1 * dx(h), v - 0.1 * dy(h)


def torch_total_variation(t, x):
    return (x[:, 1:, :-1] - x[:, :-1, :-1]).abs().sum() + (x[:, :-1, 1:] - x[:, :-1, :-1]).abs().sum()


JACOBI = "def step(u): return 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])\n"
LAPLACE = "def laplace(u): return roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u\n"
SHALLOW = ("def dx(a): return 0.5 * (roll(a, -1, 1) - roll(a, 1, 1))\ndef dy(a): return 0.5 * (roll(a, -1, 0) - roll(a, 1, 0))\n"
           "return h - 0.1 * (dx(h * u) + dy(h * v)), u - 0.1 * dx(h), v - 0.1 * dy(h)")
WAVE = ("c = u[1:-1, 1:-1]\nnear = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]\n"
        "return 2 * c - old[1:-1, 1:-1] + 0.2 * (near - 4 * c)")

ROWS = [
    Row("stencils", "stencil_3d_odd", {"u": "f32[X=253,Y=251,Z=257]"},
        "c = u[1:-1, 1:-1, 1:-1]\nreturn c + 0.1 * (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + "
        "u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6 * c)", torch_stencil3d),
    Row("stencils", "laplace_4th", {"u": "f32[H=8192,W=8192]"},
        "c = u[2:-2, 2:-2]\nreturn (16 * (u[1:-3, 2:-2] + u[3:-1, 2:-2] + u[2:-2, 1:-3] + u[2:-2, 3:-1])\n"
        "        - (u[:-4, 2:-2] + u[4:, 2:-2] + u[2:-2, :-4] + u[2:-2, 4:]) - 60 * c) / 12", torch_laplace_4th),
    Row("stencils", "jacobi", {"u": "f32[H=9408,W=7728]"}, JACOBI + "return step(u)", torch_jacobi),
    Row("stencils", "jacobi_f64_odd", {"u": "f64[H=4451,W=3061]"}, JACOBI + "return step(u)", torch_jacobi),
    Row("stencils", "jacobi_2_steps", {"u": "f32[H=24144,W=4208]"}, JACOBI + "return step(step(u))",
        lambda t, u: torch_jacobi(t, torch_jacobi(t, u))),
    Row("stencils", "jacobi_4_steps_odd", {"u": "f32[H=6917,W=3359]"}, JACOBI + "return step(step(step(step(u))))",
        lambda t, u: torch_jacobi(t, torch_jacobi(t, torch_jacobi(t, torch_jacobi(t, u))))),
    Row("stencils", "wave_odd", {"u": "f32[H=5233,W=2281]", "old": "f32[H,W]"}, WAVE, torch_wave),
    Row("stencils", "wave_skewed", {"u": "f32[128,W=144307]", "old": "f32[128,W]"}, WAVE, torch_wave),
    Row("stencils", "gray_scott", {"u": "uniform:f32[H=9904,W=4096]", "v": "uniform:f32[H,W]"},
        LAPLACE + "r = u * v * v\nreturn u + 0.16 * laplace(u) - r + 0.035 * (1 - u), v + 0.08 * laplace(v) + r - 0.1 * v",
        torch_gray_scott),
    Row("stencils", "heat_f16", {"u": "f16[H=30960,W=8192]"}, LAPLACE + "return u + 0.1 * laplace(u)",
        lambda t, u: u + 0.1 * laplace(t, u)),
    Row("stencils", "life_u8", {"x": "below=2:u8[H=44249,W=7297]"},
        "p = pad(x, 1)\nn = sum(window(p, (3, 3)), axis=(-2, -1)) - x\nreturn u8((n == 3) | ((x == 1) & (n == 2)))", torch_life),
    Row("stencils", "curl_odd", {"u": "f32[H=3407,W=7283]", "v": "f32[H,W]"},
        "return (v[1:-1, 2:] - v[1:-1, :-2] - u[2:, 1:-1] + u[:-2, 1:-1]) * 0.5", torch_curl),
    Row("stencils", "fourth_order_3d", {"u": "f32[X=752,Y=320,Z=416]"}, FOURTH_3D, torch_fourth_3d),
    Row("stencils", "upwind_odd", {"q": "f32[N=1277,8663]", "u": "f32[N,8663]"},
        "left = q - roll(q, 1, -1); right = roll(q, -1, -1) - q\nreturn q - 0.1 * where(u > 0, u * left, u * right)", torch_upwind),
    Row("stencils", "shallow_water", {"h": "f32[H=2720,W=4096]", "u": "f32[H,W]", "v": "f32[H,W]"}, SHALLOW, torch_shallow_water),
    Row("stencils", "total_variation_odd", {"x": "f32[B=149,541,1087]"},
        "a = x[:, :-1, :-1]\nreturn sum(abs(x[:, 1:, :-1] - a)) + sum(abs(x[:, :-1, 1:] - a))", torch_total_variation),
]
