# SPDX-License-Identifier: MIT
"""Kinds of arrays, threads, docstrings and types of the package."""
import array as array_module
import ast
import importlib.metadata
import importlib.util
import inspect
import os
import pathlib
import pickle
import re
import resource
import subprocess
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest

import warpfold as wf
from warpfold import _core
from support import assert_same


class Foreign:
    """An array of another package: it exports DLPack and nothing else."""

    def __init__(self, values, device=(1, 0)):
        self.values, self.device = values, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)


@pytest.fixture
def package(monkeypatch):
    module = types.ModuleType("foreign_arrays")
    module.from_dlpack = lambda x: Foreign(np.from_dlpack(x))
    monkeypatch.setitem(sys.modules, "foreign_arrays", module)
    monkeypatch.setattr(Foreign, "__module__", "foreign_arrays.inner")


def test_results_are_of_the_callers_kind(package):
    values = np.arange(12.0).reshape(3, 4)
    ours = wf.sum(Foreign(values.T), axis=0)
    assert isinstance(ours, Foreign)
    np.testing.assert_array_equal(ours.values, values.sum(axis=1))
    assert isinstance(wf.max(Foreign(values)), Foreign)
    out = Foreign(np.zeros(4))
    try:
        assert wf.sum(Foreign(values), axis=0, out=out) is out
        np.testing.assert_array_equal(out.values, values.sum(axis=0))
    except ValueError as error:  # a NumPy that imports DLPack read-only
        assert "read-only" in str(error)


@pytest.mark.parametrize("call", [
    lambda a: wf.norm(a, axis=0), lambda a: wf.scan(a, exclusive=True), lambda a: wf.select(a, True),
    lambda a: wf.partition_by(a, True)[1], lambda a: wf.run_length_encode(a)[1], wf.unique_consecutive,
    lambda a: wf.convolve2d(a, [[1.0]]), lambda a: wf.gaussian_blur(a, 1), lambda a: wf.digitize(a, [1, 2]),
    lambda a: wf.histogramdd(a, 2)[0], lambda a: wf.histogramdd(a, 2)[1][0]])
def test_results_of_filters_and_selections_are_of_the_callers_kind(package, call):
    values = np.arange(12.0).reshape(3, 4)
    ours = call(Foreign(values.T))
    assert isinstance(ours, Foreign)
    np.testing.assert_array_equal(ours.values, call(values.T))


def test_edges_that_export_dlpack_only():
    values, edges = np.arange(12.0), np.array([0, 2.5, 7])
    for ours, theirs in zip(wf.histogram(values, Foreign(edges)), np.histogram(values, edges)):
        assert_same(ours, theirs)
    assert_same(wf.histogramdd(values[:, None], [Foreign(edges)])[0], np.histogramdd(values[:, None], [edges])[0])


def test_a_package_without_from_dlpack_gets_arrays_of_numpy():
    assert isinstance(wf.sum(Foreign(np.ones((2, 2))), axis=0), np.ndarray)


@pytest.mark.parametrize("kind", [lambda x: x, Foreign, memoryview])
def test_nothing_is_copied(monkeypatch, kind):
    """The extension module gets the caller's own memory and strides."""
    seen = []
    inner = _core.reduce
    monkeypatch.setattr(_core, "reduce", lambda op, fold, a, *rest: (seen.append(a), inner(op, fold, a, *rest)))
    room = np.arange(60, dtype=np.int16).reshape(5, 12)
    for values in (room, room.T, room[::-1, ::-3], room[1]):
        wf.sum.__wrapped__(kind(values))
        given = seen.pop()
        assert (given.ctypes.data, given.dtype, given.shape, given.strides) == (values.ctypes.data, np.int16, values.shape, values.strides)


class NoDLPack:
    """An array whose package has DLPack, but not for this one: pyarrow's with nulls or of bits, JAX's of other types."""

    def __init__(self, values, error):
        self.values, self.error = values, error

    def __dlpack_device__(self):
        raise self.error

    __dlpack__ = __dlpack_device__

    def __array__(self, dtype=None, copy=None):
        return self.values


