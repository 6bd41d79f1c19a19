# SPDX-License-Identifier: MIT
"""Norms beside NumPy's."""
import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import arrays, assert_same, moderate, outcome, tolerance_of

ORDERS = [None, 1, 2, np.inf, -np.inf, 0, 3, 1.5, -1]


def tolerance(dtype):
    return 20 * tolerance_of(dtype if dtype.kind == "f" else np.dtype(np.float64))


def numpys(array, order, axis=None, keepdims=False):
    """NumPy's outcome. Of order inf NumPy 2.1 has none of no elements; later ones give 0."""
    found = outcome(np.linalg.norm, array, order, axis, keepdims)
    if found is ValueError and order == np.inf and array.size == 0:
        return outcome(np.max, np.abs(array if array.dtype.kind == "f" else array.astype(np.float64)), axis, keepdims=keepdims, initial=0)
    return found


@given(arrays(elements=moderate, min_side=0), st.sampled_from(ORDERS), st.sampled_from([0, 1, -1, 2]), st.booleans())
def test_along_an_axis(array, order, axis, keepdims):
    if array.dtype.kind != "f":
        array = array % 64 if array.dtype.kind != "b" else array
    theirs = numpys(array.astype(array.dtype.newbyteorder("=")), order, axis, keepdims)
    assert_same(outcome(wf.norm, array, order, axis, keepdims), theirs, tolerance(array.dtype))


@given(arrays(elements=moderate), st.booleans())
def test_of_all_elements(array, keepdims):
    if array.dtype.kind != "f":
        array = array % 64 if array.dtype.kind != "b" else array
    theirs = np.linalg.norm(array.astype(array.dtype.newbyteorder("=")), keepdims=keepdims)
    assert_same(wf.norm(array, keepdims=keepdims), theirs, tolerance(array.dtype))
    if array.ndim == 3:
        assert_same(wf.norm(array, axis=(0, 2)), np.linalg.norm(array.astype(np.float64), axis=(0, 2)).astype(
            array.dtype.newbyteorder("=") if array.dtype.kind == "f" else np.float64), tolerance(array.dtype))


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324, 2.0**-1022, 2.0**1023])
def test_large_and_small_numbers(scale):
    array = np.array([[3.0, -4.0], [0.0, 0.0], [0.25, 0.0]]) * min(scale, 2.0**1020)
    with np.errstate(under="ignore"):
        np.testing.assert_allclose(wf.norm(array, axis=1), np.hypot(array[:, 0], array[:, 1]), rtol=1e-15)
    mixed = np.array([[3e200, 4e200], [3e-200, 4e-200], [3.0, 4.0], [np.inf, np.nan], [-np.inf, 1e300], [0, 0]])
    np.testing.assert_allclose(wf.norm(mixed, axis=1), [5e200, 5e-200, 5, np.nan, np.inf, 0], rtol=1e-15)
    np.testing.assert_allclose(wf.norm(mixed[:3].T, axis=0, keepdims=True), [[5e200, 5e-200, 5]], rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_narrow_types_do_not_overflow(dtype):
    largest = np.finfo(dtype).max
    assert_same(wf.norm(np.array([largest / 2] * 3, dtype)), np.asarray(np.sqrt(3) / 2 * float(largest)).astype(dtype), 1e-3)
    assert wf.norm(np.array([largest] * 4, dtype)) == np.inf


@pytest.mark.parametrize("n", [0, 1, 65, 8191, 100003])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("order", [None, 1, np.inf, 3])
def test_long_vectors(n, dtype, order):
    array = np.random.default_rng(n).integers(-100, 100, n).astype(dtype)
    theirs = numpys(array.astype(np.float64), order)
    if not isinstance(theirs, type):
        theirs = theirs.astype(dtype if dtype != "int16" else np.float64)
    assert_same(outcome(wf.norm, array[::-1], order), theirs, 1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("call", [
    lambda m: m(np.zeros((2, 2, 2)), 1),
    lambda m: m(np.zeros(3), "fro"),
    lambda m: m(np.zeros(3), "nuc"),
    lambda m: m(np.zeros(3), axis=1),
    lambda m: m(np.zeros(3), axis="x"),
    lambda m: m(np.zeros(0), -np.inf),
    lambda m: m(np.float64(1), axis=0),
    lambda m: m(np.float64(1), 1),
    lambda m: m(np.zeros((2, 2)), axis=(0, 0)),
])
def test_errors(call):
    theirs = outcome(call, np.linalg.norm)
    assert isinstance(theirs, type)
    assert issubclass(outcome(call, wf.norm), theirs)


def test_norms_of_matrices_are_refused():
    with pytest.raises(ValueError, match="norms of matrices are not offered"):
        wf.norm(np.ones((2, 2)), 1)
    with pytest.raises(ValueError, match="norms of matrices are not offered"):
        wf.norm(np.ones((2, 2), np.float32), 0)
    assert wf.norm(np.ones(3), 1) == 3
    with pytest.raises(ValueError, match="norms of matrices"):
        wf.norm(np.ones((2, 2)), 2, axis=(0, 1))
    with pytest.raises(TypeError, match="norm: ord is"):
        wf.norm(np.ones(2), 1j)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_negative_zeros_have_positive_powers(dtype):
    for values in ([-0.0], [-0.0, 1, 2], [0, -0.0, 2], [-0.0, -0.0]):
        for order in (-3, -2, -1, -0.5):
            for x in (np.array(values, dtype), np.array(values, dtype)[:, None]):
                assert_same(wf.norm(x, order, axis=0), np.zeros(x.shape[1:], dtype)[()])
