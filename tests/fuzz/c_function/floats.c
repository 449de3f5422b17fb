double doubles(double x, float y) {
  const double third = 1.0 / 3, e = M_E;
  bool a = x > 0 && y > 0, b = !(x < y) || isnan(x);
  float far = fmaxf(y, 1e-3f) + copysignf(INFINITY, y) * 0x1p-2f;
  return (float)(x * third + sqrt(fabs(y)) * .5) + roundf(y) + pow(x, e) + (a ? fdim(x, y) : fma(x, x, far)) + b;
}
