"""Geography, remote sensing and astronomy."""

import math

from .. import Row

DEG = math.pi / 180


def torch_haversine(t, a, b):
    a, b = a * DEG, b * DEG
    dlat, dlon = a[:, None, 0] - b[:, 0], a[:, None, 1] - b[:, 1]
    h = (dlat / 2).sin() ** 2 + a[:, None, 0].cos() * b[:, 0].cos() * (dlon / 2).sin() ** 2
    return 2 * 6371.0 * h.clamp(max=1).sqrt().asin()


def torch_lambert(t, lat, lon):
    p1, p2, p0, l0 = 33 * DEG, 45 * DEG, 39 * DEG, -96 * DEG
    tan = lambda p: math.tan(math.pi / 4 + p / 2)
    n = math.log(math.cos(p1) / math.cos(p2)) / math.log(tan(p2) / tan(p1))
    f = math.cos(p1) * tan(p1) ** n / n
    rho0 = f / tan(p0) ** n
    rho = f / (math.pi / 4 + lat * DEG / 2).tan() ** n
    th = n * (lon * DEG - l0)
    return 6371000 * rho * th.sin(), 6371000 * (rho0 - rho * th.cos())


def torch_sun(t, day, hour, lat, lon):
    g = 2 * t.pi / 365 * (day - 1 + (hour - 12) / 24)
    eq = 229.18 * (0.000075 + 0.001868 * g.cos() - 0.032077 * g.sin() - 0.014615 * (2 * g).cos() - 0.040849 * (2 * g).sin())
    dec = 0.006918 - 0.399912 * g.cos() + 0.070257 * g.sin() - 0.006758 * (2 * g).cos() + 0.000907 * (2 * g).sin()
    h = ((hour * 60 + eq + 4 * lon) / 4 - 180) * DEG
    p = lat * DEG
    up = (p.sin() * dec.sin() + p.cos() * dec.cos() * h.cos()).clamp(-1, 1)
    az = t.atan2(-h.sin(), dec.tan() * p.cos() - p.sin() * h.cos())
    return up.asin() / DEG, az / DEG % 360


def torch_kepler(t, m, e, a, inc, node, peri):
    ea = m + e * m.sin()
    for _ in range(4):
        ea = ea - (ea - e * ea.sin() - m) / (1 - e * ea.cos())
    x, y = a * (ea.cos() - e), a * (1 - e * e).sqrt() * ea.sin()
    cw, sw, co, so, ci, si = peri.cos(), peri.sin(), node.cos(), node.sin(), inc.cos(), inc.sin()
    u, v = cw * x - sw * y, sw * x + cw * y
    return co * u - so * ci * v, so * u + co * ci * v, si * v


GALACTIC = ((-0.0548755604, -0.8734370902, -0.4838350155), (0.4941094279, -0.4448296300, 0.7469822445), (-0.8676661490, -0.1980763734, 0.4559837762))


def torch_galactic(t, ra, dec):
    r = t.tensor(GALACTIC, dtype=ra.dtype, device=ra.device)
    v = t.stack((dec.cos() * ra.cos(), dec.cos() * ra.sin(), dec.sin()), -1) @ r.T
    return t.atan2(v[:, 1], v[:, 0]) % (2 * t.pi), v[:, 2].clamp(-1, 1).asin()


def torch_slope(t, z):
    p = t.nn.functional.pad(z[None], (1, 1, 1, 1), mode="replicate")[0]
    a, b, c = p[:-2, :-2], p[:-2, 1:-1], p[:-2, 2:]
    d, f = p[1:-1, :-2], p[1:-1, 2:]
    g, h, i = p[2:, :-2], p[2:, 1:-1], p[2:, 2:]
    dx = ((c + 2 * f + i) - (a + 2 * d + g)) / 240
    dy = ((g + 2 * h + i) - (a + 2 * b + c)) / 240
    slope = (dx * dx + dy * dy).sqrt().atan() / DEG
    return slope, t.atan2(dy, -dx) / DEG % 360


def torch_savi(t, red, nir, qa):
    ok = ((qa & 0b00001110) == 0) & (nir > 0)
    r, n = red.float() / 10000, nir.float() / 10000
    savi = 1.5 * (n - r) / (n + r + 0.5)
    return t.where(ok, savi, t.nan), ok.float().mean((1, 2))


