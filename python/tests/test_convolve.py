# SPDX-License-Identifier: MIT
"""Convolutions of one axis."""
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
    lambda m: m.convolve(np.zeros(2), np.zeros(2), "other"),
    lambda m: m.correlate(np.zeros(2), np.zeros((1, 2))),
    lambda m: m.correlate(np.zeros(2), np.zeros(0)),
])
def test_errors(call):
    theirs = outcome(call, np)
    assert isinstance(theirs, type)
    assert issubclass(outcome(call, wf), theirs)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_modes_by_number(name):
    a, v = np.arange(5.0), np.array([1.0, 2.0, 3.0])
    for mode in (0, 1, 2, np.int64(1)):
        assert_same(getattr(wf, name)(a, v, mode), getattr(np, name)(a, v, mode))
    for mode in (3, -1, True, 1.0, None):
        assert_same(outcome(getattr(wf, name), a, v, mode), outcome(getattr(np, name), a, v, mode))
