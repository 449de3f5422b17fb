"""Three dimensions: rays, distance fields, shading, noise, depth images."""

from .. import Row


def dot(a, b):
    return (a * b).sum(-1, keepdim=True)


def unit(a):
    return a / a.norm(dim=-1, keepdim=True).clamp(min=1e-8)


def torch_ray_boxes(t, o, d, lo, hi):
    inv = 1 / t.where(d.abs() < 1e-8, 1e-8, d)
    a = (lo - o[:, None]) * inv[:, None]
    b = (hi - o[:, None]) * inv[:, None]
    near = t.minimum(a, b).amax(-1)
    far = t.maximum(a, b).amin(-1)
    hit = t.where((near <= far) & (far > 0), near.clamp(min=0), t.inf)
    best, which = hit.min(1)
    return best, which.to(t.int32)


def torch_ggx(t, n, v, l, albedo, rough, metal):
    n, v, l = unit(n), unit(v), unit(l)
    h = unit(v + l)
    nv, nl = dot(n, v).clamp(min=1e-3), dot(n, l).clamp(min=0)
    nh, vh = dot(n, h).clamp(min=0), dot(v, h).clamp(min=0)
    a = rough[:, None] ** 2 + 0.01
    d = a * a / (t.pi * (nh * nh * (a * a - 1) + 1) ** 2)
    k = (rough[:, None] + 1) ** 2 / 8
    g = nv / (nv * (1 - k) + k) * nl / (nl * (1 - k) + k)
    f0 = 0.04 * (1 - metal[:, None]) + albedo * metal[:, None]
    f = f0 + (1 - f0) * (1 - vh) ** 5
    diffuse = (1 - f) * (1 - metal[:, None]) * albedo / t.pi
    return (diffuse + d * g * f / (4 * nv * nl + 1e-3)) * nl * 3


def scene(t, p):
    ball = (p - p.new_tensor([0.0, 0.5, 0.0])).norm(dim=-1) - 0.7
    q = p.abs() - p.new_tensor([0.8, 0.2, 0.8])
    box = q.clamp(min=0).norm(dim=-1) + q.amax(-1).clamp(max=0)
    ring = t.hypot(t.hypot(p[:, 0], p[:, 2]) - 1.0, p[:, 1]) - 0.15
    h = (0.5 + 0.5 * (box - ball) / 0.2).clamp(0, 1)
    smooth = box + h * (ball - box) - 0.2 * h * (1 - h)
    return t.minimum(smooth, ring)


def torch_distance_field(t, p):
    e = 1e-2
    axes = t.eye(3, device=p.device, dtype=p.dtype) * e
    n = t.stack([scene(t, p + axes[i]) - scene(t, p - axes[i]) for i in range(3)], -1)
    return scene(t, p), n / n.norm(dim=-1, keepdim=True).clamp(min=1e-6)


def hashed(t, x, y):
    h = (x * 374761393 + y * 668265263) & 0xFFFFFFFF
    h = (h ^ h >> 13) * 1274126177 & 0xFFFFFFFF
    return ((h ^ h >> 16) & 0xFFFF).to(t.float32) / 65535


def torch_value_noise(t, x, y):
    total = 0
    for i in range(4):
        u, v = x * 2**i * 8, y * 2**i * 8
        ix, iy = u.floor(), v.floor()
        fx, fy = u - ix, v - iy
        sx, sy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
        ix, iy = ix.long(), iy.long()
        a = t.lerp(hashed(t, ix, iy), hashed(t, ix + 1, iy), sx)
        b = t.lerp(hashed(t, ix, iy + 1), hashed(t, ix + 1, iy + 1), sx)
        total = total + 0.5 ** (i + 1) * t.lerp(a, b, sy)
    return total


