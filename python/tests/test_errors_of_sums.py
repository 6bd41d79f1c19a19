# SPDX-License-Identifier: MIT
"""Rounding errors of sums of equal numbers, which do not average out. On a GPU another order has other errors."""
import math
import os

import numpy as np
import pytest
import warpfold as wf

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE", "host") != "host", reason="of the host")

NUMBER = 3_000_001
SHAPES = [((NUMBER,), None), ((NUMBER // 4, 4), 0), ((NUMBER // 500, 500), 0), ((NUMBER // 2, 2), (0, 1)), ((7, NUMBER // 7), 1)]


def units(got, exact, dtype):
    """The largest relative error in units of half an ulp."""
    return np.max(np.abs(np.asarray(got, float) - exact) / exact) * 2 / np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("has_gaps", [False, True])
def test_errors_of_sums_do_not_grow(dtype, shape, axis, has_gaps):
    room = np.full((*shape[:-1], shape[-1] + has_gaps), 1.1, dtype)
    x = room[..., :shape[-1]]
    value, count = float(x.flat[0]), x.size if axis is None else math.prod(np.atleast_1d(np.take(shape, axis)).tolist())
    assert units(wf.sum(x, axis), value * count, dtype) < 12
    assert units(wf.mean(x, axis), value, dtype) < 14
    if np.ndim(axis) == 0:
        assert units(wf.norm(x, 1, axis), value * count, dtype) < 12


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, axis", [((NUMBER * 2,), None), ((NUMBER // 8, 16), 0)])
def test_errors_of_variances_do_not_grow(dtype, shape, axis):
    """Of two numbers, each of which half of the elements are."""
    x = np.ones(shape, dtype)
    x[::2] = 0.7
    assert units(wf.var(x, axis), ((1 - float(x.flat[0])) / 2)**2, dtype) < 40
