"""Bytes, dates, checksums and tricks with bits."""

from .. import Row


def torch_parse_price(t, s):
    digit = (s >= 48) & (s <= 57)
    d = t.where(digit, s.long() - 48, 0)
    after = (s == 46).long().cumsum(1)
    right = digit.long().flip(1).cumsum(1).flip(1)
    value = (d * 10 ** (right - 1).clamp(min=0)).sum(1)
    scale = 10.0 ** (digit & (after > 0)).sum(1).double()
    sign = t.where((s == 45).any(1), -1, 1)
    return (sign * value).double() / scale


def torch_utf8(t, s):
    lead = (s & 0xC0) != 0x80
    two, three, four = (s & 0xE0) == 0xC0, (s & 0xF0) == 0xE0, (s & 0xF8) == 0xF0
    need = two.long() + 2 * three.long() + 3 * four.long()
    return lead.sum(1), need.sum(1) == (~lead).sum(1), (s < 128).all(1)


def torch_title(t, s):
    letter = ((s | 32) >= 97) & ((s | 32) <= 122)
    before = t.nn.functional.pad(letter[:, :-1], (1, 0))
    return t.where(letter, t.where(before, s | 32, s & 223), s)


def torch_base64(t, x):
    a, b, c = x.to(t.int32).unbind(1)
    v = t.stack((a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63), 1)
    out = t.where(v < 26, v + 65, t.where(v < 52, v + 71, t.where(v < 62, v - 4, t.where(v == 62, 43, 47))))
    return out.to(t.uint8)


def torch_hex_dump(t, x):
    n = t.stack((x >> 4, x & 15), -1)
    return t.where(n < 10, n + 48, n + 87).reshape(x.shape[0], -1)


def torch_crc32(t, x, table):
    c = t.full((x.shape[0],), 0xFFFFFFFF, dtype=t.int64, device=x.device)
    for i in range(x.shape[1]):
        c = (c >> 8) ^ table[(c ^ x[:, i].long()) & 255]
    return c ^ 0xFFFFFFFF


def torch_crc_bits(t, x):
    c = x.long() & 0xFFFFFFFF
    for _ in range(16):
        c = (c >> 1) ^ (0xEDB88320 * (c & 1))
    return c


def torch_murmur64(t, x):
    logical = lambda v, n: (v >> n) & ((1 << (64 - n)) - 1)
    h = x
    h = (h ^ logical(h, 33)) * -49064778989728563
    h = (h ^ logical(h, 33)) * -4265267296055464877
    h = h ^ logical(h, 33)
    return h, (logical(h, 40).to(t.float32) * 2**-24)


def torch_fnv(t, s):
    h = t.full((s.shape[0],), 2166136261, dtype=t.int64, device=s.device)
    for i in range(s.shape[1]):
        h = ((h ^ s[:, i].long()) * 16777619) & 0xFFFFFFFF
    return h


def torch_bit_reverse(t, x):
    x = x.long() & 0xFFFFFFFF
    x = (x >> 1) & 0x55555555 | (x & 0x55555555) << 1
    x = (x >> 2) & 0x33333333 | (x & 0x33333333) << 2
    x = (x >> 4) & 0x0F0F0F0F | (x & 0x0F0F0F0F) << 4
    x = (x >> 8) & 0x00FF00FF | (x & 0x00FF00FF) << 8
    return (x >> 16 | x << 16) & 0xFFFFFFFF


def torch_clz(t, x):
    x = x.long() & 0xFFFFFFFF
    n = t.zeros_like(x)
    for s in (16, 8, 4, 2, 1):
        big = (x >> s) != 0
        n, x = n + t.where(big, s, 0), t.where(big, x >> s, x)
    return t.where(x == 0, 32, 31 - n).to(t.uint8)


def torch_gray(t, x):
    g = x ^ (x >> 1)
    b = g
    for s in (1, 2, 4, 8):
        b = b ^ (b >> s)
    return g, b


def torch_luhn(t, d):
    n = d.shape[1]
    twice = (n - 1 - t.arange(n, device=d.device)) % 2 == 1
    v = t.where(twice, d * 2, d)
    return t.where(v > 9, v - 9, v).sum(1) % 10 == 0


