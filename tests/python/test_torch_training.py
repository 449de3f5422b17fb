"""Training with torch.compile(backend="smelt"): autocast, checkpoints, open sizes, optimizers, and the gradients of pools and scatters."""

import copy
import pathlib
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

from torch.nn import functional as F  # noqa: E402

from smelt.torch import backend, reports, reset  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
pytestmark = pytest.mark.parametrize("device", DEVICES)


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    reset()
    torch.manual_seed(0)


def gradients(f, *arguments):
    """What a function gives and its gradients, each element of its results weighted differently."""
    made = f(*arguments)
    weights = torch.linspace(0.5, 1.5, made.numel(), device=made.device).reshape(made.shape)
    return [made, *torch.autograd.grad((made.float() * weights).sum(), arguments, allow_unused=True)]


def check(f, *arguments, native=True, dynamic=False, **tolerance):
    options = {"fallback": "error"} if native else {}
    compiled = torch.compile(f, backend=backend, options=options, dynamic=dynamic, fullgraph=True)
    torch.testing.assert_close(gradients(compiled, *arguments), gradients(f, *arguments), equal_nan=True, **tolerance)


def leaf(*shape, device, dtype=torch.float32):
    return torch.randn(*shape, device=device, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("pool", [
    lambda x: F.max_pool2d(x, 3, 2, 1), lambda x: F.max_pool2d(x, 2, ceil_mode=True), lambda x: F.max_pool2d(x, 2, dilation=2),
    lambda x: F.avg_pool2d(x, 3, 2, 1), lambda x: F.avg_pool2d(x, (2, 3), count_include_pad=False, padding=1),
    lambda x: F.avg_pool2d(x, 2, divisor_override=3), lambda x: F.adaptive_avg_pool2d(x, (3, 2)), lambda x: F.adaptive_avg_pool2d(x, 1),
    lambda x: F.adaptive_max_pool2d(x, (3, 4)), lambda x: F.max_pool1d(x[0], 3), lambda x: F.avg_pool3d(x, 2), lambda x: F.max_pool3d(x, 2),
    lambda x: F.pad(x, (1, 2, 0, 3), mode="replicate"), lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"),
    lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), lambda x: F.interpolate(x, size=(4, 4), mode="area"),
])
def test_pools(pool, device):
    check(pool, leaf(2, 3, 9, 7, device=device))


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_scatter_reduce(reduce, include_self, device):
    x, src = leaf(4, 5, device=device), leaf(6, 5, device=device)
    places = torch.tensor([[0, 1, 2, 3, 0], [1, 1, 0, 0, 3], [3, 0, 0, 1, 3]] * 2, device=device)
    check(lambda x, src: x.scatter_reduce(0, places, src, reduce, include_self=include_self), x, src)


@pytest.mark.parametrize("update", [
    lambda x, v, i: x.index_put((i,), v), lambda x, v, i: x.index_put((i,), v, accumulate=True),
    lambda x, v, i: x.index_put((i, i), v[:, 0]), lambda x, v, i: torch.ops.aten.index_put(x, [None, i], v.t(), True),
    lambda x, v, i: x.index_add(0, i, v), lambda x, v, i: x.index_copy(0, i, v), lambda x, v, i: x.index_fill(0, i, 2.0),
    lambda x, v, i: x.index_put((x > 0,), torch.zeros((), device=x.device)), lambda x, v, i: x.masked_scatter(x > 0, v.repeat(2, 1)),
    lambda x, v, i: x.diagonal_scatter(v[:, 0], 1), lambda x, v, i: x.put(i, v[:, 0]), lambda x, v, i: x.index_reduce(0, i, v, "amax"),
])
def test_updates_by_index(update, device):
    i = torch.tensor([1, 3, 0], device=device)
    check(lambda x, v: update(x, v, i) * 1, leaf(4, 4, device=device), leaf(3, 4, device=device))


def test_autocast(device):
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to(device)

    def loss(x):
        with torch.autocast(device, dtype=torch.bfloat16):
            made = model(x)
        assert made.dtype == torch.bfloat16
        return made.float().square()

    check(loss, leaf(8, 16, device=device), native=False, rtol=2e-2, atol=2e-2)


def test_checkpoints_are_calculated_again(device):
    from torch.utils.checkpoint import checkpoint

    def block(x):
        return torch.sin(F.gelu(x) * 2).softmax(-1)

    x = leaf(8, 16, device=device)
    check(lambda x: checkpoint(block, x, use_reentrant=False), x)
    kept = reports()[-1].operations
    torch.compiler.reset()
    check(block, x)
    assert kept > reports()[-1].operations  # backward has those of forward too


