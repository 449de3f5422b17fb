#!/usr/bin/env python3
"""Networks with random weights, built from their configurations: torch.compile(backend="smelt") compared with eager torch.

    tests/python/torch_networks.py [NAME ...] [--published] [--device cuda] [--batch 32] [--autocast]

Prints a row for each network: the share of operations that smelt calculates, forward and backward, kernels, and how far results and
gradients are from eager torch in float32, without TF32; under autocast (bf16), how far those of eager torch are as well. --published takes the sizes of the papers instead of small ones. Exit code 1: one is too far off.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any, Callable

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Of a sequence to itself."""

    def __init__(self, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Any, positions: Any = None) -> Any:
        b, n, width = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        if positions is not None:
            q, k = rotated(q, positions), rotated(k, positions)
        made = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(made.transpose(1, 2).reshape(b, n, width))


def rotated(x: Any, positions: Any) -> Any:
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    angles = positions[:, None].float() * rates
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Block(nn.Module):
    """A layer of GPT-2, BERT and ViT."""

    def __init__(self, width: int, heads: int, causal: bool, first: bool = True) -> None:
        super().__init__()
        self.first = first  # normalise before a layer, or after it as BERT does
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh" if causal else "none"), nn.Linear(4 * width, width))

    def forward(self, x: Any) -> Any:
        if not self.first:
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.mlp(x))
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """GPT-2 and BERT: tokens to logits."""

    def __init__(self, words: int, length: int, width: int, heads: int, layers: int, causal: bool) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads, causal, first=causal) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: Any) -> Any:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        return self.head(self.norm(self.blocks(x)))


class Llama(nn.Module):
    def __init__(self, words: int, width: int, heads: int, layers: int, hidden: int) -> None:
        super().__init__()
        self.tokens, self.head, self.norm = nn.Embedding(words, width), nn.Linear(width, words, bias=False), nn.RMSNorm(width)
        self.layers = nn.ModuleList([nn.ModuleDict({
            "norm1": nn.RMSNorm(width), "norm2": nn.RMSNorm(width), "attention": Attention(width, heads, True),
            "gate": nn.Linear(width, hidden, bias=False), "up": nn.Linear(width, hidden, bias=False), "down": nn.Linear(hidden, width, bias=False),
        }) for _ in range(layers)])

    def forward(self, tokens: Any) -> Any:
        x = self.tokens(tokens)
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        for layer in self.layers:
            x = x + layer["attention"](layer["norm1"](x), positions)
            y = layer["norm2"](x)
            x = x + layer["down"](F.silu(layer["gate"](y)) * layer["up"](y))
        return self.head(self.norm(x))


class ViT(nn.Module):
    def __init__(self, size: int, patch: int, width: int, heads: int, layers: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (size // patch) ** 2 + 1, width) * 0.02)
        self.blocks = nn.Sequential(*[Block(width, heads, False) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, images: Any) -> Any:
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )
        same = stride == 1 and inputs == outputs
        self.short = nn.Identity() if same else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Any) -> Any:
        return F.relu(self.layers(x) + self.short(x))


def resnet(width: int, counts: list[int], classes: int) -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = width
    for stage, count in enumerate(counts):
        for k in range(count):
            layers.append(Bottleneck(inputs, width << stage, 2 if stage and k == 0 else 1))
            inputs = 4 * width << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


class ConvNeXtBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.spatial, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x: Any) -> Any:
        y = self.norm(self.spatial(x).permute(0, 2, 3, 1))
        return x + (self.down(F.gelu(self.up(y))) * self.scale).permute(0, 3, 1, 2)


def convnext(widths: list[int], counts: list[int], classes: int) -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, widths[0], 4, 4)]
    for stage, (width, count) in enumerate(zip(widths, counts)):
        if stage:
            layers += [nn.GroupNorm(1, widths[stage - 1]), nn.Conv2d(widths[stage - 1], width, 2, 2)]
        layers += [ConvNeXtBlock(width) for _ in range(count)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(widths[-1]), nn.Linear(widths[-1], classes))


