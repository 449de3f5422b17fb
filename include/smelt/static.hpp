/// \file
/// Fusion by the C++ compiler alone: a chain of functors is one loop on the host (g++, clang) or
/// one kernel on a GPU (nvcc), with the operations and the meaning of the language, no library to
/// link and no compiler at run time. docs/cpp-api.md says when to use this and when the rest.
///
///     namespace st = smelt::fixed;
///     auto f = st::i8(st::clamp(st::round(st::arg<0> / 4.2 + 1.2), -128, 127));
///     int8_t q = f(3.0f);                                                       // a function of scalars
///     st::run(n, st::in(x, w), st::out(y) = f, st::out(z) = st::exp(st::arg<1>));  // on the host, one loop
///     st::run(st::on(stream), n, st::in(x, w), st::out(y) = f);                 // by nvcc, one kernel
///
/// Build with -O2 and for the processor that it runs on (-march=...); C++17 and later.
#pragma once

#include "smelt/static/cuda.hpp"
#include "smelt/static/run.hpp"
