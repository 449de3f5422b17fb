"""Bytes of genomes and of streams: reads, qualities, alignments, checksums, ciphers, packed integers."""

from .. import Row


def torch_gc_windows(t, s):
    gc = (s == 1) | (s == 2)
    known = s < 4
    g, n = gc.reshape(-1, 100).sum(1), known.reshape(-1, 100).sum(1)
    return g.float() / n.clamp(min=1), n == 100


def torch_canonical_kmer(t, s):
    w = s.to(t.int32).unfold(1, 11, 1)
    p = 4 ** t.arange(11, dtype=t.int32, device=s.device)
    fwd = (w * p.flip(0)).sum(-1)
    rev = ((3 - w) * p).sum(-1)
    return t.minimum(fwd, rev).to(t.int32)


def torch_barcodes(t, r, codes):
    d = (r[:, None] != codes).sum(-1)
    best, which = d.min(1)
    return t.where(best <= 2, which, -1).to(t.int16), best.to(t.uint8)


def torch_qualities(t, q):
    e = 10 ** (-(q.float() - 33) / 10)
    total = e.cumsum(1)
    keep = (total <= 1).sum(1)
    return e.sum(1), keep.to(t.int32), q.float().mean(1) - 33


def torch_smith_waterman(t, h1, h2, e, f, match):
    open_, extend = 11, 1
    e = t.maximum(h1[:, :-1] - open_, e - extend)
    f = t.maximum(h1[:, 1:] - open_, f - extend)
    h = t.maximum(t.maximum(h2 + match, t.maximum(e, f)), t.zeros_like(e))
    return h, e, f, h.amax(1)


def torch_sam_flags(t, flag, mapq):
    has = lambda bit: (flag & bit) != 0
    primary = ~has(0x100) & ~has(0x800)
    good = primary & ~has(4) & ~has(0x400) & (mapq >= 20)
    strand = 1 - 2 * has(16).to(t.int8)
    return good, strand, (flag >> 6 & 3).to(t.uint8)


def torch_weight_matrix(t, s, pwm):
    w = s.long().unfold(1, 12, 1)
    score = pwm.flatten()[w + 4 * t.arange(12, device=s.device)].sum(-1)
    return score, (score > 8).sum(1)


def torch_translate(t, s, table):
    c = s.reshape(s.shape[0], -1, 3).long()
    aa = table[c[..., 0] * 16 + c[..., 1] * 4 + c[..., 2]]
    open_ = (aa == 42).long().cumsum(1) == 0
    return aa, open_.sum(1)


def torch_fletcher(t, x):
    v = x.long()
    n = x.shape[1]
    a = v.sum(1) % 255
    b = (v * t.arange(n, 0, -1, device=x.device)).sum(1) % 255
    return b << 8 | a


def torch_crc16(t, x):
    c = t.full((x.shape[0],), 0xFFFF, dtype=t.int64, device=x.device)
    for i in range(4):
        c = c ^ x[:, i].long() << 8
        for _ in range(8):
            c = t.where((c & 0x8000) != 0, c << 1 ^ 0x1021, c << 1) & 0xFFFF
    return c


def torch_xorshift(t, a, b, c, d):
    m = 0xFFFFFFFF
    a, b, c, d = (v.long() & m for v in (a, b, c, d))
    total = 0
    for _ in range(4):
        s = d ^ d << 11 & m
        s = s ^ s >> 8
        a, b, c, d = s ^ a ^ a >> 19, a, b, c
        total = total + (a >> 8).float() * 2**-24
    return a, total


def torch_zigzag(t, x):
    d = x - t.nn.functional.pad(x[:, :-1], (1, 0))
    z = (d << 1) ^ (d >> 31)
    z = z.long() & 0xFFFFFFFF
    size = 1 + (z >= 1 << 7).long() + (z >= 1 << 14) + (z >= 1 << 21) + (z >= 1 << 28)
    return z, size.sum(1)


def torch_pack12(t, x):
    a, b = x[:, 0].to(t.int32), x[:, 1].to(t.int32)
    return t.stack((a & 255, a >> 8 | (b & 15) << 4, b >> 4), 1).to(t.uint8)


def torch_morton_decode(t, x):
    def compact(v):
        v = v & 0x09249249
        v = (v ^ v >> 2) & 0x030C30C3
        v = (v ^ v >> 4) & 0x0300F00F
        v = (v ^ v >> 8) & 0xFF0000FF
        return (v ^ v >> 16) & 0x3FF

    v = x.abs().long()
    return t.stack([compact(v >> i) for i in range(3)], 1).to(t.int16)


