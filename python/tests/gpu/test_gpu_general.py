# SPDX-License-Identifier: MIT
"""Scans in general, norms, grids, selections, runs and filters of arrays in device memory, beside the host's results, which
other tests compare with NumPy's. On the software GPU: WARPFOLD_DEVICE=softgpu."""
import os

import numpy as np
import pytest

import warpfold as wf
from device_values import DeviceValues
from support import TYPES, assert_same

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE") != "softgpu", reason="needs the software GPU")

FEW_TYPES = [np.dtype(name) for name in ("bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64")]
SHIFTED = [lambda x: x, lambda x: x[::-1], lambda x: x[:, 1::2], lambda x: x.T]


def values_of(dtype, shape, seed=0):
    drawn = np.random.default_rng(seed).integers(-2 if dtype.kind in "if" else 0, 3, shape)
    return drawn.astype(dtype)


@pytest.fixture
def same(monkeypatch):
    """same(call, *arrays): compares call's results on the device and on the host."""
    def compare(call, *arrays, tolerance=0.0):
        ours = call(*arrays)
        with monkeypatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(wf._devices, "host_arrays_go_to", lambda: "host")
            theirs = call(*(getattr(array, "host", array) for array in arrays))
        pairs = [(ours, theirs)] if not isinstance(ours, (tuple, list)) else list(zip(ours, theirs))
        for one, other in pairs:
            if isinstance(one, list):
                pairs.extend(zip(one, other))
                continue
            assert not isinstance(one, (np.ndarray, np.generic))
            assert_same(one, other, tolerance)
    return compare


@pytest.mark.parametrize("dtype", FEW_TYPES, ids=str)
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
def test_scans_in_general(same, dtype, op):
    base = DeviceValues(values_of(dtype, (3, 8)))
    for view in SHIFTED:
        array = base.view(view)
        for options in ({"reverse": True}, {"exclusive": True}, {"initial": 2}, {"segments": [0, 2, 2, 3]},
                        {"segments": np.array([1, 3]), "reverse": True, "exclusive": True, "initial": 1},
                        {"segments": [2], "initial": 3}):
            same(lambda a, options=options: wf.scan(a, op, -1, **options), array)


def test_scans_of_parts_of_long_lines(same):
    for n in (1, 1023, 4097, 70001):
        array = DeviceValues(values_of(np.dtype(np.int32), n, n))
        segments = DeviceValues(np.unique(np.random.default_rng(n).integers(0, n + 1, 9)))
        same(lambda a, s: wf.scan(a, segments=s), array, segments)
        same(lambda a, s: wf.scan(a, "max", segments=s, reverse=True, exclusive=True), array, segments)


@pytest.mark.parametrize("dtype", FEW_TYPES, ids=str)
def test_norms(same, dtype):
    base = DeviceValues(values_of(dtype, (4, 9)))
    for view in SHIFTED:
        array = base.view(view)
        same(wf.norm, array, tolerance=1e-3 if dtype == np.float16 else 1e-6)
        for order in (1, 2, np.inf, -np.inf, 0, 3, 0.5, -1):
            for axis in (0, 1):
                same(lambda a, order=order, axis=axis: wf.norm(a, order, axis, True), array,
                     tolerance=1e-2 if dtype == np.float16 else 1e-5)


@pytest.mark.parametrize("numbers", [[3e200, 4e200], [3e-200, 4e-200], [3.0, 1e-300, 4.0], [1e-150, 1e-140, 1e-160], [np.inf, np.nan],
                                     [-np.inf, 1e300], [0.0, -0.0], [5e-324], [1.7e308], [1e-250, 2.0 ** -430], [np.nan, 0], []])
def test_norms_of_extreme_numbers(numbers):
    largest = max((abs(x) for x in numbers if np.isfinite(x)), default=1.0) or 1.0
    with np.errstate(all="ignore"):
        expected = np.linalg.norm(np.array(numbers) / largest) * largest
    np.testing.assert_allclose(wf.norm(DeviceValues(np.array(numbers, np.float64))).item(), expected, rtol=1e-15)


@pytest.mark.parametrize("dtype", [t for t in FEW_TYPES if t.kind != "b"], ids=str)
def test_grids(same, dtype):
    points = DeviceValues(values_of(dtype, (60, 3))).view(lambda x: x[::-2])
    weights = DeviceValues(np.linspace(-1, 2, 30))
    for options in ({"bins": 4}, {"bins": (2, 3, [0, 1, 1.5])}, {"bins": 3, "range": [(-1, 1), None, (0, 2)]},
                    {"bins": 2, "density": True}):
        same(lambda p, options=options: wf.histogramdd(p, **options), points, tolerance=1e-12)
    same(lambda p, w: wf.histogramdd(p, 3, weights=w), points, weights, tolerance=1e-12)
    x, y = points.view(lambda p: p[:, 0]), points.view(lambda p: p[:, 2])
    same(lambda x, y: wf.histogram2d(x, y, 5), x, y)
    for edges in ([-1, 0, 1, 2], [2, 1, 0], [0.5], []):
        for right in (False, True):
            same(lambda p, edges=edges, right=right: wf.digitize(p, edges, right), points)
    same(lambda p, e: wf.digitize(p, e), points, DeviceValues(np.array([-1.5, 0, 0, 1])))


