# SPDX-License-Identifier: MIT
"""Arrays of PyTorch and CuPy, by the stand-ins of conftest.py; of Numba, JAX and others."""
import importlib
import os
import sys
import types
import warnings

import numpy as np
import pytest

import gpu_check
import warpfold as wf
from device_values import ByDLPack, DeviceValues
from gpu_cases import has_nvrtc
from support import NAMES, OF_FLOATS, assert_same, outcome, tolerance_of

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE") != "softgpu", reason="needs the software GPU")


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
    assert package == "cupy" or out.version == 1
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


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("most_at_once", [0, 1 << 23])
def test_selections_counted_before_and_while_elements_are_moved(request, package, most_at_once, monkeypatch):
    kind = request.getfixturevalue(package)
    monkeypatch.setattr(wf._selection, "MOST_AT_ONCE", most_at_once)
    numbers = np.random.default_rng(5).random((50, 61))
    for least in (2, 0.9, 0.5, 0):
        for view in (lambda x: x, lambda x: x[::-1, 3:]):
            array = view(numbers)
            found = wf.select(kind(numbers).view(view), kind(array >= least))
            assert isinstance(found, kind)
            np.testing.assert_array_equal(found.done(), array[array >= least])
    with pytest.raises(ValueError, match=r"where has shape \(3,\)"):
        wf.select(kind(numbers), kind(np.ones(3, bool)))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (1025,), (3, 5, 7), (0, 3)])
