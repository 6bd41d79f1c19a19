# SPDX-License-Identifier: MIT
"""Histograms beside NumPy's."""
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import TYPES, arrays, assert_same, laid_out, near_edges, outcome

INTEGERS = [dtype for dtype in TYPES if dtype.kind in "iub" and dtype != np.uint64]


@given(arrays(types=INTEGERS, min_dims=1, max_dims=1, max_side=30, elements=lambda t: st.sampled_from([0, 1]) if
              t.kind == "b" else st.integers(0, 100), layouts=["as it is", "reversed", "gaps", "unaligned", "swapped"]),
       st.integers(0, 120), st.booleans())
def test_bincount(array, minlength, weighted):
    weights = np.linspace(-1, 2, array.size) if weighted else None
    assert_same(wf.bincount(array, weights, minlength), np.bincount(array, weights, minlength), 1e-14)


@pytest.mark.parametrize("n", [0, 1, 65, 4097, 300007])
def test_long_bincounts(n):
    array = np.random.default_rng(n).integers(0, 5000, n).astype(np.int32)
    assert_same(wf.bincount(array[::-1]), np.bincount(array))
    assert_same(wf.bincount(array, array), np.bincount(array, array))


@pytest.mark.parametrize("call", [
    lambda m: m.bincount(np.array([1, -1])),
    lambda m: m.bincount(np.array([[1]])),
    lambda m: m.bincount(np.array([1]), minlength=-1),
    lambda m: m.bincount(np.array([1]), minlength=1.5),
    lambda m: m.bincount(np.array([1]), np.array([1, 2])),
    lambda m: m.histogram(np.zeros(3), 0),
    lambda m: m.histogram(np.zeros(3), 1.5),
    lambda m: m.histogram(np.zeros(3), [2, 1]),
    lambda m: m.histogram(np.zeros(3), [[2, 1]]),
    lambda m: m.histogram(np.zeros(3), 3, (1, 0)),
    lambda m: m.histogram(np.array([0, np.nan]), 3),
    lambda m: m.histogram(np.array([0, np.inf]), 3),
    lambda m: m.histogram(np.zeros(3), weights=np.zeros(2)),
    lambda m: m.histogram(np.zeros(3), "no rule"),
])
def test_errors(call):
    theirs = outcome(call, np)
    assert isinstance(theirs, type)
    assert issubclass(outcome(call, wf), theirs)


def test_refused_types():
    for values in (np.array([1.5]), np.array([1], np.uint64)):
        with pytest.raises(TypeError, match="bincount: x has dtype"):
            wf.bincount(values)
    with pytest.raises(ValueError, match="2\\^30"):
        wf.bincount(np.array([1 << 31]))


