# SPDX-License-Identifier: MIT
"""Arrays in device memory, on the software GPU: WARPFOLD_DEVICE=softgpu, in a process of their own."""
import os
import threading

import numpy as np
import pytest

import warpfold as wf
from device_values import ByDLPack, DeviceValues
from support import TYPES, assert_same, laid_out, near_edges, outcome

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE") != "softgpu", reason="needs the software GPU")

LAYOUTS = ["as it is", "transposed", "reversed", "gaps", "repeated"]
FLOATS = [np.dtype(np.float32), np.dtype(np.float64)]
REDUCTIONS = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "count_nonzero", "argmin", "argmax"]
SCANS = {"cumsum": np.cumsum, "cumprod": np.cumprod, "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate}


def values_of(dtype, shape, seed=0):
    """Small numbers: sums of floating-point ones are exact, products do not overflow."""
    drawn = np.random.default_rng(seed).integers(-2 if dtype.kind in "if" else 0, 3, shape)
    return drawn.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reductions_of_all_types_and_layouts(dtype, layout):
    base = DeviceValues(values_of(dtype, (3, 7, 6)))
    array = base.view(lambda x: laid_out(x, layout))
    for name in REDUCTIONS:
        for axis in (None, 0, 1, -1) + (() if name.startswith("arg") else ((0, 2),)):
            theirs = getattr(np, name)(array.host, axis=axis)
            tolerance = 2e-2 if dtype.kind == "f" and dtype.itemsize == 2 else 1e-6
            assert_same(getattr(wf, name)(array, axis=axis), theirs, tolerance)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scans_of_all_types_and_layouts(dtype, layout):
    array = DeviceValues(values_of(dtype, (5, 4, 6))).view(lambda x: laid_out(x, layout))
    for name, theirs in SCANS.items():
        for axis in (0, -1):
            assert_same(getattr(wf, name)(array, axis=axis), theirs(array.host, axis=axis), 1e-2)
    assert_same(wf.cumsum(array), np.cumsum(array.host), 1e-2)


@pytest.mark.parametrize("shape", [(7,), (70001,), (3, 40, 50)], ids=str)
def test_every_byte_of_bool_but_0_is_true(shape):
    array = DeviceValues(laid_out(np.random.default_rng(4).integers(0, 5, shape) > 0, "bytes"))
    plain = array.host.view(np.uint8) != 0
    for axis in (None, *range(len(shape))):
        for name in REDUCTIONS:
            assert_same(getattr(wf, name)(array, axis=axis), getattr(np, name)(plain, axis=axis), 1e-6)
        for name, theirs in SCANS.items():
            assert_same(getattr(wf, name)(array, axis=axis), theirs(plain, axis=axis) if axis is not None or plain.ndim == 1
                        else theirs(plain.ravel()), 1e-6)
    for ours, theirs in zip(wf.minmax(array), (plain.min(), plain.max())):
        assert_same(ours, theirs)
    assert_same(wf.bincount(array.view(np.ravel)), np.bincount(plain.ravel()))
    heads = np.flatnonzero(np.diff(plain.ravel(), prepend=~plain.ravel()[:1]))
    assert_same(wf.unique_consecutive(array), plain.ravel()[heads])
    assert_same(wf.op("a + 1")(array), plain + 1)


@pytest.mark.parametrize("dtype", [np.dtype(t) for t in (bool, np.uint8, np.int32, np.int64, np.float32, np.float64)], ids=str)
@pytest.mark.parametrize("n", [0, 1, 31, 1023, 1025, 65537])
@pytest.mark.parametrize("shift", [0, 1, 8])
def test_long_arrays_at_any_address(dtype, n, shift):
    array = DeviceValues(values_of(dtype, n, n), shift)
    for name in ("sum", "max", "argmin", "mean", "var", "cumsum"):
        with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) if n == 0 and name in ("mean", "var") else \
                np.errstate():
            ours, theirs = (outcome(getattr(module, name), x) for module, x in ((wf, array), (np, array.host)))
        assert_same(ours, theirs, 1e-6)
    if n:
        ours = wf.minmax(array)
        assert [x.item() for x in ours] == [array.host.min(), array.host.max()]