@pytest.mark.parametrize("error", [TypeError("bits"), BufferError("nulls"), AttributeError("traced"), RuntimeError("no")])
def test_arrays_that_dlpack_refuses_are_copied(error):
    assert wf.sum(NoDLPack(np.arange(4), error)) == 6
    assert wf.sum(np.ones(3), where=NoDLPack(np.array([True, False, True]), error)) == 2
    with pytest.raises(TypeError, match="max: a has dtype object"):
        wf.max(NoDLPack(np.array(["a"], object), error))
    with pytest.raises(TypeError, match=f"sum: out cannot be read by DLPack: {error}"):
        wf.sum(np.ones((2, 2)), axis=0, out=NoDLPack(np.zeros(2), error))


def test_arrays_on_other_devices_are_refused():
    with pytest.raises(TypeError, match="max: a is not in host memory"):
        wf.max(Foreign(np.zeros(3), device=(10, 0)))
    with pytest.raises(TypeError, match="sum: out is not in host memory"):
        wf.sum(np.zeros(3), out=Foreign(np.zeros(()), device=(2, 0)))


def test_a_package_without_the_gpus_module_says_so(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for array in (Foreign(np.zeros(3), device=(2, 0)), types.SimpleNamespace(__cuda_array_interface__={})):
        with pytest.raises(TypeError, match="built without nvcc"):
            wf.sum(array)


PROGRAMS = [
    ("tpu", "", "ValueError: WARPFOLD_DEVICE is 'tpu', and must be one of host, gpu, softgpu"),
    ("softgpu", "", "RuntimeError: warpfold: WARPFOLD_SOFTGPU_RUNTIME is ''"),
    ("softgpu", "/none", "RuntimeError: warpfold: WARPFOLD_SOFTGPU_RUNTIME is '/none'"),
]


@pytest.mark.parametrize("device, runtime, message", PROGRAMS)
def test_a_wrong_choice_of_a_device_is_one_error(device, runtime, message):
    environment = dict(os.environ, WARPFOLD_DEVICE=device, WARPFOLD_SOFTGPU_RUNTIME=runtime)
    done = subprocess.run([sys.executable, "-c", "import warpfold; warpfold.sum([1, 2])"], env=environment,
                          capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and (last.startswith(message) or "built without nvcc" in last)


def test_without_arrays_on_a_gpu_no_part_of_cuda_is_loaded():
    program = "import warpfold, sys; warpfold.sum([1, 2]); print('cudart' in open('/proc/self/maps').read())"
    environment = {name: value for name, value in os.environ.items() if name != "WARPFOLD_DEVICE"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("out", [[0.0], 0.0, np.zeros(1, complex), "x", {}])
def test_outputs_are_arrays(out):
    with pytest.raises(TypeError, match="sum: out "):
        wf.sum(np.ones((2, 1)), axis=0, out=out)


def test_outputs_by_the_buffer_protocol():
    out = array_module.array("d", [0, 0])
    assert wf.sum(np.ones((3, 2)), axis=0, out=out) is out
    assert out.tolist() == [3, 3]
    swapped = np.zeros(2, ">i4")
    wf.sum(np.ones((3, 2)), axis=0, out=memoryview(swapped))
    assert swapped.tolist() == [3, 3]


def test_masked_arrays_are_refused():
    with pytest.raises(TypeError, match="sum: a is a masked array"):
        wf.sum(np.ma.masked_array([1, 2], [True, False]))


def test_buffers_and_sequences():
    assert wf.sum(array_module.array("h", [1, 2, 3])) == 6
    assert wf.max(memoryview(b"abc")) == ord("c")
    assert wf.sum([[1, 2], [3, 4]], axis=0).tolist() == [4, 6]
    assert wf.sum(range(5)) == 10
    assert wf.mean(7) == 7.0
    assert isinstance(wf.sum(np.ones(3, np.float32)), np.float32)


def test_the_interpreters_lock_is_released():
    """A second thread counts while the first one computes. The interpreter itself does not switch in this time."""
    values = np.ones(1 << 20)[::-1]
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    other = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        other.start()
        end = time.monotonic() + 60
        while time.monotonic() < end:  # the other thread may be late to take the lock
            before = counted[0]
            assert wf.sum(values) == values.size
            if counted[0] != before:
                return
        pytest.fail("the lock was held")
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        other.join()


def test_calls_from_several_threads():
    values = np.arange(100001)
    results = []
    threads = [threading.Thread(target=lambda: results.append(wf.cumsum(values)[-1])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [values.sum()] * 4


SUMS = """
import sys, threading, time, multiprocessing
import numpy as np
import warpfold as wf
values = np.arange(1 << 21, dtype=np.float64)
def results():
    return [float(wf.sum(values)), float(wf.exact_sum(values[::2])), float(wf.cumsum(values)[-1]), int(wf.bincount(values.astype(int) % 9)[3])]
"""
ENDS = {
    # Threads in calls when the interpreter ends.
    "daemon threads": """
def repeat():
    while True:
        results(), wf.convolve(values[:9999], values[:5])
for _ in range(6):
    threading.Thread(target=repeat, daemon=True).start()
time.sleep(0.5)
sys.exit(3)""",
    "fork": """
expected = results()
def child(queue):
    queue.put(results())
for method in ("fork", "spawn"):
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    processes = [context.Process(target=child, args=(queue,)) for _ in range(2 if __name__ == "__main__" else 0)]
    for process in processes:
        process.start()
    for process in processes:
        assert queue.get() == expected
        process.join()
        assert process.exitcode == 0
if __name__ == "__main__":
    sys.exit(3)""",
    "interrupt": """
import _thread, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
expected = results()
try:
    threading.Timer(0.3, _thread.interrupt_main).start()
    while True:
        results()
except KeyboardInterrupt:
    sys.exit(3 if results() == expected else 4)""",
    # Address space for the results is missing, and then for stacks of threads.
    "memory": """
import resource
resource.setrlimit(resource.RLIMIT_AS, (int(open("/proc/self/statm").read().split()[0]) * 4096 + (64 << 20),) * 2)
large = np.broadcast_to(np.float32(1), (1 << 32,))
calls = [wf.cumsum, wf.run_length_encode, lambda a: wf.select(a, True), lambda a: wf.exact_var(a.astype(np.float64)),
         lambda a: wf.bincount([(1 << 30) - 1]), lambda a: wf.gaussian_blur(a.reshape(1 << 16, 1 << 16), 1)]
for call in calls:
    try:
        call(large)
    except MemoryError:
        continue
    sys.exit(4)
sys.exit(3 if wf.sum(values[:9]) == 36 else 5)""",
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_of_processes(tmp_path, name):
    program = tmp_path / "program.py"
    program.write_text(SUMS + ENDS[name])
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (3, "")


@pytest.mark.parametrize("name", wf.__all__)
def test_functions_can_be_pickled(name):
    assert pickle.loads(pickle.dumps(getattr(wf, name))) is getattr(wf, name)


def test_files_larger_than_a_copy_may_be(tmp_path):
    """Nothing of a mapped file is copied, whatever reads it."""
    with open(tmp_path / "elements", "wb") as file:
        file.truncate(1 << 30)
    values = np.memmap(tmp_path / "elements", np.float32, "r+")
    values[[1, -1]] = 2.5
    before = resource.getrlimit(resource.RLIMIT_DATA)
    used = int(re.search(r"VmData:\s*(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) << 10
    resource.setrlimit(resource.RLIMIT_DATA, (used + (256 << 20), before[1]))
    try:
        for array in (values, values.reshape(1 << 14, -1)):
            assert wf.sum(array) == wf.exact_sum(array) == 5
            assert wf.minmax(array) == (0, 2.5) and wf.argmax(array) == 1
        assert wf.exact_sum(values.reshape(4, -1), axis=1).tolist() == [2.5, 0, 0, 2.5]
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def test_bits_do_not_depend_on_the_run():
    values = np.random.default_rng(8).standard_normal((257, 1001))
    for call in (wf.sum, wf.cumsum, wf.var, wf.norm, lambda a: wf.convolve2d(a, a[:3, :4]), lambda a: wf.gaussian_blur(a, 2)):
        assert call(values.T).tobytes() == call(values.T).tobytes()


def documented_parameters(docstring):
    _, *sections = re.split(r"\n(Parameters|Returns|Raises)\n-+\n", docstring)
    assert sections[::2] == ["Parameters", "Returns", "Raises"]
    return ", ".join(re.findall(r"^(\w.*?) : ", sections[1], re.MULTILINE)).split(", ")


def test_functions_for_pytorch_have_docstrings():
    """Without PyTorch."""
    source = pathlib.Path(wf.__file__).with_name("torch.py").read_text()
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    assert len(functions) == 5
    for function in functions:
        assert documented_parameters(ast.get_docstring(function)) == [argument.arg for argument in function.args.args]


@pytest.mark.parametrize("name", wf.__all__)
def test_functions_have_types_and_docstrings(name):
    function = getattr(wf, name)
    signature = inspect.signature(function)
    assert documented_parameters(inspect.getdoc(function)) == list(signature.parameters)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


@pytest.mark.parametrize("name", ["all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod", "sum", "var"])
def test_functions_of_the_array_api_standard(name):
    """docs/python.md has this list."""
    values, more = np.arange(12.0).reshape(3, 4), {"sum": {"dtype": np.float32}, "prod": {"dtype": np.float32}, "var": {"correction": 1.0}}
    for axis in (None, 1) if name[:3] == "arg" else (None, 1, (0, -1)):
        for keepdims in (False, True):
            options = {"axis": axis, "keepdims": keepdims, **more.get(name, {})}
            assert_same(getattr(wf, name)(values, **options), getattr(np, name)(values, **options), 1e-13)


def test_a_program_with_every_function_runs():
    """`./dev python` checks its types."""
    program = pathlib.Path(__file__).with_name("typed_calls.py").read_text()
    assert set(re.findall(r"wf\.(\w+)", program)) == {*wf.__all__, "Operation"}
    exec(compile(program, "typed_calls.py", "exec"), {})  # pylint: disable=exec-used


def test_the_version_is_the_librarys():
    header = pathlib.Path(__file__).parents[2] / "include/warpfold/version.hpp"
    version = ".".join(re.findall(r"WARPFOLD_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text()))
    assert wf.__version__ == importlib.metadata.version("warpfold") == version


def test_the_list_of_names_is_sorted_and_complete():
    assert wf.__all__ == sorted(wf.__all__)
    public = {name for name, value in vars(wf).items() if inspect.isfunction(value)}
    assert public == set(wf.__all__)


def test_types_of_other_packages_name_those_of_results():
    class Named:
        """A type as those of PyTorch: its text is its name."""

        def __init__(self, name):
            self._name = name

        def __str__(self):
            return f"package.{self._name}"

    x = np.array([1, 2, 3], np.int8)
    for call in (wf.sum, wf.prod, wf.mean, wf.var, wf.cumsum):
        assert np.asarray(call(x, dtype=Named("float32"))).dtype == np.float32
    assert wf.mean(x * 1j, dtype=Named("complex64")).dtype == np.complex64
    for call in (wf.sum, wf.mean, wf.cumsum):
        with pytest.raises(TypeError):
            call(x, dtype=Named("bfloat16"))


class WithStack(np.ndarray):
    """An array of a module that has a function `stack`."""


def stack(*_):
    raise AssertionError("a function of this name is not NumPy's")


def test_complex_arrays_of_any_module(monkeypatch):
    plain = np.array([1 + 2j, 3 - 1j])
    monkeypatch.setitem(sys.modules, WithStack.__module__, sys.modules[__name__])
    for x in (plain.view(WithStack), np.asmatrix(plain)):
        assert wf.mean(x) == plain.mean()
        assert wf.var(x) == plain.var()
        assert wf.exact_sum(x) == plain.sum()
        assert type(wf.exact_sum(x, axis=0)) in (np.complex128, np.ndarray)


class NAType:
    """The missing value of pandas."""


@pytest.mark.parametrize("missing", [None, NAType()], ids=["None", "NA"])
def test_missing_values_of_bool_are_nan(missing):
    class Column:
        def __init__(self, *values):
            self._values = values

        def __array__(self, dtype=None, copy=None):
            return np.array(self._values, object)

    assert_same(wf.cumsum(Column(True, False, True, missing)), np.array([1, 1, 2, np.nan]))
    assert wf.max(Column(True, False)) == np.True_
    for values in ((True, "a"), (True, 1), (1.5, missing)):
        with pytest.raises(TypeError, match="dtype object"):
            wf.sum(Column(*values))
    with pytest.raises(TypeError, match="dtype object"):
        wf.sum([True, None])


@pytest.mark.parametrize("name", ["pandas", "pyarrow", "polars"])
def test_columns_of_packages(name):
    package = pytest.importorskip(name)
    make = {"pandas": lambda x: package.Series(x, dtype="boolean" if isinstance(x[0], bool) else None),
            "pyarrow": lambda x: package.array(x), "polars": lambda x: package.Series(x)}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wf.sum(make([1, 2, 3])) == 6
        assert wf.sum(make([True, False, True])) == 2
        assert np.isnan(wf.sum(make([True, None])))
        assert np.isnan(wf.sum(make([1.0, None])))
