# SPDX-License-Identifier: MIT
"""PyTorch and CuPy by stand-ins: the few of their names that the package uses. gpu_check.py runs with the packages themselves."""
import ctypes
import os
import sys
import types

import numpy as np
import pytest

import gpu_check
import warpfold as wf
from device_values import RUNTIME, DeviceValues, check

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE") != "softgpu", reason="needs the software GPU")


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


class Tensor(PackageArray):
    """Like a tensor of PyTorch: its interface has no stream."""

    is_cuda = True
    requires_grad = False
    layout = "strided"

    def __init__(self, values):
        super().__init__(values)
        self.device = types.SimpleNamespace(index=0)

    def data_ptr(self):
        return self.host.ctypes.data

    def stride(self):
        return tuple(step // self.host.itemsize for step in self.host.strides)

    def is_neg(self):
        return False


class Array(PackageArray):
    """Like an array of CuPy."""

    def __init__(self, values):
        super().__init__(values)
        self.data = types.SimpleNamespace(ptr=self.host.ctypes.data, device_id=0)


class Device:
    entered = 0

    def __init__(self, number):
        assert number == 0

    def __enter__(self):
        Device.entered += 1

    def __exit__(self, *_):
        Device.entered -= 1


@pytest.fixture
def torch(monkeypatch, stream):
    module = types.ModuleType("torch")
    module.Tensor = Tensor
    module.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=stream))
    module.empty = lambda shape, dtype, device: Tensor(np.full(shape, 99, dtype))
    module.strided = "strided"
    for name in ("bool", "uint8", "int64", "float32", "float64"):
        setattr(module, name, np.dtype(name))
    monkeypatch.setitem(sys.modules, "torch", module)
    return Tensor


@pytest.fixture
def cupy(monkeypatch, stream):
    def empty(shape, dtype):
        assert Device.entered == 1  # on the device of the array
        return Array(np.full(shape, 99, dtype))

    def current_stream(device):
        assert device == 0
        return types.SimpleNamespace(ptr=stream)

    module = types.ModuleType("cupy")
    module.ndarray = Array
    module.empty, module.cuda = empty, types.SimpleNamespace(get_current_stream=current_stream, Device=Device)
    monkeypatch.setitem(sys.modules, "cupy", module)
    return Array


@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_results_are_of_the_package_and_on_its_stream(request, package, stream, monkeypatch):
    kind = request.getfixturevalue(package)
    places = []
    module = wf._devices.gpu_module()
    inner = module.reduce
    monkeypatch.setattr(module, "reduce", lambda place, *rest: (places.append(place), inner(place, *rest)))
    array = kind(np.arange(12, dtype=np.float32).reshape(3, 4))
    for axis in (None, 0, 1):
        ours = wf.sum(array, axis=axis)
        assert isinstance(ours, kind)
        np.testing.assert_array_equal(ours.done(), np.sum(array.host, axis=axis))
    assert places == [(0, stream)] * 3
    assert isinstance(wf.argmax(array), kind) and wf.argmax(array).done() == 11
    out = kind(np.zeros(4, np.float32))
    assert wf.max(array, axis=0, out=out) is out and out.done().tolist() == [8, 9, 10, 11]
    counts, edges = wf.histogram(array, 3)
    assert isinstance(counts, kind) and counts.done().tolist() == [4, 4, 4] and len(edges.done()) == 4
    assert all(isinstance(x, kind) for x in wf.minmax(array))


@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_large_temporary_memory_is_of_the_package(request, package, monkeypatch):
    kind = request.getfixturevalue(package)
    module = wf._devices.gpu_module()
    monkeypatch.setattr(module, "Memory", None)  # not asked
    numbers = np.repeat(np.arange(150_000), 2)
    np.testing.assert_array_equal(wf.unique_consecutive(kind(numbers)).done(), numbers[::2])


class Standing(DeviceValues):
    """An array with the views that gpu_check.py takes."""

    def __getitem__(self, index):
        return self.view(lambda x: x[index])

    @property
    def T(self):
        return self.view(lambda x: x.T)


class Stand(gpu_check.Package):
    """A package of such arrays."""

    name = "stand-in"
    array = Standing
    host = staticmethod(np.asarray)

    def __init__(self, patch):
        self.patch = patch

    def by_host(self, call, *arrays):
        with self.patch.context() as patch:
            patch.setattr(wf._devices, "host_arrays_go_to", lambda: "host")
            return call(*arrays)


def test_the_script_for_real_gpus_finds_no_fault(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("WARPFOLD_CACHE", str(tmp_path / "cache"))
    assert gpu_check.check(Stand(monkeypatch)) == 0
    assert "results are right" in capsys.readouterr().err
