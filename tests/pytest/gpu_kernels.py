# SPDX-License-Identifier: MIT
"""Kernels for the tests of the pytest plug-in, launched through the driver API with nothing but ctypes."""
import ctypes

PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry race()
{
    .reg .b32 %r<6>;
    .shared .align 4 .b8 words[256];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, words;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    xor.b32 %r5, %r3, 128;
    add.s32 %r4, %r2, %r5;
    ld.shared.u32 %r1, [%r4];
    ret;
}
.visible .entry fault()
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, 16;
    st.global.u32 [%rd1], 1;
    ret;
}
.visible .entry fine()
{
    ret;
}
"""

_state = {}


def _call(name, *arguments):
    error = getattr(_state["driver"], name)(*arguments)
    if error != 0:
        raise RuntimeError(f"{name}: error {error}")


def launch(kernel):
    """Launches it with 64 threads and does not wait. Raises RuntimeError for an error of CUDA."""
    if not _state:
        _state["driver"] = ctypes.CDLL("libcuda.so.1")
        context, module = ctypes.c_void_p(), ctypes.c_void_p()
        _call("cuInit", 0)
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        _call("cuCtxSetCurrent", context)
        _call("cuModuleLoadData", ctypes.byref(module), PTX)
        _state["module"] = module
    function = ctypes.c_void_p()
    _call("cuModuleGetFunction", ctypes.byref(function), _state["module"], kernel.encode())
    _call("cuLaunchKernel", function, 1, 1, 1, 64, 1, 1, 0, None, None, None)


def synchronize():
    """Waits for the kernels. Raises RuntimeError if one has failed."""
    _call("cuCtxSynchronize")
