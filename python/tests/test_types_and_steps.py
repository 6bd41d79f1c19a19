# SPDX-License-Identifier: MIT
"""Long arrays of all types, with steps of both signs, with gaps, in columns and unaligned, beside NumPy's results. They are read in
blocks, of which these have several."""
import warnings

import numpy as np
import pytest

import warpfold as wf
from support import TYPES, assert_same, laid_out

ROWS, COLUMNS = 301, 700
TOLERANCE = {2: 1e-3, 4: 1e-5, 8: 1e-12}  # of the results' type

STEPS = {
    "contiguous": lambda a: a,
    "every second": lambda a: a[:, ::2],
    "reversed": lambda a: a[::-1, ::-1],
    "reversed rows": lambda a: a[:, ::-1],
    "transposed": lambda a: a.T,
    "every third row, transposed": lambda a: a[::3].T,
    "unaligned": lambda a: laid_out(a, "unaligned"),
    "repeated": lambda a: np.broadcast_to(a[0], (150, a.shape[1])),
}


def numbers(dtype, shape=(ROWS, COLUMNS)):
    """A third of zeros, small floating-point numbers, and integers of the whole type."""
    random = np.random.default_rng(7)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "f":
        chosen = (random.integers(-40, 40, shape) / 4).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        chosen = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return np.where(random.integers(0, 3, shape) == 0, dtype.type(0), chosen)


def small_numbers(dtype):
    """The same, of magnitudes up to 100. Their sums are exact in float64, and in float32 up to 2**22."""
    return numbers(dtype) if dtype.kind in "bf" else numbers(dtype) % dtype.type(100)


def wide(array):
    return array.astype(np.float64)


def assert_close(ours, theirs):
    """`theirs` in float64."""
    ours = np.asarray(ours)
    assert_same(ours, theirs.astype(ours.dtype), tolerance=TOLERANCE[ours.itemsize])


@pytest.fixture(params=STEPS)
def steps(request):
    return STEPS[request.param]


@pytest.fixture(params=TYPES, ids=str)
def dtype(request):
    return request.param


def both(name, *arguments, **options):
    with np.errstate(all="ignore"):
        return getattr(wf, name)(*arguments, **options), getattr(np, name)(*arguments, **options)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions(dtype, steps, axis):
    array = steps(numbers(dtype))
    for name in ("min", "max", "argmin", "argmax", "count_nonzero", "any", "all"):
        assert_same(*both(name, array, axis=axis))
    for name in ("sum", "prod") if dtype.kind != "f" else ():
        assert_same(*both(name, array, axis=axis))
        if dtype.kind != "b":
            assert_same(*both(name, array, axis=axis, dtype=dtype))  # narrow results wrap
    array = steps(small_numbers(dtype))
    for name in ("sum", "mean", "var"):
        assert_close(getattr(wf, name)(array, axis=axis), getattr(wide(array), name)(axis=axis))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_where(dtype, steps, axis):
    array, mask = steps(numbers(dtype)), steps(numbers(np.dtype(bool))[::-1])
    top = True if dtype.kind == "b" else np.inf if dtype.kind == "f" else np.iinfo(dtype).max
    assert_same(*both("min", array, axis=axis, where=mask, initial=top))
    assert_same(*both("any", array, axis=axis, where=mask))
    if dtype.kind != "f":
        assert_same(*both("sum", array, axis=axis, where=mask))
    array, mask = steps(small_numbers(dtype)), mask[::-1]
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # of no elements
        for name in ("sum", "mean", "var"):
            ours = getattr(wf, name)(array, axis=axis, where=mask)
            assert_close(ours, getattr(wide(array), name)(axis=axis, where=mask))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_scans(dtype, steps, axis):
    array = steps(numbers(dtype))
    for name, ufunc in (("cummin", np.minimum), ("cummax", np.maximum)):
        elements = array.reshape(-1) if axis is None else array
        assert_same(getattr(wf, name)(array, axis), ufunc.accumulate(elements, axis=axis or 0))
    if dtype.kind != "f":
        for name in ("cumsum", "cumprod"):
            assert_same(*both(name, array, axis=axis))
            assert_same(*both(name, array, axis=axis, dtype=dtype))
        assert_same(wf.scan(array, axis=axis, reverse=True),
                    np.flip(np.flip(array.reshape(-1) if axis is None else array, axis).cumsum(axis or 0), axis))
    else:
        assert_close(wf.cumsum(array, axis), wide(array).cumsum(axis))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("float_type", ["float16", "float32", "float64"])