@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_functions_of_whole_arrays(request, package, dtype, shape, monkeypatch):
    """They are computed by one call of the extension module, with the results and errors of the functions in Python."""
    kind = request.getfixturevalue(package)
    numbers = np.random.default_rng(len(shape)).integers(0 if dtype in ("bool", "uint8") else -3, 2 if dtype == "bool" else 4, shape)
    x = kind(numbers.astype(dtype))
    wf.sum(x, out=kind(np.zeros((), dtype)))  # the first array on a GPU
    assert kind in wf._calls._whole_arrays
    call = wf._calls._gpu_calls()
    for name in wf._calls.WHOLE:
        function = getattr(wf, name)
        is_offered = dtype in ("float32", "float64") or name not in OF_FLOATS + (
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
            assert isinstance(one, kind)
            # A variance of all elements is folded in another order.
            assert_same(one.done(), other.done(), tolerance_of(np.dtype(dtype)) if name == "var" else 0)


@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_arrays_that_are_computed_in_python(request, package):
    kind = request.getfixturevalue(package)
    x = kind(np.arange(12.0).reshape(3, 4))
    wf.sum(x)
    assert wf.sum(x.view(lambda y: y[:, ::2])).done() == 30
    assert wf.argmax(x.view(lambda y: y.T)).done() == 11
    with pytest.warns(RuntimeWarning, match="empty slice") as warned:
        wf.mean(kind(np.empty(0, np.float32)))
    assert warned[0].filename == __file__


@pytest.mark.parametrize("package", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", NAMES)
def test_edges_of_the_host_are_one_call_from_the_second_one_on(request, package, dtype, monkeypatch):
    kind = request.getfixturevalue(package)
    numbers = np.random.default_rng(6).integers(0, 2 if dtype == "bool" else 9, (30, 7)).astype(dtype)
    x, edges = kind(numbers), np.array([1, 2.5, 2.5, 6])
    calls = [lambda y, right=right: wf.digitize(y, edges, right) for right in (False, True)]
    if dtype != "bool":
        calls += [lambda y, bins=bins: wf.histogram(y, bins, (1, 6.5)) for bins in (1, 7, 300)]
    in_python = [call(x) for call in calls]
    with monkeypatch.context() as patch:
        patch.setattr(wf._calls, "_gpu_calls", lambda: pytest.fail("computed in Python"))
        in_one_call = [call(x) for call in calls]
        gaps = [call(x[::-2, 1:]) for call in calls]
    for call, *found in zip(calls, in_python, in_one_call, gaps):
        for y, one in zip((numbers, numbers, numbers[::-2, 1:]), found):
            for ours, expected in zip(one if isinstance(one, tuple) else (one,), outcome(call, y) if isinstance(one, tuple) else (call(y),)):
                assert isinstance(ours, kind)
                assert_same(ours.done(), expected)
    # Left to Python: edges that decrease or are on the device, weights, densities, no samples, and what is wrong.
    assert_same(wf.digitize(x, edges[::-1]).done(), np.digitize(numbers, edges[::-1]))
    assert_same(wf.digitize(x, kind(edges)).done(), np.digitize(numbers, edges))
    if dtype != "bool":
        assert_same(wf.histogram(x, 3, (1, 6), density=True)[0].done(), np.histogram(numbers, 3, (1, 6), density=True)[0], 1e-6)
        assert wf.histogram(kind(numbers[:0]), 3, (1, 6))[0].done().tolist() == [0, 0, 0]
        for bins, limits in ((0, (1, 2)), (3, (2, 1)), (3, (0, np.inf))):
            with pytest.raises(ValueError):
                wf.histogram(x, bins, limits)


@pytest.mark.parametrize("package", ["torch", "cupy"])
def test_operations_are_one_call_from_the_second_one_on(request, package, monkeypatch):
    if not has_nvrtc():
        pytest.skip("needs NVRTC")
    kind = request.getfixturevalue(package)
    numbers = np.random.default_rng(4).integers(-9, 9, (300, 7)).astype(np.float32)
    a, b = kind(numbers), kind(numbers[::-1].copy())
    root = wf.op("sqrt(a * a + b)")
    with np.errstate(invalid="ignore"):
        expected = np.sqrt(numbers * numbers + b.host)
    calls = {None: lambda x, y: root(x, y), **{op: lambda x, y, op=op: root.reduce(x, y, op=op) for op in ("sum", "prod", "min", "max")}}
    in_python = {op: call(a, b).done() for op, call in calls.items()}
    np.testing.assert_allclose(in_python[None], expected, rtol=1e-6)
    with monkeypatch.context() as patch:
        patch.setattr(wf._calls, "_gpu_calls", lambda: pytest.fail("computed in Python"))
        for op, call in calls.items():
            found = call(a, b)
            assert isinstance(found, kind)
            assert_same(found.done(), in_python[op])
    # Others are computed in Python: with gaps, of shapes that broadcast, of other types, on the host, none.
    for x, y in ((a[:, ::2], b[:, ::2]), (a, b[:1]), (a, kind(b.host.astype(np.float64))), (a, b.host), (a, 2.0)):
        other = y.host if isinstance(y, kind) else y
        with np.errstate(invalid="ignore"):
            expected = np.sqrt(x.host * x.host + other)
        for _ in range(2):
            np.testing.assert_allclose(root(x, y).done(), expected, rtol=1e-6)
    assert root(kind(np.empty((0, 3), np.float32)), kind(np.empty((0, 3), np.float32))).shape == (0, 3)
    with pytest.raises(TypeError, match="got 1 arrays"):
        root(a)


def test_calls_wait_for_operands_on_other_streams(torch, cupy, stream, monkeypatch):
    """Each package has a current stream of its own."""
    module, waits = wf._devices.gpu_module(), []
    monkeypatch.setattr(module, "wait_for", lambda place, other: waits.append((place, other)))
    key, value = cupy(np.array([1, 1, 2])), torch(np.array([1.0, 2, 3]))
    assert wf.reduce_by_key(key, value)[1].done().tolist() == [3, 3]
    assert not waits
    monkeypatch.setattr(sys.modules["cupy"].cuda, "get_current_stream", lambda device: types.SimpleNamespace(ptr=0))
    importlib.import_module("warpfold._on_gpu.kinds").cupy_arrays.cache_clear()
    assert wf.reduce_by_key(key, value)[1].done().tolist() == [3, 3]
    assert waits == [((0, 0), stream)]


def test_arrays_of_cupy_are_made_on_the_device_of_the_input(cupy, monkeypatch):
    class Device:
        entered = []

        def __init__(self, number):
            self.number = number

        def __enter__(self):
            Device.entered.append(self.number)

        def __exit__(self, *_):
            Device.entered.append("left")

    sys.modules["cupy"].cuda.Device = Device
    x = cupy(np.arange(5))
    assert wf.sum(x).done() == 10 and not Device.entered
    monkeypatch.setattr(cupy, "data", property(lambda self: types.SimpleNamespace(ptr=self.host.ctypes.data, device_id=1)))
    importlib.import_module("warpfold._on_gpu.kinds").cupy_arrays().make((3,), np.dtype(np.int32), (1, 0))
    assert Device.entered == [1, "left"]


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