def test_nan_has_no_bin_and_the_last_place(same):
    array = DeviceValues(np.array([np.nan, 1, np.inf, -np.inf, 2]))
    same(lambda a: wf.digitize(a, [0, 1, 2]), array)
    same(lambda a: wf.histogramdd([a, a], [[0, 1, 2]] * 2), array)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_selections_and_runs(same, dtype):
    for n in (1, 33, 5000):
        base = DeviceValues(values_of(dtype, (n, 2)))
        array = base.view(lambda x: x[:, ::-1])
        for where in (base.host > 0, np.array([True, False]), np.zeros((1, 1), bool), np.True_):
            for call in (wf.select, wf.partition_by):
                same(call, array, where)
        same(wf.select, array, DeviceValues(base.host > 1))
        same(wf.run_length_encode, array)
        same(lambda a: wf.unique_consecutive(a, True, True), array)
        keys, values = base.view(lambda x: x[:, 0]), base.view(lambda x: x[:, 1])
        for op in ("sum", "prod", "min", "max") if n == 33 else ("sum",):
            same(lambda k, v, op=op: wf.reduce_by_key(k, v, op), keys, values, tolerance=1e-2)
    empty = DeviceValues(np.zeros((0,), dtype))
    for call in (wf.run_length_encode, wf.unique_consecutive, lambda a: wf.select(a, True), lambda a: wf.reduce_by_key(a, a)):
        same(call, empty)


def test_runs_of_special_numbers(same):
    for dtype in (np.float16, np.float32, np.float64):
        same(wf.run_length_encode, DeviceValues(np.array([0.0, -0.0, np.nan, np.nan, np.inf, np.inf, -np.inf, 1], dtype)))


@pytest.mark.parametrize("dtype", FEW_TYPES, ids=str)
def test_filters_of_two_axes(same, dtype):
    image, mask = DeviceValues(values_of(dtype, (9, 14))), DeviceValues(values_of(dtype, (3, 4), 1))
    tolerance = 1e-2 if dtype == np.float16 else 1e-5
    for call in (wf.convolve2d, wf.correlate2d):
        for mode in ("full", "same", "valid"):
            for a, v in ((image, mask), (mask, image), (image.view(lambda x: x[::2, ::-1]), mask.view(lambda x: x.T))):
                same(lambda a, v, call=call, mode=mode: call(a, v, mode), a, v, tolerance=tolerance)
    images = DeviceValues(values_of(dtype, (2, 8, 11))).view(lambda x: x[:, ::-1])
    for border in ("zero", "clamp", "mirror", "reflect", "wrap"):
        same(lambda a, border=border: wf.gaussian_blur(a, (1, 0.5), border=border), images, tolerance=tolerance)
    for mode in ("full", "valid"):
        same(lambda a, mode=mode: wf.separable_filter(a, [1, 2], [1.0, 0, -1], mode), images, tolerance=tolerance)
    if dtype.kind == "f":
        same(lambda a: wf.convolve2d(a, np.array([[1, np.inf]], dtype)), image)


def test_masks_of_channels_as_output():
    images, masks = DeviceValues(np.ones((8, 8, 3, 3))), DeviceValues(np.arange(256.0).reshape(8, 8, 2, 2))
    theirs = np.broadcast_to(masks.host.sum((1, 2, 3))[:, None, None], masks.host.shape)
    wf.correlate_channels(images, masks, out=masks)
    np.testing.assert_array_equal(masks.done(), theirs)


@pytest.mark.parametrize("call, error", [
    (lambda a: wf.scan(a, segments=[2, 1]), ValueError),
    (lambda a: wf.norm(a, 2), ValueError),
    (lambda a: wf.norm(DeviceValues(np.ones((3, 0))), -np.inf, 1), ValueError),
    (lambda a: wf.histogramdd(a, weights=np.ones(2)), ValueError),
    (lambda a: wf.histogram2d(a, a), ValueError),
    (lambda a: wf.digitize(a, [np.nan]), ValueError),
    (lambda a: wf.select(a, np.ones(3)), TypeError),
    (lambda a: wf.select(a, np.ones((5, 5), bool)), ValueError),
    (lambda a: wf.reduce_by_key(a, a), ValueError),
    (lambda a: wf.convolve2d(a, [1]), ValueError),
    (lambda a: wf.separable_filter(a, [np.inf], [1]), ValueError),
    (lambda a: wf.gaussian_blur(a.view(lambda x: x[0]), 1), ValueError),
])
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call(DeviceValues(np.ones((3, 4))))