@pytest.mark.filterwarnings("ignore:invalid value")
def test_special_numbers():
    for dtype in FLOATS:
        for values in ([1, np.nan, 2], [0.0, -0.0], [-0.0, 0.0], [np.inf, -np.inf], [np.nan], [np.inf, 1]):
            array = DeviceValues(np.array(values, dtype))
            for name in ("sum", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "cumsum"):
                assert_same(getattr(wf, name)(array), getattr(np, name)(array.host))
            assert_same(wf.cummax(array), np.maximum.accumulate(array.host))


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:Degrees of freedom", "ignore:invalid value")
def test_where_initial_and_keepdims():
    array = DeviceValues(values_of(np.dtype(np.int16), (4, 9)))
    mask = np.random.default_rng(2).integers(0, 2, (4, 9)).astype(bool)
    for chosen in (mask, mask[0], DeviceValues(mask)):
        where = getattr(chosen, "host", chosen)
        for options in ({"axis": 0}, {"axis": 1, "keepdims": True}, {}):
            for name in ("sum", "prod", "any", "all", "mean", "var"):
                theirs = outcome(getattr(np, name), array.host, where=where, **options)
                assert_same(getattr(wf, name)(array, where=chosen, **options), theirs, 1e-12)
            for name in ("min", "max", "sum"):
                assert_same(getattr(wf, name)(array, initial=1, where=chosen, **options),
                            getattr(np, name)(array.host, initial=1, where=where, **options))
    assert_same(wf.max(DeviceValues(np.empty((0, 3), np.int8)), axis=0, initial=-7), np.full(3, -7, np.int8))


def test_outputs():
    array = DeviceValues(values_of(np.dtype(np.float32), (6, 8)))
    for dtype in (np.float32, np.float64, np.int16):
        room = DeviceValues(np.zeros((16,), dtype))
        out = room.view(lambda x: x[::2])
        assert wf.sum(array, axis=0, out=out) is out
        assert_same(out.done(), np.sum(array.host, axis=0).astype(dtype))
        assert not room.host[1::2].any()
    twin = DeviceValues(array.host)
    assert wf.cumsum(twin, axis=1, out=twin) is twin  # in its own memory
    assert_same(twin.done(), np.cumsum(array.host, axis=1))
    kept = DeviceValues(np.zeros((1, 8)))
    wf.mean(array, axis=0, keepdims=True, out=kept)
    assert_same(kept.done().astype(np.float32), np.mean(array.host, axis=0, keepdims=True), 1e-6)


def test_exact_sums():
    for dtype in FLOATS:
        array = DeviceValues(np.array([1e30, 1, -1e30, 2 ** -40, 5], dtype))
        assert_same(wf.exact_sum(array), np.asarray(6 + 2.0 ** -40).astype(dtype))
        backwards = array.view(lambda x: x[::-1])
        assert_same(wf.exact_dot(array, backwards), wf.exact_dot(array.host, array.host[::-1].copy()))
    with pytest.raises(TypeError, match="exact_sum: a has dtype int32"):
        wf.exact_sum(DeviceValues(np.zeros(3, np.int32)))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_histograms_and_counts(dtype):
    samples = DeviceValues(values_of(dtype, 1000)).view(lambda x: x[::2])
    host = samples.host.view(np.uint8) if dtype.kind == "b" else samples.host
    weights = DeviceValues(np.linspace(-1, 2, 500))
    for options in ({"bins": 7}, {"bins": 5, "range": (-1, 2)}, {"bins": [0, 1, 1.5, 3]}, {"bins": 4, "density": True}):
        for weight in (None, weights):
            if dtype.kind == "b":
                with pytest.warns(RuntimeWarning):
                    ours = wf.histogram(samples, weights=weight, **options)
            else:
                ours = wf.histogram(samples, weights=weight, **options)
            theirs = np.histogram(host, weights=None if weight is None else weight.host, **options)
            assert_same(ours[0], theirs[0], 1e-12)
            assert_same(ours[1], theirs[1])
    if dtype.kind in "iub" and dtype != np.uint64:
        values = DeviceValues(np.abs(samples.host) if dtype.kind == "i" else samples.host)
        assert_same(wf.bincount(values, minlength=5), np.bincount(values.host, minlength=5))
        assert_same(wf.bincount(values, weights), np.bincount(values.host, weights.host), 1e-12)


