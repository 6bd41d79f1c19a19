# SPDX-License-Identifier: MIT
"""Convolutions and exact sums."""
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import arrays, assert_same, moderate, outcome, tolerance_of, with_axis

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


@given(with_axis(arrays(types=[np.dtype(np.float32), np.dtype(np.float64)], max_side=6)), st.booleans())
def test_exact_sums_along_axes(drawn, keepdims):
    array, axis = drawn
    reduced = range(array.ndim) if axis is None else [k % array.ndim for k in np.atleast_1d(axis).astype(int)]
    kept = [k for k in range(array.ndim) if k not in reduced]
    lines = np.transpose(array, kept + [k for k in range(array.ndim) if k in reduced])
    expected = np.zeros([array.shape[k] for k in kept], array.dtype.newbyteorder("="))
    for index in np.ndindex(expected.shape):
        expected[index] = wf.exact_sum(lines[index])
    if keepdims:
        expected = expected.reshape([1 if k in reduced else extent for k, extent in enumerate(array.shape)])
    assert_same(wf.exact_sum(array, axis, keepdims), expected)


def test_axes_of_exact_sums():
    array = np.array([[1e30, 1.0, -1e30], [2.0, 1e-30, 3.0]])
    assert_same(wf.exact_sum(array, axis=1), np.array([1.0, 5.0]))
    assert_same(wf.exact_sum(array * 1j, axis=1, keepdims=True), np.array([[1j], [5j]]))
    assert_same(wf.exact_sum(array, axis=()), array)
    assert_same(wf.exact_sum(np.zeros((0, 3)), axis=0), np.zeros(3))
    with pytest.raises(np.exceptions.AxisError):
        wf.exact_sum(array, axis=2)


def true_parts(terms):
    """The sums of two lists of fractions, rounded once, as a complex number."""
    return complex(*(float(sum(part, Fraction(0))) for part in terms))


@given(arrays(types=[np.dtype(np.complex128)], max_side=12, elements=lambda t: st.complex_numbers(
    max_magnitude=1e100, allow_nan=False, allow_infinity=False)))
def test_exact_sums_of_complex_numbers(array):
    values = array.ravel().tolist()
    ours = wf.exact_sum(array)
    assert ours.dtype == np.complex128
    assert ours == true_parts(([Fraction(x.real) for x in values], [Fraction(x.imag) for x in values]))


def test_parts_of_complex_sums_are_apart():
    for dtype in (np.complex64, np.complex128):
        array = np.array([complex(np.inf, 1), complex(1, 2 ** -20), complex(1, -1), complex(2, 3)], dtype)[::-1]
        assert wf.exact_sum(array) == np.array(complex(np.inf, 3 + 2 ** -20), dtype)
        assert np.isnan(wf.exact_sum(np.array([complex(np.nan, 2)], dtype)).real)
        assert wf.exact_sum(np.array([complex(np.nan, 2)], dtype)).imag == 2
        assert wf.exact_sum(np.zeros((0, 3), dtype)).tobytes() == bytes(np.dtype(dtype).itemsize)  # +0 + 0i
    assert wf.exact_sum([1j, 2 + 1j]) == 2 + 2j


def test_exact_dots_of_complex_numbers():
    draw = np.random.default_rng(9)
    for n in (0, 1, 2, 31, 257):
        a, b = (draw.standard_normal(n) * 10.0**draw.integers(-20, 20, n) + 1j * draw.standard_normal(n) for _ in "ab")
        parts = [[Fraction(float(x)) for x in part] for part in (a.real, a.imag, b.real, b.imag)]
        r, i, s, t = parts
        plain = true_parts(([x * y for x, y in zip(r, s)] + [-x * y for x, y in zip(i, t)],
                            [x * y for x, y in zip(r, t)] + [x * y for x, y in zip(i, s)]))
        conjugated = true_parts(([x * y for x, y in zip(r, s)] + [x * y for x, y in zip(i, t)],
                                 [x * y for x, y in zip(r, t)] + [-x * y for x, y in zip(i, s)]))
        assert wf.exact_dot(a, b) == plain
        assert wf.exact_dot(a[::-1], b[::-1]) == plain
        assert wf.exact_dot(a.conj(), b) == conjugated
    short = np.array([3 + 4j, 2**-50 + 2**50 * 1j], np.complex64)
    assert wf.exact_dot(short, short.conj()) == np.complex64(2**100)


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
    (lambda: wf.exact_dot(np.zeros(3, complex), np.zeros(3)), TypeError),
    (lambda: wf.exact_dot(np.zeros(3, complex), np.zeros(4, complex)), ValueError),
    (lambda: wf.exact_sum(np.zeros(3, np.clongdouble)), TypeError),
])
def test_bad_arguments_of_exact_sums(call, error):
    with pytest.raises(error, match="exact_"):
        call()