def popcount(t, v):
    v = v.long() & 0xFFFFFFFF
    v = v - (v >> 1 & 0x55555555)
    v = (v & 0x33333333) + (v >> 2 & 0x33333333)
    v = (v + (v >> 4)) & 0x0F0F0F0F
    return (v * 0x01010101 & 0xFFFFFFFF) >> 24


def torch_tanimoto(t, x, q):
    both, either = popcount(t, x & q).sum(1), popcount(t, x | q).sum(1)
    return both.float() / either.clamp(min=1)


def torch_chacha(t, x):
    m = 0xFFFFFFFF
    s = [v.long() & m for v in x]

    def rotated(v, n):
        return (v << n | v >> (32 - n)) & m

    for a, b, c, d in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)):
        for u, v, w, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[u] = (s[u] + s[v]) & m
            s[w] = rotated(s[w] ^ s[u], n)
    return t.stack(s)


def torch_speck(t, x, y, k):
    m = 0xFFFFFFFF
    x, y = x.long() & m, y.long() & m
    for i in range(8):
        x = ((x >> 8 | x << 24) & m) + y & m ^ k[i].long() & m
        y = (y << 3 | y >> 29) & m ^ x
    return x, y


def torch_revcomp_packed(t, x):
    m = (0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF)
    x = ~x
    for mask, n in zip(m, (2, 4, 8, 16)):
        x = (x >> n & mask) | (x & mask) << n
    return x >> 32 & 0xFFFFFFFF | x << 32


def torch_nibble_entropy(t, x):
    n = t.nn.functional.one_hot((x >> 4).long(), 16).sum(1)
    p = n.float() / x.shape[1]
    return -(p * t.where(p > 0, p, 1).log2()).sum(1), n.amax(1)


def torch_pileup(t, base, ref, q):
    mismatch = (base != ref) & (base < 4)
    w = t.where(q >= 53, 1 - 10 ** (-(q.float() - 33) / 10), 0)
    depth = (base < 4).sum(1)
    support = t.where(mismatch, w, 0).sum(1)
    return depth, support / w.sum(1).clamp(min=1e-6), (support > 3) & (depth > 10)


def torch_homopolymers(t, s):
    n = s.shape[1]
    i = t.arange(n, device=s.device)
    new = t.nn.functional.pad(s[:, 1:] != s[:, :-1], (1, 0), value=True)
    start = t.where(new, i, 0).cummax(1).values
    run = i - start + 1
    return run.amax(1), (run >= 8).any(1), new.sum(1)