def torch_composite(t, x, cloud):
    ok = (cloud < 20) & (x > 0)
    n = ok.sum(0)
    v = x.float()
    mean = t.where(ok, v, 0).sum(0) / n.clamp(min=1)
    best = t.where(ok, v, -1).amax(0)
    return t.where(n > 0, mean, -9999), best, n.to(t.uint8)


def torch_coarsen(t, x):
    h, w = x.shape
    b = x.reshape(h // 3, 3, w // 3, 3)
    ok = b != -9999
    n = ok.sum((1, 3))
    s = t.where(ok, b, 0).sum((1, 3))
    return t.where(n >= 5, s / n.clamp(min=1), -9999)


def torch_ruggedness(t, z):
    w = z.unfold(0, 3, 1).unfold(1, 3, 1)
    c = z[1:-1, 1:-1]
    return (w - c[..., None, None]).square().sum((-1, -2)).sqrt(), c - w.mean((-1, -2))


def spread_bits(v):
    for s, m in ((16, 0x0000FFFF0000FFFF), (8, 0x00FF00FF00FF00FF), (4, 0x0F0F0F0F0F0F0F0F), (2, 0x3333333333333333), (1, 0x5555555555555555)):
        v = (v | v << s) & m
    return v


def torch_geohash(t, lat, lon):
    def cell(v):
        return (v * 2**30).floor().clamp(0, 2**30 - 1).long()

    return spread_bits(cell(lat)) | spread_bits(cell(lon)) << 1


def torch_cross_track(t, lat, lon):
    p = t.stack((lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()), -1)
    a, b = p[:, :-1], p[:, 1:]
    n = t.linalg.cross(a, b)
    n = n / n.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    seg = t.atan2(t.linalg.cross(a, b).norm(dim=-1), (a * b).sum(-1))
    off = (n * p[:, :1]).sum(-1).clamp(-1, 1).asin()
    return 6371 * seg.sum(1), 6371 * off.abs().amax(1)


def torch_refraction(t, flux, alt, gain):
    f = flux.clamp(min=1e-3)
    mass = 1 / (alt.sin() + 0.50572 * (alt / DEG + 6.07995) ** -1.6364)
    mag = -2.5 * f.log10() + 25 - 0.12 * mass[:, None]
    err = 1.0857 * (f / gain + 25).sqrt() / f
    return mag, err


def torch_stack_clip(t, x):
    m, s = x.mean(0), x.std(0, correction=0)
    ok = (x - m).abs() <= 2 * s + 1e-6
    n = ok.sum(0)
    return t.where(ok, x, 0).sum(0) / n.clamp(min=1), n.to(t.uint8)


def torch_regrid(t, x):
    b, h, w = x.shape
    return t.nn.functional.interpolate(x[:, None], size=(2 * h, 2 * w), mode="bilinear", align_corners=False)[:, 0]


ROWS = [
    Row("earth", "haversine_matrix_6000x5003", {"a": "f32[N=6000,2]", "b": "f32[M=5003,2]"},
        "a = a * 10 * pi / 180; b = b * 10 * pi / 180\ndlat = a[:, None, 0] - b[:, 0]; dlon = a[:, None, 1] - b[:, 1]\n"
        "h = sin(dlat / 2) ** 2 + cos(a[:, None, 0]) * cos(b[:, 0]) * sin(dlon / 2) ** 2\nreturn 2 * 6371 * asin(sqrt(minimum(h, 1)))",
        lambda t, a, b: torch_haversine(t, a * 10, b * 10)),
    Row("earth", "lambert_conformal_f64", {"lat": "uniform:f64[N=16000000]", "lon": "uniform:f64[N]"},
        "lat = 20 + 40 * lat; lon = -130 + 70 * lon\ndeg = pi / 180\np1 = 33 * deg; p2 = 45 * deg; p0 = 39 * deg; l0 = -96 * deg\n"
        "def tn(p): return tan(pi / 4 + p / 2)\nn = log(cos(p1) / cos(p2)) / log(tn(p2) / tn(p1))\nf = cos(p1) * tn(p1) ** n / n\n"
        "rho0 = f / tn(p0) ** n\nrho = f / tn(lat * deg) ** n\nth = n * (lon * deg - l0)\n"
        "return 6371000 * rho * sin(th), 6371000 * (rho0 - rho * cos(th))", lambda t, a, b: torch_lambert(t, 20 + 40 * a, -130 + 70 * b)),
    Row("earth", "solar_elevation_azimuth_f64", {"day": "below=365:i16[N=8000000]", "hour": "uniform:f64[N]", "lat": "uniform:f64[N]", "lon": "uniform:f64[N]"},
        "day = f64(day) + 1; hour = hour * 24; lat = 120 * lat - 60; lon = 360 * lon - 180\ndeg = pi / 180\n"
        "g = 2 * pi / 365 * (day - 1 + (hour - 12) / 24)\n"
        "eq = 229.18 * (0.000075 + 0.001868 * cos(g) - 0.032077 * sin(g) - 0.014615 * cos(2 * g) - 0.040849 * sin(2 * g))\n"
        "dec = 0.006918 - 0.399912 * cos(g) + 0.070257 * sin(g) - 0.006758 * cos(2 * g) + 0.000907 * sin(2 * g)\n"
        "h = ((hour * 60 + eq + 4 * lon) / 4 - 180) * deg; p = lat * deg\n"
        "up = clamp(sin(p) * sin(dec) + cos(p) * cos(dec) * cos(h), -1, 1)\n"
        "return asin(up) / deg, atan2(-sin(h), tan(dec) * cos(p) - sin(p) * cos(h)) / deg % 360",
        lambda t, d, h, a, o: torch_sun(t, d.to(h.dtype) + 1, h * 24, 120 * a - 60, 360 * o - 180)),
    Row("earth", "kepler_orbits_f64", {k: "uniform:f64[N=6000011]" if k == "m" else "uniform:f64[N]" for k in ("m", "e", "a", "inc", "node", "peri")},
        "m = m * 2 * pi; e = e * 0.8\ndef newton(ea, e, m): return ea - (ea - e * sin(ea) - m) / (1 - e * cos(ea))\nea = m + e * sin(m)\n"
        "ea = newton(newton(newton(newton(ea, e, m), e, m), e, m), e, m)\nx = a * (cos(ea) - e); y = a * sqrt(1 - e * e) * sin(ea)\n"
        "u = cos(peri) * x - sin(peri) * y; v = sin(peri) * x + cos(peri) * y\n"
        "return cos(node) * u - sin(node) * cos(inc) * v, sin(node) * u + cos(node) * cos(inc) * v, sin(inc) * v",
        lambda t, m, e, *r: torch_kepler(t, m * 2 * t.pi, e * 0.8, *r)),
    Row("earth", "galactic_coordinates_f64", {"ra": "uniform:f64[N=16000000]", "dec": "uniform:f64[N]"},
        "ra = ra * 6; dec = dec * 3 - 1.5\n"
        + f"x, y, z = [r[0] * cos(dec) * cos(ra) + r[1] * cos(dec) * sin(ra) + r[2] * sin(dec) for r in {GALACTIC}]\n"
        + "return atan2(y, x) % (2 * pi), asin(clamp(z, -1, 1))", lambda t, a, d: torch_galactic(t, a * 6, d * 3 - 1.5)),
    Row("earth", "slope_aspect_horn_odd", {"z": "f32[N=5003,M=5001]"},
        "p = pad(z, 1, mode='edge')\na = p[:-2, :-2]; b = p[:-2, 1:-1]; c = p[:-2, 2:]; d = p[1:-1, :-2]; f = p[1:-1, 2:]\n"
        "g = p[2:, :-2]; h = p[2:, 1:-1]; i = p[2:, 2:]\ndx = ((c + 2 * f + i) - (a + 2 * d + g)) / 240; dy = ((g + 2 * h + i) - (a + 2 * b + c)) / 240\n"
        "return atan(sqrt(dx * dx + dy * dy)) * 180 / pi, atan2(dy, -dx) * 180 / pi % 360", torch_slope),
    Row("earth", "savi_with_quality_bits_i16", {"red": "below=6000:i16[B=4,N=4000,3000]", "nir": "below=9000:i16[B,N,3000]", "qa": "u8[B,N,3000]"},
        "ok = qa & 0b00001110 == 0 and nir > 0\nr = f32(red) / 10000; n = f32(nir) / 10000\n"
        "return where(ok, 1.5 * (n - r) / (n + r + 0.5), nan), mean(f32(ok), axis=(1, 2))", torch_savi),
    Row("earth", "cloud_free_composite_12_dates", {"x": "below=3000:i16[12,N=3001,M=2999]", "cloud": "below=100:u8[12,N,M]"},
        "ok = cloud < 20 and x > 0\nn = sum(ok, axis=0)\nv = f32(x)\nm = sum(where(ok, v, 0), axis=0) / f32(maximum(n, 1))\n"
        "return where(n > 0, m, -9999), max(where(ok, v, -1), axis=0), u8(n)", torch_composite),
    Row("earth", "coarsen_3x3_without_nodata", {"x": "below=400:i16[N=3001,3,9003]"},
        "x = where(x < 60, -9999, f32(x)).reshape(-1, 9003)\nh, w = x.shape\nb = x.reshape(h // 3, 3, w // 3, 3)\nok = b != -9999\nn = sum(ok, axis=(1, 3))\n"
        "return where(n >= 5, sum(where(ok, b, 0), axis=(1, 3)) / f32(maximum(n, 1)), -9999)",
        lambda t, x: torch_coarsen(t, t.where(x < 60, -9999, x.float()).reshape(-1, 9003))),
    Row("earth", "ruggedness_and_position_f64", {"z": "f64[N=4001,M=4003]"},
        "w = window(z, (3, 3))\nc = z[1:-1, 1:-1]\nreturn sqrt(sum((w - c[..., None, None]) ** 2, axis=(-1, -2))), c - mean(w, axis=(-2, -1))",
        torch_ruggedness),
    Row("earth", "geohash_60_bits_i64", {"lat": "uniform:f64[N=16000000]", "lon": "uniform:f64[N]"},
        "def cell(v): return i64(clamp(floor(v * 2 ** 30), 0, 2 ** 30 - 1))\ndef spread(v):\n  v = (v | v << 16) & 0x0000FFFF0000FFFF\n"
        "  v = (v | v << 8) & 0x00FF00FF00FF00FF\n  v = (v | v << 4) & 0x0F0F0F0F0F0F0F0F\n  v = (v | v << 2) & 0x3333333333333333\n"
        "  return (v | v << 1) & 0x5555555555555555\nreturn spread(cell(lat)) | spread(cell(lon)) << 1", torch_geohash),
    Row("earth", "track_length_and_offset_f64", {"lat": "uniform:f64[N=100000,60]", "lon": "uniform:f64[N,60]"},
        "def cross(u, v):\n  a, b, c = u\n  d, e, f = v\n  return (b * f - c * e, c * d - a * f, a * e - b * d)\n"
        "def norm3(v): return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])\np = (cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat))\n"
        "a = [x[:, :-1] for x in p]; b = [x[:, 1:] for x in p]\nn = cross(a, b)\nlength = norm3(n)\n"
        "seg = atan2(length, a[0] * b[0] + a[1] * b[1] + a[2] * b[2])\nscale = maximum(length, 1e-12)\n"
        "off = asin(clamp((n[0] * p[0][:, :1] + n[1] * p[1][:, :1] + n[2] * p[2][:, :1]) / scale, -1, 1))\n"
        "return 6371 * sum(seg, axis=1), 6371 * max(abs(off), axis=1)", torch_cross_track),
    Row("earth", "magnitudes_and_airmass", {"flux": "uniform:f32[N=5000,10007]", "alt": "uniform:f32[N]", "gain": "uniform:f32[10007]"},
        "f = maximum(flux * 1000, 1e-3); alt = 0.3 + alt; gain = gain + 1\nmass = 1 / (sin(alt) + 0.50572 * (alt * 180 / pi + 6.07995) ** -1.6364)\n"
        "return -2.5 * log10(f) + 25 - 0.12 * mass[:, None], 1.0857 * sqrt(f / gain + 25) / f",
        lambda t, f, a, g: torch_refraction(t, f * 1000, 0.3 + a, g + 1)),
    Row("earth", "sigma_clipped_stack_24", {"x": "f32[24,N=1500,M=2001]"},
        "m = mean(x, axis=0); s = std(x, axis=0)\nok = abs(x - m) <= 2 * s + 1e-6\nn = sum(ok, axis=0)\n"
        "return sum(where(ok, x, 0), axis=0) / f32(maximum(n, 1)), u8(n)", torch_stack_clip),
    Row("earth", "regrid_bilinear_twice", {"x": "f32[B=40,721,720]"},
        "p = pad(x, ((0, 0), (1, 1), (0, 0)), mode='edge')\nb, h, w = x.shape\n"
        "r = stack((0.25 * p[:, :-2] + 0.75 * x, 0.75 * x + 0.25 * p[:, 2:]), axis=2).reshape(b, 2 * h, w)\n"
        "q = pad(r, ((0, 0), (0, 0), (1, 1)), mode='edge')\n"
        "return stack((0.25 * q[..., :-2] + 0.75 * r, 0.75 * r + 0.25 * q[..., 2:]), axis=-1).reshape(b, 2 * h, 2 * w)", torch_regrid),
]
