"""Logistic regression by gradient descent: the loss, its gradient and the update are one compiled function."""

import numpy as np

import smelt

rng = np.random.default_rng(0)
points = rng.uniform(-1, 1, (2000, 2)).astype("float32")
classes = (points[:, 0] + 2 * points[:, 1] > 1).astype("float32")


def loss(parameters, x, y):
    score = smelt.sum(x * parameters["w"], axis=-1) + parameters["b"]
    return smelt.mean(smelt.softplus(score) - y * score)


@smelt.jit
def step(parameters, x, y, rate):
    value, slope = smelt.value_and_grad(loss)(parameters, x, y)
    return value, {name: parameters[name] - rate * slope[name] for name in parameters}


parameters = {"w": np.zeros(2, "float32"), "b": np.zeros((), "float32")}
for i in range(2001):
    value, parameters = step(parameters, points, classes, 4.0)
    if i % 500 == 0:
        print(f"after {i:4} steps the loss is {value:.4f}")
assert step.compile_count() == 1 and value < 0.1
print(f"x + {parameters['w'][1] / parameters['w'][0]:.2f} y = {-parameters['b'] / parameters['w'][0]:.2f}")
