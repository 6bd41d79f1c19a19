# SPDX-License-Identifier: MIT
"""Places between edges and histograms of points beside NumPy's."""
import array as array_module
import ctypes

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import TYPES, arrays, assert_same, outcome

floats = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 1.0, 2.5, 7.0, np.nan, np.inf, -np.inf])


@given(arrays(elements=lambda t: floats if t.kind == "f" else None),
       st.lists(st.sampled_from([-3, -0.0, 0, 1, 2.5, 7, 100, np.inf]), max_size=6).map(sorted), st.booleans(), st.booleans(),
       st.sampled_from(["float64", "float32", "int64", "uint8"]))
def test_digitize(array, edges, right, decreasing, dtype):
    bins = np.array([min(edge, 200) for edge in edges], np.float64).clip(-3 if dtype[0] != "u" else 0).astype(dtype)
    bins = bins[::-1] if decreasing else bins
    assert_same(outcome(wf.digitize, array, bins, right), outcome(np.digitize, array, bins, right))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint64"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 11, 64, 1023, 5000])
def test_digitize_numbers_at_the_edges(dtype, count):
    """Edges of float64 between and at numbers of the samples' type, and beyond all of them."""
    edges = np.sort(np.random.default_rng(count).normal(0, 3, count))
    edges[count // 3:count // 2] = edges[count // 3:count // 2].astype(np.float32)
    if count > 5:
        edges[:2], edges[2], edges[-2:] = [-np.inf, -1e300], -1e39, [1e39, 1e300]
        edges[count // 2] = 1e-46
        edges.sort()
    with np.errstate(all="ignore"):
        x = edges.astype(dtype) if dtype[0] != "u" else np.abs(edges).astype(dtype)
        near = np.concatenate([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf), [np.nan, 0]]).astype(dtype) \
            if dtype[0] == "f" else np.append(x, [0, 3]).astype(dtype)
        narrow = np.unique(near)[:count] if dtype[0] != "f" else edges.astype(np.float32)
    for bins in (edges, edges[::-1], narrow):
        for right in (False, True):
            assert_same(wf.digitize(near, bins, right), np.digitize(near, bins, right))


def compare(name, *arguments, **options):
    ours, theirs = (outcome(getattr(m, name), *arguments, **options) for m in (wf, np))
    if isinstance(theirs, type):
        assert isinstance(ours, type) and issubclass(ours, theirs), (ours, theirs)
        return
    assert not isinstance(ours, type), ours
    assert_same(ours[0], theirs[0], 1e-13)
    flat = [(ours[1:], theirs[1:])] if name == "histogram2d" else [(ours[1], theirs[1])]
    for our_edges, their_edges in flat:
        assert len(our_edges) == len(their_edges)
        for our_edge, their_edge in zip(our_edges, their_edges):
            assert_same(our_edge, their_edge)


finite = st.sampled_from([-2.0, -0.0, 0.0, 0.25, 1.0, 2.5, 7.0])
numbers = [dtype for dtype in TYPES if dtype.kind != "b"]


@given(st.data(), st.integers(0, 20), st.booleans(), st.booleans())
def test_points_in_two_dimensions(data, n, density, weighted):
    line = {"types": numbers, "min_dims": 1, "max_dims": 1, "min_side": n, "max_side": n,
            "layouts": ["as it is", "reversed", "unaligned", "swapped"],
            "elements": lambda t: finite if t.kind == "f" else st.integers(0, 60)}
    x, y = data.draw(arrays(**line)), data.draw(arrays(**line))
    bins = data.draw(st.sampled_from([4, [3, 5], [0.0, 1, 2], [[0.0, 0.5, 8], 3], [[0, 1, 8], [0, 7, 61]], [2]]))
    limits = data.draw(st.sampled_from([None, [[0, 5], [-1, 7]], [None, (0, 3)]]))
    compare("histogram2d", x, y, bins, limits, density, np.arange(n) / 4 if weighted else None)


@given(arrays(types=numbers, min_dims=2, max_dims=2, max_side=4, min_side=1,
              elements=lambda t: floats if t.kind == "f" else st.integers(0, 60)), st.booleans(), st.sampled_from([3, "edges"]))
def test_points_in_several_dimensions(array, density, bins):
    if bins == "edges":
        bins = [np.linspace(-3, 7, k + 2) for k in range(array.shape[1])]
    compare("histogramdd", array, bins, density=density)
    if array.shape[1] == 3:
        compare("histogramdd", tuple(array.T), bins, density=density)


@pytest.mark.parametrize("sample", [
    [1, 5, 2], (1.0, 2.5), [], range(4), bytearray(b"abc"), array_module.array("d", [1, 2, 7]), [[1, 2], [3, 5]], [[1.0, 2], (3, 7), np.array([5, 9])],
    ((ctypes.c_float * 2) * 3)((1, 2), (3, 4), (5, 7)), memoryview(np.arange(4.0)), memoryview(b"abc")])
def test_samples_that_are_no_arrays(sample):
    """Without a shape they are one coordinate, or one after the other."""
    if isinstance(sample, memoryview):  # NumPy cannot read columns of it
        assert_same(wf.histogramdd(sample, 3)[0], np.histogramdd(np.asarray(sample), 3)[0])
    else:
        compare("histogramdd", sample, 3)


@pytest.mark.parametrize("bins", [1, 3, [[0, 1], [0, 0.5, 1]]], ids=str)
def test_samples_of_bool(bins):
    x, y = np.array([0, 1, 1, 255], np.uint8).view(bool), np.array([True, True, False, True])
    compare("histogram2d", x, y, bins)
    compare("histogram2d", y[:2], y[:2], bins)
    compare("histogram2d", x, np.arange(4), bins)
    compare("histogramdd", np.stack((x, y), 1), bins)


def test_weights_of_no_elements_at_any_address():
    compare("histogram2d", np.zeros(0), np.zeros(0), 2, weights=np.zeros(0, [("p", "u1"), ("v", "f8")])["v"])


def test_many_points():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(70001, 3)).astype(np.float32)
    compare("histogramdd", points, (7, 8, 9))
    compare("histogramdd", points[::-2, ::-1], 5, weights=rng.normal(size=35001))
    compare("histogram2d", points[:, 0], rng.integers(0, 9, 70001), (50, 9), density=True)


