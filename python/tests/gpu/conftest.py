# SPDX-License-Identifier: MIT
"""Stand-ins of PyTorch and CuPy: the few of their names that the package uses. gpu_check.py runs with the packages themselves."""
import ctypes
import importlib
import sys
import types

import numpy as np
import pytest

import warpfold as wf
from device_values import RUNTIME, DeviceValues, check
from support import NAMES


@pytest.fixture
def stream():
    handle = ctypes.c_void_p()
    check(RUNTIME.cudaStreamCreate(ctypes.byref(handle)))
    yield handle.value
    check(RUNTIME.cudaStreamSynchronize(handle))
    check(RUNTIME.cudaStreamDestroy(handle))


class PackageArray(DeviceValues):
    @property
    def dtype(self):
        return self.host.dtype

    @property
    def shape(self):
        return self.host.shape

    @property
    def strides(self):
        return self.host.strides

    def __getitem__(self, index):
        return self.view(lambda x: x[index])


class Tensor(PackageArray):
    """Like a tensor of PyTorch: its interface has no stream."""

    is_cuda = True
    requires_grad = False
    layout = "strided"
    version = 0

    device = types.SimpleNamespace(index=0)

    def data_ptr(self):
        return self.host.ctypes.data

    def stride(self):
        return tuple(step // self.host.itemsize for step in self.host.strides)

    def is_neg(self):
        return False

    def is_inference(self):
        return False

    def get_device(self):
        return 0

    def is_contiguous(self):
        return bool(self.host.flags.c_contiguous)

    def numel(self):
        return self.host.size

    def dim(self):
        return self.host.ndim


class Array(PackageArray):
    """Like an array of CuPy: of values, or new, of a shape and type."""

    def __init__(self, values, dtype=None):
        super().__init__(values if dtype is None else np.full(values, 99, dtype))

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.host.ctypes.data, device_id=0)

    @property
    def flags(self):
        return types.SimpleNamespace(c_contiguous=bool(self.host.flags.c_contiguous))

    @property
    def ndim(self):
        return self.host.ndim


@pytest.fixture
def fresh_packages(request):
    """The stand-ins of other tests are forgotten, and later those of this one."""
    kinds = importlib.import_module("warpfold._on_gpu.kinds")
    for forget in (kinds.torch_stream.cache_clear, kinds.torch_tensors.cache_clear, kinds.cupy_arrays.cache_clear):
        forget()
        request.addfinalizer(forget)
    request.addfinalizer(lambda: wf._calls._whole_arrays.clear())
    request.addfinalizer(lambda: wf._calls.whole_on_gpu.clear())


def count(tensor):
    tensor.version += 1


@pytest.fixture
def torch(monkeypatch, stream, fresh_packages):
    module = types.ModuleType("torch")
    module.Tensor = Tensor
    module.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=stream))
    module.empty = lambda shape, dtype, device: Tensor(np.full(shape, 99, dtype))
    module.strided = "strided"
    module.autograd = types.SimpleNamespace(graph=types.SimpleNamespace(increment_version=count))
    for name in NAMES:
        setattr(module, name, np.dtype(name))
    monkeypatch.setitem(sys.modules, "torch", module)
    return Tensor


@pytest.fixture
def torch_of_compile(torch, stream, monkeypatch):
    """With the functions that code of torch.compile calls."""
    def empty(shape, strides, dtype):
        assert strides == tuple(step // dtype.itemsize for step in np.empty(shape, dtype).strides)
        return Tensor(np.full(shape, 99, dtype))

    module = sys.modules["torch"]
    guards = types.SimpleNamespace(_empty_strided_cuda=empty)
    monkeypatch.setattr(module, "_C", types.SimpleNamespace(
        _cuda_getCurrentRawStream=lambda device: stream, _cuda_getDevice=lambda: 0, _dynamo=types.SimpleNamespace(guards=guards)), raising=False)
    monkeypatch.setattr(module, "empty", lambda *_, **options: pytest.fail("not called"))
    return torch


@pytest.fixture
def cupy(monkeypatch, stream, fresh_packages):
    def current_stream(device):
        assert device == 0
        return types.SimpleNamespace(ptr=stream)

    module = types.ModuleType("cupy")
    module.ndarray = Array
    module.cuda = types.SimpleNamespace(get_current_stream=current_stream)  # no Device: that of the input is current
    monkeypatch.setitem(sys.modules, "cupy", module)
    return Array