def compare(array, *arguments, tolerance=0.0, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (outcome(m.histogram, array, *arguments, **options) for m in (wf, np))
    if isinstance(theirs, type):
        assert issubclass(ours, theirs)
        return
    assert_same(ours[0], theirs[0], tolerance)
    assert_same(ours[1], theirs[1])


floats = st.floats(-100, 100, width=16)


def samples(dtype):
    return floats if dtype.kind == "f" else None


@given(arrays(elements=samples, max_side=12), st.integers(1, 40), st.booleans())
def test_even_bins(array, bins, density):
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        array = array >> 12  # NumPy's own rule rounds differences of larger integers
    compare(array, bins, density=density, tolerance=1e-14)


@given(arrays(elements=samples, max_side=12), st.integers(1, 20), st.tuples(floats, floats))
def test_ranges(array, bins, bounds):
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        array = array % 200
    compare(array, bins, (min(bounds), max(bounds)))


@given(arrays(elements=lambda t: st.sampled_from([0.0, 1.0, 2.5, 7.0, np.nan, np.inf, -np.inf]) if t.kind == "f" else None),
       st.lists(st.sampled_from([-3, 0, 1, 2.5, 7, 100, np.inf]), min_size=1, max_size=7).map(sorted),
       st.sampled_from([None, "int64", "float64", "float32"]))
def test_edges(array, edges, weights):
    compare(array, edges, weights=None if weights is None else
            (np.arange(array.size).reshape(array.shape) % 5).astype(weights), tolerance=1e-6)


def test_every_byte_of_bool_but_0_is_1():
    values = np.array([0, 1, 2, 128, 255], np.uint8).view(bool)
    compare(values, [-3, 1])
    compare(values, 3)
    for some in (values, values[2:], values[:1], values[::-1]):
        for _ in range(2):  # the second call may be one of the extension module
            assert_same(wf.bincount(some), np.bincount(some))


def test_weights_of_no_elements_at_any_address():
    empty = np.zeros(0, [("p", "u1"), ("v", "f8")])["v"]
    compare(np.zeros(0), 3, weights=empty)
    assert_same(wf.bincount(np.zeros(0, int), empty, 2), np.bincount(np.zeros(0, int), empty, 2))


def test_integer_edges_are_compared_exactly():
    edges = np.array([2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3])
    compare(np.array([2**60, 2**60 + 1, 2**60 + 1, 2**60 + 3]), edges)
    compare(np.array([2**60, 2**60 + 1, 2**60 + 1, 2**60 + 3], np.uint64), edges.astype(np.uint64))


def test_samples_at_edges():
    for values, edges in near_edges():
        compare(values, edges)
        assert_same(wf.histogramdd(values[:, None], [edges])[0], np.histogramdd(values[:, None], [edges])[0])


@pytest.mark.parametrize("dtype", ["int16", "int64", "float32", "float64"])
def test_long_arrays(dtype):
    array = (np.random.default_rng(4).standard_normal((300, 401)) * 100).astype(dtype)
    compare(array, 60)
    compare(array[::-1, ::3], [-50, -3, 0, 1, 100])
    compare(array, laid_out(np.array([-50.0, -3, 0.5, 100]), "unaligned"))
    compare(array, "sqrt")
    compare(array, 7, weights=np.ones(array.shape, np.float64) / 2)


@pytest.mark.parametrize("empty", [[], (), range(0)])
def test_empty_sequences_are_integers(empty):
    assert_same(wf.bincount(empty, minlength=2), np.bincount(empty, minlength=2))


@pytest.mark.parametrize("dtype, most", [(np.bool_, 2), (np.uint8, 256), (np.uint16, 65536)])
def test_minlength_above_all_values(dtype, most):
    values = np.arange(300).astype(dtype)
    for least in (most - 1, most, most + 1):
        assert_same(wf.bincount(values, minlength=least), np.bincount(values, minlength=least))
    assert_same(wf.bincount(values, np.ones(300), most), np.bincount(values, np.ones(300), most))


def test_edges_of_a_call_are_its_own():
    a = np.arange(10.0)
    for _ in range(2):
        edges = wf.histogram(a, 4, (0, 8))[1]
        np.testing.assert_array_equal(edges, [0, 2, 4, 6, 8])
        edges[:] = 7
    assert_same(wf.histogram(a.astype(np.float32), 4, (0, np.float32(8)))[1], np.histogram(a.astype(np.float32), 4, (0, np.float32(8)))[1])
    assert_same(wf.histogram(a.astype(np.float32), 4, (0, 8))[1], np.histogram(a.astype(np.float32), 4, (0, 8))[1])


@pytest.mark.parametrize("edges", [[0, 1, 2, np.nan], [np.nan, 0, 1], [0, np.nan, 2]])
def test_edges_that_are_nan_are_refused(edges):
    values = np.array([0.5, 0.6, 1.5])
    for call in (lambda: wf.histogram(values, edges), lambda: wf.histogram(values, np.array(edges)),
                 lambda: wf.histogram2d(values, values, np.array(edges)), lambda: wf.histogram2d(values, values, [edges, [0, 1]]),
                 lambda: wf.histogramdd(values[:, None], [edges])):
        with pytest.raises(ValueError, match="histogram.*: bins has a NaN"):
            call()


@pytest.mark.parametrize("bins", [3, 10, 700, 30_000])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float16", "float32", "float64"])
def test_bins_of_very_unequal_width(bins, dtype):
    """Edges near each other here and far apart there, with equal ones."""
    numbers = np.random.default_rng(bins).normal(0, 30, 4 * bins + 1000)
    samples = np.abs(numbers).astype(dtype) if dtype.startswith("u") else numbers.astype(dtype)
    for edges in (np.sort(samples)[::len(samples) // bins], np.append(np.sort(samples[:bins].astype(float)), 1e15),
                  np.cumsum(np.append(-1e3, 2.0 ** -np.arange(bins))), np.array([-np.inf, *np.arange(bins / 9), np.inf])):
        assert_same(wf.histogram(samples, edges)[0], np.histogram(samples, edges)[0])
        assert_same(wf.histogram(samples, edges, weights=samples.astype(np.int64))[0],
                    np.histogram(samples, edges, weights=samples.astype(np.int64))[0])
        if np.isfinite(edges).all():
            pair = [edges, np.linspace(-9, 9, 4)]
            assert_same(wf.histogram2d(samples, samples, pair)[0], np.histogram2d(samples, samples, pair)[0])
