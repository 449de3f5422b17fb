"""Rows by torch: times on one GPU or on the CPU."""

import time
from statistics import median

import tool
from library import TORCH_DTYPES as DTYPES

PEERS = ("eager", "compile", "max-autotune")


class Torch:
    def __init__(self, options):
        import torch

        self.torch, self.options = torch, options
        if options.threads:
            torch.set_num_threads(options.threads)
        if options.device == "cuda":
            self.flush = torch.empty(4 * 60 << 20, dtype=torch.uint8, device="cuda")

    def array(self, array):
        if isinstance(array, list):
            return [self.array(a) for a in array]
        torch, filler, where = self.torch, array.filler, {"device": self.options.device}
        kind = getattr(torch, DTYPES[array.dtype])
        if filler.startswith("below"):
            return torch.randint(0, int(filler.partition("=")[2]), array.shape, dtype=kind, **where)
        if filler == "iota":
            size = torch.Size(array.shape).numel()
            return torch.arange(size, dtype=kind, **where).reshape(array.shape)
        if kind == torch.bool:
            return torch.randint(0, 2, array.shape, **where) > 0
        if kind == torch.uint8:
            return torch.randint(0, 256, array.shape, dtype=kind, **where)
        if not kind.is_floating_point:
            return torch.randint(-20, 21, array.shape, dtype=kind, **where)
        return (torch.rand if filler == "uniform" else torch.randn)(array.shape, dtype=kind, **where)

    def device_us(self, call):
        """By events, the L2 cache flushed before the call."""
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flush.zero_()
        self.torch.cuda._sleep(200_000)  # the host has launched all of the call by then
        begin.record()
        call()
        end.record()
        self.torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e3

    @staticmethod
    def wall_us(call):
        begin = time.perf_counter()
        call()
        return (time.perf_counter() - begin) * 1e6

    def time_us(self, call):
        once = self.device_us if self.options.device == "cuda" else self.wall_us
        for _ in range(3):
            call()
        if self.options.device == "cuda":
            self.torch.cuda.synchronize()
        with tool.turn(self.options):
            times, start = [], time.monotonic()
            while len(times) < 5 or (time.monotonic() - start < self.options.seconds and len(times) < 200):
                times.append(once(call))
        return median(times)

    def measure(self, row, peer, once=False):
        """Its time; `once`: it runs once, for what that compiles."""
        def function(*given):
            return row.torch(self.torch, *given)

        self.torch._dynamo.reset()
        if peer != "eager":
            function = self.torch.compile(function, mode=None if peer == "compile" else peer)
        arrays = []
        try:
            arrays += [self.array(a) for a in row.arrays(tool.BATCH if self.options.device == "cpu" else None).values()]
            if once:
                function(*arrays)
                return {}
            return {"us": self.time_us(lambda: function(*arrays))}
        except Exception as error:  # a peer that fails is a line of the page
            return {"error": str(error)[:400]}
        finally:
            arrays.clear()
            if self.options.device == "cuda":
                self.torch.cuda.empty_cache()