def test_samples_at_edges():
    for values, edges in near_edges():
        on_device = DeviceValues(values)
        assert_same(wf.histogram(on_device, edges)[0], np.histogram(values, edges)[0])
        assert_same(wf.digitize(on_device, edges), np.digitize(values, edges))
        points = on_device.view(lambda x: x[:, None])
        assert_same(wf.histogramdd(points, [edges])[0], np.histogramdd(values[:, None], [edges])[0])


def test_segments():
    offsets = np.array([0, 0, 3, 10, 11, 40])
    for dtype in TYPES:
        array = DeviceValues(values_of(dtype, 80)).view(lambda x: x[::-2])
        for given in (offsets, DeviceValues(offsets.astype(np.int32))):
            for name, by in (("sum", np.sum), ("prod", np.prod), ("min", np.min), ("max", np.max)):
                parts = [array.host[first:end] for first, end in zip(offsets, offsets[1:])]
                ours = getattr(wf, f"segment_{name}")(array, given)
                assert_same(np.asarray(ours)[1:], np.array([by(part) for part in parts[1:]]), 1e-3)
                none = wf.scan(np.ones(1, dtype), name, exclusive=True)  # what no elements give
                assert_same(np.asarray(ours)[:1], none.astype(ours.dtype))
    far = DeviceValues(np.array([-5, 2, 1000]))  # not checked, but nothing outside the array is read
    assert_same(wf.segment_sum(DeviceValues(np.ones(4)), far), np.array([2.0, 2.0]))
    for bad in ([0, 5, 2], [0, 100], [-1, 3]):
        with pytest.raises(ValueError, match="segment_sum: "):
            wf.segment_sum(DeviceValues(np.ones(4)), bad)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_convolutions(dtype):
    long, short = (DeviceValues(values_of(dtype, n, n)) for n in (65, 8))
    for a, v in ((long, short), (short, long), (long.view(lambda x: x[::-1]), short)):
        for mode in ("full", "same", "valid"):
            for name in ("convolve", "correlate"):
                assert_same(getattr(wf, name)(a, v, mode), getattr(np, name)(a.host, v.host, mode), 1e-3)
    if dtype in FLOATS:
        ours = wf.convolve(long, np.array([1, np.inf], dtype), "same")
        assert_same(ours, np.convolve(long.host, np.array([1, np.inf], dtype), "same"))


def test_results_are_arrays_on_the_device():
    result = wf.sum(DeviceValues(np.arange(12.0).reshape(3, 4)), axis=0)
    assert not isinstance(result, np.ndarray)
    interface = result.__cuda_array_interface__
    assert (interface["shape"], interface["typestr"], interface["strides"]) == ((4,), "<f8", None)
    assert result.to_host().tolist() == np.asarray(result).tolist() == [12, 15, 18, 21]
    assert wf.sum(result).item() == 66  # a result is an argument
    assert wf.sum(DeviceValues(np.float32(3))).shape == ()
    assert isinstance(wf.sum(np.ones(3, np.float32)), np.float32)  # of the host's arrays on the host


def test_dlpack():
    inner = wf.cumsum(DeviceValues(np.ones((3, 4), np.float32)), axis=1)
    array = ByDLPack(inner)
    assert_same(wf.sum(array, axis=0), np.array([3, 6, 9, 12], np.float32))
    assert array.streams == [1]  # the legacy default stream
    for dtype in TYPES:
        assert_same(wf.max(ByDLPack(wf.cummax(DeviceValues(np.ones(5, dtype))))), np.ones((), dtype)[()])


