# SPDX-License-Identifier: MIT
"""Exact sums and dot products."""
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import arrays, assert_same, with_axis


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


@given(arrays(types=[np.dtype(np.float32)], min_dims=1, max_dims=1, max_side=20, layouts=["as it is", "reversed", "gaps", "unaligned"],
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


def nearest_half(exact):
    """The float16 nearest to a fraction, ties to even."""
    if abs(exact) >= 65520:
        return np.float16(math.copysign(math.inf, exact))
    step = Fraction(2) ** max(math.frexp(float(exact))[1] - 11, -24)
    return np.float16(float(round(exact / step) * step))


@given(arrays(types=[np.dtype(np.float16)], max_dims=2))
def test_exact_sums_of_halves(array):
    if np.isfinite(array).all():
        for ours, line in ((wf.exact_sum(array), array), *zip(np.atleast_1d(wf.exact_sum(array, axis=-1)), array)) if array.ndim == 2 \
                else ((wf.exact_sum(array), array),):
            assert_same(ours, nearest_half(sum(map(Fraction, line.ravel().tolist()), Fraction(0))))


def test_exact_sums_of_halves_are_rounded_once():
    # A sum in float32 would lose the last element, and the result would be 1.
    near = np.array([1, 2.0**-11, 2.0**-24], np.float16)
    assert_same(wf.exact_sum(near), np.float16(1 + 2.0**-10))
    assert_same(wf.exact_sum(-near[::-1]), np.float16(-1 - 2.0**-10))
    # The sum of these is next to the middle of two halves, and its float32 is the middle.
    assert_same(wf.exact_sum(np.array([2048, 1, 2.0**-24], np.float16)), np.float16(2050))
    assert_same(wf.exact_sum(np.array([2048, 1], np.float16)), np.float16(2048))
    assert_same(wf.exact_sum(np.array([60000, 60000, -60000], np.float16)), np.float16(60000))
    assert_same(wf.exact_sum(np.array([60000, 60000], np.float16)), np.float16(np.inf))
    assert np.isnan(wf.exact_sum(np.array([np.inf, -np.inf], np.float16)))
    assert_same(wf.exact_sum(np.zeros(0, np.float16)), np.float16(0))
    out = np.zeros((1, 2), np.float16)
    assert wf.exact_sum(near.reshape(3, 1).repeat(2, 1), axis=0, keepdims=True, out=out) is out
    assert (out == 1 + 2.0**-10).all()


@pytest.mark.parametrize("types", [(a, b) for a in (np.float16, np.float32, np.float64) for b in (np.float16, np.float32, np.float64)])
def test_exact_dots_of_mixed_types(types):
    draw = np.random.default_rng(3)
    a, b = (draw.normal(0, 100, 57).astype(t)[::s] for t, s in zip(types, (1, -1)))
    exact = sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b)), Fraction(0))
    ours = wf.exact_dot(a, b)
    assert ours.dtype == np.result_type(*types, np.float32)
    if ours.dtype == np.float64:
        assert ours == float(exact)
    else:
        assert all(abs(Fraction(float(ours)) - exact) <= abs(Fraction(float(np.nextafter(ours, end))) - exact)
                   for end in np.float32([-np.inf, np.inf]))


def test_exact_dots_of_complex_numbers_of_two_types():
    a, b = np.array([1 + 2j, 3 - 1j], np.complex64), np.array([2 - 1j, 1e-20 + 5j])
    assert_same(wf.exact_dot(a, b), wf.exact_dot(a.astype(complex), b))
    assert_same(wf.exact_dot(b, a), wf.exact_dot(b, a.astype(complex)))


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
        assert wf.exact_vdot(a, b) == conjugated
    short = np.array([3 + 4j, 2**-50 + 2**50 * 1j], np.complex64)
    assert wf.exact_dot(short, short.conj()) == np.complex64(2**100)


@pytest.mark.parametrize("real, kind, result", [("float16", "complex64", "complex64"), ("float32", "complex64", "complex64"),
                                                ("float64", "complex64", "complex128"), ("float32", "complex128", "complex128")])
