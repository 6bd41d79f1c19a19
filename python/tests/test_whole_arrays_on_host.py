# SPDX-License-Identifier: MIT
"""The calls of the extension module that functions of a whole array in host memory are, beside the functions in Python."""
import os

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import warpfold as wf
from support import OF_FLOATS, TYPES, arrays, assert_same, moderate, outcome, with_axis

pytestmark = pytest.mark.skipif(bool(os.environ.get("WARPFOLD_DEVICE")), reason="is about arrays that are computed on the host")

ALONG = ("sum", "prod", "min", "max", "argmin", "argmax", "mean", "any", "all", "count_nonzero", *OF_FLOATS[1:])


@pytest.fixture(scope="module", autouse=True)
def first_call():
    wf.sum(np.ones(3))
    assert np.ndarray in wf._calls._whole_arrays


def in_one_call(name, array, axis=None):
    (call,) = wf._calls._whole_arrays[np.ndarray]
    return call(wf._calls.WHOLE.index(name), array, axis)


def of_python(function, *arguments):
    """The outcome of the functions in Python."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wf._calls, "whole_on_host", {})
        return outcome(function, *arguments)


def assert_same_kinds(ours, theirs):
    """The same elements, of the same classes; also of tuples."""
    assert type(ours) is type(theirs)
    for one, other in zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]:
        assert type(one) is type(other)
        assert_same(one, other)


# Calls of functions with a method of WholeArrays, usual ones and ones that are left to Python: of any array, and one of its shape.
CALLS = {
    "exact_dot": wf.exact_dot, "exact_vdot": wf.exact_vdot,
    "exact_dot of two types": lambda a, b: wf.exact_dot(a, np.asarray(b).astype(np.float64)),
    "exact_dot that broadcasts": lambda a, b: wf.exact_dot(a, b[:1]),
    **{f"scan {op} {reverse} {exclusive}": lambda a, b, op=op, reverse=reverse, exclusive=exclusive: wf.scan(
        a, op, reverse=reverse, exclusive=exclusive) for op in wf._reductions.OPERATIONS for reverse in (0, 1) for exclusive in (0, 1)},
    **{f"segment_{op}": lambda a, b, op=op: getattr(wf, f"segment_{op}")(a, np.array([0, 0, len(a) // 3, len(a)]))
       for op in wf._reductions.OPERATIONS},
    **{f"segments {offsets}": lambda a, b, offsets=offsets: wf.segment_sum(a, offsets) for offsets in (
        [], [0], [3, 0], [0, 10**9], [-1, 0], [0.0, 1.0], b"\0\0\0\0\0\0\0\0")},
    **{f"segments {offsets}, of NumPy": lambda a, b, offsets=offsets: wf.segment_max(a, np.array(offsets)) for offsets in (
        [], [0], [3, 0], [0, 10**9], [-1, 0], [0.0, 1.0], [[0, 1]], 0)},
    "select": lambda a, b: wf.select(a, b > b[:1]), "partition_by": lambda a, b: wf.partition_by(a, b > b[:1]),
    "select by itself": lambda a, b: wf.select(a, a), "partition_by itself": lambda a, b: wf.partition_by(a, a),
    "select that broadcasts": lambda a, b: wf.select(a, np.array([True])), "select by a sequence": lambda a, b: wf.select(a, [True] * len(a)),
    "select with gaps": lambda a, b: wf.select(a, np.ones(2 * len(a), bool)[::2]),
    "run_length_encode": lambda a, b: wf.run_length_encode(a),
    **{f"unique_consecutive {some}": lambda a, b, some=some: wf.unique_consecutive(a, *some) for some in (
        (False, False), (False, True), (True, True))},
    **{f"{name} {mode}": lambda a, b, name=name, mode=mode: getattr(wf, name)(a, b[:3], mode)
       for name in ("convolve", "correlate") for mode in wf._convolve.MODES},
    **{f"{name} {mode}": lambda a, b, name=name, mode=mode: getattr(wf, name)(a, b[:2, :4], mode)
       for name in ("convolve2d", "correlate2d") for mode in wf._convolve.MODES},
    "convolve with a longer mask": lambda a, b: wf.convolve(a[:2], b), "convolve of another mode": lambda a, b: wf.convolve(a, b, "most"),
    "convolve with a sequence": lambda a, b: wf.convolve(a, [1, 2]), "convolve with none": lambda a, b: wf.convolve(a, None),
    "digitize": lambda a, b: wf.digitize(a, np.array([-1, 0, 0, 2.5])), "digitize right": lambda a, b: wf.digitize(a, np.array([0, 3]), True),
    **{f"digitize {bins} {dtype}": lambda a, b, bins=bins, dtype=dtype: wf.digitize(a, np.array(bins, dtype)) for bins, dtype in (
        ([3, 0], None), ([3, 0, 3], None), ([0, 1], object), ([0, 1], ">f8"), ([0, 1], complex), ([], None), ([[0, 1]], None))},
    "histogram": lambda a, b: wf.histogram(a, 7, (0, 3)), "histogram of all": lambda a, b: wf.histogram(a, 5),
    "histogram of no range": lambda a, b: wf.histogram(a, 5, (3, 0)),
    "histogram2d": lambda a, b: wf.histogram2d(a, b, 3), "histogramdd": lambda a, b: wf.histogramdd((a, b, a), 2)[0],
    "histogramdd, edges": lambda a, b: tuple(wf.histogramdd([a, b], 3)[1]),
    "histogram2d of two types": lambda a, b: wf.histogram2d(a, np.asarray(b).astype(np.float64), 3),
    "gaussian_blur": lambda a, b: wf.gaussian_blur(a, 1), "gaussian_blur that wraps": lambda a, b: wf.gaussian_blur(a, 0.7, 2, "wrap")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(CALLS))
@settings(max_examples=20)
@given(arrays(elements=moderate) | arrays(max_dims=1, max_side=40))
def test_calls_of_other_arguments(name, array):
    other = array[::-1] if array.ndim else array
    assert_same_kinds(outcome(CALLS[name], array, other), of_python(CALLS[name], array, other))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(CALLS))
def test_calls_of_other_arguments_on_tensors(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is no requirement of the package")
    wf.sum(torch.ones(3))
    for tensor in (torch.arange(24.0) % 7, (torch.arange(24.0) % 7).reshape(4, 6).T, torch.arange(24) % 5, torch.arange(24) % 2 == 0):
        ours, theirs = outcome(CALLS[name], tensor, tensor.flip(0)), of_python(CALLS[name], tensor, tensor.flip(0))
        for one, other in zip(ours, theirs, strict=True) if isinstance(ours, tuple) else [(ours, theirs)]:
            assert type(one) is type(other) and (isinstance(one, type) or torch.equal(one, other))


def test_usual_calls_of_other_arguments_are_one_call(monkeypatch):
    for module in ("bins", "convolve", "exact", "filters", "grids", "scans", "segments", "selection"):
        monkeypatch.setattr(f"warpfold._{module}.call_of", lambda *_: pytest.fail("computed in Python"))
    line, image = np.arange(9, dtype=np.float32), np.ones((5, 6), np.float32)
    for name in ("exact_dot", "exact_vdot", "scan min 1 0", "scan sum 0 1", "segment_max", "select", "partition_by", "digitize",
                 "histogram", "histogram of all", "histogram2d", "histogramdd", "run_length_encode", "unique_consecutive (False, True)",
                 "convolve full", "correlate same"):
        CALLS[name](line, line[::-1].copy())
    CALLS["exact_dot"](image, image), CALLS["gaussian_blur"](image, image), CALLS["convolve2d same"](image, image)


@pytest.mark.parametrize("dtype", [bool, np.float32, np.float64, np.int16])
def test_one_element_decides_any_and_all(dtype):
    for n in (1, 4095, 4096, 4097, 40_000, 300_001):
        for place in (0, n // 2, n - 1):
            array = np.zeros(n, dtype)
            array[place] = 1
            for some in (array, array[::-1], np.repeat(array, 2)[::2]):
                assert wf.any(some) and not wf.any(some == 7) and not wf.all(1 - some.astype(np.int8)) and wf.all(some < 2)


@given(st.sampled_from(wf._calls.WHOLE), with_axis(arrays(elements=moderate)))
def test_results_and_errors_are_those_of_the_functions_in_python(name, case):
    array, axis = case
    function = getattr(wf, name)
    assert_same_kinds(outcome(function, array, axis), outcome(function.__wrapped__, array, axis))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (40, 25), (70001,)], ids=str)
def test_what_is_one_call(dtype, shape):
    array = np.ones(shape, dtype)
    for name in wf._calls.WHOLE:
        of_floats = (dtype == np.float16 if name in ("mean", "var", "norm")
                     else name in OF_FLOATS and dtype not in (np.float32, np.float64))
        is_left = of_floats or (name.startswith("cum") and len(shape) != 1)
        assert (in_one_call(name, array) is None) == is_left, name
        for axis in range(-len(shape), len(shape)):
            assert (in_one_call(name, array, axis) is None) == (name not in ALONG or of_floats), name


@given(st.sampled_from(ALONG), with_axis(arrays(elements=moderate)))
def test_kept_axes(name, case):
    array, axis = case
    function = getattr(wf, name)
    expected = outcome(function.__wrapped__, array, axis, keepdims=True)
    assert_same_kinds(outcome(function, array, axis, keepdims=True), expected)
    assert_same_kinds(outcome(function, array, axis=axis, keepdims=True), expected)


def test_kept_axes_are_those_of_numpy(monkeypatch):
    monkeypatch.setattr("warpfold._reductions.call_of", lambda *_: pytest.fail("computed in Python"))
    array = np.arange(24.0).reshape(2, 3, 4)
    for axis in (None, 0, 1, -1, -3):
        assert_same(wf.max(array, axis, keepdims=True), np.max(array, axis, keepdims=True))
        assert_same(wf.argmin(array, axis=axis, keepdims=True), np.argmin(array, axis=axis, keepdims=True))


# Values of arguments that one call of the extension module may have, and ones that are left to Python.
DTYPES = [None, np.int8, "uint16", np.dtype("int64"), np.uint64, np.float16, "f4", float, bool, ">f8", complex, "none", 3]
INITIALS = [0, 1, -3, 2.5, -0.0, float("nan"), 300, 2**40 + 1, 2**63, -1, True, np.float32(2), None, "a"]
OUTS = ["usual", "gaps", "int8", "float64", "read-only", "shape", "itself", "none", np.matrix]


def given_out(kind, usual, array):
    """An `out` for results like `usual`."""
    room = np.zeros((*usual.shape, 2), usual.dtype)
    made = {"usual": room[..., 0].copy(), "gaps": room[..., 1], "shape": np.zeros((2, *usual.shape), usual.dtype),
            "read-only": room[..., 0].copy(), "none": [], "itself": np.resize(array.reshape(-1)[:usual.size], usual.shape)}
    if kind == "itself" and array.size >= usual.size:
        made[kind] = array.reshape(-1)[:usual.size].reshape(usual.shape)
    if kind == "read-only":
        made[kind].flags.writeable = False
    if kind is np.matrix:
        return room[..., 0].reshape(-1, 1).view(np.matrix)
    return made[kind] if kind in made else np.zeros(usual.shape, kind)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=600)
@given(st.sampled_from(sorted(wf._calls.HAVE_MORE)), with_axis(arrays(elements=moderate)), st.data())
def test_calls_with_arguments(name, case, data):
    array, axis = case
    function = getattr(wf, name)
    options = {"axis": axis} if data.draw(st.booleans()) else {}
    for argument, values in (("dtype", DTYPES), ("initial", INITIALS), ("out", OUTS)):
        if data.draw(st.booleans()):
            options[argument] = data.draw(st.sampled_from(values))
    if data.draw(st.booleans()):
        flags = np.asarray(np.arange(array.size).reshape(array.shape) % 3 != data.draw(st.integers(0, 3)))
        first = flags[..., :1] if flags.ndim else flags
        options["where"] = data.draw(st.sampled_from([flags, first, np.zeros_like(flags), True, None, flags + 1]))
    results, written = [], []
    for call in (function, function.__wrapped__):
        mine = array.copy() if options.get("out") == "itself" else array
        given = dict(options)
        if "out" in options:
            usual = outcome(function.__wrapped__, mine, **{key: value for key, value in options.items() if key != "out"})
            given["out"] = given_out(options["out"], np.zeros(1) if isinstance(usual, type) else np.asarray(usual), mine)
        results.append(outcome(call, mine, **given))
        assert isinstance(results[-1], type) or "out" not in options or results[-1] is given["out"]
        written.append(given.get("out"))
    assert_same_kinds(*results)
    if "out" in options and not isinstance(results[0], type):
        assert_same(*written)


def test_which_arguments_are_one_call(monkeypatch):
    for module in ("reductions", "moments", "scans"):
        monkeypatch.setattr(f"warpfold._{module}.call_of", lambda *_: pytest.fail("computed in Python"))
    array, flags = np.arange(24, dtype=np.float32).reshape(4, 6), np.arange(24).reshape(4, 6) % 2 == 0
    for axis, kept in ((None, ()), (0, (6,)), (1, (4,)), (-2, (6,))):
        for name in ("sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax"):
            out = np.empty(kept, getattr(np, name)(array).dtype)
            assert getattr(wf, name)(array, axis, out=out) is out
            assert_same(out, getattr(np, name)(array, axis))
        for name in ("sum", "prod", "min", "max"):
            assert_same(getattr(wf, name)(array, axis, initial=3), getattr(np, name)(array, axis, initial=3))
            assert_same(getattr(wf, name)(array, axis=axis, initial=1, where=flags),
                        getattr(np, name)(array, axis, initial=1, where=flags))
        for name in ("any", "all"):
            assert_same(getattr(wf, name)(array, axis, where=flags), getattr(np, name)(array, axis, where=flags))
        assert_same(wf.sum(array, axis, dtype=np.float64), np.sum(array, axis, dtype=np.float64))
        assert_same(wf.sum(flags, axis, dtype="i8"), np.sum(flags, axis, dtype="i8"))
        if axis is not None:
            assert_same(wf.mean(array, axis, where=flags | (array < 6)), np.mean(array, axis, where=flags | (array < 6)))
            for name in ("cumsum", "cumprod"):
                out = np.empty_like(array)
                assert getattr(wf, name)(array, axis, out=out) is out
                assert_same(out, getattr(np, name)(array, axis), 1e-6)
            assert_same(wf.cummin(array, axis), np.minimum.accumulate(array, axis))


def test_an_axis_that_is_given_twice():
    for options in ({"out": None}, {}):
        with pytest.raises(TypeError):
            wf.sum(np.ones((2, 2)), 0, axis=0, **options)


@pytest.mark.parametrize("array", [
    np.ones(3, ">f4"), np.ones(3, complex), np.ones(3, np.longdouble), np.array(["a"]), np.array([None]), np.zeros(3, "M8[s]"),
    np.zeros(2, [("x", "f4")]), np.empty(0), np.empty((0, 3)), np.empty((3, 0))], ids=lambda array: f"{array.dtype} {array.shape}")
def test_what_is_left_to_python(array):
    for name in wf._calls.WHOLE:
        assert in_one_call(name, array) is None and in_one_call(name, array, 0) is None


def test_bincounts_are_one_call(monkeypatch):
    def in_python(*_):
        pytest.fail("computed in Python")

    for dtype in TYPES:
        for values in ([3], [0, 5, 1, 5], range(100)):
            array = np.array(values).astype(dtype)
            expected = None if dtype.kind == "f" or dtype == np.uint64 else np.bincount(array)
            with monkeypatch.context() as patch:
                patch.setattr("warpfold._bins.call_of", in_python)
                for some in (array, array[::-1], np.repeat(array, 2)[::2]):
                    if expected is None:
                        assert wf._calls.whole_on_host[np.ndarray].bincount(some) is None
                    else:
                        assert_same(wf.bincount(some), expected)
    for array in (np.array([-1, 2]), np.array([2**30]), np.array([2**63 - 1]), np.array(3), np.ones((2, 2), int), np.empty(0, int)):
        assert wf._calls.whole_on_host[np.ndarray].bincount(array) is None


def test_which_axes_are_left_to_python():
    array = np.ones((2, 3))
    for axis in (2, -3, 2**70, (0, 1), True, 1.0, np.int64(1)):
        assert in_one_call("sum", array, axis) is None, axis


def test_subclasses_are_left_to_python():
    class Matrix(np.ndarray):
        pass

    assert type(wf.sum(np.ones((2, 2)).view(Matrix), 0)) is type(wf.sum.__wrapped__(np.ones((2, 2)).view(Matrix), 0))
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(TypeError, match="masked"):
        wf.sum(masked)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64"])
def test_tensors_in_host_memory(dtype):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is no requirement of the package")
    base = torch.arange(24).reshape(4, 6) % 5
    wf.sum(base)
    (call,) = wf._calls._whole_arrays[torch.Tensor]
    for tensor in (base.to(getattr(torch, dtype)), base.to(getattr(torch, dtype)).T[::2], base.to(getattr(torch, dtype)).reshape(-1)):
        for name in wf._calls.WHOLE:
            for axis in (None, 0):
                ours, theirs = (outcome(function, tensor, axis) for function in (getattr(wf, name), getattr(wf, name).__wrapped__))
                for one, other in zip(ours, theirs) if isinstance(ours, tuple) else [(ours, theirs)]:
                    assert type(one) is type(other) and (isinstance(one, type) or torch.equal(one, other))
        assert call(0, tensor, None) is not None
    if not base.to(getattr(torch, dtype)).is_floating_point():
        flat = base.to(getattr(torch, dtype)).reshape(-1)
        assert torch.equal(wf._calls.whole_on_host[torch.Tensor].bincount(flat), torch.from_numpy(np.bincount(flat.numpy())))


def test_tensors_that_are_left_to_python():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: it is no requirement of the package")
    wf.sum(torch.ones(3))
    with pytest.raises(TypeError, match="sum: a cannot be read: .*grad"):
        wf.sum(torch.ones(3, requires_grad=True))
    for tensor in (torch.ones(3, dtype=torch.bfloat16), torch.ones(3, device="meta"), torch.ones(3).to_sparse()):
        with pytest.raises(TypeError):
            wf.sum(tensor)
    negative = torch.imag(torch.tensor([1 + 2j, 3 - 5j]).conj())
    assert negative.is_neg() and wf.sum(negative).item() == 3 and wf.max(negative).item() == 5
    with pytest.raises(TypeError, match="cumsum: out has PyTorch's negative bit"):
        wf.cumsum(torch.ones(2), out=negative)
    out = torch.zeros(2, dtype=torch.float64)
    assert wf.cumsum(torch.ones(2), out=out) is out and out.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_of_many_elements(dtype):
    for n in (1, 7, 1000, 2**24 + 1):
        array = np.full(n, 3, dtype)
        ours, theirs = in_one_call("mean", array), wf.mean.__wrapped__(array)
        assert type(ours) is dtype and ours == theirs and abs(ours - 3) < 1e-5
