# SPDX-License-Identifier: MIT
"""PyTorch and CuPy by stand-ins: the few of their names that the package uses. gpu_check.py runs with the packages themselves."""
import ctypes
import importlib
import os
import sys
import types
import warnings

import numpy as np
import pytest

import gpu_check
import warpfold as wf
from device_values import RUNTIME, ByDLPack, DeviceValues, check
from support import NAMES, assert_same, outcome, tolerance_of

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

    def __getitem__(self, index):
        return self.view(lambda x: x[index])


class Tensor(PackageArray):
    """Like a tensor of PyTorch: its interface has no stream."""

    is_cuda = True
    requires_grad = False
    layout = "strided"

    device = types.SimpleNamespace(index=0)

    def data_ptr(self):
        return self.host.ctypes.data

    def stride(self):
        return tuple(step // self.host.itemsize for step in self.host.strides)

    def is_neg(self):
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
def torch(monkeypatch, stream, request):
    kinds = importlib.import_module("warpfold._on_gpu.kinds")
    for cached in (kinds.torch_stream, kinds.torch_tensors):
        cached.cache_clear()
        request.addfinalizer(cached.cache_clear)
    request.addfinalizer(lambda: wf._calls._whole_arrays.clear())
    module = types.ModuleType("torch")
    module.Tensor = Tensor
    module.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=stream))
    module.empty = lambda shape, dtype, device: Tensor(np.full(shape, 99, dtype))
    module.strided = "strided"
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
def cupy(monkeypatch, stream):
    def empty(shape, dtype):
        assert Device.entered == 0  # the device is current
        return Array(np.full(shape, 99, dtype))

    def current_stream(device):
        assert device == 0
        return types.SimpleNamespace(ptr=stream)

    module = types.ModuleType("cupy")
    module.ndarray = Array
    module.empty, module.cuda = empty, types.SimpleNamespace(get_current_stream=current_stream, Device=Device)
    monkeypatch.setitem(sys.modules, "cupy", module)
    return Array


@pytest.mark.parametrize("package", ["torch", "torch_of_compile", "cupy"])
def test_results_are_of_the_package_and_on_its_stream(request, package, stream, monkeypatch):
    kind = request.getfixturevalue(package)
    places = []
    module = wf._devices.gpu_module()
    inner = module.reduce
    monkeypatch.setattr(module, "reduce", lambda *given: (places.append(given[2].place), inner(*given)))
    array = kind(np.arange(12, dtype=np.float32).reshape(3, 4))
    for axis in (None, 0, 1):
        ours = wf.sum(array, axis=axis, keepdims=True)  # no call of whole_arrays.cpp
        assert isinstance(ours, kind)
        np.testing.assert_array_equal(ours.done(), np.sum(array.host, axis=axis, keepdims=True))
    assert places == [(0, stream)] * 3
    assert isinstance(wf.argmax(array), kind) and wf.argmax(array).done() == 11
    out = kind(np.zeros(4, np.float32))
    assert wf.max(array, axis=0, out=out) is out and out.done().tolist() == [8, 9, 10, 11]
    counts, edges = wf.histogram(array, 3)
    assert isinstance(counts, kind) and counts.done().tolist() == [4, 4, 4] and len(edges.done()) == 4
    assert all(isinstance(x, kind) for x in wf.minmax(array))


class NumbaArray(DeviceValues):
    """Like a device array of Numba."""


class JaxArray(ByDLPack):
    """Like an array of JAX: it exports DLPack."""


@pytest.fixture
def others(monkeypatch, stream):
    """Numba and JAX: what they make of results. Both look at the results when these are enqueued, and not later."""
    def numba_array(ours, sync):
        assert not sync and ours.stream == stream
        array = object.__new__(NumbaArray)
        array.base, array.stream, array.host = ours, stream, ours.to_host()
        return array

    def jax_array(ours):
        ours.to_host()
        return JaxArray(ours)

    cuda = types.ModuleType("numba.cuda")
    cuda.as_cuda_array = numba_array
    jax = types.ModuleType("jax")
    jax.dlpack = types.SimpleNamespace(from_dlpack=jax_array)
    for name, module in (("numba.cuda", cuda), ("jax", jax), ("jaxlib", types.ModuleType("jaxlib"))):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(NumbaArray, "__module__", "numba.cuda.cudadrv.devicearray")
    monkeypatch.setattr(JaxArray, "__module__", "jaxlib._jax")


@pytest.mark.parametrize("kind, make", [(NumbaArray, lambda x, stream: NumbaArray(x, stream=stream)),
                                        (JaxArray, lambda x, stream: JaxArray(wf.max(DeviceValues(x[None]), axis=0)))])