def test_exact_dots_of_real_and_complex_numbers(real, kind, result):
    draw = np.random.default_rng(5)
    for n in (0, 1, 2, 31, 257):
        a = (draw.standard_normal(n) * 4.0**draw.integers(-5, 5, n)).astype(real)
        b = (draw.standard_normal(n) * 10.0**draw.integers(-9, 9, n) + 1j * draw.standard_normal(n)).astype(kind)
        terms = [[Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, part)] for part in (b.real, b.imag)]
        parts = [nearest(sum(some, Fraction(0)), np.float32 if result == "complex64" else np.float64) for some in terms]
        right = np.array(complex(*parts), result)
        for got in (wf.exact_dot(a, b), wf.exact_dot(b, a), wf.exact_dot(a[::-1], b[::-1])):
            assert_same(got, right[()])
        assert_same(wf.exact_vdot(a, b), right[()])
        assert_same(wf.exact_vdot(b, a), (right.conj() + 0)[()])  # parts of +0
    rows = np.arange(6).reshape(2, 3)
    assert_same(wf.exact_dot(rows * 1j, rows[0].astype(float)), np.array([5j, 14j]))
    out = np.zeros(2, complex)
    assert wf.exact_dot(rows.astype(float), rows[0] * 1j, out=out) is out and (out == [5j, 14j]).all()
    assert_same(wf.exact_vdot(rows * 1j, rows[0] * 1j), np.vecdot(rows * 1j, rows[0] * 1j))
    assert wf.exact_vdot([1.0, 2.0], [3.0, 4.0]) == 11
    for a, b in ((rows * 1.0, [1.0, 2.0]), (rows * 1j, [1.0, 2.0]), (rows * 1j, [1j, 2j])):
        with pytest.raises(ValueError, match="exact_vdot: a has 3 elements along axis -1, and b 2"):
            wf.exact_vdot(a, b)
    special = wf.exact_dot(np.array([np.inf, 1]), np.array([2, 3j]))
    assert special.real == np.inf and np.isnan(special.imag)  # infinity times zero


def nearest(value, dtype):
    """A fraction, rounded once to float32 or float64."""
    if dtype == np.float64:
        return np.float64(float(value))
    near = np.float32(float(value))
    choices = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    return min(choices, key=lambda x: (abs(Fraction(float(x)) - value), x.view(np.uint32) & 1))


def true_variance(parts, ddof):
    """Of numbers whose parts are lists of fractions."""
    return sum((x - sum(part) / len(part))**2 for part in parts for x in part) / (len(parts[0]) - ddof)


