"""Clocks, and what is made of their readings. Times are microseconds.

cold   device time of one call by CUDA events, the L2 cache flushed before it by writing a buffer four times as large
hot    the same without the flush: what fits L2 is read from there
call   wall time of a call among many back to back, the host's part included, synchronised after the last
"""

import ctypes
import time

from timing import call_times, ratio_with_error, summary  # noqa: F401


def driver_attribute(number):
    """cuDeviceGetAttribute of the first GPU, by the number that cuda.h gives it; 0 without."""
    value = ctypes.c_int()
    try:
        library = ctypes.CDLL("libcuda.so.1")
        fine = library.cuInit(0) == 0 and library.cuDeviceGetAttribute(ctypes.byref(value), number, 0) == 0
    except (OSError, AttributeError):
        return 0
    return value.value if fine else 0


class Device:
    """The GPU through torch: events, the flush, a copy. CuPy's kernels run on the same stream, so its events serve them too."""

    def __init__(self, torch, quick=False):
        self.torch = torch
        self.budget_s = 0.03 if quick else 0.12
        p = torch.cuda.get_device_properties(0)
        self.l2_bytes = getattr(p, "L2_cache_size", 0) or driver_attribute(38) or 64 << 20
        self.flushed = torch.empty(max(4 * self.l2_bytes, 256 << 20), dtype=torch.int8, device="cuda")
        self.cycles_per_us = driver_attribute(13) / 1e3 or 1800  # CLOCK_RATE

    def synchronize(self):
        self.torch.cuda.synchronize()

    def times(self, call, cold):
        """Device time of single calls. The device is kept busy before each, so that the host is ahead and its part not counted."""
        torch = self.torch
        call()
        self.synchronize()
        start = time.perf_counter()
        call()
        host_us = (time.perf_counter() - start) * 1e6
        self.synchronize()
        whole_us = (time.perf_counter() - start) * 1e6
        wait = int(min(2000, 30 + 1.5 * host_us) * self.cycles_per_us)
        each_us = whole_us + wait / self.cycles_per_us + (120 if cold else 0)
        runs = max(10, min(200, int(self.budget_s * 1e6 / each_us)))
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
        for begin, end in events:
            if cold:
                self.flushed.zero_()
            torch.cuda._sleep(wait)
            begin.record()
            call()
            end.record()
        self.synchronize()
        return summary([begin.elapsed_time(end) * 1e3 for begin, end in events])

    def call_times(self, call):
        return call_times(call, self.synchronize, self.budget_s)

    def copy(self, moved):
        """A device-to-device copy that moves as many bytes, read and written together."""
        half = max(1, moved // 2)
        source = self.torch.ones(half, dtype=self.torch.int8, device="cuda")
        target = self.torch.empty_like(source)

        def call():
            target.copy_(source)

        return {"bytes": 2 * half, "cold_us": self.times(call, cold=True), "hot_us": self.times(call, cold=False),
                "call_us": self.call_times(call)}

    def kernels(self, call, synchronize):
        """How many kernels one call launches, and their names, by the profiler; whoever launches them."""
        profiler = self.torch.profiler
        with profiler.profile(activities=[profiler.ProfilerActivity.CUDA]) as profile:
            call()
            synchronize()
            self.synchronize()
        names = [e.name for e in profile.events() if "CUDA" in str(e.device_type)]
        names = [n for n in names if not n.startswith(("Memcpy", "Memset", "Activity", "Context", "Lazy"))]
        return len(names), [n[:120] for n in names[:32]]