def test_errors_of_the_device_are_exceptions_and_leave_nothing_behind():
    huge = DeviceValues(np.ones(1, np.int8)).view(lambda x: np.broadcast_to(x, (1 << 45,)))
    with pytest.raises(RuntimeError, match="cudaErrorMemoryAllocation"):
        wf.cumsum(huge)
    assert wf.sum(DeviceValues(np.ones(10))).item() == 10


@pytest.mark.parametrize("call, error", [
    (lambda a: wf.sum(a, axis=3), np.exceptions.AxisError),
    (lambda a: wf.sum(a, axis=(0, 0)), ValueError),
    (lambda a: wf.sum(a, out=np.zeros(())), TypeError),
    (lambda a: wf.sum(a, out=DeviceValues(np.zeros(2))), ValueError),
    (lambda a: wf.sum(np.ones(3), out=DeviceValues(np.zeros(()))), TypeError),
    (lambda a: wf.max(a, where=np.ones((3, 4), bool)), ValueError),
    (lambda a: wf.sum(a, where=np.ones(9, bool)), ValueError),
    (lambda a: wf.max(DeviceValues(np.empty(0))), ValueError),
    (lambda a: wf.argmax(DeviceValues(np.empty((2, 0))), axis=1), ValueError),
    (lambda a: wf.minmax(DeviceValues(np.empty(0))), ValueError),
    (lambda a: wf.minmax(a, out=(one := DeviceValues(np.zeros(())), one)), ValueError),
    (lambda a: wf.argmax(a, out=DeviceValues(np.zeros(()))), TypeError),
    (lambda a: wf.argmin(a, out=DeviceValues(np.zeros((), np.uint64))), TypeError),
    (lambda a: wf.sum(a.view(lambda x: x.view(np.dtype(np.float64).newbyteorder()))), TypeError),
    (lambda a: wf.sum(a.view(lambda x: x.view(np.complex128))), TypeError),
    (lambda a: wf.exact_dot(a, a.view(lambda x: x[:, 1:])), ValueError),
    (lambda a: wf.bincount(DeviceValues(np.array([1, -1]))), ValueError),
    (lambda a: wf.bincount(DeviceValues(np.array([1.0]))), TypeError),
    (lambda a: wf.histogram(a, weights=np.ones(2)), ValueError),
    (lambda a: wf.histogram(a, [2, 1]), ValueError),
    (lambda a: wf.convolve(a, a), ValueError),
    (lambda a: wf.convolve(a.view(lambda x: x[0]), []), ValueError),
    (lambda a: wf.segment_sum(a, [0, 1]), ValueError),
])
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call(DeviceValues(np.ones((3, 4))))


def test_indices_and_shapes_of_results():
    array = wf.cumsum(DeviceValues(np.ones(10)))
    assert [array[3].item(), array[np.int64(-1)].item()] == [4, 10]
    for shape in ([2, 5], (5, 2), np.array([2, 5]), np.int64(10), -1, (2, -1), (-1, 1, 5)):
        assert_same(array.reshape(shape), np.arange(1.0, 11).reshape(shape))
    for index in (1.0, "a", None, np.ones(10, bool)):
        with pytest.raises(TypeError):
            array[index]
    for index in (2 ** 70, 10, -11, (0, 0)):
        with pytest.raises(IndexError):
            array[index]
    for shape in (1.5, [2.0, 5], "ab", None):
        with pytest.raises(TypeError):
            array.reshape(shape)
    with pytest.raises(OverflowError):
        array.reshape([2 ** 70])
    for shape in ((3, 4), 9, (-2, -5), (-1, -1), (3, -1), (0, -1), (2 ** 62, 4, 10)):
        with pytest.raises(ValueError):
            array.reshape(shape)
    with pytest.raises(ValueError):
        array[::2].reshape(5)
    assert array[:0:2].reshape((0, 3)).shape == (0, 3)


def test_calls_from_several_threads():
    array = DeviceValues(np.arange(4097))
    results = []
    threads = [threading.Thread(target=lambda: results.append(wf.cumsum(array).to_host()[-1])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [array.host.sum()] * 4
