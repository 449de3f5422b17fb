"""Threads that use functions and arrays at the same time; in a free-threaded Python they run at the same time too."""

import sys
import sysconfig
import threading

import numpy
import pytest

import smelt

THREADS = 8


def at_the_same_time(work):
    """Calls work(thread) in every thread; all begin together. Returns the results, or raises what one of them raised."""
    barrier = threading.Barrier(THREADS)
    results, raised = [None] * THREADS, []

    def run(thread):
        try:
            barrier.wait()
            results[thread] = work(thread)
        except BaseException as e:
            raised.append(e)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    return results


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="not a free-threaded Python")
def test_the_module_keeps_the_gil_off():
    assert not sys._is_gil_enabled()


def test_a_function_that_all_trace_first():
    for _ in range(5):
        traced = []

        @smelt.jit
        def f(x, y):
            traced.append(1)
            return x * 2 + y

        def work(thread):
            x = numpy.arange(1000, dtype=numpy.float32) + thread
            for _ in range(20):
                numpy.testing.assert_array_equal(f(x, 1.0), x * 2 + 1)

        at_the_same_time(work)
        assert len(traced) == 1
        assert f.compile_count() == 1


# The short path of a call knows one way to return; other types come while it is in use.
def test_results_of_several_structures():
    for _ in range(4):

        @smelt.jit
        def f(x):
            if x.ndim == 1:
                return x + 1
            return (x + 1, x - 1) if x.ndim == 2 else {"less": x - 1}

        def work(thread):
            shape = (4,) * (1 + thread % 3)
            x = numpy.full(shape, thread, numpy.float32 if thread < 4 else numpy.int32)
            for _ in range(50):
                made = f(x)
                if x.ndim == 1:
                    numpy.testing.assert_array_equal(made, x + 1)
                elif x.ndim == 2:
                    numpy.testing.assert_array_equal(made[0], x + 1)
                    numpy.testing.assert_array_equal(made[1], x - 1)
                else:
                    numpy.testing.assert_array_equal(made["less"], x - 1)

        at_the_same_time(work)


@pytest.mark.filterwarnings("ignore:f.. was traced")  # a program for each
def test_structures_and_static_values():
    @smelt.jit(static="times")
    def f(xs, times):
        return [x * times for x in xs]

    def work(thread):
        for n in range(30):
            xs = [numpy.ones(3, numpy.float32)] * (1 + (n + thread) % 3)
            made = f(xs, thread % 2 + 1)
            assert len(made) == len(xs)
            assert made[-1][0] == thread % 2 + 1
            f.specializations()
            repr(f)

    at_the_same_time(work)
    assert f.compile_count() == 6


def test_one_array_that_all_evaluate():
    for n in range(20):
        x = smelt.asarray(numpy.arange(100, dtype=numpy.float32))
        y = (x + n) * 2
        z = y.sum()
        for made in at_the_same_time(lambda thread: (y.numpy(), float(z)) if thread % 2 else (numpy.asarray(y), z.item())):
            numpy.testing.assert_array_equal(made[0], (numpy.arange(100) + n) * 2)
            assert made[1] == (9900 + 200 * n)


def test_arrays_of_each_thread():
    def work(thread):
        x = smelt.asarray(numpy.arange(64, dtype=numpy.float32))
        for _ in range(50):
            x = smelt.sort(x * -1)
            x[3] = float(thread)
            smelt.eval(x)
            assert x[3].item() == thread
        return x.shape

    assert at_the_same_time(work) == [(64,)] * THREADS


def test_outputs_of_each_thread():
    @smelt.jit
    def f(x):
        return smelt.exp(x)

    def work(thread):
        x = numpy.full(5000, thread, numpy.float32)
        out = numpy.empty_like(x)
        for _ in range(100):
            assert f(x, out=out) is out
            assert abs(out[-1] / numpy.exp(numpy.float32(thread)) - 1) < 1e-6

    at_the_same_time(work)
