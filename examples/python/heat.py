"""Diffusion of heat in a plate: a stencil whose steps write into two buffers in turn."""

import numpy as np

import smelt


@smelt.jit
def step(u, rate):
    p = smelt.pad(u, 1, mode="edge")
    return u + rate * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u)


u = np.zeros((256, 256), "float32")
u[100:150, 100:150] = 1
heat = u.sum()
other = np.empty_like(u)
for _ in range(500):
    step(u, 0.2, out=other)
    u, other = other, u
step.expect_kernels(1)
assert abs(u.sum() / heat - 1) < 1e-3 and u.max() < 1
print(f"hottest {u.max():.4f}, in the corner {u[0, 0]:.2e}")
