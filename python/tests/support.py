# SPDX-License-Identifier: MIT
"""Arrays and comparisons that the tests share."""
import os

import numpy as np
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.extra import numpy as hnp

# Deterministic, and of a bounded cost: the machines of continuous integration are slow.
settings.register_profile("ci", max_examples=12 if os.environ.get("WARPFOLD_DEVICE") else 60, deadline=None, derandomize=True,
                          suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.load_profile("ci")

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
TYPES = [np.dtype(name) for name in NAMES]
# Functions whose usual call is one call of an extension module for float32 and float64 only.
OF_FLOATS = ("mean", "var", "norm", "exact_sum", "exact_mean", "exact_var", "exact_norm")

# Layouts of a result of a strategy: transposed, reversed, with gaps, in one axis repeated, unaligned, byte-swapped, and bool
# whose bytes are not 0 and 1 only.
LAYOUTS = ["as it is", "transposed", "reversed", "gaps", "repeated", "unaligned", "swapped", "bytes"]


def laid_out(array, layout):
    """The same kind of array in another layout."""
    if layout == "transposed":
        return array.T
    if layout == "reversed":
        return array[tuple(slice(None, None, -1) for _ in array.shape)]
    if layout == "gaps" and array.ndim:
        return array[..., ::2]
    if layout == "repeated":
        return np.broadcast_to(array, (3, *array.shape))
    if layout == "unaligned":
        room = np.zeros(array.nbytes + 1, np.uint8)
        moved = room[1:].view(array.dtype)[:array.size].reshape(array.shape) if array.size else array
        moved[...] = array
        return moved
    if layout == "bytes" and array.dtype == bool:
        bytes_of_true = (1 + 127 * np.arange(array.size, dtype=np.uint8) % 255).reshape(array.shape)
        return np.asarray(array * bytes_of_true).view(bool)
    if layout == "swapped":
        return array.astype(array.dtype.newbyteorder())
    return array


@st.composite
def arrays(draw, types=None, min_dims=0, max_dims=3, max_side=7, min_side=0, layouts=None, elements=None):
    """Arrays of all types, shapes and layouts; floating-point numbers include NaN, infinities and both zeros."""
    dtype = draw(st.sampled_from(types or TYPES))
    shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, max_side=max_side, min_side=min_side))
    array = draw(hnp.arrays(dtype, shape, elements=elements(dtype) if elements else None))
    return laid_out(array, draw(st.sampled_from(layouts or LAYOUTS)))


def moderate(dtype):
    """Elements whose sums and products are far from overflow."""
    if dtype.kind == "f":
        return st.integers(-64, 64).map(lambda k: k / 8)
    return None


@st.composite
def with_axis(draw, source):
    """(array, axis), the axis one of the array, several, or None."""
    array = draw(source)
    choices = [st.none()]
    if array.ndim:
        choices.append(st.integers(-array.ndim, array.ndim - 1))
        choices.append(st.lists(st.integers(0, array.ndim - 1), unique=True, max_size=array.ndim).map(tuple))
    return array, draw(st.one_of(choices))


def outcome(function, *arguments, **options):
    """The result, or the type of the exception."""
    try:
        with np.errstate(all="ignore"):
            return function(*arguments, **options)
    except Exception as error:  # pylint: disable=broad-except
        return type(error)


def assert_same(ours, theirs, tolerance=0.0):
    """The same type, shape and elements, or the same exception; floating-point numbers within a relative tolerance."""
    if isinstance(theirs, type) or isinstance(ours, type):
        assert isinstance(ours, type) and isinstance(theirs, type) and issubclass(ours, theirs), (ours, theirs)
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype, (ours.dtype, theirs.dtype)
    assert ours.shape == theirs.shape
    if tolerance == 0 or ours.dtype.kind != "f":
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=tolerance, atol=tolerance)


def tolerance_of(dtype):
    """Of sums of a few hundred elements."""
    return {2: 2e-2, 4: 1e-5, 8: 1e-13}[dtype.itemsize] if dtype.kind == "f" else 1e-13


def near_edges():
    """(samples, edges): each edge and the numbers beside it, for bins of equal width, of nearly equal width, and of none."""
    wide = np.linspace(0.1, 0.7, 1001)
    for edges in (wide, np.linspace(-1e300, 1e300, 10), np.linspace(1e16, 1e16 + 128, 65), np.arange(9) * 5e-324,
                  np.nextafter(wide, np.random.default_rng(1).choice([0, 1], wide.size)), np.geomspace(1, 1e9, 50),
                  np.repeat(np.arange(6.0), 2), np.array([-np.inf, 0, 1, np.inf]), np.array([1.0])):
        yield np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), (edges[1:] + edges[:-1]) / 2]), edges
        with np.errstate(over="ignore"):
            narrow = edges.astype(np.float32)
        if np.isfinite(narrow).all():
            yield np.concatenate([narrow, np.nextafter(narrow, np.float32(-np.inf)), np.nextafter(narrow, np.float32(np.inf))]), edges
    whole = 2**60 + np.arange(200)
    yield whole, whole[::3]
    yield whole.astype(np.uint64) + np.uint64(2**62), whole[::5].astype(np.uint64) + np.uint64(2**62)
