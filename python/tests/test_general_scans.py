# SPDX-License-Identifier: MIT
"""scan() beside loops over NumPy's scans."""
import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import arrays, assert_same, moderate, outcome, tolerance_of

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
def test_scans(array, op, axis, reverse, exclusive, initial, segments):
    if op == "prod" and array.dtype.kind == "f":
        array = np.sign(array)
    length = array.size if axis is None or array.ndim == 0 else array.shape[axis]
    begins = None if segments is None else [min(begin, length) for begin in segments]
    with np.errstate(all="ignore"):
        expected = expected_scan(array, op, axis, reverse, exclusive, initial, begins)
    ours = wf.scan(array, op, axis, reverse=reverse, exclusive=exclusive, initial=initial, segments=begins)
    assert_same(ours, expected, 3 * tolerance_of(expected.dtype))


@pytest.mark.parametrize("n", [0, 1, 65, 8191, 8193, 100003])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_long_arrays(n, dtype):
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
def test_errors(call, error):
    assert outcome(call) is error
