long long whole(int x, uint8_t y, bool z) {
  unsigned u = x;
  u >>= 3;
  long long big = (long long)x * y;
  int d = y == 0 ? 1 : y;
  short s = (short)(x * 7);
  /* all of them */
  return x / d + x % d * 3 + (int)(u ^ 5u) + (x << 2) + (x >> 1) + (int)(big >> 7) + s + (~y & 0xff) + abs(x) - -y + !z;
}
