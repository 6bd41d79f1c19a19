# SPDX-License-Identifier: MIT
"""Kinds of arrays, threads, docstrings and types of the package."""
import array as array_module
import inspect
import sys
import threading
import types

import numpy as np
import pytest

import warpfold as wf


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


def test_a_package_without_from_dlpack_gets_arrays_of_numpy():
    assert isinstance(wf.sum(Foreign(np.ones((2, 2))), axis=0), np.ndarray)


def test_nothing_is_copied(package):
    """A result in the memory of the input would show if the input were a copy."""
    values = np.arange(6)
    assert wf.cumsum(values, out=values) is values
    np.testing.assert_array_equal(values, [0, 1, 3, 6, 10, 15])
    large = np.broadcast_to(np.float64(1), (1 << 20, 1 << 20))  # a copy would not fit the memory
    assert wf.sum(large[::-1, :5], axis=1).shape == (1 << 20,)


def test_arrays_on_a_gpu_are_refused():
    with pytest.raises(TypeError, match="max: a is not in host memory"):
        wf.max(Foreign(np.zeros(3), device=(2, 0)))
    with pytest.raises(TypeError, match="sum: a is an array on a GPU"):
        wf.sum(types.SimpleNamespace(__cuda_array_interface__={}))


def test_buffers_and_sequences():
    assert wf.sum(array_module.array("h", [1, 2, 3])) == 6
    assert wf.max(memoryview(b"abc")) == ord("c")
    assert wf.sum([[1, 2], [3, 4]], axis=0).tolist() == [4, 6]
    assert wf.sum(range(5)) == 10
    assert wf.mean(7) == 7.0
    assert isinstance(wf.sum(np.ones(3, np.float32)), np.float32)


def test_threads_run_at_the_same_time():
    """The interpreter's lock is released: a second thread counts while the first one computes."""
    values = np.ones(1 << 22)
    counted = []
    stop = threading.Event()
    started = threading.Event()

    def count():
        number = 0
        while not stop.is_set():
            number += 1
            started.set()
        counted.append(number)

    sys.setswitchinterval(1000)  # no switch by the interpreter itself
    other = threading.Thread(target=count)
    try:
        sys.setswitchinterval(0.005)
        other.start()
        started.wait()
        results = [wf.sum(values[::-1]) for _ in range(3)]
    finally:
        stop.set()
        other.join()
    assert results == [values.size] * 3 and counted[0] > 0


def test_calls_from_several_threads():
    values = np.arange(100001)
    results = []
    threads = [threading.Thread(target=lambda: results.append(wf.cumsum(values)[-1])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [values.sum()] * 4


def test_bits_do_not_depend_on_the_run():
    values = np.random.default_rng(8).standard_normal((257, 1001))
    for call in (wf.sum, wf.cumsum, wf.var):
        assert call(values.T).tobytes() == call(values.T).tobytes()


@pytest.mark.parametrize("name", wf.__all__)
def test_functions_have_types_and_docstrings(name):
    function = getattr(wf, name)
    assert inspect.getdoc(function)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(p.annotation is not inspect.Parameter.empty for p in signature.parameters.values())


def test_the_list_of_names_is_sorted_and_complete():
    assert wf.__all__ == sorted(wf.__all__)
    public = {name for name, value in vars(wf).items() if inspect.isfunction(value)}
    assert public == set(wf.__all__)
