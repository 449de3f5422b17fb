"""Special functions under torch.compile(backend="smelt"): those of torch, from poles to infinity."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

from smelt.torch import backend  # noqa: E402

special = torch.special
NASTY = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 2.0, -1.0, -2.0, 0.5, -0.5, 1e-30, -1e-30, 1e-7, -1e-7, 1e30, -1e30, 10.0, 16.0, -16.0, 20.0]


def trigamma(x):
    return torch.polygamma(1, x)


def grid(dtype):
    return torch.cat([torch.tensor(NASTY, dtype=dtype), torch.linspace(-30, 60, 5000, dtype=dtype), torch.linspace(-1, 1, 2001, dtype=dtype)])


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("function", [
    torch.lgamma, torch.digamma, trigamma, special.erfcx, special.i0, special.i1, special.i0e, special.i1e,
    special.bessel_j0, special.bessel_j1, special.spherical_bessel_j0, special.ndtri, torch.erfinv,
], ids=["lgamma", "digamma", "trigamma", "erfcx", "i0", "i1", "i0e", "i1e", "j0", "j1", "spherical_j0", "ndtri", "erfinv"])
def test_special_functions(function, dtype):
    x = grid(dtype)
    if function is trigamma:
        x = x[(x > 0) | (x != x.floor())]  # torch has large numbers at its poles, smelt infinity
    made = torch.compile(lambda x: function(x), backend=backend, options={"fallback": "error"})(x)
    # In float64 as far as the expansions go; in float32 torch's own errors, of which those near poles are large, are the measure.
    if function in (special.bessel_j0, special.bessel_j1):
        # torch itself is off by 4e-7 around 5, in float64 as well.
        torch.testing.assert_close(made, function(x), rtol=1e-6, atol=1e-6, equal_nan=True)
        return
    exact = function(x.double())
    wanted = function(x)
    if dtype == torch.float64:
        torch.testing.assert_close(made, wanted, rtol=1e-9, atol=1e-10, equal_nan=True)
        return
    finite = torch.isfinite(exact) & torch.isfinite(wanted)
    assert torch.equal(torch.isnan(made), torch.isnan(wanted))
    assert torch.equal(made[torch.isinf(wanted) & torch.isinf(exact)], wanted[torch.isinf(wanted) & torch.isinf(exact)])
    error = (made.double() - exact)[finite].abs()
    assert bool((error <= (wanted.double() - exact)[finite].abs() + 2e-7 * exact[finite].abs() + 1e-12).all())


def test_bessel_functions_at_their_zeros():
    # Abramowitz and Stegun, table 9.5: where torch itself has 4e-7 in place of 0.
    zeros = torch.tensor([[2.4048255577, 5.5200781103, 8.6537279129, 11.7915344391], [3.8317059702, 7.0155866698, 10.1734681351, 13.3236919363]],
                         dtype=torch.float64)
    for row, function in zip(zeros, (special.bessel_j0, special.bessel_j1)):
        made = torch.compile(lambda x, function=function: function(x), backend=backend, options={"fallback": "error"})(row)
        assert float(made.abs().max()) < 1e-10
