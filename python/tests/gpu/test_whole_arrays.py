# SPDX-License-Identifier: MIT
"""The calls of the extension module that functions of a whole tensor are, on the software GPU: with tensors of the test that
have the attributes of PyTorch's. gpu_check.py compares them on a GPU with PyTorch's own."""
import os

import numpy as np
import pytest

import warpfold as wf
from device_values import DeviceValues
from support import OF_FLOATS, TYPES, assert_same

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE") != "softgpu", reason="needs the software GPU")

STRIDED = object()
COMMON = (np.bool_, np.uint8, np.int32, np.int64, np.float32, np.float64)


class Tensor:
    """A tensor; `memory` is DeviceValues."""

    is_cuda, requires_grad, layout = True, False, STRIDED

    def __init__(self, memory):
        self.memory = memory
        self.dtype, self.shape = memory.host.dtype, memory.host.shape

    def stride(self):
        return tuple(step // self.dtype.itemsize for step in self.memory.host.strides)

    def is_neg(self):
        return False

    def is_contiguous(self):
        return self.memory.host.flags.c_contiguous

    def numel(self):
        return self.memory.host.size

    def dim(self):
        return len(self.shape)

    def get_device(self):
        return 0

    def data_ptr(self):
        return self.memory.host.ctypes.data

    def done(self):
        return self.memory.done()


@pytest.fixture(scope="module")
def call():
    """call(name, tensor): the result, or None for what Python computes."""
    from warpfold import _gpu  # pylint: disable=import-outside-toplevel

    tensors = _gpu.Tensors(Tensor, tuple(TYPES), STRIDED, lambda device: 0,
                           lambda shape, dtype, device: Tensor(DeviceValues(np.full(shape, 77, dtype))), None, None)
    whole = _gpu.WholeArrays(tensors)
    return lambda name, tensor, axis=None: whole.call(wf._calls.WHOLE.index(name), tensor, axis)


def values_of(dtype, shape, least):
    drawn = np.random.default_rng(3).integers(least if dtype.kind in "if" else max(least, 0), 3, shape)
    return drawn.astype(dtype)


def is_left_to_python(name, dtype, shape):
    if name.startswith("cum"):
        return len(shape) != 1
    if name in OF_FLOATS:
        return dtype not in (np.float32, np.float64)
    return name in ("any", "all", "count_nonzero") and dtype not in COMMON


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (40, 25), (70001,)], ids=str)
def test_results_are_those_of_the_functions_in_python(call, dtype, shape):
    for least in (-2, 0, 1):  # with zeros, and without
        memory = DeviceValues(values_of(dtype, shape, least))
        for name in wf._calls.WHOLE:
            found = call(name, Tensor(memory))
            assert (found is None) == is_left_to_python(name, dtype, shape), name
            if found is None:
                continue
            expected = getattr(wf, name)(memory)
            for ours, theirs in zip(found if isinstance(found, tuple) else (found,),
                                    expected if isinstance(expected, tuple) else (expected,)):
                assert_same(ours.done(), np.asarray(theirs.to_host() if hasattr(theirs, "to_host") else theirs), 1e-6)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "argmin", "argmax"])
def test_results_along_an_axis_are_those_of_the_functions_in_python(call, name, dtype):
    for shape in ((9,), (1, 5), (40, 25), (3, 1, 4, 5)):
        memory = DeviceValues(values_of(dtype, shape, -2))
        for array in (memory, memory.view(lambda x: x.T), memory.view(lambda x: x[::-1])):
            for axis in range(-len(shape), len(shape)):
                found = call(name, Tensor(array), axis)
                assert_same(found.done(), getattr(wf, name)(array, axis=axis).to_host(), 1e-6)


def test_which_axes_are_left_to_python(call):
    tensor = Tensor(DeviceValues(np.ones((2, 3))))
    for axis in (2, -3, 2**70, (0, 1), True, 1.0, np.int64(1)):
        assert call("sum", tensor, axis) is None, axis
    for name in ("cumsum", *OF_FLOATS, "any", "all", "count_nonzero", "minmax"):
        assert call(name, tensor, 1) is None, name
    assert call("sum", Tensor(DeviceValues(np.empty((0, 3)))), 1) is None


def test_what_a_call_passes_on(monkeypatch):
    seen = []
    monkeypatch.setitem(wf._calls._whole_arrays, np.ndarray, (lambda which, array, axis: seen.append(axis),))
    a = np.ones((2, 3))
    for call_again in (lambda: wf.sum(a), lambda: wf.sum(a, 1), lambda: wf.sum(a, axis=0), lambda: wf.sum(a, None),
                       lambda: wf.sum(a, axis=None)):
        call_again()
    assert seen == [None, 1, 0, None, None]
    for options in ({"dtype": "int64"}, {"axis": 1, "dtype": "int64"}):
        wf.sum(a, **options)
    assert seen == [None, 1, 0, None, None]
    wf.sum(a, axis=1, keepdims=True)  # of NumPy's arrays only: the shape of the result is changed
    assert seen == [None, 1, 0, None, None, 1]


@pytest.mark.parametrize("name, computed", [("any", [False, True, True]), ("all", [False, False, True]), ("count_nonzero", [0, 1, 5])])
def test_questions_about_zeros(call, name, computed):
    for array, expected in zip(([0] * 5, [0, 0, 0, 9, 0], [1, 2, -3, 4, 5]), computed):
        for dtype in (np.int32, np.int64, np.float32, np.float64):
            found = call(name, Tensor(DeviceValues(np.array(array, dtype)))).done()
            assert found == expected and found.dtype == (np.int64 if name == "count_nonzero" else np.bool_)


def test_variances_are_of_all_elements(call):
    array = np.linspace(-3, 5, 100001)
    for dtype in (np.float32, np.float64):
        found = call("var", Tensor(DeviceValues(array.astype(dtype)))).done()
        np.testing.assert_allclose(found, np.var(array), rtol=1e-5)


def test_others_are_left_to_python(call):
    gaps = DeviceValues(np.arange(12.0)).view(lambda x: x[::2])
    assert call("sum", Tensor(gaps)) is None
    assert call("sum", Tensor(DeviceValues(np.empty(0)))) is None
    assert call("cumsum", Tensor(DeviceValues(np.ones((2, 3))))) is None
    differentiable = Tensor(DeviceValues(np.ones(3)))
    differentiable.requires_grad = True
    assert call("sum", differentiable) is None
    assert call("sum", object()) is None