def test_places_of_nan(float_type, steps, axis):
    array = numbers(np.dtype(float_type))
    array[100, 50], array[100, 51], array[200, 600] = np.nan, np.nan, np.nan
    array = steps(array)
    for name in ("argmin", "argmax", "min", "max"):
        assert_same(*both(name, array, axis=axis))


@pytest.mark.parametrize("name, ufunc", [("sum", np.add), ("prod", np.multiply), ("min", np.minimum), ("max", np.maximum)])
def test_segments(dtype, steps, name, ufunc):
    array = steps(numbers(dtype)).reshape(-1)
    random = np.random.default_rng(3)
    inner = np.sort(random.choice(array.size - 1, 500, replace=False)) + 1
    offsets = np.concatenate([[0], inner, [array.size]])
    for bounds in (offsets, np.array([0, array.size // 3, array.size])):
        ours = getattr(wf, f"segment_{name}")(array, bounds)
        if dtype.kind != "f":
            assert_same(ours, ufunc.reduceat(array.astype(ours.dtype), bounds[:-1]))
        elif name != "prod":
            assert_close(ours, ufunc.reduceat(wide(array), bounds[:-1]))
    if dtype.kind == "f":  # the longer products are 0 or overflow
        assert_close(getattr(wf, f"segment_{name}")(array[:201], np.arange(0, 201, 4)),
                     ufunc.reduceat(wide(array[:200]), np.arange(0, 200, 4)))


def test_segments_of_a_step():
    array = numbers(np.dtype(np.int16))[:, ::3].T[::-1]
    flat = array.reshape(-1)[::-1]
    offsets = np.arange(0, flat.size, 7)
    assert_same(wf.segment_sum(flat, offsets), np.add.reduceat(flat[:offsets[-1]].astype(np.int64), offsets[:-1]))
    with pytest.raises(ValueError, match="decrease"):
        wf.segment_sum(flat, [0, 70_000, 69_000, flat.size])
    with pytest.raises(ValueError, match="decrease"):
        wf.segment_sum(flat, [9, 3])


def test_bins(dtype, steps):
    array = steps(numbers(dtype))
    if dtype.kind != "b":
        edges = np.unique(numbers(dtype).reshape(-1)[:9])
        assert_same(*both("digitize", array, edges))
        samples = wide(array) if dtype.kind == "f" else array  # NumPy miscounts float16 with steps
        assert_same(wf.histogram(array, edges)[0], np.histogram(samples, edges)[0])
    if dtype.kind == "f" and dtype.itemsize > 2:
        assert_same(wf.exact_sum(array), wide(array).sum().astype(dtype))
        assert_same(wf.exact_sum(array, axis=0), wide(array).sum(axis=0).astype(dtype))
        assert_same(wf.exact_norm(array), np.sqrt(np.square(wide(array)).sum()).astype(dtype))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("taps", [1, 5, 1500])
def test_convolutions_of_integers(mode, taps):
    for dtype in TYPES:
        if dtype.kind == "f":
            continue
        array, mask = numbers(dtype)[:7].reshape(-1)[::-1], numbers(dtype).reshape(-1)[9:2 * taps + 9:2]
        assert_same(*both("convolve", array, mask, mode=mode))
        assert_same(*both("correlate", array, mask, mode=mode))
        assert_same(*both("correlate", mask, array, mode=mode))


@pytest.mark.parametrize("dtype_name", ["float16", "float32", "float64"])
def test_convolutions_with_infinity(dtype_name):
    dtype = np.dtype(dtype_name)
    array, mask = numbers(dtype).reshape(-1)[:3000], numbers(dtype)[2:].reshape(-1)[:1300]
    mask[[3, 1100]] = np.inf, np.nan
    assert_same(*both("convolve", array, mask, mode="full"), tolerance=TOLERANCE[dtype.itemsize])


@pytest.mark.parametrize("step", [2, 3, -1, -5, 40])
@pytest.mark.parametrize("dtype_name", ["float32", "float64"])
def test_elements_with_gaps_are_folded_as_those_without(dtype_name, step):
    for n in (31, 32, 1023, 1025, 5000, 70_001):
        array = np.random.default_rng(n).normal(1, 0.1, n * abs(step)).astype(dtype_name)[::step]
        for name in ("sum", "prod", "min", "max", "mean"):
            assert_same(getattr(wf, name)(array), getattr(wf, name)(array.copy() if step > 0 else array[::-1].copy()))
        array[n // 2] = np.nan
        assert np.isnan(wf.min(array)) and np.isnan(wf.max(array)) and np.isnan(wf.minmax(array)[1])
