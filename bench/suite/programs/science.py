"""Finance and physics: closed formulas, paths of given normal numbers, steps of integrators."""

from . import Row


def torch_black_scholes(t, s, k, y):
    s, k, y = 50 + 100 * s, 50 + 100 * k, 0.1 + 2 * y
    q = 0.3 * t.sqrt(y)
    d1 = (t.log(s / k) + (0.02 + 0.045) * y) / q
    cdf = lambda x: 0.5 * (1 + t.erf(x * 0.7071067811865476))
    c = s * cdf(d1) - k * t.exp(-0.02 * y) * cdf(d1 - q)
    return c, c - s + k * t.exp(-0.02 * y)


def torch_greeks(t, s, y):
    s, y = 50 + 100 * s, 0.1 + 2 * y
    q = 0.3 * t.sqrt(y)
    d1 = (t.log(s / 100) + 0.065 * y) / q
    pdf = 0.3989422804014327 * t.exp(-0.5 * d1 * d1)
    return 0.5 * (1 + t.erf(d1 * 0.7071067811865476)), pdf / (s * q), s * pdf * t.sqrt(y)


def torch_asian(t, z):
    s = 100 * t.exp(0.0001 * t.arange(1, z.shape[1] + 1, device=z.device) + 0.01 * z.cumsum(1))
    return 0.9801986733067553 * t.relu(s.mean(1) - 100)


def torch_drawdown(t, z):
    w = (0.01 * z).cumsum(1)
    return (w.cummax(1).values - w).amax(1)


def torch_european(t, z):
    return (t.relu(100 * t.exp(0.02 * z.sum(1)) - 105)).mean()


def torch_bond(t, c, r):
    r = 0.01 + 0.05 * r
    n = t.arange(1, c.shape[1] + 1, device=c.device)
    return (c * t.exp(-r[:, None] * n)).sum(1)


def torch_leapfrog(t, x, v):
    for _ in range(4):
        v = v - 0.005 * t.sin(x)
        x = x + 0.01 * v
        v = v - 0.005 * t.sin(x)
    return x, v


def torch_runge_kutta(t, x, y):
    f = lambda x, y: (x * (1.1 - 0.4 * y), y * (0.1 * x - 0.4))
    h = 0.05
    a, b = f(x, y)
    c, d = f(x + h / 2 * a, y + h / 2 * b)
    e, g = f(x + h / 2 * c, y + h / 2 * d)
    i, j = f(x + h * e, y + h * g)
    return x + h / 6 * (a + 2 * c + 2 * e + i), y + h / 6 * (b + 2 * d + 2 * g + j)


def torch_haversine(t, a, b, c, d):
    h = t.sin((c - a) / 2) ** 2 + t.cos(a) * t.cos(c) * t.sin((d - b) / 2) ** 2
    return 12742 * t.asin(t.sqrt(h.clamp(0, 1)))


def torch_quaternion(t, q, v):
    q = q / q.norm(dim=1, keepdim=True)
    w, u = q[:, :1], q[:, 1:]
    c = 2 * t.linalg.cross(u, v)
    return v + w * c + t.linalg.cross(u, c)


def torch_ising(t, s):
    return (s * (t.roll(s, 1, -1) + t.roll(s, 1, -2))).sum((1, 2))


def torch_planck(t, x):
    x = 0.1 + 9 * x
    return x * x * x / t.expm1(x)


def torch_energy(t, v, m):
    return 0.5 * (m * (v * v).sum(1)).sum(), (m[:, None] * v).sum(0)


SETUP = "s = 50 + 100 * s; y = 0.1 + 2 * y\nq = 0.3 * sqrt(y)\n"
CDF = "def cdf(x): return 0.5 * (1 + erf(x * 0.7071067811865476))\n"
CROSS = ("def cross(a, b): return stack((a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1], a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2], "
         "a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]), axis=1)\n")

