"""Grids of the earth, weather."""

from .. import Row


def torch_ndvi(t, b):
    f = b.float()
    red, nir = f[..., 2], f[..., 3]
    s = red + nir
    v = t.where(s > 0, (nir - red) / t.where(s > 0, s, 1), 0)
    return v, (v > 0.3).sum((1, 2))


def torch_hillshade(t, z):
    dx = (z[:, 1:-1, 2:] - z[:, 1:-1, :-2]) / 60
    dy = (z[:, 2:, 1:-1] - z[:, :-2, 1:-1]) / 60
    slope = t.atan(t.sqrt(dx * dx + dy * dy))
    aspect = t.atan2(dy, -dx)
    shade = 0.7071067811865476 * (t.cos(slope) + t.sin(slope) * t.cos(5.497787143782138 - aspect))
    return (255 * shade).clamp(0, 255).to(t.uint8)


def torch_anomaly(t, x):
    c = x.mean(0)
    return x - c, (x - c).square().mean(0).sqrt()


def torch_global_mean(t, x, bad):
    lat = t.linspace(-89.5, 89.5, x.shape[1], device=x.device, dtype=x.dtype)
    w = t.where(bad, 0, t.cos(lat * 0.017453292519943295)[:, None])
    return (x * w).sum((1, 2)) / w.sum((1, 2))


def torch_heat_index(t, c, rh):
    f = c * 18 + 80
    r = rh * 100
    h = (-42.379 + 2.04901523 * f + 10.14333127 * r - 0.22475541 * f * r - 6.83783e-3 * f * f - 5.481717e-2 * r * r
         + 1.22874e-3 * f * f * r + 8.5282e-4 * f * r * r - 1.99e-6 * f * f * r * r)
    return (t.where(f < 80, 0.5 * (f + 61 + (f - 68) * 1.2 + r * 0.094), h) - 32) / 1.8


def torch_tiles(t, lon, lat):
    lat = (60 * lat).clamp(-85, 85) * 0.017453292519943295
    x = (lon * 60 + 180) / 360
    y = (1 - t.log(t.tan(lat) + 1 / t.cos(lat)) / 3.141592653589793) / 2
    return (x * 4096).floor().to(t.int32), (y * 4096).floor().to(t.int32)


def torch_trapz(t, q, p):
    return (0.5 * (q[:, 1:] + q[:, :-1]) * (p[1:] - p[:-1])[:, None, None]).sum(1) / 9.81


def torch_degree_days(t, x):
    d = x.reshape(x.shape[0], -1, 24)
    m = (d.amax(-1) + d.amin(-1)) / 2
    return t.relu(m - 0.5).cumsum(-1), t.relu(0.3 - m).sum(-1)


