"""Examples of smelt as operators of torch: smelt.torch.ops.add_mul_exp(x, y), torch.ops.smelt.add_mul_exp(x, y)."""

from __future__ import annotations

from typing import Any

import torch

import smelt

from .._smelt import UserError
from ._register import register

__all__ = ["add_mul_exp", "black_scholes", "gelu_bias", "quantize_int8", "relu_layernorm", "rmsnorm", "softclip"]


def _floats(name: str, **tensors: torch.Tensor) -> None:
    for parameter, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise UserError(f"{name}: {parameter} is of {tensor.dtype}\nhelp: {parameter} is a tensor of floats")


def _columns(name: str, x: torch.Tensor, parameter: str, vector: torch.Tensor) -> None:
    if x.dim() < 1:
        raise UserError(f"{name}: x has no axis\nhelp: rows are along the last axis of x")
    if vector.dim() != 1 or vector.shape[0] != x.shape[-1]:
        raise UserError(f"{name}: {parameter} has the shape {tuple(vector.shape)}, and x {tuple(x.shape)}\n"
                        f"help: {parameter} has one element for each of the {x.shape[-1]} columns")


def _check_quantize(x: torch.Tensor, scale: float, zero_point: float) -> None:
    _floats("quantize_int8", x=x)
    if not scale > 0:
        raise UserError(f"quantize_int8: scale is {scale}\nhelp: it is the size of one step, above 0")
    if not -128 <= zero_point <= 127:
        raise UserError(f"quantize_int8: zero_point is {zero_point}\nhelp: it is what 0.0 becomes, of -128 to 127")


def _check_pair(x: torch.Tensor, y: torch.Tensor) -> None:
    _floats("add_mul_exp", x=x, y=y)
    for a, b in zip(reversed(x.shape), reversed(y.shape)):
        if a != b and a != 1 and b != 1:
            raise UserError(f"add_mul_exp: x has the shape {tuple(x.shape)}, y {tuple(y.shape)}\nhelp: sizes of an axis are equal, or one is 1")


def _check_rows(x: torch.Tensor) -> None:
    _floats("relu_layernorm", x=x)
    if x.dim() < 1:
        raise UserError("relu_layernorm: x has no axis\nhelp: each row of the last axis is normalised")


def _check_bias(x: torch.Tensor, bias: torch.Tensor) -> None:
    _floats("gelu_bias", x=x, bias=bias)
    _columns("gelu_bias", x, "bias", bias)


def _check_rmsnorm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> None:
    _floats("rmsnorm", x=x, weight=weight)
    _columns("rmsnorm", x, "weight", weight)


def _check_options(spot: torch.Tensor, strike: torch.Tensor, years: torch.Tensor, rate: float, volatility: float) -> None:
    _floats("black_scholes", spot=spot, strike=strike, years=years)
    if not volatility > 0:
        raise UserError(f"black_scholes: volatility is {volatility}\nhelp: it is above 0")


def _quantize_int8(x: Any, scale: float, zero_point: float) -> Any:
    return smelt.clamp(smelt.round(x / scale + zero_point), -128, 127).astype(smelt.int8)


def _add_mul_exp(x: Any, y: Any) -> Any:
    return smelt.exp((x + y) * 2)


def _relu_layernorm(x: Any) -> Any:
    return smelt.layernorm(smelt.relu(x))


def _gelu_bias(x: Any, bias: Any) -> Any:
    return smelt.gelu(x + bias)


def _rmsnorm(x: Any, weight: Any, eps: float = 1e-6) -> Any:
    return x * smelt.rsqrt(smelt.mean(smelt.square(x), axis=-1, keepdims=True) + eps) * weight


def _softclip(x: Any, low: float = -1.0, high: float = 1.0) -> Any:
    return low + (high - low) * smelt.sigmoid(x)


def _black_scholes(spot: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    spread = volatility * smelt.sqrt(years)
    d1 = (smelt.log(spot / strike) + (rate + volatility * volatility / 2) * years) / spread
    paid = strike * smelt.exp(-rate * years)
    call = spot * smelt.erfc(-d1 / 2**0.5) / 2 - paid * smelt.erfc((spread - d1) / 2**0.5) / 2
    return call, call - spot + paid  # the put, by put-call parity


quantize_int8 = register("quantize_int8", _quantize_int8, check=_check_quantize)
add_mul_exp = register("add_mul_exp", _add_mul_exp, check=_check_pair)
relu_layernorm = register("relu_layernorm", _relu_layernorm, check=_check_rows)
gelu_bias = register("gelu_bias", _gelu_bias, check=_check_bias)
rmsnorm = register("rmsnorm", _rmsnorm, check=_check_rmsnorm)
softclip = register("softclip", _softclip)
black_scholes = register("black_scholes", _black_scholes, results=2, check=_check_options)
