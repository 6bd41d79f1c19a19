# SPDX-License-Identifier: MIT
"""The calls of the extension module that functions of a whole array in host memory are, beside the functions in Python."""
import os

import numpy as np
import pytest
from hypothesis import given, strategies as st

import warpfold as wf
from support import TYPES, arrays, assert_same, moderate, outcome, with_axis

pytestmark = pytest.mark.skipif(bool(os.environ.get("WARPFOLD_DEVICE")), reason="is about arrays that are computed on the host")

ALONG = ("sum", "prod", "min", "max", "argmin", "argmax")
LEFT_TO_PYTHON = ("norm", "var")


@pytest.fixture(scope="module", autouse=True)
def first_call():
    wf.sum(np.ones(3))
    assert np.ndarray in wf._calls._whole_arrays


def in_one_call(name, array, axis=None):
    (call,) = wf._calls._whole_arrays[np.ndarray]
    return call(wf._calls.WHOLE.index(name), array, axis)


@given(st.sampled_from(wf._calls.WHOLE), with_axis(arrays(elements=moderate)))
def test_results_and_errors_are_those_of_the_functions_in_python(name, case):
    array, axis = case
    function = getattr(wf, name)
    ours, theirs = outcome(function, array, axis), outcome(function.__wrapped__, array, axis)
    assert type(ours) is type(theirs)
    for one, other in zip(ours, theirs) if isinstance(ours, tuple) else [(ours, theirs)]:
        assert type(one) is type(other)
        assert_same(one, other)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (40, 25), (70001,)], ids=str)
def test_what_is_one_call(dtype, shape):
    array = np.ones(shape, dtype)
    for name in wf._calls.WHOLE:
        is_left = name in LEFT_TO_PYTHON or (name in ("mean", "exact_sum") and dtype not in (np.float32, np.float64)) or (
            name.startswith("cum") and len(shape) != 1)
        assert (in_one_call(name, array) is None) == is_left, name
        for axis in range(-len(shape), len(shape)):
            assert (in_one_call(name, array, axis) is None) == (name not in ALONG), name


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
                        assert wf._calls.whole_bincounts[np.ndarray](some) is None
                    else:
                        assert_same(wf.bincount(some), expected)
    for array in (np.array([-1, 2]), np.array([2**30]), np.array([2**63 - 1]), np.array(3), np.ones((2, 2), int), np.empty(0, int)):
        assert wf._calls.whole_bincounts[np.ndarray](array) is None


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
        assert torch.equal(wf._calls.whole_bincounts[torch.Tensor](flat), torch.from_numpy(np.bincount(flat.numpy())))


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
