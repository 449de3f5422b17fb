"""Graphs, sparse data and groups: gathers of rows, scatters by keys, segments, counts."""

from .. import Row


def zeros(t, like, *shape, value=0.0):
    return t.full(shape, value, dtype=like.dtype, device=like.device)


def torch_gcn(t, h, src, dst, w):
    src, dst = src.long(), dst.long()
    deg = t.bincount(dst, minlength=h.shape[0]).to(h.dtype) + 1
    norm = (deg[src] * deg[dst]).rsqrt()
    out = zeros(t, h, *h.shape).index_add(0, dst, h[src] * norm[:, None])
    return ((out + h / deg[:, None]) @ w).relu()


def torch_edge_messages(t, h, e, src, dst, w, b):
    src, dst = src.long(), dst.long()
    m = (t.cat((h[src], h[dst], e), 1) @ w + b).relu()
    return zeros(t, h, h.shape[0], 32).index_add(0, dst, m)


def torch_segment_softmax(t, x, ids):
    g = ids.long() // 7
    n = (ids.shape[0] + 6) // 7
    top = zeros(t, x, n, value=-t.inf).scatter_reduce(0, g, x, "amax")
    e = (x - top[g]).exp()
    return e / zeros(t, x, n).index_add(0, g, e)[g]


def torch_segment_mean_max(t, x, g):
    g = g.long()
    n = t.bincount(g, minlength=50000).to(x.dtype)
    total = zeros(t, x, 50000, x.shape[1]).index_add(0, g, x)
    top = zeros(t, x, 50000, x.shape[1], value=-t.inf).index_reduce(0, g, x, "amax")
    return total / n.clamp(min=1)[:, None], top


def torch_bag_mean(t, table, idx, bags):
    g = bags.long() // 10
    n = (bags.shape[0] + 9) // 10
    s = zeros(t, table, n, table.shape[1]).index_add(0, g, table[idx.long()])
    return s / t.bincount(g, minlength=n)[:, None]


def torch_histogram_2d(t, x, y):
    def bins(v):
        return ((v + 4) * 8).floor().clamp(0, 63).long()

    return t.bincount(bins(x) * 64 + bins(y), minlength=4096).reshape(64, 64)


def torch_weighted_counts(t, k, w):
    k = k.long()
    n = t.bincount(k, minlength=1000).to(w.dtype)
    s = zeros(t, w, 1000).index_add(0, k, w)
    return s, s / n.clamp(min=1)


def torch_group_by(t, k, x):
    k = k.long()
    n = t.bincount(k, minlength=5000)
    return (
        n,
        zeros(t, x, 5000).index_add(0, k, x),
        zeros(t, x, 5000, value=t.inf).scatter_reduce(0, k, x, "amin"),
        zeros(t, x, 5000, value=-t.inf).scatter_reduce(0, k, x, "amax"),
    )


def torch_confusion(t, z, y):
    return t.bincount(y.long() * 10 + z.argmax(1), minlength=100).reshape(10, 10)


def torch_row_frequencies(t, s):
    n = t.nn.functional.one_hot(s.long(), 20).sum(1)
    return n.float() / s.shape[1], n.amax(1), n.argmax(1)


def torch_pagerank(t, r, deg, src, dst):
    src, dst = src.long(), dst.long()
    share = r / deg.clamp(min=1)
    new = 0.15 / r.shape[0] + 0.85 * zeros(t, r, r.shape[0]).index_add(0, dst, share[src])
    return new, (new - r).abs().sum()


def torch_relax(t, d, w, src, dst):
    src, dst = src.long(), dst.long()
    return d.scatter_reduce(0, dst, d[src] + w, "amin")


def torch_coo_product(t, v, row, col, x):
    return zeros(t, v, 200000, 16).index_add(0, row.long(), v[:, None] * x[col.long()])


def torch_trans_e(t, ent, rel, h, r, o):
    return (ent[h.long()] + rel[r.long()] - ent[o.long()]).abs().sum(1)