def test_gradients_of_open_sizes(device):
    def f(x):
        flat = x.flatten(1)
        return flat.mean(1) / x.shape[1] + flat.reshape(-1, 2).sum() * flat.shape[0]

    compiled = torch.compile(f, backend=backend, options={"fallback": "error"}, dynamic=True, fullgraph=True)
    for n in (3, 5, 9):
        x = leaf(n, n + 2, 4, device=device)
        torch.testing.assert_close(gradients(compiled, x), gradients(f, x))
    assert len(reports()) == 2  # forward and backward, once


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=True), lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True, foreach=True),
    lambda p: torch.optim.RMSprop(p, foreach=True), lambda p: torch.optim.Adam(p, lr=1e-2, amsgrad=True, foreach=False),
], ids=["AdamW", "SGD", "RMSprop", "Adam"])
def test_steps_of_optimizers(make, device):
    ours = [torch.nn.Parameter(torch.randn(n, 3, device=device)) for n in (4, 1, 7)]
    theirs = copy.deepcopy(ours)
    optimizer, expected = make(ours), make(theirs)
    step = torch.compile(lambda: optimizer.step(), backend=backend, options={"fallback": "error"})
    for _ in range(4):
        for a, b in zip(ours, theirs):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        step()
        expected.step()
    torch.testing.assert_close(ours, theirs)
    assert reports()[-1].kernels <= 2


def test_sizes_whose_difference_has_either_sign(device):
    f = torch.compile(lambda x, y: x[: y.shape[0] - x.shape[0]] * (y.shape[0] - x.shape[0]), backend=backend, options={"fallback": "error"},
                      dynamic=True, fullgraph=True)
    for n, m in ((4, 6), (5, 9), (7, 3)):
        x, y = torch.randn(n, device=device), torch.randn(m, device=device)
        torch.testing.assert_close(f(x, y), x[: m - n] * (m - n))


def test_a_number_is_a_result(device):
    f = torch.compile(lambda x: (x * 2, x.shape[0] * 2, 3), backend=backend, dynamic=True)
    assert [f(torch.ones(n, device=device))[1:] for n in (4, 6)] == [(8, 3), (12, 3)]


def test_sizes_that_follow_from_data(device):
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        f = torch.compile(lambda x: torch.nonzero(x).float() * 2 + x.sum(), backend=backend, fullgraph=True)
        for x in (torch.tensor([1.0, 0, 2]), torch.zeros(3), torch.ones(5)):
            x = x.to(device)
            torch.testing.assert_close(f(x), torch.nonzero(x).float() * 2 + x.sum())


def test_a_number_of_the_data_is_no_size_of_an_input(device):
    def f(x, count):
        n = count.item()
        torch._check(n >= 0)
        return x * 2 * n + n

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(f, backend=backend, fullgraph=True)
        x = torch.ones(4, device=device)
        for n in (3, 0, 7):
            torch.testing.assert_close(compiled(x, torch.tensor(n, device=device)), x * 2 * n + n)


def test_numbers_that_may_be_negative(device):
    f = torch.compile(lambda x, n: x * n + n, backend=backend, dynamic=True)
    x = torch.ones(4, device=device)
    for n in (3, -2, 0, 7, -5):
        torch.testing.assert_close(f(x, n), x * n + n)


def test_products_are_named(device):
    with pytest.raises(Exception, match=r"aten.mm \(products run in torch\)"):
        torch.compile(lambda x: x @ x + 1, backend=backend, options={"fallback": "error", "products": "torch"})(torch.ones(3, 3, device=device))


def test_modes(device):
    x = torch.ones(3, device=device)
    for mode in ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"):
        assert torch.equal(torch.compile(lambda x: x + 1, backend=backend, mode=mode)(x), x + 1)
    with pytest.raises(Exception, match="it is one of default, reduce-overhead"):
        torch.compile(lambda x: x + 1, backend=backend, mode="fastest")(x)


def test_two_processes_train_one_model(tmp_path, device):
    if device != "cpu":
        pytest.skip("gloo's processes are on the CPU")
    if not torch.distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    script = pathlib.Path(__file__).parent / "torch_ranks.py"
    ranks = [subprocess.Popen([sys.executable, str(script), str(rank), "2", str(tmp_path / "ranks")], stdout=subprocess.PIPE, text=True)
             for rank in range(2)]
    told = [rank.communicate(timeout=300)[0].split("\n") for rank in ranks]
    for eager, compiled, kernels, *_ in told:
        assert kernels == "True"
        torch.testing.assert_close(*([float(n) for n in line.split()] for line in (compiled, eager)), rtol=1e-4, atol=1e-4)
    assert told[0][1].split()[1] == told[1][1].split()[1]  # the parameters are the same in both
