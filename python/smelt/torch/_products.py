"""Matrix products, convolutions and attention: how smelt calculates them, and which stay in torch."""

from __future__ import annotations

import operator
from typing import Any, Callable, Optional

import torch

from .. import _smelt
from ._elementwise import cast
from ._windows import _pair, _wide

call = _smelt.call
binary = _smelt.binary

CHOICES = ("auto", "smelt", "torch")

# ---- products


def _precision(dtype: Any) -> str:
    """What torch's settings permit for products of float32 on a GPU."""
    return "tf32" if dtype == _smelt.float32 and torch.backends.cuda.matmul.allow_tf32 else "full"


def _product(a: Any, b: Any) -> Any:
    """Not rounded to a half, so that a bias comes before the rounding, as in torch."""
    return call("matmul", _wide(a), _wide(b), _precision(a.dtype))


def product(node: Any, out: Any, a: Any, b: Any, out_dtype: Any = None) -> Any:
    if out.dtype.itemsize > a.dtype.itemsize:
        a, b = cast(a, out.dtype), cast(b, out.dtype)
    return cast(_product(a, b), out.dtype)


def _scaled(x: Any, factor: Any) -> Any:
    if isinstance(factor, float) and x.dtype.kind in ("signed", "unsigned"):
        factor = int(factor)  # as torch does
    return x if isinstance(factor, (int, float)) and factor == 1 else binary("*", x, factor)