def torch_perlin(t, p, perm, grad):
    perm = perm.long()
    i = p.floor()
    f = p - i
    i = i.long() & 255
    s = f**3 * (f * (f * 6 - 15) + 10)

    def corner(dx, dy):
        g = grad[perm[(perm[(i[:, 0] + dx) & 255] + i[:, 1] + dy) & 255] & 7]
        return g[:, 0] * (f[:, 0] - dx) + g[:, 1] * (f[:, 1] - dy)

    a = t.lerp(corner(0, 0), corner(1, 0), s[:, 0])
    b = t.lerp(corner(0, 1), corner(1, 1), s[:, 0])
    return t.lerp(a, b, s[:, 1])


def torch_depth_points(t, z, k):
    h, w = z.shape[1:]
    d = 2 + z.float() / 40000
    u = t.arange(w, device=z.device)
    v = t.arange(h, device=z.device)[:, None]
    p = t.stack(((u - k[2]) / k[0] * d, (v - k[3]) / k[1] * d, d), -1)
    a, b = p[:, :-1, 1:] - p[:, :-1, :-1], p[:, 1:, :-1] - p[:, :-1, :-1]
    return p, unit(t.linalg.cross(a, b))


def torch_fuse(t, tsdf, weight, depth, pose):
    n = tsdf.shape[1:]
    g = [(t.arange(m, device=tsdf.device) - m / 2) / 100 for m in n]
    x, y, z = g[0][:, None, None], g[1][:, None], g[2]
    cam = [pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z + pose[i, 3] for i in range(3)]
    cz = cam[2] + 3
    u = (cam[0] / cz * 500 + 320).round().long()
    v = (cam[1] / cz * 500 + 240).round().long()
    inside = (u >= 0) & (u < 640) & (v >= 0) & (v < 480)
    d = depth.flatten()[(v * 640 + u).clamp(0, 640 * 480 - 1)]
    sdf = (d - cz) / 0.1
    ok = inside & (d > 0) & (sdf > -1)
    w = weight[0]
    new = (tsdf[0] * w + sdf.clamp(max=1)) / (w + 1)
    return t.where(ok, new, tsdf[0]), t.where(ok, (w + 1).clamp(max=64), w)


ACES_IN = ((0.59719, 0.35458, 0.04823), (0.07600, 0.90834, 0.01566), (0.02840, 0.13383, 0.83777))
ACES_OUT = ((1.60475, -0.53108, -0.07367), (-0.10208, 1.10813, -0.00605), (-0.00327, -0.07276, 1.07602))


def torch_aces(t, x):
    a = t.tensor(ACES_IN, device=x.device, dtype=t.float32)
    b = t.tensor(ACES_OUT, device=x.device, dtype=t.float32)
    v = x.float().abs() @ a.T
    v = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)
    v = (v @ b.T).clamp(0, 1)
    s = t.where(v <= 0.0031308, 12.92 * v, 1.055 * v.clamp(min=1e-6) ** (1 / 2.4) - 0.055)
    return (s * 255).round().to(t.uint8)


def torch_barycentric(t, tri, p, attr):
    a, b, c = tri.unbind(1)
    cross = lambda u, v: u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    area = cross(b - a, c - a)
    area = t.where(area.abs() < 0.1, 0.1, area)
    w = t.stack((cross(b - p, c - p), cross(c - p, a - p), cross(a - p, b - p)), -1) / area[:, None]
    return (w[..., None] * attr).sum(1), (w >= 0).all(1)


def torch_harmonics(t, n, c):
    x, y, z = unit(n).unbind(-1)
    one = t.full_like(x, 0.282095)
    basis = (one, 0.488603 * y, 0.488603 * z, 0.488603 * x, 1.092548 * x * y, 1.092548 * y * z, 0.315392 * (3 * z * z - 1), 1.092548 * x * z,
             0.546274 * (x * x - y * y))
    return (t.stack(basis, -1) @ c).clamp(min=0)


def torch_spheres(t, o, d, c, r):
    d = unit(d)
    oc = o[:, None] - c
    b = (oc * d[:, None]).sum(-1)
    disc = b * b - oc.square().sum(-1) + r * r
    dist = -b - disc.clamp(min=0).sqrt()
    dist = t.where((disc > 0) & (dist > 1e-3), dist, t.inf)
    best = dist.amin(1)
    return best, dist.argmin(1).to(t.uint8), t.isfinite(best)


