"""torch.compile(backend="smelt"): results are those of torch, and what runs where is what the report says."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch._dynamo")

from smelt.torch import backend, reports  # noqa: E402

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
NATIVE = {"fallback": "error"}


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    torch.manual_seed(0)


def compiled(function, options=None, dynamic=False):
    return torch.compile(function, backend=backend, options=options or {}, dynamic=dynamic)


def check(function, *arguments, options=NATIVE, dynamic=False):
    expected = function(*arguments)
    torch.testing.assert_close(compiled(function, options, dynamic)(*arguments), expected, equal_nan=True)


def randn(*shape, device, dtype=torch.float32):
    return torch.randn(*shape, dtype=dtype, device=device)


@pytest.mark.parametrize("device", DEVICES)
class TestForward:
    def test_a_chain_is_one_kernel(self, device):
        check(lambda x, y: torch.nn.functional.gelu(x * 2 + y).softmax(-1), randn(8, 32, device=device), randn(32, device=device))
        assert reports()[-1].kernels == 1 and not reports()[-1].refused

    @pytest.mark.parametrize("function", [
        lambda x: x.t() * 2, lambda x: x[1:, ::2] + 1, lambda x: torch.cat([x, x + 1], 1), lambda x: x.cumsum(1), lambda x: x.max(1),
        lambda x: x.var(1), lambda x: x.argmax(), lambda x: x > 0, lambda x: x.to(torch.int8) * 3, lambda x: x.sign(), lambda x: x.cummax(1),
        lambda x: x.gather(1, torch.zeros(2, 3, dtype=torch.int64, device=x.device)), lambda x: x[[3, 1], [0, -1]],
        lambda x: torch.zeros(4, 4, device=x.device).index_add(0, torch.tensor([1, 1, 2, 0], device=x.device), x[:4, :4]),
        lambda x: torch.nn.functional.max_pool2d(x[None, None], 2), lambda x: torch.nn.functional.avg_pool2d(x[None, None], 3, 2, 1),
        lambda x: torch.nn.functional.pad(x, (1, -1, 2, 0), value=3.0), lambda x: x.unfold(0, 3, 2) * 1, lambda x: torch.zeros(3, device=x.device),
    ])
    def test_functions(self, function, device):
        check(function, randn(8, 6, device=device))

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    def test_halves_are_rounded_after_each_operation(self, dtype, device):
        x, y = (randn(64, device=device, dtype=dtype) for _ in range(2))
        made = compiled(lambda x, y: (x * y + y) * 0.3 - x, NATIVE)(x, y)
        assert torch.equal(made, (x * y + y) * 0.3 - x)

    def test_numbers_beside_halves_are_float32(self, device):
        # In a sum torch rounds the number to a half on a CPU, and not on a GPU.
        x = randn(64, device=device, dtype=torch.bfloat16)
        assert torch.equal(compiled(lambda x: x + 0.1, NATIVE)(x), (x.float() + 0.1).bfloat16())

    def test_numbers_and_dtypes_promote_as_in_torch(self, device):
        i = torch.arange(6, device=device, dtype=torch.int32)
        check(lambda i: (i / 2, i + 1.5, i // 4, i % 4, i > 2, i + True, torch.div(-i, 4, rounding_mode="trunc")), i)

    def test_strides_are_those_of_torch(self, device):
        x = randn(2, 3, 4, 5, device=device).to(memory_format=torch.channels_last)
        assert compiled(lambda x: x * 2, NATIVE)(x).stride() == (x * 2).stride()

    def test_updates_in_place_write_to_the_tensor(self, device):
        def step(x, y):
            x.mul_(2).add_(y)
            return x.sum()

        x, y = randn(5, 4, device=device), randn(5, 4, device=device)
        wanted = x * 2 + y
        total = compiled(step, NATIVE)(x, y)
        torch.testing.assert_close(x, wanted)
        torch.testing.assert_close(total, wanted.sum())

    def test_open_sizes_are_compiled_once(self, device):
        f = torch.compile(lambda x: (x * 2 + x.shape[0]).softmax(-1), backend=backend, options=NATIVE, dynamic=True)
        before = reports()
        for rows, columns in ((20, 40), (23, 41), (30, 50)):
            x = randn(rows, columns, device=device)
            torch.testing.assert_close(f(x), (x * 2 + rows).softmax(-1))
        assert len([r for r in reports() if r not in before]) == 1


@pytest.mark.parametrize("device", DEVICES)
class TestTorch:
    def test_what_smelt_lacks_runs_in_torch(self, device):
        check(lambda x, y: (torch.sort(x * 2, -1).values + y).sum(-1), randn(8, 32, device=device), randn(32, device=device), options={})
        assert str(reports()[-1]) == "smelt: 3 of 4 operations in 2 kernels; 1 in torch: aten.sort (not supported)"

    def test_pieces_are_as_few_as_dependencies_allow(self, device):
        check(lambda x: (torch.sort(x).values + 1, torch.sort(x + 1).values, x * 2), randn(9, device=device), options={})
        assert len(reports()[-1].explanations) == 2

    def test_fallback_can_be_an_error(self, device):
        with pytest.raises(Exception, match="aten.sort"):
            compiled(lambda x: torch.sort(x).values, NATIVE)(randn(4, device=device))

    def test_a_model_trains_as_in_torch(self, device):
        model = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.LayerNorm(16), torch.nn.GELU(), torch.nn.Linear(16, 4)).to(device)
        x = randn(8, 32, device=device)

        def gradients(f):
            model.zero_grad()
            f(x).square().sum().backward()
            return [p.grad.clone() for p in model.parameters()]

        for made, expected in zip(gradients(torch.compile(model, backend=backend)), gradients(model)):
            torch.testing.assert_close(made, expected)

    def test_random_numbers_are_those_of_torch(self, device):
        f = compiled(lambda x: torch.rand_like(x) + x)
        x = randn(16, device=device)
        torch.manual_seed(3)
        made = f(x)
        torch.manual_seed(3)
        torch.testing.assert_close(made, torch.rand_like(x) + x)


def test_wrong_options_say_what_there_is():
    with pytest.raises(Exception, match="it has fallback, explain"):
        compiled(lambda x: x + 1, {"fallbck": "error"})(torch.ones(2))


def test_the_package_alone_imports_no_torch():
    subprocess.run([sys.executable, "-c", "import sys, smelt; assert 'torch' not in sys.modules"], check=True)




def test_ranges_of_integers_start_and_step_at_integers():
    for bounds in ((2.1, -2.9, -1.0), (0.1, -7.9, -4.0), (-0.3, 3.5, 1.2), (False, True, True)):
        made = compiled(lambda x, bounds=bounds: torch.arange(*bounds, dtype=torch.int64) + x, NATIVE)(torch.tensor(0))
        assert made.tolist() == torch.arange(*bounds, dtype=torch.int64).tolist()