def test_results_of_numba_and_jax(others, stream, kind, make):
    def values(x):
        assert isinstance(x, kind)
        return x.host if kind is NumbaArray else x.array.to_host()

    numbers = np.repeat(np.arange(6, dtype=np.float32), 2).reshape(3, 4)
    array = make(numbers, stream)
    for axis in (None, 0, 1):
        assert_same(values(wf.sum(array, axis=axis))[()], np.sum(numbers, axis=axis))
    assert_same(values(wf.cumsum(array, 1)), np.cumsum(numbers, 1))
    for ours, expected in zip(wf.histogram(array, 3), np.histogram(numbers, 3)):
        assert_same(values(ours), expected)
    assert_same(values(wf.select(array, numbers > 1)), numbers[numbers > 1])
    assert_same(values(wf.unique_consecutive(array)), np.arange(6, dtype=np.float32))
    assert_same(values(wf.unique_consecutive(make(numbers[0, ::2], stream))), np.arange(2, dtype=np.float32))


@pytest.mark.parametrize("package", ["torch", "torch_of_compile", "cupy"])
def test_large_temporary_memory_is_of_the_package(request, package, monkeypatch):
    kind = request.getfixturevalue(package)
    module = wf._devices.gpu_module()
    monkeypatch.setattr(module, "Memory", None)  # not asked
    numbers = np.repeat(np.arange(150_000), 2)
    values, counts = wf.unique_consecutive(kind(numbers), return_counts=True)
    np.testing.assert_array_equal(values.done(), numbers[::2])
    assert (counts.done() == 2).all()


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("each", [1, 2, 3])
def test_results_of_unknown_number(request, package, each):
    kind = request.getfixturevalue(package)
    numbers = np.repeat(np.arange(5, dtype=np.float32), each)
    found = wf.unique_consecutive(kind(numbers))
    assert isinstance(found, kind)
    np.testing.assert_array_equal(found.done(), np.arange(5, dtype=np.float32))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (1025,), (3, 5, 7), (0, 3)])
def test_functions_of_whole_tensors(torch, dtype, shape, monkeypatch):
    """They are computed by one call of the extension module, with the results and errors of the functions in Python."""
    numbers = np.random.default_rng(len(shape)).integers(0 if dtype in ("bool", "uint8") else -3, 2 if dtype == "bool" else 4, shape)
    x = torch(numbers.astype(dtype))
    wf.sum(x, out=torch(np.zeros((), dtype)))  # the first tensor on a GPU
    assert torch in wf._calls._whole_arrays
    call = wf._calls._gpu_calls()
    for name in wf._calls.WHOLE:
        function = getattr(wf, name)
        is_offered = dtype in ("float32", "float64") or name not in ("mean", "var", "norm", "exact_sum") + (
            ("any", "all", "count_nonzero") if dtype == "float16" else ())
        if x.host.size and is_offered and ("cum" not in name or len(shape) == 1):
            monkeypatch.setattr(wf._calls, "_gpu_calls", lambda: pytest.fail("computed in Python"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = outcome(function, x)
            monkeypatch.setattr(wf._calls, "_gpu_calls", lambda: call)
            theirs = outcome(function.__wrapped__, x)
        if isinstance(theirs, type):
            assert ours is theirs
            continue
        for one, other in zip(ours, theirs) if isinstance(ours, tuple) else [(ours, theirs)]:
            assert isinstance(one, torch)
            # A variance of all elements is folded in another order.
            assert_same(one.done(), other.done(), tolerance_of(np.dtype(dtype)) if name == "var" else 0)


def test_tensors_that_are_computed_in_python(torch):
    x = torch(np.arange(12.0).reshape(3, 4))
    wf.sum(x)
    assert wf.sum(x.view(lambda y: y[:, ::2])).done() == 30
    assert wf.argmax(x.view(lambda y: y.T)).done() == 11
    with pytest.warns(RuntimeWarning, match="empty slice") as warned:
        wf.mean(torch(np.empty(0, np.float32)))
    assert warned[0].filename == __file__


def test_tensors_are_made_on_the_device_of_the_input(torch_of_compile, monkeypatch):
    """PyTorch's current device may differ from that of the CUDA runtime."""
    x = torch_of_compile(np.arange(12.0))
    module = sys.modules["torch"]
    devices = []

    def empty(shape, dtype, device):
        devices.append(device)
        return torch_of_compile(np.full(shape, 99, dtype))

    monkeypatch.setattr(module, "empty", empty)
    assert wf.sum(x).done() == 66 and not devices
    monkeypatch.setattr(module._C, "_cuda_getDevice", lambda: 1)
    importlib.import_module("warpfold._on_gpu.kinds").torch_tensors.cache_clear()
    wf._calls._whole_arrays.clear()
    for _ in range(2):  # in Python, and as a function of a whole tensor
        assert wf.sum(x).done() == 66
    assert [getattr(device, "index", device) for device in devices] == [0, 0]


def test_types_that_pytorch_does_not_have(torch, monkeypatch):
    monkeypatch.delattr(sys.modules["torch"], "uint64")
    x = torch(np.arange(12, dtype=np.uint8))
    for _ in range(2):
        with pytest.raises(TypeError, match="this PyTorch has no type for the results"):
            wf.sum(x)
    assert wf.max(x).done() == 11


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
