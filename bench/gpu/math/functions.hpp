// The functions that are measured: as the language writes them, as CUDA's library has them in f64
// and in f32, and what is promised.
#pragma once

#include <string>
#include <vector>

namespace smelt::bench {

struct Function {
  std::string name;
  std::string exact;    // CUDA C++ in f64, of `double x`
  std::string library;  // the same in f32, of `float x`
  double bound;         // ULP; 0: none is promised
  double low, high;     // arguments to measure its time with
};

inline std::vector<Function> functions() {
  std::vector<Function> all;
  auto add = [&](const char* name, double bound, double low, double high) {
    all.push_back({name, std::string(name) + "(x)", std::string(name) + "f(x)", bound, low, high});
  };
  add("exp", 4, -20, 20);
  add("exp2", 4, -20, 20);
  add("expm1", 4, -5, 5);
  add("log", 4, 0.1, 100);
  add("log2", 4, 0.1, 100);
  add("log10", 4, 0.1, 100);
  add("log1p", 4, -0.5, 5);
  add("sin", 4, -30, 30);
  add("cos", 4, -30, 30);
  add("tan", 4, -30, 30);
  add("asin", 4, -0.9, 0.8);
  add("acos", 4, -0.9, 0.8);
  add("atan", 4, -5, 5);
  add("sinh", 4, -5, 5);
  add("cosh", 4, -5, 5);
  add("tanh", 4, -5, 5);
  add("asinh", 4, -5, 5);
  add("acosh", 4, 1.1, 5);
  add("atanh", 4, -0.9, 0.8);
  add("erf", 4, -4, 4);
  add("erfc", 4, -4, 4);
  add("cbrt", 4, -5, 5);
  add("sqrt", 0.5, 0.1, 100);
  add("rsqrt", 1.5, 0.1, 100);
  all.push_back({"reciprocal", "1.0 / x", "1.0f / x", 0.5, 0.1, 100});
  all.push_back({"sigmoid", "1.0 / (1.0 + exp(-x))", "1.0f / (1.0f + expf(-x))", 0, -5, 5});
  all.push_back({"silu", "x / (1.0 + exp(-x))", "x / (1.0f + expf(-x))", 0, -5, 5});
  return all;
}

}  // namespace smelt::bench
