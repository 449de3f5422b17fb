"""One of several processes that train a model together: torch_ranks.py RANK COUNT FILE. Prints the losses of its steps."""

import sys

import torch
from torch import nn

from smelt.torch import backend, reports


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def main() -> None:
    rank, count, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=count)
    losses = []
    for compiled in (False, True):
        torch.manual_seed(0)
        model = nn.parallel.DistributedDataParallel(Model())
        step = torch.compile(model, backend=backend) if compiled else model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for k in range(4):
            torch.manual_seed(1 + count * k + rank)  # each has data of its own
            x = torch.randn(16, 8)
            loss = (step(x) - x.sum(1, keepdim=True)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total = sum(p.detach().sum() for p in model.parameters())
        losses += [f"{loss.item():.5f} {total.item():.5f}"]
    print("\n".join([*losses, str(any(r.kernels for r in reports()))]))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