def nearest_root(value, dtype):
    """The square root of a fraction, found by 200 bits."""
    scale = 2**400
    return nearest(Fraction(math.isqrt(math.floor(value * scale)), 2**200), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_exact_moments(dtype):
    rng = np.random.default_rng(11)
    part_type = np.empty(0, dtype).real.dtype
    for n in (1, 2, 3, 40, 201):
        array = rng.standard_normal(n) * 2.0**rng.integers(-20, 20, n)
        if dtype.startswith("c"):
            array = array + 1j * rng.standard_normal(n) * 2.0**rng.integers(-20, 20, n)
        array = array.astype(dtype)[::-1]
        parts = [[Fraction(float(x)) for x in part] for part in ((array.real, array.imag) if dtype.startswith("c") else (array,))]
        mean = wf.exact_mean(array)
        assert mean.dtype == dtype
        assert [getattr(mean, name) for name, _ in zip(("real", "imag"), parts)] == [nearest(sum(p) / n, part_type) for p in parts]
        for ddof in range(2):
            variance = wf.exact_var(array, ddof=ddof)
            assert variance.dtype == part_type
            assert np.isnan(variance) if n == ddof else variance == nearest(true_variance(parts, ddof), part_type)
        norm = wf.exact_norm(array)
        assert norm.dtype == part_type
        assert norm == nearest_root(sum(x * x for part in parts for x in part), part_type)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_exact_moments_along_axes(dtype, axis):
    rng = np.random.default_rng(12)
    array = (rng.standard_normal((5, 3, 11)) + (1j * rng.standard_normal((5, 3, 11)) if dtype[0] == "c" else 0)).astype(dtype)
    for name in ("exact_mean", "exact_var", "exact_norm"):
        call = getattr(wf, name)
        ours = call(array, axis)
        reduced = range(3) if axis is None else [k % 3 for k in np.atleast_1d(axis).astype(int)]
        kept = [k for k in range(3) if k not in reduced]
        lines = np.transpose(array, kept + list(reduced)).reshape([array.shape[k] for k in kept] + [-1])
        assert_same(ours, np.array([call(lines[index]) for index in np.ndindex(lines.shape[:-1])],
                                   np.asarray(ours).dtype).reshape(lines.shape[:-1]))
        expected = np.expand_dims(ours, tuple(reduced))
        assert_same(call(array, axis, keepdims=True), expected)
        room = np.empty(expected.shape, np.result_type(expected, np.float64))[..., ::-1]
        assert call(array, axis, keepdims=True, out=room) is room
        assert_same(room, expected.astype(room.dtype))


def test_exact_moments_of_special_values():
    largest = np.finfo(np.float64).max
    assert wf.exact_mean(np.array([largest, largest])) == largest
    assert wf.exact_norm(np.array([3e300, 4e300])) == 5e300 and wf.exact_norm(np.array([3e-300, 4e-300j])) == 5e-300
    assert wf.exact_var(np.array([1e16, 1e16 + 2])) == 1 and wf.exact_var(np.full(1000, 0.1)) == 0
    assert wf.exact_mean(np.array([complex(np.inf, 2), 4j])) == complex(np.inf, 3)
    assert np.isnan(wf.exact_var(np.array([np.inf, 1j]))) and wf.exact_norm(np.array([-np.inf, 1j])) == np.inf
    for empty in (np.zeros(0), np.zeros((0, 2)), np.zeros(0, complex)):
        assert np.isnan(wf.exact_mean(empty)).all() and np.isnan(wf.exact_var(empty)).all() and wf.exact_norm(empty) == 0
    assert_same(wf.exact_norm(np.zeros((0, 2), np.float32), axis=0), np.zeros(2, np.float32))
    assert wf.exact_mean(np.zeros((3, 0)), axis=0).shape == (0,)


@pytest.mark.parametrize("name", ["exact_mean", "exact_var", "exact_norm"])
def test_exact_moments_are_of_the_types_that_they_document(name):
    text = getattr(wf, name).__doc__
    assert "a : array of float32, float64, complex64 or complex128" in text and "true sum of the parts" not in text
    with pytest.raises(TypeError, match=f"{name}: a has dtype float16"):
        getattr(wf, name)(np.ones(3, np.float16))


def test_exact_sums_of_long_arrays():
    array = np.random.default_rng(5).standard_normal(100003) * 10.0**np.random.default_rng(6).integers(-30, 30, 100003)
    assert wf.exact_sum(array) == math.fsum(array)
    assert wf.exact_sum(array[::-7]) == math.fsum(array[::-7])


@pytest.mark.parametrize("call, error", [
    (lambda: wf.exact_mean(np.zeros(3, np.float16)), TypeError),
    (lambda: wf.exact_sum([1, 2]), TypeError),
    (lambda: wf.exact_dot(np.zeros(3), np.zeros(4)), ValueError),
    (lambda: wf.exact_dot(np.zeros((2, 2)), np.zeros((2, 3))), ValueError),
    (lambda: wf.exact_dot(np.zeros((2, 2)), np.zeros((3, 2))), ValueError),
    (lambda: wf.exact_dot(np.zeros(2), np.zeros(2), out=np.zeros(2)), ValueError),
    (lambda: wf.exact_sum(np.zeros(2, complex), out=np.zeros(())), TypeError),
    (lambda: wf.exact_sum(np.zeros(2, complex), out=[]), TypeError),
    (lambda: wf.exact_sum(np.zeros(2, complex), out=np.zeros(1, complex)), ValueError),
    (lambda: wf.exact_sum(np.zeros(2, complex), out=np.broadcast_to(np.complex128(), ())), ValueError),
    (lambda: wf.exact_sum([[1.0, 2.0], [3.0]]), ValueError),
    (lambda: wf.exact_dot(np.zeros(3), [1, 2, 3]), TypeError),
    (lambda: wf.exact_dot(np.zeros(3, complex), np.zeros(3), out=np.zeros(())), TypeError),
    (lambda: wf.exact_dot(np.zeros(3, complex), np.zeros(3, int)), TypeError),
    (lambda: wf.exact_dot(np.zeros(3), np.zeros(4, complex)), ValueError),
    (lambda: wf.exact_dot(np.zeros(3, complex), np.zeros(4, complex)), ValueError),
    (lambda: wf.exact_sum(np.zeros(3, np.clongdouble)), TypeError),
    (lambda: wf.exact_mean([1, 2]), TypeError),
    (lambda: wf.exact_var(np.zeros(3), ddof=-1), ValueError),
    (lambda: wf.exact_var(np.zeros(3), ddof=1.5), TypeError),
    (lambda: wf.exact_var(np.zeros(3), axis=1), np.exceptions.AxisError),
    (lambda: wf.exact_norm(np.zeros(3), out=np.zeros(3)), ValueError),
    (lambda: wf.exact_mean(np.zeros(3, complex), out=np.zeros(())), TypeError),
    (lambda: wf.exact_var(np.zeros(3, complex), out=np.zeros((), complex)), TypeError),
])
def test_bad_arguments_of_exact_sums(call, error):
    with pytest.raises(error, match=None if error is np.exceptions.AxisError else "exact_"):
        call()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("shapes", [((9, 4, 4), (9, 4, 4)), ((9, 1, 4), (9, 4, 4)), ((2, 2), (3, 2, 2)), ((0, 3), (0, 3))])
def test_exact_dots_along_axes(dtype, axis, shapes):
    rng = np.random.default_rng(3)
    drawn = [rng.integers(-50, 50, (2, *shape)).astype(float) for shape in shapes]
    if axis == 0 and shapes[0][0] != shapes[1][0] or axis == 1 and shapes[0][1] != shapes[1][1]:
        with pytest.raises(ValueError, match="exact_dot: a has . elements along axis"):
            wf.exact_dot(*(x[0] for x in drawn), axis=axis)
        return
    a, b = ((x[0] + (1j * x[1] if dtype.startswith("c") else 0)).astype(dtype)[::-1] for x in drawn)
    assert_same(wf.exact_dot(a, b, axis), np.vecdot(a.conj(), b, axis=axis))  # integers: exact in any order


def test_exact_dots_of_many_and_long_lines():
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, (2, 11, 5000)) * 2.0 ** rng.integers(-40, 40, (2, 11, 5000))
    expected = [wf.exact_dot(a[k], b[k]) for k in range(11)]
    assert_same(wf.exact_dot(a, b), np.array(expected))
    assert_same(wf.exact_dot(a.T, b.T, axis=0), np.array(expected))
    assert_same(wf.exact_dot(a[:, ::-1], b[:, ::-1]), np.array(expected))
    exact = sum((Fraction(x) * Fraction(y) for x, y in zip(a[7].tolist(), b[7].tolist())), Fraction(0))
    assert expected[7] == float(exact)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_out_of_exact_sums(dtype):
    array = (np.arange(12).reshape(3, 4) * (1 - 2j if dtype == "complex64" else 1)).astype(dtype)
    kind = "complex128" if dtype == "complex64" else "float64"
    room = np.empty((4, 3), kind)[::2, 0]
    assert wf.exact_sum(array[:2], 1, out=room) is room
    assert_same(room, array[:2].sum(1).astype(kind))
    room = np.empty((3, 1), dtype)
    assert wf.exact_sum(array, -1, True, out=room) is room
    assert_same(room, array.sum(1, keepdims=True))
    room = np.empty((), dtype)
    assert wf.exact_dot(array[0], array[1], out=room) is room
    assert_same(room, np.dot(array[0], array[1]))
    shared, expected = array[1].copy(), np.vecdot(array.conj(), array[1])
    wf.exact_dot(array, shared, out=shared[1:])  # every result reads what others overwrite
    assert_same(shared[1:], expected)


