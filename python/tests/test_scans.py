# SPDX-License-Identifier: MIT
"""Scans and segments beside NumPy's; scan() beside loops over NumPy's scans."""
import os

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import NAMES, TYPES, arrays, assert_same, laid_out, moderate, outcome, tolerance_of

ON_A_SOFTWARE_GPU = os.environ.get("WARPFOLD_DEVICE") == "softgpu"  # it is slow
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


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("n", [1, 65, 8193, 100003])
def test_long_arrays_of_float16(name, n):
    bits = np.random.default_rng(n).integers(0, 1 << 16, n, np.uint16)
    array = bits.view(np.float16)
    array[np.isnan(array)] = 0  # of both signs
    array[n * 2 // 3:][:3] = [np.nan, -np.nan, np.inf][:n - n * 2 // 3]
    compare(name, array, None)
    compare(name, array[::-3], 0)
    for shape in ((5, -1), (-1, 5)):
        compare(name, array[:n // 5 * 5].reshape(shape), 0)
        compare(name, array[:n // 5 * 5].reshape(shape), 1)
    compare(name, array[:1024].reshape((2,) * 10) if n > 1024 else array.reshape((1,) * 9 + (n,)), -2)


def test_long_sums_of_float16():
    array = np.random.default_rng(1).integers(-8, 9, 100003).astype(np.float16)
    np.testing.assert_array_equal(wf.cumsum(array), array.astype(np.float32).cumsum().astype(np.float16))
    np.testing.assert_array_equal(wf.cumsum(array[::-2]), array[::-2].astype(np.float32).cumsum().astype(np.float16))


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
    halves, room = np.array([3, 1, -2, np.nan, 5], np.float16), np.zeros(10, np.float16)
    wf.cummin(halves, out=room[::2])
    np.testing.assert_array_equal(room[::2], np.minimum.accumulate(halves))
    assert not room[1::2].any()


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [">f8", ">i4", "<f4"])
def test_types_of_the_other_byte_order(name, dtype):
    array = np.int8([100, 100, 3])
    assert_same(getattr(wf, name)(array, dtype=dtype), getattr(np, name)(array, dtype=dtype))


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
    for _ in range(2):  # the second call may be one of the extension module
        with pytest.raises(error, match="^segment_sum: "):
            wf.segment_sum(np.arange(3), np.array(offsets, None if offsets else np.int64))


def test_all_types_are_tested():
    assert len(NAMES) == len(set(TYPES)) == 12


# scan()

UFUNCS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def identity(op, dtype):
    if op in ("sum", "prod"):
        return int(op == "prod")
    if dtype.kind == "b":
        return op == "min"
    if dtype.kind == "f":
        return np.inf if op == "min" else -np.inf
    return np.iinfo(dtype).max if op == "min" else np.iinfo(dtype).min


def line_scan(line, op, reverse, exclusive, initial, begins, dtype):
    """One line, in the type of the results, float16 in float32."""
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    cuts = sorted({0, *begins, line.size})
    pieces = []
    for begin, end in zip(cuts, cuts[1:]):
        piece = line[begin:end].astype(dtype).astype(wide)
        piece = piece[::-1] if reverse else piece
        if exclusive or initial is not None:
            first = np.asarray(identity(op, dtype) if initial is None else initial).astype(dtype).astype(wide)
            piece = UFUNCS[op].accumulate(np.concatenate([[first], piece]).astype(wide), dtype=wide)
            piece = piece[:-1] if exclusive else piece[1:]
        else:
            piece = UFUNCS[op].accumulate(piece, dtype=wide)
        pieces.append(piece[::-1] if reverse else piece)
    return np.concatenate(pieces).astype(dtype) if pieces else np.zeros(0, dtype)


def expected_scan(array, op, axis, reverse, exclusive, initial, segments):
    dtype = array.dtype.newbyteorder("=")
    if op in ("sum", "prod"):
        dtype = np.sum(np.zeros(1, dtype)).dtype
    if axis is None or array.ndim == 0:
        array, axis = array.reshape(-1), 0
    begins = [] if segments is None else list(segments)
    return np.apply_along_axis(line_scan, axis, array, op, reverse, exclusive, initial, begins, dtype) if array.size else \
        np.zeros(array.shape, dtype)


@given(arrays(elements=moderate, max_side=5), st.sampled_from(sorted(UFUNCS)), st.sampled_from([None, 0, -1]), st.booleans(),
       st.booleans(), st.sampled_from([None, 0, 1, 3]), st.none() | st.lists(st.integers(0, 9), max_size=4).map(sorted))
def test_scans_in_general(array, op, axis, reverse, exclusive, initial, segments):
    if op == "prod" and array.dtype.kind == "f":
        array = np.sign(array)
    length = array.size if axis is None or array.ndim == 0 else array.shape[axis]
    begins = None if segments is None else [min(begin, length) for begin in segments]
    with np.errstate(all="ignore"):
        expected = expected_scan(array, op, axis, reverse, exclusive, initial, begins)
    ours = wf.scan(array, op, axis, reverse=reverse, exclusive=exclusive, initial=initial, segments=begins)
    assert_same(ours, expected, 3 * tolerance_of(expected.dtype))


@pytest.mark.parametrize("n", [0, 1, 65, 8191, 8193] + [100003] * (not ON_A_SOFTWARE_GPU))
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_long_arrays_in_general(n, dtype):
    array = np.random.default_rng(n).integers(-9, 9, n).astype(dtype)
    begins = np.array([0, n // 7, n // 7, n // 2, n])
    for op in ("sum", "max"):
        for reverse in (False, True):
            for exclusive, initial in ((False, None), (True, None), (True, 5), (False, 5)):
                for segments in (None, begins):
                    ours = wf.scan(array, op, reverse=reverse, exclusive=exclusive, initial=initial, segments=segments)
                    assert_same(ours, expected_scan(array, op, None, reverse, exclusive, initial, segments))


def test_the_functions_of_numpys_names_are_scans():
    array = np.arange(12, dtype=np.int8).reshape(3, 4)
    assert_same(wf.scan(array), wf.cumsum(array))
    assert_same(wf.scan(array, "prod", 1, np.float32), wf.cumprod(array, 1, np.float32))
    assert_same(wf.scan(array, "min", 0), wf.cummin(array, 0))
    out = np.zeros((3, 4), np.int16)
    assert wf.scan(array, "sum", 1, out=out, reverse=True, exclusive=True) is out
    np.testing.assert_array_equal(out, array[:, ::-1].cumsum(1)[:, ::-1] - array)
    wf.scan(out, "max", 1, out=out, reverse=True)
    assert out[0].tolist() == [6, 5, 3, 0]


@pytest.mark.parametrize("call, error", [
    (lambda: wf.scan(np.zeros(3), "mean"), ValueError),
    (lambda: wf.scan(np.zeros(3), "min", dtype=np.float32), TypeError),
    (lambda: wf.scan(np.zeros(3), axis=1), np.exceptions.AxisError),
    (lambda: wf.scan(np.zeros(3), segments=[0, 4]), ValueError),
    (lambda: wf.scan(np.zeros(3), segments=[-1, 2]), ValueError),
    (lambda: wf.scan(np.zeros(3), segments=[2, 1]), ValueError),
    (lambda: wf.scan(np.zeros(3), segments=[0.5]), TypeError),
    (lambda: wf.scan(np.zeros(3), segments=[[0]]), TypeError),
    (lambda: wf.scan(np.zeros(3), out=np.zeros(2)), ValueError),
])
def test_errors_in_general(call, error):
    assert outcome(call) is error


def test_conversions_to_float16_round_once():
    """Numbers whose float32 is in the middle of two halves, and they are not."""
    near = 1 + 2.0**-11
    numbers = np.array([near + 2.0**-40, -near - 2.0**-40, near - 2.0**-40, near, 65519.999999, 65520, 2.0**-25 * (1 + 2.0**-30), 2.0**-25,
                        1e-300, -1e300, np.inf, np.nan])
    with np.errstate(over="ignore"):
        assert_same(wf.cumsum(numbers[:, None], axis=1, dtype=np.float16).ravel(), numbers.astype(np.float16))


@pytest.mark.parametrize("length", [1, 7, 2**17, 2**17 + 1, 300_001])
@pytest.mark.parametrize("layout", ["as it is", "unaligned", "reversed", "transposed"])
def test_scans_by_copies(length, layout):
    """Results of the input's narrow type, and elements that are not aligned, in blocks of 2^17."""
    if ON_A_SOFTWARE_GPU and length > 7:
        pytest.skip("slow")
    numbers = np.random.default_rng(length).integers(-100, 100, (300_001 // length, length))
    for dtype in (np.dtype(name) for name in NAMES if name not in ("bool", "float16")):
        array = laid_out(numbers.astype(dtype), layout)
        for axis in (None, 0, 1):
            assert_same(wf.cumsum(array, axis, dtype), np.cumsum(array, axis, dtype), 1e-3)
            if dtype.kind != "f":
                assert_same(wf.cumprod(array, axis, dtype), np.cumprod(array, axis, dtype))
            reference = np.maximum.accumulate(array.reshape(-1) if axis is None else array, axis or 0)
            assert_same(wf.cummax(array, axis), reference)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_unaligned_scans_have_the_bits_of_aligned_ones(dtype):
    array = np.random.default_rng(1).random(1_000_003 if not ON_A_SOFTWARE_GPU else 1000).astype(dtype)
    moved = laid_out(array, "unaligned")
    assert not moved.flags.aligned
    for function in (wf.cumsum, wf.cumprod, wf.cummax, wf.cummin):
        np.testing.assert_array_equal(function(moved), function(array))
