"""Clocks, and what is made of their readings."""

import contextlib
import math
import signal
import statistics
import time


class TimeLimit(BaseException):
    """Not an Exception: libraries that catch those and go on would swallow it."""


@contextlib.contextmanager
def time_limit(seconds, what):
    """Raises TimeLimit inside the block. Only Python code notices: what hangs inside a driver is for the caller's `timeout`."""

    def ring(signum, frame):
        raise TimeLimit(f"{what}: over its limit of {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.1), 2)  # again and again: a callback may swallow it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def summary(values):
    """What is kept of repeated measurements: median and quartiles, mean and deviation."""
    values = sorted(values)
    if not values:
        return None
    quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return {
        "median": statistics.median(values),
        "q1": quartiles[0],
        "q3": quartiles[2],
        "mean": statistics.fmean(values),
        "deviation": statistics.stdev(values) if len(values) > 1 else 0.0,
        "min": values[0],
        "max": values[-1],
        "runs": len(values),
    }


def geometric_mean(values):
    """Of those that there are; None without any."""
    values = [v for v in values if v]
    return statistics.geometric_mean(values) if values else None


def ratio_with_error(a, b):
    """a/b of two summaries, with the error that their deviations give it; None where one is missing."""
    if not a or not b or not b["mean"] or not a["mean"]:
        return None
    ratio = a["mean"] / b["mean"]
    return ratio, ratio * math.hypot(a["deviation"] / a["mean"], b["deviation"] / b["mean"])


def call_times(call, synchronize, budget_s=0.15, batches=7):
    """Wall time per call, of several batches of calls back to back."""
    call()
    synchronize()
    start = time.perf_counter()
    for _ in range(3):
        call()
    synchronize()
    once = max((time.perf_counter() - start) / 3, 1e-6)
    n = max(3, min(5000, int(budget_s / batches / once)))
    times = []
    for _ in range(batches):
        start = time.perf_counter()
        for _ in range(n):
            call()
        synchronize()
        times.append((time.perf_counter() - start) / n * 1e6)
    return summary(times)
