"""Recommenders, segments, graphs."""

from .. import Row


def torch_segment_position(t, start):
    i = t.arange(start.shape[1], device=start.device)
    return i - t.where(start, i, 0).cummax(1).values


def torch_segment_running_sum(t, x, start):
    c = x.cumsum(1)
    return c - t.where(start, c - x, 0).cummax(1).values


def torch_forward_fill(t, x, ok):
    i = t.where(ok, t.arange(x.shape[1], device=x.device), 0).cummax(1).values
    return x.gather(1, i)


def torch_embedding_bag(t, table, ids, w):
    return (table[ids.long()] * w[..., None]).sum(1)


def torch_fm(t, v, b):
    s = v.sum(1)
    return t.sigmoid(b.sum(1) + 0.5 * (s * s - (v * v).sum(1)).sum(1))


def torch_two_towers(t, users, items, u, i):
    a, b = users[u.long()], items[i.long()]
    return (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1) + 1e-6)


def torch_ragged_softmax(t, s, n):
    keep = t.arange(s.shape[1], device=s.device) < n[:, None]
    z = s.masked_fill(~keep, -t.inf)
    p = (z - z.amax(1, keepdim=True)).exp()
    return p / p.sum(1, keepdim=True)


def torch_mrr(t, s, y):
    target = s.gather(1, y[:, None].long())
    rank = 1 + (s > target).sum(1)
    return (1 / rank).mean(), (rank <= 10).float().mean()


def torch_dcg(t, r):
    k = t.log2(t.arange(2, r.shape[1] + 2, device=r.device))
    return ((2 ** r - 1) / k).sum(1)


def torch_group_means(t, x, k):
    h = t.nn.functional.one_hot(k.long(), 8).to(x.dtype)
    return (h.T @ x) / h.sum(0)[:, None].clamp(min=1)


def torch_graph_mean(t, x, src, dst):
    n = x.shape[0]
    out = t.zeros_like(x).index_add(0, dst.long(), x[src.long()])
    deg = t.zeros(n, dtype=x.dtype, device=x.device).index_add(0, dst.long(), t.ones(dst.shape, dtype=x.dtype, device=x.device))
    return out / deg.clamp(min=1)[:, None]


def torch_age_bands(t, age, income):
    band = (age[:, None] >= t.tensor([18, 25, 35, 45, 55, 65], device=age.device, dtype=age.dtype)).sum(1)
    return band, t.where(band == 0, 0, income * (1 + 0.1 * band))


def torch_ctr(t, clicks, views):
    a = clicks.sum() / views.sum()
    r = (clicks + 20 * a) / (views + 20)
    return r, (r - a) / t.sqrt(a * (1 - a) / (views + 20))


ROWS = [
    Row("tables", "position_in_session", {"start": "bool[B=2000,10000]"},
        "i = arange(start.shape[1])\nreturn i - cummax(where(start, i, 0), axis=1)", torch_segment_position),
    Row("tables", "running_sum_restart", {"x": "uniform:f32[B=4000,8191]", "start": "bool[B,8191]"},
        "return cumsum(x, axis=1, restart=start)", torch_segment_running_sum),
    Row("tables", "forward_fill_365", {"x": "f32[B=60000,365]", "ok": "bool[B,365]"},
        "i = cummax(where(ok, arange(x.shape[1]), 0), axis=1)\nreturn take_along_axis(x, i, axis=1)", torch_forward_fill),
    Row("tables", "weighted_embedding_bag_20", {"table": "f32[100000,64]", "ids": "below=100000:i32[B=60000,20]", "w": "uniform:f32[B,20]"},
        "return sum(take(table, ids, axis=0) * w[..., None], axis=1)", torch_embedding_bag),
    Row("tables", "factorization_machine_39x16", {"v": "f32[B=150000,39,16]", "b": "f32[B,39]"},
        "s = sum(v, axis=1)\nreturn sigmoid(sum(b, axis=1) + 0.5 * sum(s * s - sum(v * v, axis=1), axis=1))", torch_fm),
    Row("tables", "two_tower_cosine_gather", {"users": "f32[50000,96]", "items": "f32[20000,96]",
        "u": "below=50000:i32[B=400000]", "i": "below=20000:i32[B]"},
        "a = take(users, u, axis=0); b = take(items, i, axis=0)\nreturn sum(a * b, axis=1) / (l2norm(a, axis=1) * l2norm(b, axis=1) + 1e-6)",
        torch_two_towers),
    Row("tables", "ragged_softmax_200", {"s": "f32[B=200003,200]", "n": "below=200:i32[B]"},
        "n = n + 1\nkeep = i32(arange(s.shape[1])) < n[:, None]\nreturn softmax(where(keep, s, -inf), axis=1)",
        lambda t, s, n: torch_ragged_softmax(t, s, n + 1)),
    Row("tables", "reciprocal_rank_1000", {"s": "f32[B=50000,1000]", "y": "below=1000:i64[B]"},
        "target = take_along_axis(s, y[:, None], axis=1)\nrank = 1 + sum(s > target, axis=1)\nreturn mean(1 / f32(rank)), mean(f32(rank <= 10))",
        torch_mrr),
    Row("tables", "dcg_50", {"r": "uniform:f32[B=1000000,50]"},
        "k = f32(arange(r.shape[1])) + 2\nreturn sum((2 ** r - 1) / log2(k), axis=1)", torch_dcg),
    Row("tables", "means_of_8_groups", {"x": "f32[N=3000000,12]", "k": "below=8:i32[N]"},
        "h = f32(k[:, None] == i32(arange(8)))\nreturn h.T @ x / maximum(sum(h, axis=0), 1)[:, None]", torch_group_means),
    Row("tables", "graph_mean_aggregate_32", {"x": "f32[50000,32]", "src": "below=50000:i32[E=800000]", "dst": "below=50000:i32[E]"},
        "out = scatter_add(zeros((50000, 32)), dst, take(x, src, axis=0))\ndeg = bincount(dst, 50000)\nreturn out / maximum(f32(deg), 1)[:, None]",
        torch_graph_mean),
    Row("tables", "age_bands_u8", {"age": "below=100:u8[N=30000000]", "income": "uniform:f32[N]"},
        "def over(a, n): return i64(a >= n)\n"
        "band = over(age, 18) + over(age, 25) + over(age, 35) + over(age, 45) + over(age, 55) + over(age, 65)\n"
        "return band, where(band == 0, 0, income * (1 + 0.1 * f32(band)))", torch_age_bands),
    Row("tables", "smoothed_ctr_f32", {"clicks": "uniform:f32[N=25000000]", "views": "uniform:f32[N]"},
        "views = views * 100 + 1\na = sum(clicks) / sum(views)\nr = (clicks + 20 * a) / (views + 20)\n"
        "return r, (r - a) / sqrt(a * (1 - a) / (views + 20))",
        lambda t, c, v: torch_ctr(t, c, v * 100 + 1)),
]
