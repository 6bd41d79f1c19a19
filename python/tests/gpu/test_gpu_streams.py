# SPDX-License-Identifier: MIT
"""Calls on streams of arrays in device memory, on the software GPU: WARPFOLD_DEVICE=softgpu, in a process of their own."""
import contextlib
import ctypes
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import warpfold as wf
from device_values import RUNTIME, DeviceValues, check
from support import assert_same

pytestmark = pytest.mark.skipif(os.environ.get("WARPFOLD_DEVICE") != "softgpu", reason="needs the software GPU")


@pytest.fixture
def stream():
    handle = ctypes.c_void_p()
    check(RUNTIME.cudaStreamCreateWithFlags(ctypes.byref(handle), 1))
    yield handle.value
    check(RUNTIME.cudaStreamSynchronize(handle))
    check(RUNTIME.cudaStreamDestroy(handle))


def test_calls_return_before_the_stream_is_done_and_wait_without_the_lock(stream):
    """A host function holds the stream up until a second thread of Python lets it go."""
    gc.collect()  # to free an array of an earlier test would wait
    go = threading.Event()
    held = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go.wait(300))
    array = DeviceValues(np.arange(1000.0), stream=stream)
    wf.sum(DeviceValues(np.ones(1))).item()  # the first call on a device waits
    check(RUNTIME.cudaLaunchHostFunc(ctypes.c_void_p(stream), held, None))
    total = wf.sum(array)
    running = wf.cumsum(array.view(lambda x: x[::2]))
    spread = wf.var(array)
    assert RUNTIME.cudaStreamQuery(ctypes.c_void_p(stream)) == 600  # cudaErrorNotReady
    assert total.stream == running.stream == stream
    timer = threading.Timer(0.2, go.set)
    timer.start()
    assert total.item() == 499500 and go.is_set()
    assert_same(running, np.cumsum(array.host[::2]))
    assert_same(spread, np.var(array.host), 1e-12)
    timer.join()


@contextlib.contextmanager
def captured(stream, call):
    """A function that launches the graph of a call."""
    handle, graph, runs = ctypes.c_void_p(stream), ctypes.c_void_p(), ctypes.c_void_p()
    check(RUNTIME.cudaStreamBeginCapture(handle, 2))
    call()
    check(RUNTIME.cudaStreamEndCapture(handle, ctypes.byref(graph)))
    check(RUNTIME.cudaGraphInstantiate(ctypes.byref(runs), graph, ctypes.c_ulonglong(0)))
    yield lambda: check(RUNTIME.cudaGraphLaunch(runs, handle))
    check(RUNTIME.cudaGraphExecDestroy(runs))
    check(RUNTIME.cudaGraphDestroy(graph))


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "mean", "cumsum"])
def test_calls_are_captured_in_graphs(stream, name):
    """A graph has its own memory: it may run beside other calls on the stream that it was captured on."""
    array = DeviceValues(np.zeros(5000, np.float32), stream=stream)
    function, reference = getattr(wf, name), getattr(np, name)
    out = DeviceValues(np.zeros_like(reference(array.host)), stream=stream)
    function(array, out=out)
    with captured(stream, lambda: function(array, out=out)) as launch:
        for k in range(3):
            array.done()[:] = np.arange(5000) % (7 + k)
            launch()
            assert_same(out.done(), reference(array.host), 1e-6)


@pytest.mark.parametrize("segments", [1, 447, 448, 2000])
def test_graphs_keep_what_a_call_has_of_the_host(stream, segments):
    array = DeviceValues(np.arange(2 * segments, dtype=np.float32), stream=stream)
    out = DeviceValues(np.zeros(segments, np.float32), stream=stream)
    offsets = np.arange(0, 2 * segments + 1, 2)
    with captured(stream, lambda: wf.segment_sum(array, offsets, out)) as launch:
        offsets[:] = 0
        launch()
        np.testing.assert_array_equal(out.done(), array.host.reshape(-1, 2).sum(1))


def test_more_streams_than_workspaces():
    """Calls of streams that have none, and of streams that come after others were destroyed."""
    handles = []
    for k in range(12):
        handle = ctypes.c_void_p()
        check(RUNTIME.cudaStreamCreateWithFlags(ctypes.byref(handle), 1))
        handles.append(handle)
        array = DeviceValues(np.arange(3000 + k), stream=handle.value)
        assert [wf.sum(array).item(), wf.argmax(array).item()] == [array.host.sum(), 2999 + k]
        if k % 3 == 0:
            check(RUNTIME.cudaStreamSynchronize(handle))
            check(RUNTIME.cudaStreamDestroy(handles.pop()))
    for handle in handles:
        check(RUNTIME.cudaStreamSynchronize(handle))
        check(RUNTIME.cudaStreamDestroy(handle))


FIRST_CALL = """
import ctypes, threading
import numpy as np
import warpfold as wf
from device_values import RUNTIME, DeviceValues, check
captured, other, graph = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
for handle in (captured, other):
    check(RUNTIME.cudaStreamCreate(ctypes.byref(handle)))
array, results = DeviceValues(np.arange(5000), stream=other.value), []
check(RUNTIME.cudaStreamBeginCapture(captured, 0))
thread = threading.Thread(target=lambda: results.extend(wf.sum(array) for _ in range(3)))
thread.start()
thread.join()
check(RUNTIME.cudaStreamEndCapture(captured, ctypes.byref(graph)))
assert [x.item() for x in results] == [array.host.sum()] * 3
"""


def test_the_first_call_leaves_the_capture_of_another_thread_valid():
    done = subprocess.run([sys.executable, "-c", FIRST_CALL], cwd=os.path.dirname(__file__), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_operand_of_another_stream_is_waited_for(stream):
    go = threading.Event()
    array, mask = DeviceValues(np.ones(100)), DeviceValues(np.zeros(100, bool), stream=stream)
    held = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: go.wait(300))
    check(RUNTIME.cudaLaunchHostFunc(ctypes.c_void_p(stream), held, None))
    # The mask chooses nothing until the stream goes on.
    check(RUNTIME.cudaMemsetAsync(ctypes.c_void_p(mask.host.ctypes.data), 1, ctypes.c_size_t(100),
                                  ctypes.c_void_p(stream)))
    total = wf.sum(array, where=mask)
    go.set()
    assert total.item() == 100
