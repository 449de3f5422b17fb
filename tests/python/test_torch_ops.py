"""Operators of torch made of smelt programs: smelt.torch.ops and smelt.torch.register."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

import smelt  # noqa: E402
from smelt.torch import backend, ops, register, reports, reset  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
device = pytest.mark.parametrize("device", DEVICES)
F = torch.nn.functional


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    reset()
    torch.manual_seed(0)


def black_scholes(spot, strike, years, rate, volatility):
    spread = volatility * years.sqrt()
    d1 = ((spot / strike).log() + (rate + volatility**2 / 2) * years) / spread
    normal = torch.distributions.Normal(torch.zeros((), device=spot.device), 1).cdf
    call = spot * normal(d1) - strike * torch.exp(-rate * years) * normal(d1 - spread)
    return call, call - spot + strike * torch.exp(-rate * years)


def cases(device, grad=True):
    def leaf(*shape, positive=False):
        x = torch.randn(*shape, device=device)
        return (x.abs() + 0.5 if positive else x).requires_grad_(grad)

    x, y, v = leaf(6, 16), leaf(16), leaf(16)
    prices = [leaf(9, positive=True) for _ in range(3)]
    return {
        "quantize_int8": ((x, 0.1, 3.0), lambda x, s, z: (x / s + z).round().clamp(-128, 127).to(torch.int8)),
        "add_mul_exp": ((x * 0.1, y * 0.1), lambda x, y: ((x + y) * 2).exp()),
        "relu_layernorm": ((x,), lambda x: F.layer_norm(x.relu(), (16,))),
        "gelu_bias": ((x, v), lambda x, b: F.gelu(x + b)),
        "rmsnorm": ((x, v, 1e-6), lambda x, w, e: F.rms_norm(x, (16,), w, e)),
        "softclip": ((x, -2.0, 3.0), lambda x, low, high: low + (high - low) * x.sigmoid()),
        "black_scholes": ((*prices, 0.03, 0.2), black_scholes),
    }


NAMES = sorted(ops.__all__)


def results(made):
    return list(made) if isinstance(made, (tuple, list)) else [made]


def gradients(made, arguments):
    floats = [m for m in results(made) if m.is_floating_point()]
    total = sum((m * torch.linspace(0.5, 1.5, m.numel(), device=m.device).reshape(m.shape)).sum() for m in floats)
    return torch.autograd.grad(total, [a for a in arguments if isinstance(a, torch.Tensor)])


@device
@pytest.mark.parametrize("name", NAMES)
def test_results_and_gradients_are_those_of_torch(name, device):
    arguments, expected = cases(device)[name]
    made, wanted = getattr(ops, name)(*arguments), expected(*arguments)
    torch.testing.assert_close(results(made), results(wanted))
    if any(m.is_floating_point() for m in results(made)):
        torch.testing.assert_close(gradients(made, arguments), gradients(wanted, arguments), rtol=1e-4, atol=1e-5)


@device
@pytest.mark.parametrize("name", NAMES)
def test_opcheck(name, device):
    arguments, _ = cases(device)[name]
    torch.library.opcheck(getattr(ops, name), [a.detach().requires_grad_() if isinstance(a, torch.Tensor) else a for a in arguments])


@device
def test_under_the_backend_they_are_a_part_of_the_kernels_around_them(device):
    arguments, expected = cases(device, grad=False)["relu_layernorm"]
    f = torch.compile(lambda x: ops.relu_layernorm(x * 2) + 1, backend=backend, options={"fallback": "error"}, fullgraph=True)
    torch.testing.assert_close(f(*arguments), expected(arguments[0] * 2) + 1)
    assert reports()[-1].kernels == 1


@device
def test_gradients_under_the_backend(device):
    (x, v), expected = cases(device)["gelu_bias"]
    f = torch.compile(lambda x, v: ops.gelu_bias(x, v) * 2, backend=backend, options={"fallback": "error"}, fullgraph=True)
    for a, b in zip(gradients(f(x, v), (x, v)), gradients(expected(x, v) * 2, (x, v))):
        torch.testing.assert_close(a, b)


@device
def test_another_backend_compiles_around_them_once_for_all_sizes(device):
    traced = []

    def eager(module, inputs):
        traced.append(module)
        return module.forward

    f = torch.compile(lambda x, y: ops.add_mul_exp(x, y).sum(-1), backend=eager, dynamic=True, fullgraph=True)
    for rows in (3, 5, 8):
        x, y = torch.randn(rows, 7, device=device), torch.randn(7, device=device)
        torch.testing.assert_close(f(x, y), ((x + y) * 2).exp().sum(-1))
    assert len(traced) == 1


@device
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_dtypes(dtype, device):
    x, y = torch.randn(4, 8, device=device, dtype=dtype) * 0.1, torch.randn(8, device=device, dtype=dtype) * 0.1
    made = ops.add_mul_exp(x, y)
    assert made.dtype == dtype
    torch.testing.assert_close(made, ((x + y) * 2).exp())


def test_another_number_needs_no_other_program():
    made = register("smelt_test::numbered", lambda x, scale=1.5, steps=2: x * scale - steps)
    x = torch.randn(5, 4)
    torch.testing.assert_close(made(x, 0.5, 3), x * 0.5 - 3)
    events = []
    smelt.on_event(lambda *event: events.append(event))
    try:
        for scale, steps in ((0.25, -1), (2.0, 7)):
            torch.testing.assert_close(made(x, scale, steps), x * scale - steps)
    finally:
        smelt.on_event(None)
    assert not events  # nothing was compiled or loaded


@pytest.mark.parametrize("call, message", [
    (lambda x: ops.quantize_int8(x, 0.0, 0.0), "scale is 0.0"), (lambda x: ops.quantize_int8(x, 1.0, 300.0), "of -128 to 127"),
    (lambda x: ops.quantize_int8(x.int(), 1.0, 0.0), "x is of torch.int32"), (lambda x: ops.add_mul_exp(x, x[:, :3]), "sizes of an axis"),
    (lambda x: ops.relu_layernorm(x[0, 0]), "x has no axis"), (lambda x: ops.gelu_bias(x, x), "one element for each of the 6 columns"),
    (lambda x: ops.add_mul_exp(x.to_sparse(), x), "help: x.to_dense"), (lambda x: ops.add_mul_exp(x.cfloat(), x), "which smelt does not have"),
    (lambda x: ops.add_mul_exp(x, x.to("meta")), "tensors on cpu and meta"),
])
def test_wrong_arguments_are_said(call, message):
    with pytest.raises(smelt.UserError, match=message):
        call(torch.randn(4, 6))


@device
def test_register_makes_an_operator_of_any_program(device):
    @smelt.jit
    def scaled_sum(x, y, factor=2.0, last: bool = True):
        return smelt.sum(x * factor + y, axis=-1), smelt.max(x)

    name = f"smelt_test::scaled_sum_{device}"
    made = register(name, scaled_sum, results=2)
    x, y = (torch.randn(3, 5, device=device, requires_grad=True) for _ in range(2))
    total, largest = made(x, y, 3.0)
    torch.testing.assert_close(total, (x * 3 + y).sum(-1))
    torch.testing.assert_close(largest, x.max())
    torch.library.opcheck(made, (x, y, 3.0))
    assert getattr(torch.ops.smelt_test, name.split("::")[1]).default is made
    with pytest.raises(smelt.UserError, match="is there already"):
        register(name, scaled_sum, results=2)


def test_what_register_refuses():
    with pytest.raises(smelt.UserError, match="is no name of an operator"):
        register("a b", lambda x: x)
    with pytest.raises(smelt.UserError, match="takes no tensor"):
        register("smelt_test::none", lambda n=1: n)
    with pytest.raises(smelt.UserError, match="takes no single value"):
        register("smelt_test::many", lambda *x: x[0])
    wrong = register("smelt_test::wrong", lambda x: (x, x))
    with pytest.raises(smelt.UserError, match="results=2"):
        wrong(torch.ones(2))
