"""Functions of smelt over the blocks of Dask's arrays, on a cluster of two workers, and over xarray."""

import functools
import pickle

import numpy as np
import pytest

import smelt

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("dask.distributed")


@smelt.jit(threads=1)
def chain(x, y):
    return smelt.sqrt(smelt.abs(smelt.sin(x) * y)) + smelt.log1p(x * x) - (x + y) / (1 + x * x)


def by_numpy(x, y):
    return np.sqrt(np.abs(np.sin(x) * y)) + np.log1p(x * x) - (x + y) / (1 + x * x)


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def arrays(n=1000, chunk=300):
    rng = np.random.default_rng(0)
    x, y = rng.random((n, 20)), rng.random((n, 20))
    return (x, y), (da.from_array(x, chunks=(chunk, 20)), da.from_array(y, chunks=(chunk, 20)))


def test_map_blocks_on_two_workers(client):
    whole, blocks = arrays()
    made = da.map_blocks(chain, *blocks, dtype="float64")
    np.testing.assert_allclose(made.compute(), by_numpy(*whole), rtol=1e-12)
    assert len(client.nthreads()) == 2


def test_blockwise_on_two_workers(client):
    (x, _), (blocks, _) = arrays(n=20, chunk=7)
    made = da.blockwise(chain, "ij", blocks, "ij", blocks.T.rechunk((7, 20)), "ij", dtype="float64", align_arrays=True)
    np.testing.assert_allclose(made.compute(), by_numpy(x, x.T), rtol=1e-12)


def test_functions_without_a_name_travel_by_value_and_are_traced_once_in_each_worker(client):
    scale = 3.0
    f = smelt.jit(lambda x: x * scale)

    def compiled(x):
        f(x)
        return f.compile_count()

    # Tasks that follow each other in one worker get the same function.
    first = client.scatter(np.ones(5), broadcast=True)
    for worker in client.nthreads():
        counts = [client.submit(compiled, first, pure=False, workers=[worker]).result() for _ in range(3)]
        assert counts == [1, 1, 1]


def test_gradients_travel(client):
    loss = smelt.grad(lambda x: smelt.sum(x * x))
    np.testing.assert_array_equal(client.submit(loss, np.arange(3.0)).result(), [0, 2, 4])


def test_pickles_by_value():
    import cloudpickle

    f = smelt.jit(functools.partial(lambda n, x: x**n, 2), threads=1)
    again = cloudpickle.loads(cloudpickle.dumps(f))
    assert again is not f and again(np.float32([3])) == 9 and again._threads == 1
    assert cloudpickle.loads(cloudpickle.dumps(f)) is again
    # What has its name is the function of Python: that name is not enough.
    assert cloudpickle.loads(cloudpickle.dumps(smelt.jit(by_numpy))) is not by_numpy
    assert pickle.loads(pickle.dumps(chain)) is chain


def test_xarray_of_smelt_arrays():
    xarray = pytest.importorskip("xarray")
    rng = np.random.default_rng(0)
    x = rng.random((4, 6)).astype("float32")
    a = xarray.DataArray(smelt.asarray(x), dims=("time", "place"))
    made = ((a - a.mean("place")) * 2).sum("time")
    assert isinstance(made.data, smelt.Array)
    np.testing.assert_allclose(np.asarray(made.data), ((x - x.mean(1, keepdims=True)) * 2).sum(0), rtol=1e-4, atol=1e-5)
    assert np.asarray(a.isel(place=slice(1, 3)).data).shape == (4, 2)


def test_xarray_over_blocks(client):
    xarray = pytest.importorskip("xarray")
    whole, blocks = arrays()
    a, b = (xarray.DataArray(block, dims=("t", "s")) for block in blocks)
    made = xarray.apply_ufunc(chain, a, b, dask="parallelized", output_dtypes=["float64"])
    np.testing.assert_allclose(made.compute().data, by_numpy(*whole), rtol=1e-12)
