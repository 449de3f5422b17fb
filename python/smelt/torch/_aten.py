"""The table: operations of torch that smelt calculates, and how. What is not here is decomposed by torch, or stays there.

A name stands for all overloads; one with an overload for that alone.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from . import _elementwise as e
from . import _indexing as i
from . import _movement as m
from . import _products as p
from . import _reduce as r
from . import _special as s
from . import _windows as w

Recipe = Callable[..., Any]

# What decides the dtype, and smelt's function or ours.
_ELEMENTWISE: dict[str, tuple[str, Any]] = {
    "aten.abs": ("same", e.absolute), "aten.neg": ("same", "negative"), "aten.sign": ("same", e.sign), "aten.sgn": ("same", e.sign),
    "aten.relu": ("same", e.relu), "aten.maximum": ("same", e.maximum), "aten.minimum": ("same", e.minimum),
    "aten.fmax": ("same", e.fmax), "aten.fmin": ("same", e.fmin), "aten.signbit": ("same", e.signbit),
    "aten.clamp": ("same", e.clamp), "aten.clamp_min": ("same", e.maximum), "aten.clamp_max": ("same", e.minimum),
    "aten.floor": ("same", e.rounded("floor")), "aten.ceil": ("same", e.rounded("ceil")), "aten.trunc": ("same", e.rounded("trunc")),
    "aten.round.default": ("same", e.rounded("round")), "aten.copysign": ("float", "copysign"), "aten.angle": ("float", e.angle),
    "aten.add": ("default", e.add), "aten.sub": ("default", e.sub), "aten.rsub": ("default", e.rsub), "aten.mul": ("default", e.times),
    "aten.square": ("default", "square"), "aten.addcmul": ("default", e.addcmul), "aten.addcdiv": ("float", e.addcdiv),
    "aten.lerp": ("default", e.lerp), "aten.div.Tensor": ("float", e.divide), "aten.div.Scalar": ("float", e.divide),
    "aten.floor_divide": ("default", lambda a, b: e.divide(a, b, "floor")), "aten.remainder": ("default", lambda a, b: e.binary("%", a, b)),
    "aten.fmod": ("default", "fmod"), "aten.pow": ("default", e.power), "aten.hypot": ("default", "hypot"), "aten.atan2": ("float", "atan2"),
    "aten.reciprocal": ("float", "reciprocal"), "aten.sqrt": ("float", "sqrt"), "aten.rsqrt": ("float", "rsqrt"),
    "aten.exp": ("float", "exp"), "aten.exp2": ("float", "exp2"), "aten.expm1": ("float", "expm1"), "aten.log": ("float", "log"),
    "aten.log2": ("float", "log2"), "aten.log10": ("float", "log10"), "aten.log1p": ("float", "log1p"),
    "aten.sin": ("float", "sin"), "aten.cos": ("float", "cos"), "aten.tan": ("float", "tan"), "aten.asin": ("float", "asin"),
    "aten.acos": ("float", "acos"), "aten.atan": ("float", "atan"), "aten.sinh": ("float", "sinh"), "aten.cosh": ("float", "cosh"),
    "aten.tanh": ("float", "tanh"), "aten.asinh": ("float", "asinh"), "aten.acosh": ("float", "acosh"), "aten.atanh": ("float", "atanh"),
    "aten.erf": ("float", "erf"), "aten.erfc": ("float", "erfc"), "aten.sigmoid": ("float", "sigmoid"),
    "aten.eq": ("bool", e.compare("==")), "aten.ne": ("bool", e.compare("!=")), "aten.lt": ("bool", e.compare("<")),
    "aten.le": ("bool", e.compare("<=")), "aten.gt": ("bool", e.compare(">")), "aten.ge": ("bool", e.compare(">=")),
    "aten.isnan": ("bool", e.isnan), "aten.isinf": ("bool", e.isinf), "aten.isfinite": ("bool", e.isfinite),
    "aten.bitwise_and": ("same", "bitwise_and"), "aten.bitwise_or": ("same", "bitwise_or"), "aten.bitwise_xor": ("same", "bitwise_xor"),
    "aten.bitwise_not": ("same", "bitwise_not"), "aten.bitwise_left_shift": ("same", "left_shift"),
    "aten.bitwise_right_shift": ("same", "right_shift"), "aten.__lshift__": ("same", "left_shift"), "aten.__rshift__": ("same", "right_shift"),
    "aten.logical_and": ("bool", e.logical("logical_and")), "aten.logical_or": ("bool", e.logical("logical_or")),
    "aten.logical_xor": ("bool", e.logical("logical_xor")), "aten.logical_not": ("bool", e.logical("logical_not")),
    "prims.abs": ("same", e.absolute), "prims.neg": ("same", "negative"), "prims.sign": ("same", e.sign),
    "prims.maximum": ("same", e.maximum), "prims.minimum": ("same", e.minimum), "prims.fmax": ("same", e.fmax), "prims.fmin": ("same", e.fmin),
    "prims.signbit": ("bool", e.signbit), "prims.floor": ("same", e.rounded("floor")), "prims.ceil": ("same", e.rounded("ceil")),
    "prims.trunc": ("same", e.rounded("trunc")), "prims.round": ("same", e.rounded("round")),
    "prims.add": ("default", e.add), "prims.sub": ("default", e.sub), "prims.mul": ("default", e.times), "prims.div": ("default", e.prim_divide),
    "prims.fmod": ("default", "fmod"), "prims.remainder": ("default", lambda a, b: e.binary("%", a, b)), "prims.pow": ("default", e.power),
    "prims.hypot": ("default", "hypot"), "prims.atan2": ("default", "atan2"), "prims.reciprocal": ("default", "reciprocal"),
    "prims.fma": ("default", "fma"),
    "prims.sqrt": ("default", "sqrt"), "prims.rsqrt": ("default", "rsqrt"), "prims.cbrt": ("default", "cbrt"), "prims.exp": ("default", "exp"),
    "prims.exp2": ("default", "exp2"), "prims.expm1": ("default", "expm1"), "prims.log": ("default", "log"), "prims.log2": ("default", "log2"),
    "prims.log10": ("default", "log10"), "prims.log1p": ("default", "log1p"), "prims.sin": ("default", "sin"), "prims.cos": ("default", "cos"),
    "prims.tan": ("default", "tan"), "prims.asin": ("default", "asin"), "prims.acos": ("default", "acos"), "prims.atan": ("default", "atan"),
    "prims.sinh": ("default", "sinh"), "prims.cosh": ("default", "cosh"), "prims.tanh": ("default", "tanh"), "prims.asinh": ("default", "asinh"),
    "prims.acosh": ("default", "acosh"), "prims.atanh": ("default", "atanh"), "prims.erf": ("default", "erf"), "prims.erfc": ("default", "erfc"),
    "prims.eq": ("bool", e.compare("==")), "prims.ne": ("bool", e.compare("!=")), "prims.lt": ("bool", e.compare("<")),
    "prims.le": ("bool", e.compare("<=")), "prims.gt": ("bool", e.compare(">")), "prims.ge": ("bool", e.compare(">=")),
    "prims.isfinite": ("bool", e.isfinite), "prims.bitwise_and": ("same", "bitwise_and"), "prims.bitwise_or": ("same", "bitwise_or"),
    "prims.bitwise_xor": ("same", "bitwise_xor"), "prims.bitwise_not": ("same", "bitwise_not"), "prims.shift_left": ("same", "left_shift"),
    "prims.shift_right_arithmetic": ("same", "right_shift"),
    "prims.lgamma": ("default", s.lgamma), "prims.digamma": ("default", s.digamma), "prims.erf_inv": ("default", s.erfinv),
    "prims.ndtri": ("default", s.ndtri), "prims.erfcx": ("default", s.erfcx), "prims.bessel_i0": ("default", s.i0), "prims.bessel_i1": ("default", s.i1),
    "prims.bessel_i0e": ("default", s.i0e), "prims.bessel_i1e": ("default", s.i1e), "prims.bessel_j0": ("default", s.j0),
    "prims.bessel_j1": ("default", s.j1), "prims.spherical_bessel_j0": ("default", s.spherical_j0),
}

_OTHERS: dict[str, Recipe] = {
    "aten.div.Tensor_mode": e.divided, "aten.div.Scalar_mode": e.divided,
    "aten.where": e.where, "prims.where": e.where, "aten._to_copy": e.convert, "prims.convert_element_type": e.convert,
    "aten.polygamma": s.polygamma, "aten.mvlgamma": s.mvlgamma,
    # reductions
    "aten.sum": r.sum_, "aten.prod": r.prod, "aten.mean": r.mean, "aten.amax": r.extreme("max"), "aten.amin": r.extreme("min"),
    "aten.max.default": r.extreme("max"), "aten.min.default": r.extreme("min"), "aten.max.dim": r.extreme_with_place("max"),
    "aten.min.dim": r.extreme_with_place("min"), "aten.aminmax": r.aminmax, "aten.argmax": r.place("argmax"), "aten.argmin": r.place("argmin"),
    "aten.any": r.truths("any"), "aten.all": r.truths("all"), "aten.var.correction": r.variance, "aten.std.correction": r.deviation,
    "aten.var_mean.correction": r.variance_and_mean, "aten.cumsum": r.running("cumsum"), "aten.cumprod": r.running("cumprod"),
    "aten.cummax": r.running_extreme("cummax"), "aten.cummin": r.running_extreme("cummin"), "aten.logcumsumexp": r.logcumsumexp,
    "prims.sum": r.sum_, "prims.prod": r.prod, "prims.amax": r.extreme("max"), "prims.amin": r.extreme("min"), "prims.var": r.prim_variance,
    # views and copies
    "aten.view.default": m.reshape, "aten._unsafe_view": m.reshape, "aten.reshape": m.reshape, "aten._reshape_alias": m.reshape,
    "aten.squeeze": m.reshape, "aten.unsqueeze": m.reshape, "aten.alias": m.same, "aten.detach": m.same, "aten.clone": m.same,
    "aten.lift_fresh_copy": m.same, "aten.lift_fresh": m.same, "aten.contiguous": m.same, "aten.expand": m.expand, "aten.permute": m.permute,
    "aten.t": m.transpose, "aten.transpose": m.transpose, "aten.slice": m.sliced, "aten.select": m.select, "aten.split": m.split,
    "aten.split_with_sizes": m.split, "aten.unbind": m.unbind, "aten.unfold": m.unfold, "aten.diagonal": m.diagonal,
    "aten.cat": m.cat, "aten.stack": m.stack, "aten.flip": m.flip, "aten.roll": m.roll, "aten.repeat": m.repeat, "aten.tril": m.triangle("tril"),
    "aten.triu": m.triangle("triu"), "aten.constant_pad_nd": m.pad, "aten.slice_scatter": m.slice_scatter, "aten.select_scatter": m.select_scatter,
    "aten.copy": m.copy, "prims.broadcast_in_dim": m.broadcast_in_dim, "prims.reshape": m.reshape, "prims.squeeze": m.reshape,
    "prims.expand_dims": m.reshape, "prims.collapse_view": m.reshape, "prims.collapse": m.reshape, "prims.split_dim": m.reshape,
    "prims.transpose": m.permute, "prims.slice": m.prim_slice, "prims.rev": m.flip, "prims.cat": m.cat, "prims.clone": m.same,
    "prims.view_of": m.same, "prims.copy_strided": m.same, "prims.device_put": m.same,
    # arrays that are made of nothing
    "aten.full": m.full, "aten.zeros": m.constant(0), "aten.ones": m.constant(1), "aten.empty": m.constant(0), "aten.empty_strided": m.constant(0),
    "aten.zeros_like": m.constant(0), "aten.ones_like": m.constant(1), "aten.empty_like": m.constant(0), "aten.new_zeros": m.constant(0),
    "aten.new_ones": m.constant(1), "aten.new_empty": m.constant(0), "aten.new_empty_strided": m.constant(0), "aten.new_full": m.new_full,
    "aten.full_like": m.full_like, "aten.fill": m.fill, "aten.scalar_tensor": m.scalar_tensor, "aten.arange": m.arange, "aten.eye": m.eye, "aten.linspace": m.linspace,
    "prims.iota": m.iota, "prims.fill": m.fill, "prims.empty_strided": m.constant(0), "prims.empty_permuted": m.constant(0),
    "prims.scalar_tensor": m.scalar_tensor, "aten.empty_permuted": m.constant(0), "aten._efficientzerotensor": m.constant(0),
    # gathers and scatters
    "aten.index.Tensor": i.index, "aten._unsafe_index.Tensor": i.index, "aten.index_select": i.index_select, "aten.embedding": i.embedding,
    "aten.take": i.take, "aten.gather": i.gather, "aten.scatter": i.scatter("scatter"), "aten.scatter_add": i.scatter("scatter_add"),
    "aten.index_reduce": i.index_reduce, "aten.index_fill": i.index_fill, "aten.put": i.put, "aten.masked_scatter": i.masked_scatter,
    "aten.masked_scatter_backward": i.masked_scatter_backward,
    "aten.diagonal_scatter": i.diagonal_scatter, "aten.as_strided.default": i.as_strided, "aten.as_strided_scatter": i.as_strided_scatter,
    "aten.histc": i.histc, "aten.searchsorted": i.searchsorted, "aten.bucketize": i.bucketize,
    "aten.scatter_reduce.two": i.scatter_reduce, "aten.index_put": i.index_put, "aten._unsafe_index_put": i.index_put,
    # products
    "aten.mm": p.product, "aten.bmm": p.product, "aten.mv": p.product, "aten.dot": p.product, "aten.vdot": p.product, "aten._int_mm": p.product,
    "aten.addmm": p.product_added, "aten.addmv": p.product_added, "aten.baddbmm": p.product_added, "aten.addbmm": p.batches_added,
    "aten.convolution": p.convolution, "aten.convolution_backward": p.convolution_backward,
    "aten._scaled_dot_product_flash_attention": p.attention(None, 0), "aten._scaled_dot_product_flash_attention_for_cpu": p.attention(None, 0),
    "aten._scaled_dot_product_efficient_attention": p.attention(0, 2), "aten._scaled_dot_product_cudnn_attention": p.attention(0, 2),
    # windows
    "aten.max_pool2d_with_indices": w.max_pool_with_indices(2), "aten.max_pool3d_with_indices": w.max_pool_with_indices(3),
    "aten.max_pool2d_with_indices_backward": w.max_pool_backward(2), "aten.max_pool3d_with_indices_backward": w.max_pool_backward(3),
    "aten.max_unpool2d": w.max_unpool(2), "aten.max_unpool3d": w.max_unpool(3),
    "aten.avg_pool2d": w.avg_pool(2), "aten.avg_pool3d": w.avg_pool(3), "aten.avg_pool1d": w.avg_pool(1),
    "aten.avg_pool2d_backward": w.avg_pool_backward(2), "aten.avg_pool3d_backward": w.avg_pool_backward(3),
    "aten._adaptive_avg_pool2d": w.adaptive_avg_pool(2), "aten._adaptive_avg_pool3d": w.adaptive_avg_pool(3),
    "aten._adaptive_avg_pool2d_backward": w.adaptive_avg_pool_backward(2), "aten._adaptive_avg_pool3d_backward": w.adaptive_avg_pool_backward(3),
    "aten.adaptive_max_pool2d": w.adaptive_max_pool(2), "aten.adaptive_max_pool3d": w.adaptive_max_pool(3),
    "aten.adaptive_max_pool2d_backward": w.adaptive_max_pool_backward(2),
    "aten.adaptive_max_pool3d_backward": w.adaptive_max_pool_backward(3),
    "aten.replication_pad1d_backward": w.replication_pad_backward(1), "aten.replication_pad2d_backward": w.replication_pad_backward(2),
    "aten.replication_pad3d_backward": w.replication_pad_backward(3),
}

TABLE: dict[str, Recipe] = {name: e.elementwise(*row) for name, row in _ELEMENTWISE.items()}
TABLE.update(_OTHERS)

# Views: an array of torch that shares memory with another one, at no cost. They go where they are read, to smelt or to torch.
VIEWS = frozenset({
    "aten.view.default", "aten._unsafe_view.default", "aten.reshape.default", "aten._reshape_alias.default", "aten.squeeze.default",
    "aten.squeeze.dim", "aten.squeeze.dims", "aten.unsqueeze.default", "aten.alias.default", "aten.detach.default", "aten.expand.default",
    "aten.permute.default", "aten.t.default", "aten.transpose.int", "aten.slice.Tensor", "aten.select.int", "aten.split.Tensor",
    "aten.split_with_sizes.default", "aten.unbind.int", "aten.unfold.default", "aten.diagonal.default",
})


def find(target: Any) -> Optional[Recipe]:
    """How smelt calculates an operation; None when it does not."""
    name = str(target)
    found = TABLE.get(name)
    if found is None:
        packet = name.rpartition(".")[0]
        found = TABLE.get(packet)
        if found is None and packet.startswith("aten._foreach_"):
            found = _each("aten." + packet.removeprefix("aten._foreach_"))
    return found


def _each(name: str) -> Optional[Recipe]:
    """An operation on lists of tensors: the same on each."""
    row = {"aten.maximum": "same", "aten.minimum": "same"}.get(name) or (_ELEMENTWISE.get(name) or ("",))[0]
    if name == "aten.div":
        row, function = "float", e.divide
    elif not row:
        return None
    else:
        function = _ELEMENTWISE[name][1]

    def recipe(node: Any, outs: Any, *args: Any, **kwargs: Any) -> Any:
        made = []
        for k, out in enumerate(outs):
            one = _Item(node, k)
            picked = [a[k] if isinstance(a, list) else a for a in args]
            made.append(e.elementwise(row, function)(one, out, *picked, **kwargs))
        return made

    return recipe


class _Item:
    """Item k of a node whose arguments are lists."""

    def __init__(self, node: Any, k: int) -> None:
        self.args = tuple(a[k] if isinstance(a, (list, tuple)) else a for a in node.args)
        self.kwargs = node.kwargs
