# SPDX-License-Identifier: MIT
"""Selected elements and runs."""
import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import TYPES, arrays, assert_same, moderate, outcome, tolerance_of

few = {"f": [-1.0, -0.0, 0.0, 1.0, np.nan], "b": [0, 1], "i": [0, 1, 2], "u": [0, 1, 2]}


def repeating(dtype):
    return st.sampled_from(few[dtype.kind])


def native(array):
    return array.dtype.newbyteorder("=")


@given(arrays(), st.sampled_from(["some", "all", "none", "one", "a row"]))
def test_selections(array, which):
    where = {"some": np.arange(array.size).reshape(array.shape) % 3 == 1, "all": np.ones(array.shape, bool),
             "none": np.zeros((1,) * array.ndim, bool), "one": True,
             "a row": np.arange(array.shape[-1] if array.ndim else 1)[::-1] % 2 == 0}[which]
    if array.ndim == 0:
        where = np.asarray(where).reshape(())
    mask = np.broadcast_to(where, array.shape)
    assert_same(wf.select(array, where), array[mask].astype(native(array)))
    selected, rejected = wf.partition_by(array, where)
    assert_same(selected, array[mask].astype(native(array)))
    assert_same(rejected, array[~mask].astype(native(array)))


def runs(values):
    """The first index and the length of each run of a list."""
    heads = [k for k in range(len(values)) if k == 0 or values[k - 1] != values[k]]
    return heads, np.diff([*heads, len(values)]) if heads else np.zeros(0, np.int64)


@given(arrays(elements=repeating, max_side=5))
def test_runs(array):
    line = array.reshape(-1)
    heads, lengths = runs(line.tolist())
    expected = line[heads].astype(native(array)) if heads else line[:0].astype(native(array))
    values, ours = wf.run_length_encode(array)
    assert_same(values, expected)
    assert_same(np.signbit(values), np.signbit(expected)) if array.dtype.kind == "f" else None
    assert_same(ours, lengths.astype(np.int64))
    assert_same(wf.unique_consecutive(array), expected)
    values, inverse, counts = wf.unique_consecutive(array, return_inverse=True, return_counts=True)
    assert_same(counts, lengths.astype(np.int64))
    assert inverse.shape == array.shape and inverse.dtype == np.int64
    np.testing.assert_array_equal(values[inverse], array)
    assert inverse.size == 0 or (inverse.reshape(-1)[0] == 0 and inverse.max() == values.size - 1)


@given(st.data(), st.integers(0, 12), st.sampled_from(["sum", "prod", "min", "max"]))
def test_reductions_by_key(data, n, op):
    line = {"min_dims": 1, "max_dims": 1, "min_side": n, "max_side": n,
            "layouts": ["as it is", "reversed", "unaligned", "swapped"]}
    keys = data.draw(arrays(elements=repeating, **line))
    values = data.draw(arrays(elements=moderate if op != "prod" else repeating, **line))
    heads, lengths = runs(keys.tolist())
    pieces = [values[head:head + length] for head, length in zip(heads, lengths)]
    dtype = getattr(np, op)(np.ones(1, native(values))).dtype
    ours_keys, ours = wf.reduce_by_key(keys, values, op)
    assert_same(ours_keys, keys[heads].astype(native(keys)) if heads else keys[:0].astype(native(keys)))
    assert_same(ours, np.array([getattr(np, op)(piece) for piece in pieces], dtype), tolerance_of(dtype))


@pytest.mark.parametrize("n", [0, 1, 63, 65, 8191, 16385, 100003])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_long_arrays(n, dtype):
    rng = np.random.default_rng(n)
    array = np.repeat(rng.integers(0, 2, n), rng.integers(1, 5, n))[:n].astype(dtype)
    where = rng.integers(0, 2, n).astype(bool)
    assert_same(wf.select(array, where), array[where])
    selected, rejected = wf.partition_by(array[::-1], where)
    assert_same(selected, array[::-1][where])
    assert_same(rejected, array[::-1][~where])
    heads = np.flatnonzero(np.concatenate([np.ones(min(n, 1), bool), array[1:] != array[:-1]]))
    values, lengths = wf.run_length_encode(array)
    assert_same(values, array[heads])
    assert_same(lengths, np.diff(heads, append=n) if n else np.zeros(0, np.int64))
    if n and dtype != np.float16:
        assert_same(wf.reduce_by_key(array, array)[1], np.add.reduceat(array, heads, dtype=np.sum(array[:1]).dtype))


def test_one_run():
    array = np.full(50001, 3, np.int16)
    values, lengths = wf.run_length_encode(array)
    assert values.tolist() == [3] and lengths.tolist() == [50001]
    assert wf.reduce_by_key(array, array)[1].tolist() == [150003]


@pytest.mark.parametrize("call, error", [
    (lambda: wf.select(np.zeros(3), [1, 0, 1]), TypeError),
    (lambda: wf.select(np.zeros(3), [True, False]), ValueError),
    (lambda: wf.select(np.zeros(3), np.ones((2, 3), bool)), ValueError),
    (lambda: wf.select([np.zeros(3) > 0], [np.zeros(3)]), TypeError),  # numpy.select's arguments
    (lambda: wf.partition_by(np.zeros(3), 1), TypeError),  # numpy.partition's
    (lambda: wf.partition_by(np.zeros(3, complex), True), TypeError),
    (lambda: wf.run_length_encode(np.zeros(3, complex)), TypeError),
    (lambda: wf.unique_consecutive(["x"]), TypeError),
    (lambda: wf.reduce_by_key([1, 2], [1, 2, 3]), ValueError),
    (lambda: wf.reduce_by_key([[1, 2]], [[1, 2]]), ValueError),
    (lambda: wf.reduce_by_key([1, 2], [1, 2], "mean"), ValueError),
])
def test_errors(call, error):
    assert outcome(call) is error


def test_no_elements_and_an_empty_list():
    assert_same(wf.select([], []), np.zeros(0))
    for part in wf.partition_by([], []):
        assert_same(part, np.zeros(0))


@pytest.mark.parametrize("dtype", ["f8", "i2", "?"])
def test_no_elements_at_any_address(dtype):
    empty = np.zeros(0, [("p", "u1"), ("v", dtype)])["v"]
    for parts in (wf.run_length_encode(empty)[:1], wf.partition_by(empty, empty != 0), [wf.select(empty, empty != 0)],
                  [wf.unique_consecutive(empty)], wf.reduce_by_key(empty, empty, "max")):
        for part in parts:
            assert_same(part, np.zeros(0, dtype))


def test_runs_are_those_of_itertools():
    letters = np.frombuffer(b"mississippi", np.uint8)
    values, lengths = wf.run_length_encode(letters)
    expected = [(key, len(list(group))) for key, group in itertools.groupby(letters.tolist())]
    assert list(zip(values.tolist(), lengths.tolist())) == expected
