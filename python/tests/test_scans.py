# SPDX-License-Identifier: MIT
"""Scans and segments beside NumPy's."""
import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import NAMES, TYPES, arrays, assert_same, laid_out, moderate, outcome, tolerance_of

REFERENCE = {"cumsum": np.cumsum, "cumprod": np.cumprod, "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate}


def compare(name, array, axis, tolerance=0.0):
    reference = REFERENCE[name]
    if name in ("cummax", "cummin"):
        if axis is None or array.ndim == 0:
            reference, axis = (lambda a, axis: REFERENCE[name](a.reshape(-1))), None
    assert_same(outcome(getattr(wf, name), array, axis=axis), outcome(reference, array, axis=axis), tolerance)


axes = st.sampled_from([None, 0, 1, -1, 2, -4])


@given(arrays(elements=moderate), axes)
def test_sums(array, axis):
    compare("cumsum", array, axis, tolerance_of(array.dtype))


@given(arrays(elements=lambda t: st.sampled_from([-1.0, 0.5, 1.0, 2.0]) if t.kind == "f" else None, max_side=3), axes)
def test_products(array, axis):
    compare("cumprod", array, axis, tolerance_of(array.dtype))


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@given(arrays(), axes)
def test_extremes(name, array, axis):
    compare(name, array, axis)


@pytest.mark.parametrize("name", sorted(REFERENCE))
@pytest.mark.parametrize("n", [0, 1, 2, 63, 65, 1023, 8191, 8193, 100003])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint64", "float32", "float64"])
def test_long_arrays(name, n, dtype):
    array = np.random.default_rng(n).integers(1, 3, n).astype(dtype)
    if name == "cumprod" and array.dtype.kind == "f":
        array = array / 1.5
    compare(name, array, None, 1e-4 if dtype == "float32" else 1e-11)
    compare(name, array[::-3], 0, 1e-4 if dtype == "float32" else 1e-11)
    if n > 1000:
        compare(name, array[:1000].reshape(8, 125).T, 0, 1e-4 if dtype == "float32" else 1e-11)


def test_out():
    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    room = np.zeros((6, 8), np.int64)
    wf.cumsum(array, axis=0, out=room[:, :4].T)
    np.testing.assert_array_equal(room[:, :4].T, array.cumsum(axis=0))
    assert not room[:, 4:].any()
    narrow = np.zeros((4, 6), np.int8)
    assert wf.cumprod(array, axis=1, out=narrow) is narrow
    np.testing.assert_array_equal(narrow, np.cumprod(array, axis=1, out=np.zeros((4, 6), np.int8)))
    expected = np.maximum.accumulate(array[::-1], axis=0)
    wf.cummax(array[::-1], axis=0, out=array)
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("call", [
    lambda m: m.cumsum(np.zeros(3), axis=1),
    lambda m: m.cumsum(np.zeros(3), axis=(0,)),
    lambda m: m.cumsum(np.zeros(3), out=np.zeros(4)),
    lambda m: m.cumprod(np.float64(1), axis=1),
])
def test_errors(call):
    theirs = outcome(call, np)
    assert isinstance(theirs, type)
    assert issubclass(outcome(call, wf), theirs)


@given(arrays(min_dims=1, max_dims=1, max_side=30, layouts=["as it is", "reversed", "gaps", "swapped"], elements=moderate),
       st.lists(st.integers(0, 30), min_size=1, max_size=8), st.sampled_from(["int32", "int64", "uint8", ">i2"]))
def test_segments(array, cuts, offset_type):
    offsets = np.minimum(np.sort(cuts), array.size).astype(offset_type)
    pieces = [array[begin:end] for begin, end in zip(offsets[:-1], offsets[1:])]
    assert_same(wf.segment_sum(array, offsets), np.array([piece.sum() for piece in pieces], np.sum(array[:0]).dtype),
                tolerance_of(array.dtype))
    if array.dtype.kind != "f":
        assert_same(wf.segment_prod(array, offsets), np.array([piece.prod() for piece in pieces], np.sum(array[:0]).dtype))
    native = array.dtype.newbyteorder("=")
    limits = (np.inf, -np.inf) if native.kind == "f" else (True, False) if native.kind == "b" else \
        (np.iinfo(native).max, np.iinfo(native).min)
    assert_same(wf.segment_min(array, offsets), np.array([p.min() if p.size else limits[0] for p in pieces], native))
    assert_same(wf.segment_max(array, offsets), np.array([p.max() if p.size else limits[1] for p in pieces], native))


def test_long_segments():
    array = laid_out(np.random.default_rng(3).integers(-9, 9, 200003), "reversed")
    offsets = np.array([5, 5, 6, 70001, 70002, 199999])
    offsets = laid_out(offsets, "unaligned")
    assert_same(wf.segment_sum(array, offsets), np.array([array[b:e].sum() for b, e in zip(offsets, offsets[1:])]))


@pytest.mark.parametrize("offsets, error", [
    ([0, 2, 1], ValueError), ([0, 4], ValueError), ([-1, 2], ValueError), ([], ValueError), ([[0, 1]], ValueError),
    ([0.0, 1.0], TypeError), ([0, 5, 2], ValueError)])
def test_bad_offsets(offsets, error):
    with pytest.raises(error, match="segment"):
        wf.segment_sum(np.arange(3), np.array(offsets, None if offsets else np.int64))


def test_all_types_are_tested():
    assert len(NAMES) == len(set(TYPES)) == 12