def product_added(node: Any, out: Any, x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    made = _scaled(_product(a, b), alpha)
    if not (isinstance(beta, (int, float)) and beta == 0):  # then x counts for nothing, even if it is NaN
        made = binary("+", made, _scaled(_wide(x), beta))
    return cast(call("broadcast_to", made, out.shape), out.dtype)


def batches_added(node: Any, out: Any, x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """The sum over the batch as well."""
    rows, columns = (call("reshape", call("transpose", t, order), shape) for t, order, shape in (
        (a, (1, 0, 2), (a.shape[1], -1)), (b, (0, 1, 2), (-1, b.shape[2]))))
    return product_added(node, out, x, rows, columns, beta=beta, alpha=alpha)


# ---- convolutions


def _between(x: Any, axis: int, stride: Any) -> Any:
    """x with stride - 1 zeros between its elements along an axis."""
    if isinstance(stride, int) and stride == 1:
        return x
    apart = call("expand_dims", x, axis + 1)
    widths = [(0, 0)] * apart.ndim
    widths[axis + 1] = (0, stride - 1)
    length = x.shape[axis] * stride
    joined = call("reshape", call("pad", apart, tuple(widths)), (*x.shape[:axis], length, *x.shape[axis + 1 :]))
    return _smelt.subscript(joined, (*[slice(None)] * axis, slice(0, length - (stride - 1))))


def _padded(x: Any, axis: int, before: Any, after: Any) -> Any:
    """Negative widths take elements away."""
    low = -before if isinstance(before, int) and before < 0 else 0
    high = -after if isinstance(after, int) and after < 0 else 0
    if low or high:
        x = _smelt.subscript(x, (*[slice(None)] * axis, slice(low, x.shape[axis] - high)))
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0 if low else before, 0 if high else after)
    return x if widths[axis] == (0, 0) else call("pad", x, tuple(widths))


def _transposed(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, more: Any, groups: int) -> Any:
    """The convolution of x, spread, with the mirrored weights: what the gradient of a convolution is."""
    inputs, outputs, *window = weight.shape
    for k, size in enumerate(window):
        around = dilation[k] * (size - 1) - padding[k]
        x = _padded(_between(x, k + 2, stride[k]), k + 2, around, around + more[k])
    apart = call("reshape", weight, (groups, inputs // groups, outputs, *window))
    swapped = call("reshape", call("swapaxes", apart, 1, 2), (groups * outputs, inputs // groups, *window))
    mirrored = call("flip", swapped, tuple(range(2, 2 + len(window))))
    return call("conv", x, mirrored, None, 1, 0, tuple(dilation), groups)


def _convolved(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, more: Any, groups: int) -> Any:
    x, weight = _wide(x), _wide(weight)
    stride, padding, dilation, more = (_pair(p, weight.ndim - 2) for p in (stride, padding, dilation, more))
    if transposed:
        return _transposed(x, weight, stride, padding, dilation, more, groups)
    return call("conv", x, weight, None, tuple(stride), tuple(padding), tuple(dilation), groups)


def convolution(node: Any, out: Any, x: Any, weight: Any, bias: Any, *how: Any) -> Any:
    made = _convolved(x, weight, *how)
    if bias is not None:
        made = binary("+", made, call("reshape", _wide(bias), (-1, *[1] * (weight.ndim - 2))))
    return cast(made, out.dtype)


def convolution_backward(node: Any, outs: Any, grad: Any, x: Any, weight: Any, bias_sizes: Any, *how_and_wanted: Any) -> Any:
    *how, wanted = how_and_wanted

    def forward(arrays: list[Any]) -> list[Any]:
        x, weight, grad = arrays
        return [call("sum", binary("*", _convolved(x, weight, *how), _wide(grad)))]

    made: list[Any] = [None, None, None]
    if wanted[0] or wanted[1]:
        found = iter(_smelt.differentiate(forward, [x, weight, grad], [wanted[0], wanted[1], False])[1])
        made[:2] = [next(found) if chosen else None for chosen in wanted[:2]]
    if wanted[2]:
        made[2] = cast(call("sum", _wide(grad), (0, *range(2, grad.ndim))), grad.dtype)
    return made


# ---- attention


def attention(mask: Optional[int], dropout: int) -> Callable[..., Any]:
    """The function of one of torch's kernels, which differ in where they have the mask and the share of what is dropped; causal is next."""

    def recipe(node: Any, outs: Any, q: Any, k: Any, v: Any, *args: Any, scale: Any = None, attn_mask: Any = None, **others: Any) -> Any:
        bias = args[mask] if mask is not None and len(args) > mask else attn_mask
        causal = len(args) > dropout + 1 and args[dropout + 1]
        made = call("scaled_dot_product_attention", q, k, v, bias, causal, scale, _precision(q.dtype))
        return [made] + [None] * (len(node.meta["val"]) - 1)

    return recipe


_DROPOUT = {"flash_attention_for_cpu": 3, "flash_attention": 3, "efficient_attention": 5, "cudnn_attention": 5}


def drops(node: Any) -> bool:
    """Whether it is attention that drops weights at random."""
    place = _DROPOUT.get(_attention_of(node))
    return place is not None and (node.args[place] if len(node.args) > place else node.kwargs.get("dropout_p", 0.0)) != 0.0


def _attention_of(node: Any) -> str:
    return _name_of(node).removeprefix("_scaled_dot_product_")


def _why_no_attention(node: Any) -> str:
    if _attention_of(node) not in _DROPOUT:
        return "a gradient of attention"
    if any(user.target is operator.getitem and user.args[1] != 0 and user.users for user in node.users):
        return "attention whose gradient is needed"
    return ""


# ---- what runs where

_MATMUL = ("mm", "bmm", "mv", "dot", "vdot", "addmm", "addmv", "addbmm", "baddbmm", "_int_mm", "_addmm_activation")
_OTHERS = ("_trilinear", "_scaled_mm", "_weight_int8pack_mm", "_grouped_mm", "linear")


def _name_of(node: Any) -> str:
    return str(node.target).rpartition(".")[0].removeprefix("aten.")


def is_product(node: Any) -> bool:
    """Whether it is a matrix product, a convolution or attention, or has one inside."""
    name = _name_of(node)
    return name in _MATMUL or name in _OTHERS or name.startswith(("convolution", "_scaled_dot_product"))


def why_no_product(node: Any, choice: str) -> str:
    """Why a product that smelt can calculate stays in torch; empty when it does not."""
    name = _name_of(node)
    if name.startswith("_scaled_dot_product") and (why := _why_no_attention(node)):
        return why
    if name.startswith("convolution") and not node.args[0].meta["val"].is_floating_point():
        return "convolutions of integers"
    if choice == "smelt" or (choice == "auto" and _is_fast(node, name)):
        return ""
    return "products run in torch" if choice == "torch" else "torch's product is faster"


def _is_fast(node: Any, name: str) -> bool:
    """Whether smelt's kernels were measured to be about as fast as torch's: on GPUs of compute capability 9.0, of halves and of float32
    that may not become TF32; on CPUs."""
    tensor = next(t for t in (i.meta.get("val") for i in node.all_input_nodes) if isinstance(t, torch.Tensor))
    if tensor.device.type != "cuda":
        return True
    if tensor.dtype == torch.float32:
        fast = not (torch.backends.cudnn.allow_tf32 if name.startswith("convolution") else torch.backends.cuda.matmul.allow_tf32)
    else:
        fast = tensor.dtype in (torch.bfloat16, torch.float16)
    return fast and torch.cuda.get_device_capability(tensor.device) == (9, 0)
