"""Products, convolutions and attention under torch.compile(backend="smelt"), by smelt's own kernels."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

from torch.nn import functional as F  # noqa: E402

from smelt.torch import backend, reports  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
SMELT = {"products": "smelt", "fallback": "error"}
pytestmark = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    torch.manual_seed(0)


def check(function, *arguments, gradient=False, options=SMELT, dynamic=False):
    def outcome(f):
        inputs = [a.detach().clone().requires_grad_(gradient and a.is_floating_point()) for a in arguments]
        made = f(*inputs)
        if not gradient:
            return [made]
        made.backward(torch.linspace(0.5, 1.5, made.numel(), device=made.device, dtype=made.dtype).reshape(made.shape))
        return [made.detach(), *(i.grad for i in inputs if i.requires_grad)]

    found = outcome(torch.compile(function, backend=backend, options=options, dynamic=dynamic))
    for made, expected in zip(found, outcome(function)):
        half = made.dtype in (torch.bfloat16, torch.float16)  # which torch rounds more often
        torch.testing.assert_close(made, expected, rtol=2e-2 if half else 1e-4, atol=0.15 if half else 1e-4)


def randn(*shape, device, dtype=torch.float32):
    return torch.randn(*shape, device=device).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_matrix_products(device, dtype):
    a, b, v = randn(9, 40, device=device, dtype=dtype), randn(40, 24, device=device, dtype=dtype), randn(40, device=device, dtype=dtype)
    p, q, x = randn(3, 9, 40, device=device, dtype=dtype), randn(3, 40, 24, device=device, dtype=dtype), randn(24, device=device, dtype=dtype)
    check(lambda a, b: a @ b, a, b, gradient=True)
    check(lambda a, v: a @ v, a, v)
    check(lambda v: torch.dot(v, v), v)
    check(torch.bmm, p, q, gradient=True)
    check(lambda x, a, b: torch.addmm(x, a, b, beta=0.5, alpha=2), x, a, b, gradient=True)
    check(lambda x, p, q: torch.baddbmm(x, p, q), x.expand(3, 9, 24), p, q)
    check(lambda x, p, q: torch.addbmm(x, p, q, alpha=2), x.expand(9, 24), p, q)
    check(lambda b, v: torch.addmv(torch.ones(24, device=b.device, dtype=b.dtype), b.t(), v), b, v)
    check(lambda a, b: F.linear(a, b.t(), b[0]).relu(), a, b)


def test_what_counts_for_nothing_may_be_nan(device):
    a, b = randn(4, 8, device=device), randn(8, 5, device=device)
    check(lambda a, b: torch.addmm(torch.full((5,), torch.nan, device=a.device), a, b, beta=0), a, b)


def test_integers_keep_their_low_bits(device):
    if device == "cuda":
        pytest.skip("torch has no products of integers there")
    for dtype in (torch.int8, torch.uint8, torch.int32, torch.int64):
        a, b = (torch.randint(0, 100, shape, dtype=dtype) for shape in ((5, 70), (70, 6)))
        check(lambda a, b: a @ b, a, b)
    a, b = (torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((32, 64), (64, 16)))
    check(torch._int_mm, a, b)


@pytest.mark.parametrize("how", [
    {}, {"padding": 1}, {"stride": 2, "padding": 1}, {"dilation": 2, "padding": 2}, {"groups": 2}, {"stride": (2, 1), "padding": (0, 2)},
])
def test_convolutions(how, device):
    x, w, b = randn(2, 8, 11, 13, device=device), randn(12, 8 // how.get("groups", 1), 3, 3, device=device), randn(12, device=device)
    with torch.backends.cudnn.flags(allow_tf32=False):
        check(lambda x, w, b: F.conv2d(x, w, b, **how).relu(), x, w, b, gradient=True)


def test_convolutions_of_one_and_three_dimensions(device):
    with torch.backends.cudnn.flags(allow_tf32=False):
        check(lambda x, w: F.conv1d(x, w, padding=2), randn(2, 6, 33, device=device), randn(10, 6, 5, device=device), gradient=True)
        check(lambda x, w: F.conv3d(x, w, padding=1), randn(1, 4, 6, 7, 8, device=device), randn(8, 4, 3, 3, 3, device=device), gradient=True)
        # Its gradient by the weights sums over two axes, one of them a single line of a tile.
        check(lambda x, w: F.conv2d(x, w), randn(2, 8, 16, 16, device=device), randn(32, 8, 1, 1, device=device), gradient=True)


@pytest.mark.parametrize("how", [
    {}, {"stride": 2}, {"stride": 2, "padding": 1, "output_padding": 1}, {"groups": 2, "stride": 3}, {"padding": 3}, {"dilation": 2, "stride": 2},
])
def test_transposed_convolutions(how, device):
    x, w = randn(2, 8, 7, 9, device=device), randn(8, 6, 3, 3, device=device)
    with torch.backends.cudnn.flags(allow_tf32=False):
        check(lambda x, w: F.conv_transpose2d(x, w, **how), x, w, gradient=True)


@pytest.mark.parametrize("how", [{}, {"is_causal": True}, {"scale": 0.3}])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention(how, dtype, device):
    q, k, v = (randn(2, 4, 40, 32, device=device, dtype=dtype) for _ in range(3))
    check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **how), q, k, v)


def test_attention_with_a_mask(device):
    q, k, v = (randn(2, 4, 40, 32, device=device) for _ in range(3))
    check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(40, 40, dtype=torch.bool, device=q.device).tril()), q, k, v)


def test_attention_that_has_a_gradient_or_drops_is_that_of_torch(device):
    q, k, v = (randn(2, 4, 40, 32, device=device) for _ in range(3))
    check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), q, k, v, gradient=True, options={"products": "smelt"})
    torch.compile(lambda q: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5), backend=backend)(q)
    whys = [why for report in reports() for _, why in report.refused.values()]
    assert "attention whose gradient is needed" in whys or "a gradient of attention" in whys or device == "cuda"
    assert any("random" in why for why in whys)


def test_sizes_may_be_open(device):
    b = randn(48, 24, device=device)
    f = torch.compile(lambda a, b: (a @ b).relu(), backend=backend, options=SMELT, dynamic=True)
    for rows in (5, 33, 200):
        a = randn(rows, 48, device=device)
        torch.testing.assert_close(f(a, b), (a @ b).relu(), rtol=1e-4, atol=1e-4)


def test_products_stay_in_torch_where_an_option_says_so(device):
    a, b = randn(9, 40, device=device), randn(40, 24, device=device)
    check(lambda a, b: (a @ b).relu(), a, b, options={"products": "torch"})
    assert [why for _, why in reports()[-1].refused.values()] == ["products run in torch"]
    with pytest.raises(Exception, match="option products is 'cublas'"):
        torch.compile(lambda a, b: a @ b, backend=backend, options={"products": "cublas"})(a, b)