def rounded(exact, dtype):
    """The number of a type nearest to a fraction, ties to even."""
    if dtype == np.float64:
        return np.float64(float(exact))
    near = np.float32(float(exact))
    beside = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
    return min(beside, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) % 2))


def root(exact, dtype):
    """The number of a type nearest to the root of a fraction."""
    near = dtype(math.sqrt(exact))
    for one in (np.nextafter(near, dtype(0)), near, np.nextafter(near, dtype(np.inf))):
        middle = (Fraction(float(one)) + Fraction(float(np.nextafter(one, dtype(np.inf))))) / 2
        if exact < middle**2:
            return one
    raise AssertionError(f"no number is near the root of {float(exact)}")


def awkward(draw, n, dtype, kind):
    """Numbers whose sums are hard to round in one way."""
    x = draw.normal(size=n)
    digits = np.finfo(dtype).nmant
    return {"usual": lambda: x, "positive": lambda: np.abs(x), "integers": lambda: np.round(x * 1000), "sorted": lambda: np.sort(x),
            "growing": lambda: x * 2.0 ** (np.arange(n) * 60 // n), "shrinking": lambda: x * 2.0 ** -(np.arange(n) * 60 // n),
            "cancelling": lambda: np.where(np.arange(n) % 2, -np.roll(x, 1), x), "ties": lambda: np.append(np.ones(n - 1), 2.0**-digits / 2),
            "next to ties": lambda: np.append(np.ones(n - 2), [2.0**-digits * n / 2, 2.0 ** (-3 * digits)]), "zeros": lambda: x * 0,
            "large": lambda: x * (float(np.finfo(dtype).max) / 1e8), "small": lambda: x * float(np.finfo(dtype).tiny) * 4,
            }[kind]().astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["usual", "positive", "integers", "sorted", "growing", "shrinking", "cancelling", "ties", "next to ties",
                                  "zeros", "large", "small"])
