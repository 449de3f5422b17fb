"""Takes turns: in every round each contender has one, so that what disturbs the machine disturbs all alike, and figures are compared with
those of the same round. Times are microseconds."""

import random
import statistics
import time

from timing import summary

PAUSE_S = 0.002  # between turns: threads of the one before that still spin go to sleep
SHORTEST_US = 200  # calls shorter than this are timed several at a time
WARM = 0.4  # of a turn, before it: not counted. A large cache takes several calls to be this contender's
FEWEST = 3  # rounds
SLOW = 5  # times as slow as the fastest that is no copy: the rounds after the first FEWEST go on without


def timed(call, repeat, clock=time.perf_counter):
    start = clock()
    for _ in range(repeat):
        call()
    return (clock() - start) / repeat * 1e6


class Turns:
    """One workload's contenders, and the readings of each round."""

    def __init__(self, contenders, turn_s, clock=time.perf_counter):
        self.contenders, self.turn_s, self.clock, self.order = contenders, turn_s, clock, random.Random(1)
        self.once = {c.name: min(timed(c.call, 1) for _ in range(2)) for c in contenders}  # also warms up
        self.readings = {c.name: [] for c in contenders}

    @property
    def round_s(self):
        return sum(max(self.turn_s, self.once[c.name] / 1e6) * 1.5 + PAUSE_S for c in self.contenders)

    def leave_out_slow(self):
        """A round without them is shorter, so there are more. Their figures are of the rounds that they were in, and so are their ratios."""
        medians = {c.name: statistics.median(self.readings[c.name]) for c in self.contenders}
        working = [us for name, us in medians.items() if not name.startswith(("copy.", "read."))]
        if working:
            self.contenders = [c for c in self.contenders if medians[c.name] <= SLOW * min(working)]

    def round(self):
        # In another order each round: a large cache remembers who was before.
        for c in self.order.sample(self.contenders, len(self.contenders)):
            time.sleep(PAUSE_S)
            once = self.once[c.name]
            start = time.perf_counter()
            while once < self.turn_s * 1e6 and time.perf_counter() - start < WARM * self.turn_s:
                c.call()  # wakes the threads, and fills the caches with its own
            batch = max(1, int(SHORTEST_US / max(once, 0.1)))
            times, start = [], time.perf_counter()
            while not times or time.perf_counter() - start < self.turn_s:
                times.append(timed(c.call, batch, self.clock))
            self.readings[c.name].append(statistics.median(times))

    def run(self, budget_s, most_rounds):
        start = time.perf_counter()
        rounds = 0
        while rounds < most_rounds and (rounds < FEWEST or time.perf_counter() - start + self.round_s < budget_s):
            self.round()
            rounds += 1
            if rounds == FEWEST:
                self.leave_out_slow()
        return rounds


def figures(readings):
    """What is kept of each contender, and its time over that of the others in the same rounds."""
    return {name: {**summary(values), "readings": values} for name, values in readings.items()}


def ratio(figures, a, b):
    """Median and quartiles of a's time over b's, round by round; None where one is missing."""
    if a not in figures or b not in figures:
        return None
    return summary([x / y for x, y in zip(figures[a]["readings"], figures[b]["readings"])])
