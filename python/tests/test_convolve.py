# SPDX-License-Identifier: MIT
"""Convolutions and exact sums."""
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import arrays, assert_same, moderate, outcome, tolerance_of

LINES = ["as it is", "reversed", "gaps", "unaligned", "swapped"]
line = arrays(min_dims=0, max_dims=1, max_side=12, layouts=LINES, elements=moderate)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@given(line, line, st.sampled_from(["full", "same", "valid"]))
def test_lines(name, a, v, mode):
    theirs = outcome(getattr(np, name), a, v, mode)
    assert_same(outcome(getattr(wf, name), a, v, mode), theirs,
                0 if isinstance(theirs, type) else 10 * tolerance_of(theirs.dtype))


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_special_values_meet_no_elements_outside(name, mode):
    a = np.array([1.0, 2.0, np.inf, 4.0, 5.0])
    for v in ([1.0, np.inf], [np.nan, 1.0, 2.0], [0.5, 2.0, 1.0]):
        assert_same(getattr(wf, name)(a, np.array(v), mode), getattr(np, name)(a, np.array(v), mode))


@pytest.mark.parametrize("n, k", [(1, 1), (64, 65), (1000, 31), (70001, 7)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint64"])
def test_long_lines(n, k, dtype):
    rng = np.random.default_rng(n)
    a, v = (rng.integers(-9, 9, size).astype(dtype) for size in (n, k))
    assert_same(wf.convolve(a[::-1], v), np.convolve(a[::-1], v))  # exact in any order


@pytest.mark.parametrize("call", [
    lambda m: m.convolve(np.zeros(0), np.zeros(1)),
    lambda m: m.convolve(np.zeros(1), np.zeros(0)),
    lambda m: m.convolve(np.zeros((2, 2)), np.zeros(2)),
    lambda m: m.convolve(np.zeros(2), np.zeros(2), "some"),
    lambda m: m.correlate(np.zeros(2), np.zeros((1, 2))),
    lambda m: m.correlate(np.zeros(2), np.zeros(0)),
])
def test_errors(call):
    theirs = outcome(call, np)
    assert isinstance(theirs, type)
    assert issubclass(outcome(call, wf), theirs)


@given(arrays(types=[np.dtype(np.float64)]))
def test_exact_sums(array):
    ours = wf.exact_sum(array)
    values = array.ravel().tolist()
    if not np.isfinite(array).all():
        with np.errstate(invalid="ignore"):
            assert_same(ours, array[~np.isfinite(array)].sum())
        return
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        expected = float(exact)
    except OverflowError:
        expected = math.copysign(math.inf, exact)
    assert ours == expected


@given(arrays(types=[np.dtype(np.float32)], min_dims=1, max_dims=1, max_side=20, layouts=LINES[:4],
              elements=lambda t: st.floats(-1e10, 1e10, width=32)))
def test_exact_dot_products(array):
    other = array[::-1]
    exact = float(sum((Fraction(x) * Fraction(y) for x, y in zip(array.tolist(), other.tolist())), Fraction(0)))
    expected = np.float32(exact)
    ours = wf.exact_dot(array, other)
    assert ours.dtype == np.float32
    # Rounding to float64 first may move the sum to a tie.
    assert ours == expected or abs(ours - exact) <= abs(expected - exact)
    assert wf.exact_dot(array, np.ones_like(array)) == wf.exact_sum(array)


def test_exact_sums_of_long_arrays():
    array = np.random.default_rng(5).standard_normal(100003) * 10.0**np.random.default_rng(6).integers(-30, 30, 100003)
    assert wf.exact_sum(array) == math.fsum(array)
    assert wf.exact_sum(array[::-7]) == math.fsum(array[::-7])


@pytest.mark.parametrize("call, error", [
    (lambda: wf.exact_sum(np.zeros(3, np.float16)), TypeError),
    (lambda: wf.exact_sum([1, 2]), TypeError),
    (lambda: wf.exact_dot(np.zeros(3), np.zeros(4)), ValueError),
    (lambda: wf.exact_dot(np.zeros((2, 2)), np.zeros((2, 2))), ValueError),
    (lambda: wf.exact_dot(np.zeros(3), np.zeros(3, np.float32)), TypeError),
])
def test_bad_arguments_of_exact_sums(call, error):
    with pytest.raises(error, match="exact_"):
        call()
