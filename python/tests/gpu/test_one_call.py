# SPDX-License-Identifier: MIT
"""Filters and histograms of arrays of PyTorch and CuPy, by stand-ins, that are one call of the extension module, and do not wait for
masks on the device."""
import ctypes
import os
import sys
import threading

import numpy as np
import pytest

import warpfold as wf
from device_values import RUNTIME, DeviceValues, check
from support import NAMES, assert_same, outcome

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE") != "softgpu", reason="needs the software GPU")

FLOATS = ("float16", "float32", "float64")
MODES = ("full", "same", "valid")
SPECIAL = [np.inf, -np.inf, np.nan]


@pytest.fixture
def in_one_call(monkeypatch):
    """in_one_call(call, arrays...): the result, which no function in Python computes."""
    def result(call, *arrays):
        with monkeypatch.context() as patch:
            patch.setattr(wf._calls, "_gpu_calls", lambda: pytest.fail("computed in Python"))
            return call(*arrays)
    return result


def values(array):
    """A copy of the elements: `done()` is a view of memory that may be used again when the array is gone."""
    return (array.to_host() if hasattr(array, "to_host") else array.done()).copy()


def of_python(call, *arrays):
    """The result of the functions in Python."""
    kinds = dict(wf._calls.whole_on_gpu)
    wf._calls.whole_on_gpu.clear()
    try:
        return call(*arrays)
    finally:
        wf._calls.whole_on_gpu.update(kinds)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "convolve2d", "correlate2d"])
def test_masks_on_the_device_give_the_bits_of_those_of_the_host(request, package, name, dtype, in_one_call):
    kind, rng = request.getfixturevalue(package), np.random.default_rng(3)
    is_line = name in ("convolve", "correlate")
    wf.sum(kind(np.ones(3)), keepdims=True)  # the first array on a GPU
    for n, k in ((50, 4), (50, 9), (400, 31), (5, 5)) if is_line else ((20, 3), (20, 4), (45, 17)):
        a, mask = (rng.standard_normal((size,) if is_line else (size + 3, size)).astype(dtype) for size in (n, k))
        for mode in MODES:
            def call(x, v, mode=mode):
                return getattr(wf, name)(x, v, mode)

            ours = in_one_call(call, kind(a), kind(mask))
            assert isinstance(ours, kind)
            for other in (in_one_call(call, kind(a), mask), of_python(call, kind(a), kind(mask)), of_python(call, kind(a), mask)):
                assert_same(values(ours), values(other))


