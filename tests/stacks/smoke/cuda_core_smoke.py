# SPDX-License-Identifier: MIT
"""cuda.core and cuda.bindings: warpfold run -- python cuda_core_smoke.py"""
import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SQUARE = """
extern "C" __global__ void square(float* x, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}"""


def main():
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    kernel = Program(SQUARE, "c++", ProgramOptions(arch="compute_90")).compile("ptx").get_kernel("square")
    host = np.arange(1000, dtype=np.float32)
    buffer = device.memory_resource.allocate(host.nbytes, stream=stream)
    stream.sync()
    driver.cuMemcpyHtoD(int(buffer.handle), host.ctypes.data, host.nbytes)
    launch(stream, LaunchConfig(grid=8, block=128), kernel, buffer, host.size)
    stream.sync()
    got = np.zeros_like(host)
    driver.cuMemcpyDtoH(got.ctypes.data, int(buffer.handle), host.nbytes)
    assert np.array_equal(got, host * host)
    print("cuda.core: ok")


main()
