static inline float early(float x, float y) {
  if (x < 0.0f) return -x;
  if (x > y) {
    if (y > 1) return y;
    x -= y;
  } else if (x == y)
    return 7;
  float r;
  if (x > 0.5f)
    r = 1;
  else
    r = x * y;
  return r + 0.25f;
}