ROWS = [
    Row("genome", "gc_content_windows_100", {"s": "below=5:u8[N=2000003,100]"},
        "s = s.reshape(-1, 100)\ng = sum((s == 1) | (s == 2), axis=1); n = sum(s < 4, axis=1)\nreturn f32(g) / f32(maximum(n, 1)), n == 100",
        torch_gc_windows),
    Row("genome", "canonical_kmers_11_i32", {"s": "below=4:u8[N=800000,150]"},
        "w = window(i32(s), 11, axis=1)\np = 4 ** arange(11, dtype=i32)\nreturn i32(minimum(sum(w * p[::-1], axis=-1), sum((3 - w) * p, axis=-1)))",
        torch_canonical_kmer),
    Row("genome", "nearest_of_96_barcodes", {"r": "below=4:u8[N=4000001,16]", "codes": "below=4:u8[96,16]"},
        "d = sum(r[:, None] != codes, axis=-1)\nbest = min(d, axis=1)\nreturn i16(where(best <= 2, argmin(d, axis=1), -1)), u8(best)", torch_barcodes),
    Row("genome", "expected_errors_of_qualities", {"q": "below=41:u8[N=1500000,151]"},
        "q = q + 33\ne = 10 ** (-(f32(q) - 33) / 10)\nreturn sum(e, axis=1), i32(sum(cumsum(e, axis=1) <= 1, axis=1)), mean(f32(q), axis=1) - 33",
        lambda t, q: torch_qualities(t, q + 33)),
    Row("genome", "smith_waterman_antidiagonal_i16", {"h1": "below=99:i16[N=100000,129]", "h2": "below=99:i16[N,128]", "e": "i16[N,128]", "f": "i16[N,128]",
        "match": "i16[N,128]"},
        "e = maximum(h1[:, :-1] - 11, e - 1); f = maximum(h1[:, 1:] - 11, f - 1)\nh = maximum(maximum(h2 + match, maximum(e, f)), 0)\n"
        "return h, e, f, max(h, axis=1)", torch_smith_waterman),
    Row("genome", "sam_flags_filter_i16", {"flag": "below=4096:i16[N=60000000]", "mapq": "below=61:u8[N]"},
        "def has(flag, bit): return flag & bit != 0\nprimary = not has(flag, 0x100) and not has(flag, 0x800)\n"
        "good = primary and not has(flag, 4) and not has(flag, 0x400) and mapq >= 20\nreturn good, where(has(flag, 16), i8(-1), 1), u8(flag >> 6 & 3)",
        torch_sam_flags),
    Row("genome", "weight_matrix_scan_12", {"s": "below=4:u8[N=300000,200]", "pwm": "f32[12,4]"},
        "w = window(i32(s), 12, axis=1)\nscore = sum(take(pwm.flatten(), w + 4 * i32(arange(12))), axis=-1)\nreturn score, sum(score > 8, axis=1)",
        torch_weight_matrix),
    Row("genome", "translate_codons_u8", {"s": "below=4:u8[N=1000000,150]", "table": "below=64:u8[64]"},
        "c = i32(s.reshape(s.shape[0], 50, 3))\naa = take(table, c[..., 0] * 16 + c[..., 1] * 4 + c[..., 2])\n"
        "return aa, sum(cumsum(aa == 42, axis=1) == 0, axis=1)", torch_translate),
    Row("genome", "fletcher_16_blocks_128", {"x": "u8[N=2000000,128]"},
        "v = i64(x); n = x.shape[1]\na = sum(v, axis=1) % 255; b = sum(v * arange(n, 0, -1), axis=1) % 255\nreturn b << 8 | a", torch_fletcher),
    Row("genome", "crc16_ccitt_4_bytes", {"x": "u8[N=30000000,4]"},
        "def bit(c): return where(c & 0x8000 != 0, c << 1 ^ 0x1021, c << 1) & 0xFFFF\ndef four(c): return bit(bit(bit(bit(c))))\n"
        "def byte(c, x): return four(four(c ^ i32(x) << 8))\nc = full(x.shape[0], 0xFFFF, i32)\n"
        "return i64(byte(byte(byte(byte(c, x[:, 0]), x[:, 1]), x[:, 2]), x[:, 3]))", torch_crc16),
    Row("genome", "xorshift128_4_draws", {k: "i32[N=20000000]" if k == "a" else "i32[N]" for k in "abcd"},
        "a, b, c, d = [wrap_cast(v, u32) for v in (a, b, c, d)]\ndef step(a, b, c, d):\n  s = d ^ d << 11\n  s = s ^ s >> 8\n"
        "  return (s ^ a ^ a >> 19, a, b, c)\ndef real(v): return f32(v >> 8) * 2 ** -24\na, b, c, d = step(a, b, c, d); t = real(a)\n"
        "a, b, c, d = step(a, b, c, d); t = t + real(a)\na, b, c, d = step(a, b, c, d); t = t + real(a)\na, b, c, d = step(a, b, c, d)\n"
        "return i64(a), t + real(a)", torch_xorshift),
    Row("genome", "delta_zigzag_varint_sizes", {"x": "i32[N=600000,128]"},
        "d = x - pad(x[:, :-1], ((0, 0), (1, 0)))\nz = i64(wrap_cast(d << 1 ^ d >> 31, u32))\n"
        "size = 1 + i64(z >= 1 << 7) + i64(z >= 1 << 14) + i64(z >= 1 << 21) + i64(z >= 1 << 28)\nreturn z, sum(size, axis=1)", torch_zigzag),
    Row("genome", "pack_pairs_of_12_bits", {"x": "below=4096:i16[N=40000000,2]"},
        "a, b = [i32(x[:, i]) for i in (0, 1)]\nreturn wrap_cast(stack((a & 255, a >> 8 | (b & 15) << 4, b >> 4), axis=1), u8)", torch_pack12),
    Row("genome", "morton_decode_3d", {"x": "below=1000000000:i32[N=30000001]"},
        "def compact(v):\n  v = v & 0x09249249\n  v = (v ^ v >> 2) & 0x030C30C3\n  v = (v ^ v >> 4) & 0x0300F00F\n  v = (v ^ v >> 8) & 0xFF0000FF\n"
        "  return (v ^ v >> 16) & 0x3FF\nv = u32(abs(x))\nreturn i16(stack([compact(v >> i) for i in (0, 1, 2)], axis=1))", torch_morton_decode),
    Row("genome", "tanimoto_1024_bits", {"x": "i32[N=2000000,32]", "q": "i32[32]"},
        "def count(v):\n  v = wrap_cast(v, u32)\n  v = v - (v >> 1 & 0x55555555)\n  v = (v & 0x33333333) + (v >> 2 & 0x33333333)\n"
        "  return ((v + (v >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24\nboth = sum(count(x & q), axis=1); either = sum(count(x | q), axis=1)\n"
        "return f32(both) / f32(maximum(either, 1))", torch_tanimoto),
    Row("genome", "chacha_column_round", {"x": "i32[16,N=4000000]"},
        "def rot(v, n): return v << n | v >> 32 - n\ndef quarter(a, b, c, d):\n  a = a + b; d = rot(d ^ a, 16); c = c + d; b = rot(b ^ c, 12)\n"
        "  a = a + b; d = rot(d ^ a, 8); c = c + d; b = rot(b ^ c, 7)\n  return (a, b, c, d)\ns = wrap_cast(x, u32)\n"
        "q = [quarter(s[i], s[4 + i], s[8 + i], s[12 + i]) for i in (0, 1, 2, 3)]\n"
        "return i64(concat([stack([c[i] for c in q]) for i in (0, 1, 2, 3)]))", torch_chacha),
    Row("genome", "speck64_8_rounds", {"x": "i32[N=30000007]", "y": "i32[N]", "k": "below=2000000000:i32[8]"},
        "def rnd(s, k):\n  x, y = s\n  x = ((x >> 8 | x << 24) + y) ^ k\n  return (x, (y << 3 | y >> 29) ^ x)\ns = (wrap_cast(x, u32), wrap_cast(y, u32))\n"
        "k = wrap_cast(k, u32)\n" + "".join(f"s = rnd(s, k[{i}])\n" for i in range(8)) + "x, y = s\nreturn i64(x), i64(y)", torch_speck),
    Row("genome", "reverse_complement_packed_i64", {"x": "i64[N=20000000]"},
        "x = wrap_cast(~(x * 123456789123), u64)\ndef swap(x, m, n): return x >> n & m | (x & m) << n\nx = swap(x, 0x3333333333333333, 2)\n"
        "x = swap(x, 0x0F0F0F0F0F0F0F0F, 4)\nx = swap(x, 0x00FF00FF00FF00FF, 8)\nx = swap(x, 0x0000FFFF0000FFFF, 16)\n"
        "return wrap_cast(x >> 32 | x << 32, i64)", lambda t, x: torch_revcomp_packed(t, x * 123456789123)),
    Row("genome", "nibble_entropy_of_256_bytes", {"x": "u8[N=800000,256]"},
        "n = sum(one_hot(x >> 4, 16, dtype=i32), axis=1)\np = f32(n) / x.shape[1]\nreturn -sum(p * log2(where(p > 0, p, 1)), axis=1), max(n, axis=1)",
        torch_nibble_entropy),
    Row("genome", "pileup_support_60_reads", {"base": "below=5:u8[N=3000000,60]", "ref": "below=4:u8[N,1]", "q": "below=42:u8[N,60]"},
        "q = q + 33\nw = where(q >= 53, 1 - 10 ** (-(f32(q) - 33) / 10), 0)\ndepth = sum(base < 4, axis=1)\n"
        "support = sum(where(base != ref and base < 4, w, 0), axis=1)\n"
        "return depth, support / maximum(sum(w, axis=1), 1e-6), support > 3 and depth > 10",
        lambda t, b, r, q: torch_pileup(t, b, r, q + 33)),
    Row("genome", "homopolymer_runs_150", {"s": "below=4:u8[N=1000003,150]"},
        "i = arange(s.shape[1])\nnew = pad(s[:, 1:] != s[:, :-1], ((0, 0), (1, 0)), value=True)\nrun = i - cummax(where(new, i, 0), axis=1) + 1\n"
        "return max(run, axis=1), any(run >= 8, axis=1), sum(new, axis=1)", torch_homopolymers),
]
