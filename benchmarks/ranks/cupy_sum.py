# SPDX-License-Identifier: MIT
"""CuPy's sum of a part and NCCL's all-reduce of the sums, beside `reduce` of benchmarks/ranks/ranks.cu: rows of its table.

cupy_sum.py [LOG2...]: log2 of the elements a GPU, default 28 30. Prints nothing without CuPy or with one GPU."""
import sys
import time

try:
    import cupy
    from cupy.cuda import nccl
except ImportError:
    sys.exit(0)


def measure(gpus, log):
    parts, sums, streams = [], [], []
    for device in range(gpus):
        with cupy.cuda.Device(device):
            parts.append(cupy.full(1 << log, 0.18, dtype=cupy.float32))
            sums.append(cupy.empty((), dtype=cupy.float32))
            streams.append(cupy.cuda.Stream(non_blocking=True))
            cupy.cuda.Device(device).synchronize()  # the part is there
    comms = nccl.NcclCommunicator.initAll(list(range(gpus)))

    def call():
        for device in range(gpus):
            with cupy.cuda.Device(device), streams[device]:
                parts[device].sum(out=sums[device])
        nccl.groupStart()
        for device in range(gpus):
            with cupy.cuda.Device(device):
                word = sums[device].data.ptr
                comms[device].allReduce(word, word, 1, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, streams[device].ptr)
        nccl.groupEnd()

    def wait():
        for device in range(gpus):
            with cupy.cuda.Device(device):
                streams[device].synchronize()

    calls, best = (200, 1e9) if log == 0 else (5, 1e9)
    for _ in range(8):  # the first one compiles, and starts NCCL
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        best = min(best, (time.perf_counter() - start) / calls)
    expected = gpus * float(parts[0].sum(dtype=cupy.float64)) if log < 20 else None
    if expected is not None and abs(float(sums[0]) - expected) > 1e-5 * expected:
        sys.exit("cupy_sum.py: wrong sum")
    rate = 4 * (1 << log) * gpus / best / 1e9
    print(f"| {'sum, all-reduce: CuPy':20} | 2^{log} | {gpus} | {best * 1e3:10.3f} | {rate:8.0f} |      |")


if __name__ == "__main__":
    if cupy.cuda.runtime.getDeviceCount() > 1:
        for log in [0] + [int(text) for text in sys.argv[1:] or ("28", "30")]:
            measure(cupy.cuda.runtime.getDeviceCount(), log)