@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_infinity_of_a_mask_on_the_device_meets_no_element_outside(request, package):
    kind, a = request.getfixturevalue(package), np.arange(1.0, 40)
    for special in SPECIAL:
        for size in (1, 3, 4, 9, 30):
            mask = np.ones(size)
            mask[size // 3] = special
            for mode in MODES:
                for name in ("convolve", "correlate"):
                    call = getattr(wf, name)
                    for x, v in ((a, mask), (mask, a)):
                        assert_same(values(call(kind(x), kind(v), mode)), getattr(np, name)(x, v, mode), 1e-12)
                image, by = np.outer(a, a[:9]), np.outer(mask[:3], mask[:2])
                assert_same(values(wf.convolve2d(kind(image), kind(by), mode)), values(wf.convolve2d(kind(image), by, mode)), 1e-12)


@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_filters_that_are_computed_in_python(request, package):
    kind, a, v = request.getfixturevalue(package), np.arange(12.0), np.array([1.0, 2, -1, 4])
    wf.sum(kind(a), keepdims=True)

    def on_host(x):
        return x.host if isinstance(x, kind) else x

    x, mask = kind(a), kind(v)
    for x, y in ((x[::2], mask), (x, mask[::-1]), (x, kind(v.astype(np.float32))), (kind(a.astype(np.int64)), kind(v.astype(np.int64))),
                 (mask, x), (x, v.tolist())):
        for mode in MODES:
            assert_same(values(wf.convolve(x, y, mode)), np.convolve(on_host(x), on_host(y), mode), 1e-12)
    for mode in ("same", 3, None, [1]):
        assert outcome(wf.convolve, kind(a.reshape(3, 4)), kind(v), mode) in (ValueError, TypeError)


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_separable_filters(request, package, dtype, in_one_call):
    kind, rng = request.getfixturevalue(package), np.random.default_rng(4)
    images = rng.standard_normal((2, 20, 33)).astype(dtype)
    wf.sum(kind(images), keepdims=True)
    for border in ("zero", "reflect", "wrap"):
        def blurred(x, border=border):
            return wf.gaussian_blur(x, 1.5, border=border)

        assert_same(values(in_one_call(blurred, kind(images))), values(of_python(blurred, kind(images))))
        for down, across in ((3, 3), (5, 8)):
            masks = rng.standard_normal(down).astype(dtype), rng.standard_normal(across).astype(dtype)
            expected = values(wf.separable_filter(kind(images), *masks, "full", border))
            for given in (map(kind, masks), (kind(masks[0]), masks[1]), (masks[0], kind(masks[1]))):
                assert_same(values(wf.separable_filter(kind(images), *given, "full", border)), expected)
    assert outcome(wf.gaussian_blur, kind(images), -1) is ValueError
    assert outcome(wf.gaussian_blur, kind(images), 1, border="none") is ValueError


@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_channels(request, package, in_one_call):
    kind, rng = request.getfixturevalue(package), np.random.default_rng(7)
    wf.sum(kind(np.ones(3)), keepdims=True)
    for dtype in FLOATS:
        for shape in ((5, 3, 2, 4), (1, 3, 9, 12)):
            images, masks = rng.standard_normal((2, 3, 9, 12)).astype(dtype), rng.standard_normal(shape).astype(dtype)
            ours = (in_one_call if dtype != "float16" else of_python)(wf.correlate_channels, kind(images), kind(masks))
            assert isinstance(ours, kind)
            assert_same(values(ours), values(of_python(wf.correlate_channels, kind(images), kind(masks))))
            assert_same(values(wf.correlate_channels(kind(images), masks)), values(ours))
    for wrong in ((5, 2, 2, 4), (5, 3, 10, 4), (5, 3, 2, 13), (3, 2, 4)):
        assert outcome(wf.correlate_channels, kind(np.ones((2, 3, 9, 12))), kind(np.ones(wrong))) is ValueError


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", [name for name in NAMES if name not in ("bool", "float16")])  # those are computed in Python
def test_histograms_of_all_samples(request, package, dtype, in_one_call):
    """Bins, edges and errors are NumPy's, to the last bit."""
    kind, rng = request.getfixturevalue(package), np.random.default_rng(5)
    wf.sum(kind(np.ones(3)), keepdims=True)
    for scale in (0, 3, 100, 1e-3 if dtype[0] == "f" else 50):
        numbers = (rng.random((30, 7)) * scale).astype(dtype)
        for bins in (1, 10, 333):
            expected = outcome(np.histogram, numbers, bins)
            if isinstance(expected, type):
                assert outcome(wf.histogram, kind(numbers), bins) is expected
                continue
            for ours, theirs in zip(in_one_call(wf.histogram, kind(numbers), bins), expected):
                assert isinstance(ours, kind)
                assert_same(values(ours), theirs)
    if dtype in FLOATS:
        assert outcome(wf.histogram, kind(np.array([1, np.nan], dtype)), 3) is ValueError


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint16", "int64"])
def test_counts_of_values(request, package, dtype, in_one_call):
    kind, numbers = request.getfixturevalue(package), np.random.default_rng(6).integers(0, 2, 500).astype(dtype)
    wf.sum(kind(np.ones(3)), keepdims=True)
    for least in (0, 1, 2, 300, 70_000):
        ours = in_one_call(lambda x, least=least: wf.bincount(x, minlength=least), kind(numbers))
        assert_same(values(ours), np.bincount(numbers, minlength=least))
    assert outcome(wf.bincount, kind(np.array([1, -1], np.int8))) is ValueError
    assert outcome(wf.bincount, kind(np.array([1.0]))) is TypeError


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", NAMES)
def test_elements_that_are_selected(request, package, dtype, in_one_call):
    kind, rng = request.getfixturevalue(package), np.random.default_rng(8)
    wf.sum(kind(np.ones(3)), keepdims=True)
    for shape in ((1,), (1000,), (13, 31)):
        numbers = rng.integers(0, 2 if dtype == "bool" else 4, shape).astype(dtype)
        for share in (0, 0.1, 0.6, 1):
            where = rng.random(shape) < share
            assert_same(values(in_one_call(wf.select, kind(numbers), kind(where))), numbers[where])
            for ours, theirs in zip(in_one_call(wf.partition_by, kind(numbers), kind(where)), (numbers[where], numbers[~where])):
                assert_same(values(ours), theirs)
        line = numbers.ravel()
        ends = np.flatnonzero(np.append(line[1:] != line[:-1], True))
        firsts, lengths = line[ends], np.diff(ends, prepend=-1)
        assert_same(values(in_one_call(wf.unique_consecutive, kind(numbers))), firsts)
        for ours in in_one_call(wf.run_length_encode, kind(numbers)), in_one_call(lambda x: wf.unique_consecutive(x, return_counts=True), kind(numbers)):
            assert isinstance(ours[0], kind)
            assert_same(values(ours[0]), firsts)
            assert_same(values(ours[1]), lengths)
        weights = rng.integers(0, 2, line.size).astype(dtype)
        for op in ("sum", "prod", "min", "max"):
            def reduced(keys, weights, op=op):
                return wf.reduce_by_key(keys, weights, op)

            results = in_one_call(reduced, kind(line), kind(weights)), of_python(reduced, kind(line), kind(weights))
            for ours, theirs in zip(*results):
                assert isinstance(ours, kind)
                assert_same(values(ours), values(theirs))
    many = rng.integers(0, 200, 3_000_000).astype(dtype)  # counted before they are moved
    assert_same(values(in_one_call(wf.select, kind(many), kind(many > 0))), many[many > 0])
    assert outcome(wf.reduce_by_key, kind(line), kind(weights[1:])) is ValueError
    assert_same(values(wf.select(kind(numbers).view(lambda x: x[::2]), kind(where).view(lambda x: x[::2]))), numbers[::2][where[::2]])
    assert_same(values(wf.select(kind(numbers), where)), numbers[where])
    assert outcome(wf.select, kind(numbers), kind(where[:, :3])) is ValueError


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", NAMES)
def test_segments_and_scans_from_the_end(request, package, dtype, in_one_call):
    kind, rng = request.getfixturevalue(package), np.random.default_rng(9)
    wf.sum(kind(np.ones(3)), keepdims=True)
    for n in (1, 7, 3000):
        numbers, offsets = rng.integers(0, 2, n).astype(dtype), np.sort(rng.integers(0, n + 1, 1 + n // 3))
        for name in ("segment_sum", "segment_max", "segment_min", "segment_prod"):
            call = getattr(wf, name)
            ours = in_one_call(call, kind(numbers), kind(offsets))
            assert isinstance(ours, kind)
            assert_same(values(ours), values(of_python(call, kind(numbers), kind(offsets))))
            assert_same(values(call(kind(numbers), offsets)), values(ours))
        for op in ("sum", "prod", "min", "max"):
            def scanned(x, op=op):
                return wf.scan(x, op, reverse=True)

            assert_same(values(in_one_call(scanned, kind(numbers))), values(of_python(scanned, kind(numbers))))
    assert outcome(wf.segment_sum, kind(numbers), kind(offsets.astype(np.float64))) is TypeError
    assert outcome(wf.segment_sum, kind(numbers.reshape(2, -1)), kind(offsets)) is ValueError


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_products(request, package, dtype, in_one_call):
    kind, rng = request.getfixturevalue(package), np.random.default_rng(10)
    wf.sum(kind(np.ones(3)), keepdims=True)
    for shape in ((1,), (1000,), (3, 50)):
        a, b = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
        for call in wf.exact_dot, wf.exact_vdot:
            ours = in_one_call(call, kind(a), kind(b))
            assert_same(values(ours), values(of_python(call, kind(a), kind(b))))
        assert_same(values(wf.exact_dot(kind(a), b)), values(ours))
    assert outcome(wf.exact_dot, kind(a), kind(b[:, :-1])) is ValueError


@pytest.mark.parametrize("is_tensor", [False, True])
@pytest.mark.parametrize("call", [
    lambda x, v: wf.convolve(x, v, "same"), lambda x, v: wf.correlate(v, x, "full"),
    lambda x, v: wf.convolve(x, v.view(lambda y: y[::-2])),
    lambda x, v: wf.convolve2d(x.view(lambda y: y.reshape(50, 20)), v.view(lambda y: y[:6].reshape(2, 3))),
    lambda x, v: wf.separable_filter(x.view(lambda y: y.reshape(50, 20)), v, v)])
def test_no_call_waits_for_a_mask_on_the_device(torch, stream, is_tensor, call, monkeypatch):
    """A host function holds the stream up."""
    prepared = []  # to make a tensor waits here
    monkeypatch.setattr(sys.modules["torch"], "empty", lambda shape, dtype, device: prepared.pop() if prepared else torch(np.empty(shape, dtype)))
    x, mask = (torch(y) if is_tensor else DeviceValues(y, stream=stream) for y in (np.arange(1000.0), np.arange(9.0)))
    for _ in range(2):  # the first call on a device waits
        expected = call(x, mask)
    if is_tensor:
        prepared.append(torch(np.zeros_like(values(expected))))
    check(RUNTIME.cudaDeviceSynchronize())
    go = threading.Event()
    held = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go.wait(300))
    rescue = threading.Timer(60, go.set)  # of a call that waits
    rescue.start()
    check(RUNTIME.cudaLaunchHostFunc(ctypes.c_void_p(stream), held, None))
    result = call(x, mask)
    assert not go.is_set() and RUNTIME.cudaStreamQuery(ctypes.c_void_p(stream)) == 600  # cudaErrorNotReady
    go.set()
    rescue.cancel()
    assert_same(values(result), values(expected))