def torch_edge_conv(t, x, idx, w, v):
    b, n, c = x.shape
    flat = idx.long() + n * t.arange(b, device=x.device)[:, None, None]
    near = x.reshape(-1, c)[flat]
    return ((near - x[:, :, None]) @ w + (x @ v)[:, :, None]).relu().amax(2)


def torch_unpermute(t, y, gate, token):
    out = t.zeros(16384, y.shape[1], dtype=t.float32, device=y.device)
    return out.index_add(0, token.long(), y.float() * gate[:, None])


def torch_sage_max(t, h, nb, w1, w2):
    pooled = h[nb.long()].amax(1)
    out = h @ w1 + pooled @ w2
    return t.nn.functional.normalize(out, dim=1)


def torch_laplacian(t, x, w, src, dst):
    src, dst = src.long(), dst.long()
    flow = w * (x[src] - x[dst])
    z = zeros(t, x, x.shape[0])
    return z.index_add(0, src, -flow).index_add(0, dst, flow), 0.5 * (flow * (x[src] - x[dst])).sum()


ROWS = [
    Row("graphs", "gcn_layer_normalised_48", {"h": "f32[100000,48]", "src": "below=100000:i32[E=2000000]", "dst": "below=100000:i32[E]", "w": "f32[48,32]"},
        "deg = f32(bincount(dst, h.shape[0])) + 1\nnorm = rsqrt(deg[src] * deg[dst])\n"
        "out = scatter_add(zeros_like(h), dst, take(h, src, axis=0) * norm[:, None])\nreturn relu((out + h / deg[:, None]) @ w)", torch_gcn),
    Row("graphs", "edge_mlp_messages", {"h": "f32[50000,32]", "e": "f32[E=1000000,16]", "src": "below=50000:i32[E]", "dst": "below=50000:i32[E]",
        "w": "f32[80,32]", "b": "f32[32]"},
        "m = relu(concat((h[src], h[dst], e), axis=1) @ w / 9 + b)\nreturn segment_sum(m, dst, 50000)",
        lambda t, h, e, s, d, w, b: torch_edge_messages(t, h, e, s, d, w / 9, b)),
    Row("graphs", "segment_softmax_sorted_7", {"x": "f32[N=16000000]", "ids": "iota:i32[N]"},
        "g = ids // 7\nn = (x.shape[0] + 6) // 7\ntop = scatter_max(full(n, -inf), g, x)\ne = exp(x - top[g])\nreturn e / segment_sum(e, g, n)[g]",
        torch_segment_softmax),
    Row("graphs", "segment_mean_max_unsorted_24", {"x": "f32[E=2000000,24]", "g": "below=50000:i32[E]"},
        "n = f32(bincount(g, 50000))\nreturn segment_sum(x, g, 50000) / maximum(n, 1)[:, None], scatter_max(full((50000, 24), -inf), g, x)",
        torch_segment_mean_max),
    Row("graphs", "embedding_bag_mean_segments", {"table": "f32[200000,64]", "idx": "below=200000:i32[N=2000000]", "bags": "iota:i32[N]"},
        "g = bags // 10\nn = (idx.shape[0] + 9) // 10\nreturn segment_sum(embedding(table, idx), g, n) / f32(bincount(g, n))[:, None]", torch_bag_mean),
    Row("graphs", "embedding_bag_max_16_bf16", {"table": "bf16[400000,96]", "idx": "below=400000:i32[N=200000,16]"},
        "return max(embedding(table, idx), axis=1)", lambda t, table, idx: table[idx.long()].amax(1)),
    Row("graphs", "histogram_2d_64x64", {"x": "f32[N=30000001]", "y": "f32[N]"},
        "def bins(v): return i32(clamp(floor((v + 4) * 8), 0, 63))\nreturn bincount(bins(x) * 64 + bins(y), 4096).reshape(64, 64)", torch_histogram_2d),
    Row("graphs", "weighted_counts_and_means_1000", {"k": "below=1000:i32[N=30000000]", "w": "f32[N]"},
        "s = bincount(k, 1000, w)\nreturn s, s / maximum(f32(bincount(k, 1000)), 1)", torch_weighted_counts),
    Row("graphs", "group_by_5000_count_sum_min_max", {"k": "below=5000:i32[N=12000007]", "x": "f64[N]"},
        "n = 5000\nreturn bincount(k, n), bincount(k, n, x), scatter_min(full(n, inf, f64), k, x), scatter_max(full(n, -inf, f64), k, x)",
        torch_group_by),
    Row("graphs", "confusion_matrix_10", {"z": "f32[N=5000000,10]", "y": "below=10:u8[N]"},
        "return bincount(i64(y) * 10 + argmax(z, axis=1), 100).reshape(10, 10)", torch_confusion),
    Row("graphs", "token_frequencies_per_row_20", {"s": "below=20:u8[N=1000000,101]"},
        "n = sum(one_hot(s, 20, dtype=i32), axis=1)\nreturn f32(n) / s.shape[1], max(n, axis=1), argmax(n, axis=1)", torch_row_frequencies),
    Row("graphs", "pagerank_step", {"r": "uniform:f32[1000000]", "deg": "below=16:i32[1000000]", "src": "below=1000000:i32[E=8000000]",
        "dst": "below=1000000:i32[E]"},
        "share = r / f32(maximum(deg, 1))\nnew = 0.15 / r.shape[0] + 0.85 * segment_sum(share[src], dst, r.shape[0])\nreturn new, sum(abs(new - r))",
        torch_pagerank),
    Row("graphs", "bellman_ford_relax_i32", {"d": "below=1000:i32[1000003]", "w": "below=100:i32[E=10000000]", "src": "below=1000003:i32[E]",
        "dst": "below=1000003:i32[E]"}, "return scatter_min(d, dst, d[src] + w)", torch_relax),
    Row("graphs", "coo_times_16_columns_f64", {"v": "f64[E=3000000]", "row": "below=200000:i32[E]", "col": "below=100000:i32[E]", "x": "f64[100000,16]"},
        "return scatter_add(zeros((200000, 16), f64), row, v[:, None] * x[col])", torch_coo_product),
    Row("graphs", "trans_e_scores_100", {"ent": "f32[450000,100]", "rel": "f32[1000,100]", "h": "below=450000:i32[N=600000]", "r": "below=1000:i32[N]",
        "o": "below=450000:i32[N]"}, "return sum(abs(ent[h] + rel[r] - ent[o]), axis=1)", torch_trans_e),
    Row("graphs", "edge_conv_20_neighbours", {"x": "f32[B=64,2048,16]", "idx": "below=1024:i32[B,2048,20]", "w": "f32[16,32]", "v": "f32[16,32]"},
        "b, n, c = x.shape\nflat = idx + i32(n) * arange(b, dtype=i32)[:, None, None]\nnear = take(x.reshape(b * n, c), flat, axis=0)\n"
        "return max(relu((near - x[:, :, None]) @ w + (x @ v)[:, :, None]), axis=2)", torch_edge_conv),
    Row("graphs", "experts_unpermute_bf16_1024", {"y": "bf16[N=32768,1024]", "gate": "uniform:f32[N]", "token": "below=16384:i32[N]"},
        "return scatter_add(zeros((16384, 1024)), token, f32(y) * gate[:, None])", torch_unpermute),
    Row("graphs", "sage_max_of_8_neighbours", {"h": "f32[200000,64]", "nb": "below=200000:i32[200000,8]", "w1": "f32[64,64]", "w2": "f32[64,64]"},
        "out = h @ w1 + max(take(h, nb, axis=0), axis=1) @ w2\nreturn out / maximum(l2norm(out, axis=1, keepdims=True), 1e-12)", torch_sage_max),
    Row("graphs", "laplacian_and_energy_f64", {"x": "f64[1000000]", "w": "uniform:f64[E=6000000]", "src": "below=1000000:i32[E]", "dst": "below=1000000:i32[E]"},
        "n = x.shape[0]\nd = x[src] - x[dst]\nflow = w * d\nreturn segment_sum(flow, dst, n) - segment_sum(flow, src, n), 0.5 * sum(flow * d)",
        torch_laplacian),
]
