"""Integers, packed data, text."""

from .. import Row


def torch_popcount(t, x):
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) >> 24) & 0xFF


def torch_morton(t, x, y):
    def spread(v):
        v = v & 0xFFFF
        v = (v | (v << 8)) & 0x00FF00FF
        v = (v | (v << 4)) & 0x0F0F0F0F
        v = (v | (v << 2)) & 0x33333333
        return (v | (v << 1)) & 0x55555555
    return spread(x) | (spread(y) << 1)


def torch_upper(t, s):
    return t.where((s >= 97) & (s <= 122), s - 32, s)


def torch_pack_bits(t, b):
    return (b.reshape(-1, 8) * (1 << t.arange(8, device=b.device))).sum(1).to(t.uint8)


def torch_unpack_bits(t, x):
    return (x[:, None] >> t.arange(8, device=x.device, dtype=t.uint8)) & 1


def torch_hex_parse(t, s):
    d = s.to(t.int64)
    d = t.where(d >= 97, d - 87, d - 48) & 15
    return (d << t.arange(28, -1, -4, device=s.device)).sum(1)


def torch_words(t, s):
    space = s <= 64
    start = ~space
    start = t.cat((start[:, :1], start[:, 1:] & space[:, :-1]), 1)
    return start.sum(1), space.sum(1), ((s >= 48) & (s <= 57)).sum(1)


def torch_int4(t, q, s):
    lo, hi = (q & 15).half() - 8, (q >> 4).half() - 8
    w = t.stack((lo, hi), -1).reshape(q.shape[0], -1, 32)
    return (w * s[..., None]).reshape(q.shape[0], -1)


def torch_reverse_complement(t, s):
    return (3 - s).flip(1), ((s == 1) | (s == 2)).sum(1) / s.shape[1]


def torch_kmers(t, s):
    w = s.to(t.int64).unfold(1, 8, 1)
    return (w << t.arange(14, -1, -2, device=s.device)).sum(-1)


def torch_fletcher(t, s):
    v = s.to(t.int64)
    n = s.shape[1]
    a = v.sum(1)
    b = (v * t.arange(n, 0, -1, device=s.device)).sum(1)
    return (b % 65521) * 65536 + (1 + a) % 65521


def torch_civil(t, d):
    z = d.abs() * 1000 + 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    m = t.where(mp < 10, mp + 3, mp - 9)
    return yoe + era * 400 + (m <= 2).int(), m, doy - (153 * mp + 2) // 5 + 1


def torch_equal_keys(t, a, b):
    same = a == b
    return same.all(1), same.to(t.uint8).cumprod(1).sum(1)


def torch_mix_hash(t, x):
    x = (x ^ ((x >> 16) & 0xFFFF)) * 73244475
    x = (x ^ ((x >> 16) & 0xFFFF)) * 73244475
    x = x ^ ((x >> 16) & 0xFFFF)
    return (x & 0x7FFFFFFF) % 1000003


ROWS = [
    Row("bits", "popcount_i32", {"x": "i32[N=40000000]"},
        "x = x - ((x >> 1) & 0x55555555)\nx = (x & 0x33333333) + ((x >> 2) & 0x33333333)\nx = (x + (x >> 4)) & 0x0F0F0F0F\n"
        "return ((x * 0x01010101) >> 24) & 0xFF", torch_popcount),
    Row("bits", "morton_codes_odd", {"x": "i32[N=20000003]", "y": "i32[N]"},
        "def spread(v):\n  v = v & 0xFFFF\n  v = (v | (v << 8)) & 0x00FF00FF\n  v = (v | (v << 4)) & 0x0F0F0F0F\n"
        "  v = (v | (v << 2)) & 0x33333333\n  return (v | (v << 1)) & 0x55555555\nreturn spread(x) | (spread(y) << 1)", torch_morton),
    Row("bits", "ascii_upper_u8", {"s": "u8[N=199999991]"}, "return where((s >= 97) & (s <= 122), s - 32, s)", torch_upper),
    Row("bits", "pack_bools", {"b": "bool[N=128000000]"},
        "return u8(sum(i32(b.reshape(-1, 8)) << i32(arange(8)), axis=1))", torch_pack_bits),
    Row("bits", "unpack_bits_u8", {"x": "u8[N=25000001]"}, "return (x[:, None] >> u8(arange(8))) & 1", torch_unpack_bits),
    Row("bits", "hex_words_to_i64", {"s": "u8[N=10000000,8]"},
        "d = i64(s)\nd = where(d >= 97, d - 87, d - 48) & 15\nreturn sum(d << (28 - 4 * arange(8)), axis=1)", torch_hex_parse),
    Row("bits", "word_counts_120", {"s": "u8[N=1000001,120]"},
        "space = s <= 64\nstart = not space\nstart = concat((start[:, :1], start[:, 1:] & space[:, :-1]), axis=1)\n"
        "return sum(start, axis=1), sum(space, axis=1), sum((s >= 48) & (s <= 57), axis=1)", torch_words),
    Row("bits", "int4_groups_to_f16", {"q": "u8[N=11008,4096]", "s": "uniform:f16[N,256]"},
        "lo = f16(q & 15) - 8; hi = f16(q >> 4) - 8\nw = stack((lo, hi), axis=-1).reshape(q.shape[0], 256, 32)\n"
        "return (w * s[..., None]).reshape(q.shape[0], 8192)", torch_int4),
    Row("bits", "reverse_complement_151", {"s": "below=4:u8[N=1000000,151]"},
        "return (3 - s)[:, ::-1], f32(sum((s == 1) | (s == 2), axis=1)) / 151", torch_reverse_complement),
    Row("bits", "kmer_codes_8", {"s": "below=4:u8[N=100000,151]"},
        "return sum(window(i64(s), 8) << (14 - 2 * arange(8)), axis=-1)", torch_kmers),
    Row("bits", "adler_rows_1500", {"s": "u8[N=60000,1500]"},
        "v = i64(s); n = s.shape[1]\na = sum(v, axis=1); b = sum(v * (n - arange(n)), axis=1)\nreturn b % 65521 * 65536 + (1 + a) % 65521",
        torch_fletcher),
    Row("bits", "civil_date_from_days", {"d": "i32[N=12000000]"},
        "z = abs(d) * 1000 + 719468\nera = z // 146097\ndoe = z - era * 146097\n"
        "yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365\ndoy = doe - (365 * yoe + yoe // 4 - yoe // 100)\n"
        "mp = (5 * doy + 2) // 153\nm = mp + 3 if mp < 10 else mp - 9\nreturn yoe + era * 400 + i32(m <= 2), m, doy - (153 * mp + 2) // 5 + 1",
        torch_civil),
    Row("bits", "equal_keys_and_prefix_16", {"a": "below=3:u8[N=10000000,16]", "b": "below=3:u8[N,16]"},
        "same = a == b\nreturn all(same, axis=1), sum(cumprod(i64(same), axis=1), axis=1)", torch_equal_keys),
    Row("bits", "hash_to_buckets_i32", {"x": "i32[N=50000017]"},
        "def mix(x): return (x ^ ((x >> 16) & 0xFFFF)) * 73244475\nx = mix(mix(x))\nx = x ^ ((x >> 16) & 0xFFFF)\n"
        "return (x & 0x7FFFFFFF) % 1000003", torch_mix_hash),
]
