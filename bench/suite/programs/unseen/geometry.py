"""Points, rotations, small matrices."""

from .. import Row


def torch_inverse3(t, m):
    m = m + 2 * t.eye(3, dtype=m.dtype, device=m.device)
    a, b, c = m.unbind(1)
    x = t.stack((t.linalg.cross(b, c), t.linalg.cross(c, a), t.linalg.cross(a, b)), -1)
    return x / (a * x[..., 0]).sum(-1)[:, None, None]


def torch_det4(t, m):
    a, b, c, d = m.unbind(1)
    s = lambda i, j: a[:, i] * b[:, j] - a[:, j] * b[:, i]
    u = lambda i, j: c[:, i] * d[:, j] - c[:, j] * d[:, i]
    return s(0, 1) * u(2, 3) - s(0, 2) * u(1, 3) + s(0, 3) * u(1, 2) + s(1, 2) * u(0, 3) - s(1, 3) * u(0, 2) + s(2, 3) * u(0, 1)


def torch_quat_mul(t, p, q):
    a, b, c, d = p.unbind(-1)
    e, f, g, h = q.unbind(-1)
    r = t.stack((a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e), -1)
    return r / r.norm(dim=-1, keepdim=True)


def torch_transform(t, p, m):
    h = t.cat((p, t.ones_like(p[:, :1])), 1) @ m.T
    return h[:, :3] / h[:, 3:].abs().clamp(min=1e-3)


def torch_compose(t, a, b):
    return a @ b


def torch_ray_sphere(t, o, d, c):
    d = d / d.norm(dim=1, keepdim=True)
    l = o - c
    b = (l * d).sum(1)
    k = b * b - (l * l).sum(1) + 0.25
    s = -b - t.sqrt(k.clamp(min=0))
    hit = (k > 0) & (s > 0)
    return hit, t.where(hit, s, t.inf)


def torch_normals(t, v, tri):
    p = v[tri.long()]
    n = t.linalg.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    a = n.norm(dim=1, keepdim=True)
    return n / a.clamp(min=1e-12), 0.5 * a[:, 0]


def torch_boxes(t, p, valid):
    v = valid[..., None]
    lo, hi = t.where(v, p, t.inf).amin(1), t.where(v, p, -t.inf).amax(1)
    return t.cat((lo, hi), -1), t.where(v, p, 0).sum(1) / v.sum(1).clamp(min=1)


def torch_euler(t, e):
    s, c = t.sin(e), t.cos(e)
    (a, b, g), (x, y, z) = s.unbind(1), c.unbind(1)
    m = (y * z, a * b * z - x * g, x * b * z + a * g, y * g, a * b * g + x * z, x * b * g - a * z, -b, a * y, x * y)
    return t.stack(m, -1).view(-1, 3, 3)


def torch_voxel(t, r, az, el):
    r = 1 + 20 * r
    p = t.stack((r * t.cos(el) * t.cos(az), r * t.cos(el) * t.sin(az), r * t.sin(el)), -1)
    i = t.floor((p + 50) / 0.2).to(t.int32)
    return p, (i[:, 0] * 500 + i[:, 1]) * 500 + i[:, 2]


def torch_harris(t, xx, xy, yy):
    tr, d = (xx + yy) / 2, t.sqrt(((xx - yy) / 2) ** 2 + xy * xy)
    return tr + d, tr - d, 0.5 * t.atan2(2 * xy, xx - yy)


def torch_project(t, p, k):
    z = p[:, 2].abs() + 0.5
    x, y = p[:, 0] / z, p[:, 1] / z
    r2 = x * x + y * y
    d = 1 + r2 * (k[4] + r2 * k[5])
    u, v = k[0] * x * d + k[1], k[2] * y * d + k[3]
    return t.stack((u, v), -1), (u >= 0) & (u < 1) & (v >= 0) & (v < 1)


def torch_skinning(t, p, w, ids, bones):
    w = w / w.sum(-1, keepdim=True)
    m = (bones[ids.long()] * w[..., None, None]).sum(1)
    return (m[..., :3] * p[:, None]).sum(-1) + m[..., 3]