ROWS = [
    Row("science", "black_scholes", {"s": "uniform:f32[N=11411680]", "k": "uniform:f32[N]", "y": "uniform:f32[N]"},
        CDF + SETUP + "k = 50 + 100 * k\nd1 = (log(s / k) + (0.02 + 0.045) * y) / q\ndiscounted = k * exp(-0.02 * y)\n"
        "c = s * cdf(d1) - discounted * cdf(d1 - q)\nreturn c, c - s + discounted", torch_black_scholes),
    Row("science", "black_scholes_f64_odd", {"s": "uniform:f64[N=9473207]", "k": "uniform:f64[N]", "y": "uniform:f64[N]"},
        CDF + SETUP + "k = 50 + 100 * k\nd1 = (log(s / k) + (0.02 + 0.045) * y) / q\ndiscounted = k * exp(-0.02 * y)\n"
        "c = s * cdf(d1) - discounted * cdf(d1 - q)\nreturn c, c - s + discounted", torch_black_scholes),
    Row("science", "greeks_odd", {"s": "uniform:f32[N=35083981]", "y": "uniform:f32[N]"},
        CDF + SETUP + "d1 = (log(s / 100) + 0.065 * y) / q\npdf = 0.3989422804014327 * exp(-0.5 * d1 * d1)\n"
        "return cdf(d1), pdf / (s * q), s * pdf * sqrt(y)", torch_greeks),
    Row("science", "asian_option", {"z": "f32[N=197776,256]"},
        "s = 100 * exp(0.0001 * f32(arange(1, z.shape[1] + 1)) + 0.01 * cumsum(z))\nreturn exp(-0.02) * relu(mean(s, axis=1) - 100)",
        torch_asian),
    Row("science", "asian_option_odd", {"z": "f32[N=173177,503]"},
        "s = 100 * exp(0.0001 * f32(arange(1, z.shape[1] + 1)) + 0.01 * cumsum(z))\nreturn exp(-0.02) * relu(mean(s, axis=1) - 100)",
        torch_asian),
    Row("science", "largest_drawdown", {"z": "f32[N=286367,252]"}, "w = cumsum(0.01 * z)\nreturn max(cummax(w) - w, axis=1)",
        torch_drawdown),
    Row("science", "european_option_skewed", {"z": "f32[N=3264608,20]"},
        "return mean(relu(100 * exp(0.02 * sum(z, axis=1)) - 105))", torch_european),
    Row("science", "bond_price_odd", {"c": "uniform:f32[N=947561,60]", "r": "uniform:f32[N]"},
        "r = 0.01 + 0.05 * r\nreturn sum(c * exp(-r[:, None] * f32(arange(1, c.shape[1] + 1))), axis=1)", torch_bond),
    Row("science", "pendulum_4_steps", {"x": "f32[N=11518496]", "v": "f32[N]"},
        "v = v - 0.005 * sin(x)\n" + "x = x + 0.01 * v\nv = v - 0.01 * sin(x)\n" * 3
        + "x = x + 0.01 * v\nv = v - 0.005 * sin(x)\nreturn x, v", torch_leapfrog),
    Row("science", "runge_kutta_odd", {"x": "uniform:f32[N=27281227]", "y": "uniform:f32[N]"},
        "def fx(x, y): return x * (1.1 - 0.4 * y)\ndef fy(x, y): return y * (0.1 * x - 0.4)\nh = 0.05\n"
        "a = fx(x, y); b = fy(x, y)\nx1 = x + h / 2 * a; y1 = y + h / 2 * b\nc = fx(x1, y1); d = fy(x1, y1)\n"
        "x2 = x + h / 2 * c; y2 = y + h / 2 * d\ne = fx(x2, y2); g = fy(x2, y2)\nx3 = x + h * e; y3 = y + h * g\n"
        "return x + h / 6 * (a + 2 * c + 2 * e + fx(x3, y3)), y + h / 6 * (b + 2 * d + 2 * g + fy(x3, y3))", torch_runge_kutta),
    Row("science", "haversine", {"a": "f32[N=4603488]", "b": "f32[N]", "c": "f32[N]", "d": "f32[N]"},
        "h = sin((c - a) / 2) ** 2 + cos(a) * cos(c) * sin((d - b) / 2) ** 2\nreturn 12742 * asin(sqrt(clamp(h, 0, 1)))",
        torch_haversine),
    Row("science", "quaternion_rotate_odd", {"q": "f32[N=20225851,4]", "v": "f32[N,3]"},
        CROSS + "q = q / l2norm(q, axis=1, keepdims=True)\nu = q[:, 1:]\nc = 2 * cross(u, v)\nreturn v + q[:, :1] * c + cross(u, c)",
        torch_quaternion),
    Row("science", "ising_energy", {"s": "f32[B=80,1024,1024]"},
        "return sum(s * (roll(s, 1, -1) + roll(s, 1, -2)), axis=(1, 2))", torch_ising),
    Row("science", "planck_f64", {"x": "uniform:f64[N=10937040]"}, "x = 0.1 + 9 * x\nreturn x * x * x / expm1(x)", torch_planck),
    Row("science", "energy_and_momentum_odd", {"v": "f32[N=10321021,3]", "m": "uniform:f32[N]"},
        "return 0.5 * sum(m * sum(v * v, axis=1)), sum(m[:, None] * v, axis=0)", torch_energy),
]