class UNet(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        widths = [width << k for k in range(depth + 1)]
        self.down = nn.ModuleList([self.two(a, b) for a, b in zip([3, *widths], widths)])
        self.up = nn.ModuleList([self.two(3 * a, a) for a in reversed(widths[:-1])])
        self.out = nn.Conv2d(width, 2, 1)

    @staticmethod
    def two(inputs: int, outputs: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU(),
                             nn.Conv2d(outputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU())

    def forward(self, x: Any) -> Any:
        kept = []
        for k, layer in enumerate(self.down):
            x = layer(F.max_pool2d(x, 2) if k else x)
            kept.append(x)
        for layer, skip in zip(self.up, reversed(kept[:-1])):
            x = layer(torch.cat([F.interpolate(x, scale_factor=2.0, mode="bilinear"), skip], 1))
        return self.out(x)


class Whisper(nn.Module):
    """The encoder: spectra to states."""

    def __init__(self, bands: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(nn.Conv1d(bands, width, 3, padding=1), nn.GELU(), nn.Conv1d(width, width, 3, 2, 1), nn.GELU())
        self.blocks, self.norm = nn.Sequential(*[Block(width, heads, False) for _ in range(layers)]), nn.LayerNorm(width)

    def forward(self, spectra: Any) -> Any:
        x = self.convolutions(spectra).transpose(1, 2)
        return self.norm(self.blocks(x + waves(torch.arange(x.shape[1], device=x.device), x.shape[2])))


def waves(positions: Any, width: int) -> Any:
    """Sines and cosines of positions or of times."""
    rates = torch.exp(-torch.arange(width // 2, device=positions.device) * (9.21 / (width // 2 - 1)))
    angles = positions[:, None].float() * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


class T5Attention(nn.Module):
    def __init__(self, width: int, heads: int, buckets: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.buckets, self.causal = heads, buckets, causal
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.bias = nn.Embedding(buckets, heads) if buckets else None

    def bucket_of(self, distance: Any) -> Any:
        """Near positions have buckets of their own, far ones share them by the logarithm of their distance."""
        count = self.buckets
        side = torch.zeros_like(distance)
        if self.causal:
            distance = -distance.clamp(max=0)
        else:
            count //= 2
            side, distance = (distance > 0).long() * count, distance.abs()
        near = count // 2
        far = near + (torch.log(distance.clamp(min=1).float() / near) / math.log(128 / near) * (count - near)).long()
        return side + torch.where(distance < near, distance, far.clamp(max=count - 1))

    def forward(self, x: Any, source: Any) -> Any:
        def split(y: Any) -> Any:
            return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

        scores = split(self.q(x)) @ split(self.k(source)).transpose(2, 3)
        if self.bias is not None:
            distance = torch.arange(source.shape[1], device=x.device) - torch.arange(x.shape[1], device=x.device)[:, None]
            scores = scores + self.bias(self.bucket_of(distance)).permute(2, 0, 1)
            if self.causal:
                scores = scores.masked_fill(distance > 0, float("-inf"))
        return self.out((scores.float().softmax(-1).to(x.dtype) @ split(self.v(source))).transpose(1, 2).flatten(2))


class T5(nn.Module):
    def __init__(self, words: int, width: int, heads: int, layers: int, hidden: int) -> None:
        super().__init__()
        self.tokens, self.head = nn.Embedding(words, width), nn.Linear(width, words, bias=False)

        def layer(decoder: bool) -> nn.Module:
            parts = {"norm1": nn.RMSNorm(width), "own": T5Attention(width, heads, 32, decoder), "norm2": nn.RMSNorm(width),
                     "up": nn.Linear(width, hidden, bias=False), "down": nn.Linear(hidden, width, bias=False)}
            if decoder:
                parts.update(norm3=nn.RMSNorm(width), cross=T5Attention(width, heads, 0, False))
            return nn.ModuleDict(parts)

        self.encoder = nn.ModuleList([layer(False) for _ in range(layers)])
        self.decoder = nn.ModuleList([layer(True) for _ in range(layers)])

    def forward(self, tokens: Any, targets: Any) -> Any:
        states = self.tokens(tokens)
        for part in self.encoder:
            states = self.through(part, states, None)
        x = self.tokens(targets)
        for part in self.decoder:
            x = self.through(part, x, states)
        return self.head(x)

    @staticmethod
    def through(layer: Any, x: Any, states: Any) -> Any:
        y = layer["norm1"](x)
        x = x + layer["own"](y, y)
        if states is not None:
            x = x + layer["cross"](layer["norm3"](x), states)
        return x + layer["down"](F.relu(layer["up"](layer["norm2"](x))))


class Mamba(nn.Module):
    """A state-space model of the second kind: scans by chunks, which are products inside and a recurrence between them."""

    def __init__(self, words: int, width: int, heads: int, state: int, layers: int, chunk: int) -> None:
        super().__init__()
        self.heads, self.state, self.chunk, self.inner = heads, state, chunk, 2 * width
        self.tokens, self.norm, self.head = nn.Embedding(words, width), nn.RMSNorm(width), nn.Linear(width, words, bias=False)
        mixed = self.inner + 2 * state
        self.layers = nn.ModuleList([nn.ModuleDict({
            "norm": nn.RMSNorm(width), "inputs": nn.Linear(width, self.inner + mixed + heads, bias=False), "gated": nn.RMSNorm(self.inner),
            "near": nn.Conv1d(mixed, mixed, 4, groups=mixed, padding=3), "out": nn.Linear(self.inner, width, bias=False),
        }) for _ in range(layers)])
        self.rates = nn.Parameter(torch.rand(layers, heads))

    def forward(self, tokens: Any) -> Any:
        x = self.tokens(tokens)
        for layer, rates in zip(self.layers, self.rates):
            gate, mixed, step = layer["inputs"](layer["norm"](x)).split([self.inner, self.inner + 2 * self.state, self.heads], -1)
            mixed = F.silu(layer["near"](mixed.transpose(1, 2))[..., : x.shape[1]]).transpose(1, 2)
            values, b, c = mixed.split([self.inner, self.state, self.state], -1)
            step = F.softplus(step)
            values = values.unflatten(2, (self.heads, -1))
            made = self.scanned(values * step[..., None], -rates.exp() * step, b, c).flatten(2)
            x = x + layer["out"](layer["gated"](made * F.silu(gate)))
        return self.head(self.norm(x))

    def scanned(self, x: Any, decay: Any, b: Any, c: Any) -> Any:
        """x of [batch, length, head, column], decay of [batch, length, head], b and c of [batch, length, state]."""
        x, decay, b, c = (t.unflatten(1, (-1, self.chunk)) for t in (x, decay, b, c))
        total = decay.permute(0, 3, 1, 2).cumsum(-1)  # [batch, head, chunk, place]
        inside = differences(total).exp()
        near = torch.einsum("bzln,bzsn,bhzls,bzshp->bzlhp", c, b, inside, x)
        left = torch.einsum("bzsn,bhzs,bzshp->bzhpn", b, (total[..., -1:] - total).exp(), x)
        between = differences(F.pad(total[..., -1], (1, 0)).cumsum(-1)).exp()[..., :-1, 1:]  # from the end of one chunk to another
        states = torch.einsum("bhzc,bchpn->bzhpn", between, left)
        return (near + torch.einsum("bzln,bzhpn,bhzl->bzlhp", c, states, total.exp())).flatten(1, 2)


def differences(total: Any) -> Any:
    """Sums from one place to a later one, of running sums; none lead back."""
    made = total[..., :, None] - total[..., None, :]
    return made.masked_fill(torch.ones_like(made[0, 0, 0] if made.dim() == 5 else made[0, 0], dtype=torch.bool).triu(1), float("-inf"))


class DiT(nn.Module):
    """A diffusion transformer: patches of an image, modulated by a time and a class."""

    def __init__(self, size: int, patch: int, width: int, heads: int, layers: int, classes: int) -> None:
        super().__init__()
        self.patch, self.width, self.side = patch, width, size // patch
        self.patches, self.classes = nn.Conv2d(4, width, patch, patch), nn.Embedding(classes, width)
        self.times = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.positions = nn.Parameter(torch.randn(1, self.side**2, width) * 0.02)
        self.layers = nn.ModuleList([nn.ModuleDict({
            "modulate": nn.Linear(width, 6 * width), "attention": Attention(width, heads, False),
            "mlp": nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)),
        }) for _ in range(layers)])
        self.last, self.out = nn.Linear(width, 2 * width), nn.Linear(width, patch * patch * 4)

    def normalised(self, x: Any, shift: Any, scale: Any) -> Any:
        return F.layer_norm(x, (self.width,)) * (1 + scale[:, None]) + shift[:, None]

    def forward(self, x: Any, time: Any, label: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        condition = F.silu(self.times(waves(time, self.width)) + self.classes(label))
        for layer in self.layers:
            a, b, c, d, e, f = layer["modulate"](condition).chunk(6, 1)
            x = x + c[:, None] * layer["attention"](self.normalised(x, a, b))
            x = x + f[:, None] * layer["mlp"](self.normalised(x, d, e))
        x = self.out(self.normalised(x, *self.last(condition).chunk(2, 1)))
        x = x.view(-1, self.side, self.side, self.patch, self.patch, 4).permute(0, 5, 1, 3, 2, 4)
        return x.reshape(-1, 4, self.side * self.patch, self.side * self.patch)


class DLRM(nn.Module):
    def __init__(self, rows: int, tables: int, width: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, width) for _ in range(tables)])
        self.bottom = nn.Sequential(nn.Linear(13, 2 * width), nn.ReLU(), nn.Linear(2 * width, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 4 * width), nn.ReLU(), nn.Linear(4 * width, 1))

    def forward(self, numbers: Any, places: Any) -> Any:
        dense = self.bottom(numbers)
        vectors = torch.stack([dense, *(table(places[:, k]) for k, table in enumerate(self.tables))], 1)
        products = vectors @ vectors.transpose(1, 2)
        i, j = torch.tril_indices(products.shape[1], products.shape[1], -1, device=numbers.device)
        return torch.sigmoid(self.top(torch.cat([dense, products[:, i, j]], 1)))


def images(size: int) -> Callable[[int], Any]:
    return lambda batch: (torch.randn(batch, 3, size, size),)


def tokens(words: int, length: int) -> Callable[[int], Any]:
    return lambda batch: (torch.randint(words, (batch, length)),)


# Each with the small network and its inputs for a batch, then those of the paper.
NETWORKS: dict[str, tuple[Any, Any, Any, Any]] = {
    "GPT-2": (lambda: Transformer(101, 24, 32, 4, 2, True), tokens(101, 24), lambda: Transformer(50257, 1024, 768, 12, 12, True), tokens(50257, 512)),
    "BERT": (lambda: Transformer(101, 24, 32, 4, 2, False), tokens(101, 24), lambda: Transformer(30522, 512, 768, 12, 12, False), tokens(30522, 512)),
    "Llama": (lambda: Llama(101, 32, 4, 2, 88), tokens(101, 24), lambda: Llama(32000, 2048, 32, 16, 5632), tokens(32000, 512)),
    "ViT": (lambda: ViT(32, 8, 32, 4, 2, 10), images(32), lambda: ViT(224, 16, 768, 12, 12, 1000), images(224)),
    "ResNet": (lambda: resnet(8, [1, 2, 1], 10), images(64), lambda: resnet(64, [3, 4, 6, 3], 1000), images(224)),
    "ConvNeXt": (lambda: convnext([16, 32], [1, 2], 10), images(32), lambda: convnext([96, 192, 384, 768], [3, 3, 9, 3], 1000), images(224)),
    "UNet": (lambda: UNet(8, 2), images(32), lambda: UNet(64, 4), images(256)),
    "Whisper": (lambda: Whisper(8, 32, 4, 2), lambda batch: (torch.randn(batch, 8, 48),),
                lambda: Whisper(80, 512, 8, 6), lambda batch: (torch.randn(batch, 80, 3000),)),
    "T5": (lambda: T5(101, 32, 4, 2, 64), lambda batch: (torch.randint(101, (batch, 24)), torch.randint(101, (batch, 16))),
           lambda: T5(32128, 512, 8, 6, 2048), lambda batch: (torch.randint(32128, (batch, 512)), torch.randint(32128, (batch, 128)))),
    "Mamba": (lambda: Mamba(101, 32, 4, 8, 2, 8), tokens(101, 24), lambda: Mamba(50280, 768, 24, 128, 24, 64), tokens(50280, 512)),
    "DiT": (lambda: DiT(8, 2, 32, 4, 2, 10), lambda batch: (torch.randn(batch, 4, 8, 8), torch.randint(1000, (batch,)), torch.randint(10, (batch,))),
            lambda: DiT(32, 2, 1152, 16, 4, 1000),
            lambda batch: (torch.randn(batch, 4, 32, 32), torch.randint(1000, (batch,)), torch.randint(1000, (batch,)))),
    "DLRM": (lambda: DLRM(50, 4, 16), lambda batch: (torch.randn(batch, 13), torch.randint(50, (batch, 4))),
             lambda: DLRM(100000, 26, 128), lambda batch: (torch.randn(batch, 13), torch.randint(100000, (batch, 26)))),
}


def outcome(module: Any, f: Any, inputs: Any, device: str, autocast: bool) -> list[Any]:
    """The result of inference, that of training, and the gradients of all parameters."""
    def call() -> Any:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=autocast):
            return f(*inputs)

    module.eval()
    with torch.no_grad():
        made = [call().float()]
    module.train()
    module.zero_grad()
    result = call().float()
    (result * torch.linspace(0.5, 1.5, result.numel(), device=device).reshape(result.shape)).mean().backward()
    return [*made, result.detach(), *(p.grad.clone() for p in module.parameters() if p.grad is not None)]


def distance(made: list[Any], expected: list[Any]) -> float:
    """The largest error of a tensor, in proportion to what is large in it."""
    return max(float((a - b).abs().max() / b.abs().max().clamp_min(1e-6)) for a, b in zip(made, expected))


def measure(name: str, device: str = "cpu", published: bool = False, batch: int = 2, autocast: bool = False) -> dict[str, Any]:
    from smelt.torch import backend, reports, reset

    torch.compiler.reset()
    reset()
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = False
    build, inputs_of = NETWORKS[name][2:] if published else NETWORKS[name][:2]
    module, inputs = build().to(device), [t.to(device) for t in inputs_of(batch)]
    state = {k: v.clone() for k, v in module.state_dict().items()}
    expected = outcome(module, module, inputs, device, autocast)
    exact = expected
    if autocast:
        module.load_state_dict(state)  # what the training step has changed of batch normalisation
        exact = outcome(module, module, inputs, device, False)
    module.load_state_dict(state)
    made = outcome(module, torch.compile(module, backend=backend), inputs, device, autocast)
    graphs = reports()
    assert len(made) == len(expected)
    total, refused = sum(g.operations for g in graphs), sum(len(g.refused) for g in graphs)
    left = [(target, why) for g in graphs for target, why in g.refused.values()]
    others = sorted({f"{target} ({why})" for target, why in left if not is_of_a_product(why)})
    return {"name": name, "operations": total, "native": total - refused, "kernels": sum(g.kernels for g in graphs), "graphs": len(graphs),
            "others": others, "error": distance(made, exact), "of torch": distance(expected, exact),
            "products": sum(is_of_a_product(why) for _, why in left)}


def is_of_a_product(why: str) -> bool:
    return "product" in why or "attention" in why


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=[], help=", ".join(NETWORKS))
    parser.add_argument("--published", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--autocast", action="store_true", help="bf16")
    chosen = parser.parse_args()
    far = False
    print("| network | operations | in smelt | products and attention in torch | others in torch | kernels | largest relative error |")
    print("|---|---|---|---|---|---|---|")
    for name in chosen.names or NETWORKS:
        m = measure(name, chosen.device, chosen.published, chosen.batch, chosen.autocast)
        far |= is_far(m)
        beside = f", of eager torch {m['of torch']:.1e}" if chosen.autocast else ""
        print(f"| {name} | {m['operations']} | {100 * m['native'] / m['operations']:.0f} % | {m['products']} | {', '.join(m['others'])} | "
              f"{m['kernels']} | {m['error']:.1e}{beside} |", flush=True)
    return int(far)


def is_far(measured: dict[str, Any]) -> bool:
    """Whether an error is more than products in another order make; under autocast, than twice that of eager torch."""
    return bool(measured["error"] > 1e-3 + 2 * measured["of torch"])


if __name__ == "__main__":
    sys.exit(main())
