float poly(float x, const float y) {
  float sum = 0, power = 1;
  for (int i = 0; i < 6; i++) {
    if (i % 2 == 0)
      sum += power / (i + 1);
    else
      sum -= power * y;
    for (int j = i; j > 3; --j) sum += j;  // down
    power *= x;
  }
  return sum;
}