def torch_refract(t, d, n, eta):
    d, n = unit(d), unit(n)
    c = -dot(d, n)
    n = t.where(c < 0, -n, n)
    c = c.abs()
    e = (0.6 + 0.8 * eta)[:, None]
    k = 1 - e * e * (1 - c * c)
    bent = e * d + (e * c - k.clamp(min=0).sqrt()) * n
    mirror = d + 2 * c * n
    r0 = ((1 - e) / (1 + e)) ** 2
    fresnel = t.where(k < 0, 1, r0 + (1 - r0) * (1 - c) ** 5)
    return t.where(k < 0, mirror, bent), fresnel[:, 0]


ROWS = [
    Row("shading", "rays_and_64_boxes", {"o": "f32[N=2000000,3]", "d": "f32[N,3]", "lo": "f32[64,3]", "size": "uniform:f32[64,3]"},
        "inv = 1 / where(abs(d) < 1e-8, 1e-8, d)\na = (lo - o[:, None]) * inv[:, None]; b = (lo + size - o[:, None]) * inv[:, None]\n"
        "near = max(minimum(a, b), axis=-1); far = min(maximum(a, b), axis=-1)\nhit = where(near <= far and far > 0, relu(near), inf)\n"
        "return min(hit, axis=1), i32(argmin(hit, axis=1))", lambda t, o, d, lo, size: torch_ray_boxes(t, o, d, lo, lo + size)),
    Row("shading", "ggx_metal_roughness", {"n": "f32[N=4000003,3]", "v": "f32[N,3]", "l": "f32[N,3]", "albedo": "uniform:f32[N,3]", "rough": "uniform:f32[N]",
        "metal": "uniform:f32[N]"},
        "def dot3(a, b): return sum(a * b, axis=-1, keepdims=True)\ndef unit(a): return a / maximum(l2norm(a, axis=-1, keepdims=True), 1e-8)\n"
        "n = unit(n); v = unit(v); l = unit(l); h = unit(v + l)\nnv = maximum(dot3(n, v), 1e-3); nl = relu(dot3(n, l))\n"
        "nh = relu(dot3(n, h)); vh = relu(dot3(v, h))\nr = rough[:, None]; m = metal[:, None]\na = r ** 2 + 0.01\n"
        "d = a * a / (pi * (nh * nh * (a * a - 1) + 1) ** 2)\nk = (r + 1) ** 2 / 8\ng = nv / (nv * (1 - k) + k) * nl / (nl * (1 - k) + k)\n"
        "f0 = 0.04 * (1 - m) + albedo * m\nf = f0 + (1 - f0) * (1 - vh) ** 5\ndiffuse = (1 - f) * (1 - m) * albedo / pi\n"
        "return (diffuse + d * g * f / (4 * nv * nl + 1e-3)) * nl * 3", torch_ggx),
    Row("shading", "distance_field_and_normals", {"p": "f32[N=10000000,3]"},
        "def scene(x, y, z):\n  ball = sqrt(x * x + (y - 0.5) ** 2 + z * z) - 0.7\n  a = abs(x) - 0.8; b = abs(y) - 0.2; c = abs(z) - 0.8\n"
        "  box = sqrt(relu(a) ** 2 + relu(b) ** 2 + relu(c) ** 2) + minimum(maximum(a, maximum(b, c)), 0)\n"
        "  ring = hypot(hypot(x, z) - 1, y) - 0.15\n  h = clamp(0.5 + 0.5 * (box - ball) / 0.2, 0, 1)\n"
        "  return minimum(box + h * (ball - box) - 0.2 * h * (1 - h), ring)\nx = p[:, 0]; y = p[:, 1]; z = p[:, 2]; e = 1e-2\n"
        "n = stack((scene(x + e, y, z) - scene(x - e, y, z), scene(x, y + e, z) - scene(x, y - e, z), scene(x, y, z + e) - scene(x, y, z - e)), axis=-1)\n"
        "return scene(x, y, z), n / maximum(l2norm(n, axis=-1, keepdims=True), 1e-6)", torch_distance_field),
    Row("shading", "value_noise_4_octaves", {"x": "uniform:f32[N=30000001]", "y": "uniform:f32[N]"},
        "def hashed(x, y):\n  h = wrap_cast(x * 374761393 + y * 668265263, u32)\n  h = (h ^ h >> 13) * 1274126177\n"
        "  return f32((h ^ h >> 16) & 0xFFFF) / 65535\ndef smooth(f): return f * f * (3 - 2 * f)\n"
        "def noise(u, v):\n  ix = floor(u); iy = floor(v)\n  sx = smooth(u - ix); sy = smooth(v - iy)\n  i = i32(ix); j = i32(iy)\n"
        "  return lerp(lerp(hashed(i, j), hashed(i + 1, j), sx), lerp(hashed(i, j + 1), hashed(i + 1, j + 1), sx), sy)\n"
        "a, b, c, d = [0.5 / s * noise(x * s * 8, y * s * 8) for s in (1, 2, 4, 8)]\nreturn a + b + c + d", torch_value_noise),
    Row("shading", "perlin_2d_gradients", {"p": "uniform:f32[N=20000000,2]", "perm": "below=256:i32[256]", "grad": "f32[8,2]"},
        "p = p * 40\nx = p[:, 0]; y = p[:, 1]\nfx = x - floor(x); fy = y - floor(y)\nix = i32(floor(x)) & 255; iy = i32(floor(y)) & 255\n"
        "def fade(f): return f ** 3 * (f * (f * 6 - 15) + 10)\ndef corner(ix, iy, fx, fy, perm, grad, dx, dy):\n"
        "  g = take(perm, (take(perm, ix + dx & 255) + iy + dy) & 255) & 7\n"
        "  return take(grad[:, 0], g) * (fx - dx) + take(grad[:, 1], g) * (fy - dy)\n"
        "a, b, c, d = [corner(ix, iy, fx, fy, perm, grad, k[0], k[1]) for k in ((0, 0), (1, 0), (0, 1), (1, 1))]\n"
        "return lerp(lerp(a, b, fade(fx)), lerp(c, d, fade(fx)), fade(fy))", lambda t, p, m, g: torch_perlin(t, p * 40, m, g)),
    Row("shading", "depth_to_points_and_normals", {"z": "below=4000:i16[B=60,480,640]", "k": "uniform:f32[4]"},
        "k = 500 + 100 * k\nb, h, w = z.shape\nd = 2 + f32(z) / 40000\nu = f32(arange(w)); v = f32(arange(h))[:, None]\n"
        "p = stack(((u - k[2]) / k[0] * d, (v - k[3]) / k[1] * d, d), axis=-1)\na = p[:, :-1, 1:] - p[:, :-1, :-1]; b = p[:, 1:, :-1] - p[:, :-1, :-1]\n"
        "n = stack((a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1], a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2], "
        "a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]), axis=-1)\nreturn p, n / maximum(l2norm(n, axis=-1, keepdims=True), 1e-8)",
        lambda t, z, k: torch_depth_points(t, z, 500 + 100 * k)),
    Row("shading", "tsdf_fuse_256", {"tsdf": "f32[1,N=256,256,256]", "weight": "uniform:f32[1,N,256,256]", "depth": "uniform:f32[480,640]", "pose": "f32[3,4]"},
        "pose = pose / 5; depth = 2 + 2 * depth\nd0, n0, n1, n2 = tsdf.shape\n"
        "x = (f32(arange(n0)) - n0 / 2)[:, None, None] / 100; y = (f32(arange(n1)) - n1 / 2)[:, None] / 100; z = (f32(arange(n2)) - n2 / 2) / 100\n"
        "cx, cy, cz = [pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z + pose[i, 3] for i in (0, 1, 2)]\ncz = cz + 3\n"
        "u = i32(round(cx / cz * 500 + 320)); v = i32(round(cy / cz * 500 + 240))\ninside = 0 <= u < 640 and 0 <= v < 480\n"
        "d = take(depth.flatten(), v * 640 + u, mode='clip')\nsdf = (d - cz) / 0.1\nok = inside and d > 0 and sdf > -1\nw = weight[0]\n"
        "return where(ok, (tsdf[0] * w + minimum(sdf, 1)) / (w + 1), tsdf[0]), where(ok, minimum(w + 1, 64), w)",
        lambda t, a, w, d, p: torch_fuse(t, a, w, 2 + 2 * d, p / 5)),
    Row("shading", "aces_tone_map_u8", {"x": "f16[B=12,1080,1920,3]"},
        f"def mix(v, m): return stack([r[0] * v[..., 0] + r[1] * v[..., 1] + r[2] * v[..., 2] for r in m], axis=-1)\nv = mix(abs(f32(x)), {ACES_IN})\n"
        "v = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)\n"
        f"v = clamp(mix(v, {ACES_OUT}), 0, 1)\n"
        "return u8(round(where(v <= 0.0031308, 12.92 * v, 1.055 * maximum(v, 1e-6) ** (1 / 2.4) - 0.055) * 255))", torch_aces),
    Row("shading", "barycentric_attributes_4", {"tri": "f32[N=4000000,3,2]", "p": "f32[N,2]", "attr": "f32[N,3,4]"},
        "def cross2(u, v): return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]\na = tri[:, 0]; b = tri[:, 1]; c = tri[:, 2]\narea = cross2(b - a, c - a)\n"
        "area = where(abs(area) < 0.1, 0.1, area)\n"
        "w = stack((cross2(b - p, c - p), cross2(c - p, a - p), cross2(a - p, b - p)), axis=-1) / area[:, None]\n"
        "return sum(w[..., None] * attr, axis=1), all(w >= 0, axis=1)", torch_barycentric),
    Row("shading", "spherical_harmonics_9_rgb", {"n": "f32[N=20000000,3]", "c": "f32[9,3]"},
        "n = n / maximum(l2norm(n, axis=-1, keepdims=True), 1e-8)\nx = n[:, 0]; y = n[:, 1]; z = n[:, 2]\n"
        "basis = (full_like(x, 0.282095), 0.488603 * y, 0.488603 * z, 0.488603 * x, 1.092548 * x * y, 1.092548 * y * z, "
        "0.315392 * (3 * z * z - 1), 1.092548 * x * z, 0.546274 * (x * x - y * y))\nreturn relu(stack(basis, axis=-1) @ c)", torch_harmonics),
    Row("shading", "nearest_of_32_spheres", {"o": "f32[N=4000001,3]", "d": "f32[N,3]", "c": "f32[32,3]", "r": "uniform:f32[32]"},
        "d = d / maximum(l2norm(d, axis=-1, keepdims=True), 1e-8)\noc = o[:, None] - c\nb = sum(oc * d[:, None], axis=-1)\n"
        "disc = b * b - sum(oc * oc, axis=-1) + r * r\ns = -b - sqrt(relu(disc))\ns = where(disc > 0 and s > 1e-3, s, inf)\n"
        "return min(s, axis=1), u8(argmin(s, axis=1)), isfinite(min(s, axis=1))", torch_spheres),
    Row("shading", "refract_or_reflect_schlick", {"d": "f32[N=8000000,3]", "n": "f32[N,3]", "eta": "uniform:f32[N]"},
        "def unit(a): return a / maximum(l2norm(a, axis=-1, keepdims=True), 1e-8)\nd = unit(d); n = unit(n)\nc = -sum(d * n, axis=-1, keepdims=True)\n"
        "n = where(c < 0, -n, n); c = abs(c)\ne = (0.6 + 0.8 * eta)[:, None]\nk = 1 - e * e * (1 - c * c)\nr0 = ((1 - e) / (1 + e)) ** 2\n"
        "fresnel = where(k < 0, 1, r0 + (1 - r0) * (1 - c) ** 5)\n"
        "return where(k < 0, d + 2 * c * n, e * d + (e * c - sqrt(relu(k))) * n), fresnel[:, 0]", torch_refract),
]