def torch_flow_direction(t, z):
    h, w = z.shape[1] - 2, z.shape[2] - 2
    c = z[:, 1:-1, 1:-1]
    drops = [(c - z[:, i:i + h, j:j + w]) * (1 if i == 1 or j == 1 else 0.7071067811865476) for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    best, i = t.stack(drops).max(0)
    return t.where(best > 0, i, -1).to(t.int32)


def torch_nearest_station(t, p, s):
    d = (p[:, None] - s).square().sum(-1)
    return d.argmin(1), d.amin(1).sqrt()


def torch_wind(t, u, v):
    s = t.hypot(u, v)
    return s, (270 - t.atan2(v, u) * 57.29577951308232) % 360, s.amax(0), (s ** 3).mean(0)


ROWS = [
    Row("geoscience", "ndvi_u8_4_bands", {"b": "u8[B=25,1000,1000,4]"},
        "red = f32(b[..., 2]); nir = f32(b[..., 3])\ns = red + nir\nv = where(s > 0, (nir - red) / where(s > 0, s, 1), 0)\n"
        "return v, sum(v > 0.3, axis=(1, 2))", torch_ndvi),
    Row("geoscience", "hillshade_3601", {"z": "f32[B=4,3601,3601]"},
        "dx = (z[:, 1:-1, 2:] - z[:, 1:-1, :-2]) / 60; dy = (z[:, 2:, 1:-1] - z[:, :-2, 1:-1]) / 60\nslope = atan(sqrt(dx * dx + dy * dy))\n"
        "aspect = atan2(dy, -dx)\nr = sqrt(0.5)\n"
        "return u8(clamp(255 * (r * cos(slope) + r * sin(slope) * cos(1.75 * pi - aspect)), 0, 255))", torch_hillshade),
    Row("geoscience", "climate_anomaly_40_years", {"x": "f32[40,N=12,181,360]"},
        "c = mean(x, axis=0)\na = x - c\nreturn a, sqrt(mean(a * a, axis=0))", torch_anomaly),
    Row("geoscience", "area_weighted_mean_180x360", {"x": "f32[B=1000,180,360]", "bad": "bool[B,180,360]"},
        "n = x.shape[1]\nlat = -89.5 + 179 * f32(arange(n)) / (n - 1)\nw = where(bad, 0, cos(lat * (pi / 180))[:, None])\n"
        "return sum(x * w, axis=(1, 2)) / sum(w, axis=(1, 2))", torch_global_mean),
    Row("geoscience", "heat_index_odd", {"c": "f32[N=30000001]", "rh": "uniform:f32[N]"},
        "f = c * 18 + 80\nr = rh * 100\n"
        "h = (-42.379 + 2.04901523 * f + 10.14333127 * r - 0.22475541 * f * r - 6.83783e-3 * f * f - 5.481717e-2 * r * r\n"
        "  + 1.22874e-3 * f * f * r + 8.5282e-4 * f * r * r - 1.99e-6 * f * f * r * r)\n"
        "return (where(f < 80, 0.5 * (f + 61 + (f - 68) * 1.2 + r * 0.094), h) - 32) / 1.8", torch_heat_index),
    Row("geoscience", "mercator_tiles", {"lon": "f32[N=15000000]", "lat": "f32[N]"},
        "lat = clip(60 * lat, -85, 85) * (pi / 180)\nx = (lon * 60 + 180) / 360\ny = (1 - log(tan(lat) + 1 / cos(lat)) / pi) / 2\n"
        "return i32(floor(x * 4096)), i32(floor(y * 4096))", torch_tiles),
    Row("geoscience", "column_water_37_levels", {"q": "uniform:f32[B=24,37,181,360]", "p": "f32[37]"},
        "return sum(0.5 * (q[:, 1:] + q[:, :-1]) * (p[1:] - p[:-1])[:, None, None], axis=1) / 9.81", torch_trapz),
    Row("geoscience", "degree_days_hourly", {"x": "f32[B=5000,8760]"},
        "d = x.reshape(x.shape[0], -1, 24)\nm = (max(d, axis=-1) + min(d, axis=-1)) / 2\nreturn cumsum(relu(m - 0.5)), sum(relu(0.3 - m), axis=-1)",
        torch_degree_days),
    Row("geoscience", "flow_direction_d8", {"z": "f32[B=6,2003,2501]"},
        "h = z.shape[1] - 2; w = z.shape[2] - 2\nc = z[:, 1:-1, 1:-1]\nr = sqrt(0.5)\n"
        "d = stack((r * (c - z[:, :-2, :-2]), c - z[:, :-2, 1:-1], r * (c - z[:, :-2, 2:]), c - z[:, 1:-1, :-2],\n"
        "  c - z[:, 1:-1, 2:], r * (c - z[:, 2:, :-2]), c - z[:, 2:, 1:-1], r * (c - z[:, 2:, 2:])))\n"
        "best, i = max_and_argmax(d, axis=0)\nreturn i32(where(best > 0, i, -1))", torch_flow_direction),
    Row("geoscience", "nearest_of_50_stations", {"p": "f32[N=2000003,2]", "s": "f32[50,2]"},
        "d = sum((p[:, None] - s) ** 2, axis=-1)\nreturn argmin(d, axis=1), sqrt(min(d, axis=1))", torch_nearest_station),
    Row("geoscience", "wind_speed_direction_power", {"u": "f32[T=240,181,720]", "v": "f32[T,181,720]"},
        "s = hypot(u, v)\nreturn s, (270 - atan2(v, u) * (180 / pi)) % 360, max(s, axis=0), mean(s ** 3, axis=0)", torch_wind),
]
