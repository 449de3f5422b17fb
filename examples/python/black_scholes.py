"""Prices and deltas of European call options (Black and Scholes 1973), in one kernel."""

import math

import numpy as np

import smelt


def normal_cdf(x):
    return 0.5 * (1 + smelt.erf(x * (1 / math.sqrt(2))))


@smelt.jit
def call_option(spot, strike, rate, sigma, years):
    deviation = sigma * smelt.sqrt(years)
    d1 = (smelt.log(spot / strike) + (rate + 0.5 * sigma * sigma) * years) / deviation
    price = spot * normal_cdf(d1) - strike * smelt.exp(-rate * years) * normal_cdf(d1 - deviation)
    return price, normal_cdf(d1)


spot = np.linspace(50, 150, 1_000_000)
price, delta = call_option(spot, 100.0, 0.02, 0.3, 0.5)
call_option.expect_kernels(1)

# By hand, for the one nearest to the money.
i = int(np.argmin(np.abs(spot - 100)))
d1 = (math.log(spot[i] / 100) + (0.02 + 0.045) * 0.5) / (0.3 * math.sqrt(0.5))
cdf = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
expected = spot[i] * cdf(d1) - 100 * math.exp(-0.01) * cdf(d1 - 0.3 * math.sqrt(0.5))
assert abs(price[i] - expected) < 1e-9
print(f"at {spot[i]:.2f}: price {price[i]:.4f}, delta {delta[i]:.4f}")