def torch_timestamp(t, s):
    s = s.abs() * 100003
    day, sec = s // 86400, s % 86400
    week = (day + 3) % 7
    hour = sec // 3600
    return week.to(t.int8), hour.to(t.int8), (sec // 60 % 60).to(t.int8), (sec % 60).to(t.int8), (week < 5) & (hour >= 9) & (hour < 17)


def torch_easter(t, y):
    y = y.long().abs() + 1900
    a, b, c = y % 19, y // 100, y % 100
    d, e = b // 4, b % 4
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = c // 4, c % 4
    m = (32 + 2 * e + 2 * i - h - k) % 7
    p = (a + 11 * h + 22 * m) // 451
    n = h + m - 7 * p + 114
    leap = (y % 4 == 0) & (y % 100 != 0) | (y % 400 == 0)
    return (n // 31).to(t.uint8), (n % 31 + 1).to(t.uint8), leap


def torch_hamming(t, a, b):
    x = a ^ b
    x = x - ((x >> 1) & 0x55)
    x = (x & 0x33) + ((x >> 2) & 0x33)
    return ((x + (x >> 4)) & 15).sum(1)


def torch_edit_line(t, a, b, prev):
    n = b.shape[1]
    cost = (b != a).long()
    up = prev[:, 1:] + 1
    diag = prev[:, :-1] + cost
    best = t.minimum(up, diag)
    j = t.arange(1, n + 1, device=b.device)
    first = prev[:, :1] + 1
    return t.cat((first, t.minimum((best - j).cummin(1).values + j, first + j)), 1)


ROWS = [
    Row("text", "parse_decimal_fields_12", {"s": "below=16:u8[N=10000000,12]"},
        "s = where(s == 10, 46, where(s == 11, 45, where(s > 11, 32, s + 48)))\ndigit = (s >= 48) & (s <= 57)\nd = where(digit, i64(s) - 48, 0)\n"
        "after = cumsum(s == 46, axis=1)\nright = cumsum(digit, axis=1, reverse=True)\nvalue = sum(d * 10 ** maximum(right - 1, 0), axis=1)\n"
        "scale = 10 ** f64(sum(digit & (after > 0), axis=1))\nreturn f64(where(any(s == 45, axis=1), -1, 1) * value) / scale",
        lambda t, s: torch_parse_price(t, t.where(s == 10, 46, t.where(s == 11, 45, t.where(s > 11, 32, s + 48))))),
    Row("text", "utf8_counts_and_validity", {"s": "u8[N=1000000,120]"},
        "lead = (s & 0xC0) != 0x80\nneed = i64((s & 0xE0) == 0xC0) + 2 * i64((s & 0xF0) == 0xE0) + 3 * i64((s & 0xF8) == 0xF0)\n"
        "return sum(lead, axis=1), sum(need, axis=1) == sum(not lead, axis=1), all(s < 128, axis=1)", torch_utf8),
    Row("text", "title_case_u8", {"s": "u8[N=1000000,101]"},
        "low = s | 32\nletter = (low >= 97) & (low <= 122)\nbefore = pad(letter[:, :-1], ((0, 0), (1, 0)), value=False)\n"
        "return where(letter, where(before, low, s & 223), s)", torch_title),
    Row("text", "base64_encode", {"x": "u8[N=40000000,3]"},
        "a = i32(x[:, 0]); b = i32(x[:, 1]); c = i32(x[:, 2])\nv = stack((a >> 2, (a & 3) << 4 | b >> 4, (b & 15) << 2 | c >> 6, c & 63), axis=1)\n"
        "return u8(where(v < 26, v + 65, where(v < 52, v + 71, where(v < 62, v - 4, where(v == 62, 43, 47)))))", torch_base64),
    Row("text", "hex_encode_digests", {"x": "u8[N=2000003,32]"},
        "n = stack((x >> 4, x & 15), axis=-1)\nreturn where(n < 10, n + 48, n + 87).reshape(x.shape[0], 64)", torch_hex_dump),
    Row("text", "crc32_table_8_bytes", {"x": "u8[N=10000000,8]", "table": "below=2000000000:i64[256]"},
        "def step(c, b, table): return c >> 8 ^ take(table, (c ^ i64(b)) & 255)\n"
        "c = i64(full(x.shape[0], 0xFFFFFFFF, i64))\n" + "".join(f"c = step(c, x[:, {i}], table)\n"
        "" for i in range(8)) + "return c ^ 0xFFFFFFFF", torch_crc32),
    Row("text", "crc32_bitwise_u32", {"x": "i32[N=30000000]"},
        "def bit(c): return c >> 1 ^ 0xEDB88320 * (c & 1)\ndef four(c): return bit(bit(bit(bit(c))))\n"
        "return i64(four(four(four(four(wrap_cast(x, u32))))))", torch_crc_bits),
    Row("text", "murmur_finalizer_u64", {"x": "i64[N=12000007]"},
        "h = wrap_cast(x, u64)\nh = (h ^ h >> 33) * wrap_cast(i64(-49064778989728563), u64)\n"
        "h = (h ^ h >> 33) * wrap_cast(i64(-4265267296055464877), u64)\nh = h ^ h >> 33\n"
        "return wrap_cast(h, i64), f32(h >> 40) * 2 ** -24", torch_murmur64),
    Row("text", "fnv1a_16_bytes", {"s": "u8[N=6000000,16]"},
        "def mix(h, b): return (h ^ u32(b)) * 16777619\nh = full(s.shape[0], 2166136261, u32)\n"
        + "".join(f"h = mix(h, s[:, {i}])\n" for i in range(16)) + "return i64(h)", torch_fnv),
    Row("text", "bit_reverse_u32", {"x": "i32[N=40000001]"},
        "v = wrap_cast(x, u32)\nv = v >> 1 & 0x55555555 | (v & 0x55555555) << 1\nv = v >> 2 & 0x33333333 | (v & 0x33333333) << 2\n"
        "v = v >> 4 & 0x0F0F0F0F | (v & 0x0F0F0F0F) << 4\nv = v >> 8 & 0x00FF00FF | (v & 0x00FF00FF) << 8\n"
        "return i64(v >> 16 | v << 16)", torch_bit_reverse),
    Row("text", "leading_zeros_i32", {"x": "i32[N=60000000]"},
        "v = wrap_cast(x, u32)\ndef half(y, s):\n  n, v = y\n  big = v >> s != 0\n  return (n + where(big, s, 0), where(big, v >> s, v))\n"
        "n, v = half(half(half(half(half((zeros_like(v), v), 16), 8), 4), 2), 1)\nreturn u8(where(v == 0, 32, 31 - n))", torch_clz),
    Row("text", "gray_code_i16", {"x": "i16[N=60000000]"},
        "x = abs(x)\ng = x ^ x >> 1\nb = g\nb = b ^ b >> 1; b = b ^ b >> 2; b = b ^ b >> 4; b = b ^ b >> 8\nreturn g, b",
        lambda t, x: torch_gray(t, x.abs())),
    Row("text", "luhn_check_16", {"d": "below=10:u8[N=10000000,16]"},
        "n = d.shape[1]\ntwice = (n - 1 - arange(n)) % 2 == 1\nv = where(twice, d * 2, d)\n"
        "return sum(where(v > 9, v - 9, v), axis=1) % 10 == 0", torch_luhn),
    Row("text", "timestamp_fields_i64", {"s": "i64[N=12000000]"},
        "s = abs(s) * 100003\nday = s // 86400; sec = s % 86400\nweek = (day + 3) % 7; hour = sec // 3600\n"
        "return i8(week), i8(hour), i8(sec // 60 % 60), i8(sec % 60), (week < 5) & (9 <= hour < 17)", torch_timestamp),
    Row("text", "easter_and_leap_years", {"y": "i16[N=30000000]"},
        "y = abs(i32(y)) + 1900\na = y % 19; b = y // 100; c = y % 100\nd = b // 4; e = b % 4\ng = (8 * b + 13) // 25\n"
        "h = (19 * a + b - d - g + 15) % 30\ni = c // 4; k = c % 4\nm = (32 + 2 * e + 2 * i - h - k) % 7\np = (a + 11 * h + 22 * m) // 451\n"
        "n = h + m - 7 * p + 114\nreturn u8(n // 31), u8(n % 31 + 1), y % 4 == 0 and y % 100 != 0 or y % 400 == 0", torch_easter),
    Row("text", "hamming_distance_64_bytes", {"a": "u8[N=1500000,64]", "b": "u8[N,64]"},
        "x = a ^ b\nx = x - ((x >> 1) & 0x55)\nx = (x & 0x33) + ((x >> 2) & 0x33)\nreturn i64(sum((x + (x >> 4)) & 15, axis=1))", torch_hamming),
    Row("text", "edit_distance_row_i64", {"a": "below=4:u8[N=200000,1]", "b": "below=4:u8[N,64]", "prev": "below=64:i64[N,65]"},
        "j = arange(1, b.shape[1] + 1)\nbest = minimum(prev[:, 1:] + 1, prev[:, :-1] + i64(b != a))\nfirst = prev[:, :1] + 1\n"
        "return concat((first, minimum(cummin(best - j, axis=1) + j, first + j)), axis=1)", torch_edit_line),
]