def test_long_exact_sums_are_rounded_once(dtype, kind):
    draw = np.random.default_rng(5)
    for n in (127, 128, 1000, 2049, 5003):
        a, b = awkward(draw, n, dtype, kind), draw.normal(size=n).astype(dtype)
        fractions, others = [Fraction(x) for x in a.tolist()], [Fraction(x) for x in b.tolist()]
        assert_same(wf.exact_sum(a), rounded(sum(fractions), dtype))
        assert_same(wf.exact_sum(np.tile(a, (3, 1)), axis=1), np.full(3, rounded(sum(fractions), dtype)))
        assert_same(wf.exact_mean(a), rounded(sum(fractions) / n, dtype))
        if kind != "large" or dtype == np.float32:
            assert_same(wf.exact_dot(a, b), rounded(sum(x * y for x, y in zip(fractions, others)), dtype))
        if kind not in ("large", "small"):
            assert_same(wf.exact_norm(a), root(sum(x * x for x in fractions), dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values_in_long_exact_sums(dtype):
    for n in (130, 5000):
        for place in (0, n // 2, n - 1):
            for special in (np.nan, np.inf, -np.inf):
                array = np.linspace(0, 1, n).astype(dtype)
                array[place] = special
                assert_same(wf.exact_sum(array), dtype(special))
                assert_same(wf.exact_mean(array), dtype(special))
                assert_same(wf.exact_dot(array, np.ones(n, dtype)), dtype(special))
                assert_same(wf.exact_norm(array), dtype(abs(special)))
        most = np.full(n, np.finfo(dtype).max)
        assert_same(wf.exact_sum(most), dtype(np.inf))
        assert_same(wf.exact_sum(most * np.where(np.arange(n) % 2, dtype(-1), dtype(1))), dtype(0))
        assert_same(wf.exact_mean(most), np.finfo(dtype).max)