def test_integers_are_compared_exactly():
    edges = np.array([2**60, 2**60 + 1, 2**60 + 2])
    values = np.array([2**60, 2**60 + 1, 2**60 + 1, 2**60 + 2, 2**60 + 3])
    compare("histogramdd", values[:, None], [edges])
    assert_same(wf.digitize(values, edges), np.digitize(values, edges))


def test_edges_that_are_nan():
    with pytest.raises(ValueError, match="digitize: bins has a NaN"):
        wf.digitize(np.zeros(3), [0, np.nan])


@pytest.mark.parametrize("name, call", [
    ("digitize", lambda f: f(np.zeros(3), [0, 2, 1])),
    ("digitize", lambda f: f(np.zeros(3), [[0, 2]])),
    ("digitize", lambda f: f(np.zeros(3), 1.0)),
    ("histogram2d", lambda f: f(np.zeros(3), np.zeros(4))),
    ("histogram2d", lambda f: f(np.zeros(3), np.zeros(3), 0)),
    ("histogram2d", lambda f: f(np.zeros((3, 1)), np.zeros((3, 1)))),
    ("histogram2d", lambda f: f(np.zeros(3), np.zeros(3), 1.5)),
    ("histogram2d", lambda f: f(np.zeros(3), np.zeros(3), range=[[0, 1]])),
    ("histogram2d", lambda f: f(np.zeros(3), np.zeros(3), range=[[1, 0], [0, 1]])),
    ("histogram2d", lambda f: f(np.zeros(3), np.array([0, np.inf, 1]))),
    ("histogram2d", lambda f: f(np.zeros(3), np.zeros(3), weights=np.zeros(2))),
    ("histogramdd", lambda f: f(np.zeros((3, 2)), [1, 2, 3])),
    ("histogramdd", lambda f: f(np.zeros((3, 2)), [[2, 1, 0], 3])),
    ("histogramdd", lambda f: f(np.zeros((3, 2)), [[[2, 1]], 3])),
])
def test_errors(name, call):
    theirs = outcome(call, getattr(np, name))
    assert isinstance(theirs, type)
    ours = outcome(call, getattr(wf, name))
    assert isinstance(ours, type) and issubclass(ours, theirs), (ours, theirs)
