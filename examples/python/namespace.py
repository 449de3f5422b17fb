"""Code for the Array API standard: one function for every library that has it, here smelt and NumPy."""

import numpy as np

import smelt


def standardized(x):
    xp = x.__array_namespace__()
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0, correction=1)


data = np.random.default_rng(0).normal(5, 3, (1000, 4)).astype("float32")
ours, theirs = standardized(smelt.asarray(data)), standardized(data)
assert np.allclose(np.asarray(ours), theirs, atol=1e-4)
print(smelt.mean(ours, axis=0).shape, ours.dtype)