def torch_iou(t, a, b):
    lt = t.maximum(a[:, None, :2], b[:, :2])
    rb = t.minimum(a[:, None, 2:], b[:, 2:])
    i = (rb - lt).clamp(min=0).prod(-1)
    area = lambda v: (v[:, 2] - v[:, 0]) * (v[:, 3] - v[:, 1])
    o = i / (area(a)[:, None] + area(b) - i + 1e-7)
    return o.max(1).values, o.argmax(1)


def torch_bezier(t, p, s):
    s = s[:, None]
    u = 1 - s
    return u ** 3 * p[:, None, 0] + 3 * u * u * s * p[:, None, 1] + 3 * u * s * s * p[:, None, 2] + s ** 3 * p[:, None, 3]


CROSS = ("def cross(a, b): return stack((a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1], a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2], "
         "a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]), axis=1)\n")

ROWS = [
    Row("geometry", "inverse_3x3", {"m": "uniform:f32[N=6000000,3,3]"},
        CROSS + "m = m + 2 * eye(3)\na = m[:, 0]; b = m[:, 1]; c = m[:, 2]\nx = cross(b, c)\ny = stack((x, cross(c, a), cross(a, b)), axis=2)\n"
        "return y / sum(a * x, axis=1)[:, None, None]", torch_inverse3),
    Row("geometry", "determinant_4x4_odd", {"m": "f32[N=5000011,4,4]"},
        "def minor(r, q, i, j): return r[:, i] * q[:, j] - r[:, j] * q[:, i]\na = m[:, 0]; b = m[:, 1]; c = m[:, 2]; d = m[:, 3]\n"
        "return (minor(a, b, 0, 1) * minor(c, d, 2, 3) - minor(a, b, 0, 2) * minor(c, d, 1, 3) + minor(a, b, 0, 3) * minor(c, d, 1, 2)\n"
        "  + minor(a, b, 1, 2) * minor(c, d, 0, 3) - minor(a, b, 1, 3) * minor(c, d, 0, 2) + minor(a, b, 2, 3) * minor(c, d, 0, 1))", torch_det4),
    Row("geometry", "quaternion_product_unit", {"p": "f32[N=8000003,4]", "q": "f32[N,4]"},
        "a = p[:, 0]; b = p[:, 1]; c = p[:, 2]; d = p[:, 3]; e = q[:, 0]; f = q[:, 1]; g = q[:, 2]; h = q[:, 3]\n"
        "r = stack((a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g, a * g - b * h + c * e + d * f, "
        "a * h + b * g - c * f + d * e), axis=-1)\n"
        "return r / l2norm(r, axis=-1, keepdims=True)", torch_quat_mul),
    Row("geometry", "project_points_4x4", {"p": "f32[N=15000000,3]", "m": "f32[4,4]"},
        "h = concat((p, ones_like(p[:, :1])), axis=1) @ m.T\nreturn h[:, :3] / maximum(abs(h[:, 3:]), 1e-3)", torch_transform),
    Row("geometry", "compose_4x4", {"a": "f32[N=2500000,4,4]", "b": "f32[N,4,4]"}, "return a @ b", torch_compose),
    Row("geometry", "ray_sphere_hits", {"o": "f32[N=7000000,3]", "d": "f32[N,3]", "c": "f32[3]"},
        "d = d / l2norm(d, axis=1, keepdims=True)\nl = o - c\nb = sum(l * d, axis=1)\nk = b * b - sum(l * l, axis=1) + 0.25\n"
        "s = -b - sqrt(maximum(k, 0))\nhit = (k > 0) & (s > 0)\nreturn hit, where(hit, s, inf)", torch_ray_sphere),
    Row("geometry", "triangle_normals_gather", {"v": "f32[500000,3]", "tri": "below=500000:i32[N=4000000,3]"},
        CROSS + "p = take(v, tri, axis=0)\nn = cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])\na = l2norm(n, axis=1, keepdims=True)\n"
        "return n / maximum(a, 1e-12), 0.5 * a[:, 0]", torch_normals),
    Row("geometry", "point_boxes_257", {"p": "f32[B=20000,257,3]", "valid": "bool[B,257]"},
        "v = valid[..., None]\nlo = min(where(v, p, inf), axis=1); hi = max(where(v, p, -inf), axis=1)\n"
        "return concat((lo, hi), axis=-1), sum(where(v, p, 0), axis=1) / maximum(f32(sum(v, axis=1)), 1)", torch_boxes),
    Row("geometry", "euler_to_matrix", {"e": "f32[N=7000001,3]"},
        "s = sin(e); c = cos(e)\na = s[:, 0]; b = s[:, 1]; g = s[:, 2]; x = c[:, 0]; y = c[:, 1]; z = c[:, 2]\n"
        "m = (y * z, a * b * z - x * g, x * b * z + a * g, y * g, a * b * g + x * z, x * b * g - a * z, -b, a * y, x * y)\n"
        "return stack(m, axis=-1).reshape(-1, 3, 3)", torch_euler),
    Row("geometry", "lidar_voxel_index", {"r": "uniform:f32[N=12000000]", "az": "f32[N]", "el": "uniform:f32[N]"},
        "r = 1 + 20 * r\np = stack((r * cos(el) * cos(az), r * cos(el) * sin(az), r * sin(el)), axis=-1)\ni = i32(floor((p + 50) / 0.2))\n"
        "return p, (i[:, 0] * 500 + i[:, 1]) * 500 + i[:, 2]", torch_voxel),
    Row("geometry", "eigenvalues_2x2_f64", {"xx": "f64[N=5000000]", "xy": "f64[N]", "yy": "f64[N]"},
        "m = (xx + yy) / 2; d = hypot((xx - yy) / 2, xy)\nreturn m + d, m - d, 0.5 * atan2(2 * xy, xx - yy)", torch_harris),
    Row("geometry", "camera_projection", {"p": "f32[N=15000017,3]", "k": "f32[6]"},
        "z = abs(p[:, 2]) + 0.5\nx = p[:, 0] / z; y = p[:, 1] / z\nr2 = x * x + y * y\nd = 1 + r2 * (k[4] + r2 * k[5])\n"
        "u = k[0] * x * d + k[1]; v = k[2] * y * d + k[3]\nreturn stack((u, v), axis=-1), 0 <= u < 1 and 0 <= v < 1", torch_project),
    Row("geometry", "skinning_4_bones", {"p": "f32[N=4000000,3]", "w": "uniform:f32[N,4]", "ids": "below=64:i32[N,4]", "bones": "f32[64,3,4]"},
        "w = w / sum(w, axis=-1, keepdims=True)\nm = sum(take(bones, ids, axis=0) * w[..., None, None], axis=1)\n"
        "return sum(m[..., :3] * p[:, None], axis=-1) + m[..., 3]", torch_skinning),
    Row("geometry", "best_iou_of_50", {"a": "uniform:f32[N=1000000,4]", "b": "uniform:f32[50,4]"},
        "lt = maximum(a[:, None, :2], b[:, :2]); rb = minimum(a[:, None, 2:], b[:, 2:])\ni = prod(relu(rb - lt), axis=-1)\n"
        "def area(v): return (v[:, 2] - v[:, 0]) * (v[:, 3] - v[:, 1])\no = i / (area(a)[:, None] + area(b) - i + 1e-7)\n"
        "return max(o, axis=1), argmax(o, axis=1)", torch_iou),
    Row("geometry", "bezier_curves_33", {"p": "f32[N=800000,4,2]", "s": "uniform:f32[33]"},
        "s = s[:, None]; u = 1 - s\n"
        "return u ** 3 * p[:, None, 0] + 3 * u * u * s * p[:, None, 1] + 3 * u * s * s * p[:, None, 2] + s ** 3 * p[:, None, 3]", torch_bezier),
]
