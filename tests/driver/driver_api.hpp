// SPDX-License-Identifier: MIT
// The driver's calls that the tests make, declared without a CUDA header.
#pragma once

#include <cstdint>
#include <ostream>

#include "softgpu/runtime/abi/driver.hpp"
#include "tests/runtime/api.hpp"

namespace softgpu::runtime {

struct driver_context;
struct library;

extern "C" {

result cuInit(unsigned flags);
result cuDriverGetVersion(int* version);
result cuDeviceGetCount(int* count);
result cuDeviceGet(int* device, int ordinal);
result cuDeviceGetName(char* name, int bytes, int device);
result cuDeviceTotalMem_v2(std::size_t* bytes, int device);
result cuDeviceGetAttribute(int* value, int which, int device);
result cuGetErrorName(result code, const char** name);
result cuGetErrorString(result code, const char** text);
result cuDevicePrimaryCtxRetain(driver_context** out, int device);
result cuDevicePrimaryCtxRelease_v2(int device);
result cuDevicePrimaryCtxReset_v2(int device);
result cuCtxCreate_v2(driver_context** out, unsigned flags, int device);
result cuCtxDestroy_v2(driver_context* c);
result cuCtxPushCurrent_v2(driver_context* c);
result cuCtxPopCurrent_v2(driver_context** out);
result cuCtxSetCurrent(driver_context* c);
result cuCtxGetCurrent(driver_context** out);
result cuCtxGetDevice(int* device);
result cuCtxSynchronize();
result cuModuleLoadData(library** out, const void* code);
result cuModuleLoadDataEx(library** out, const void* code, unsigned count, const jit_option* names, void** values);
result cuModuleUnload(library* l);
result cuModuleGetFunction(function** out, library* l, const char* name);
result cuModuleGetGlobal_v2(device_address* at, std::size_t* bytes, library* l, const char* name);
result cuLibraryLoadData(library** out, const void* code, const jit_option* names, void** values, unsigned count,
                         const int* library_names, void** library_values, unsigned library_count);
result cuLibraryUnload(library* l);
result cuLibraryGetKernel(function** out, library* l, const char* name);
result cuKernelGetFunction(function** out, function* kernel);
result cuKernelGetLibrary(library** out, function* kernel);
result cuFuncGetAttribute(int* value, driver_function_attribute which, function* kernel);
result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, function* kernel, int threads,
                                                   std::size_t dynamic_shared);
result cuOccupancyMaxPotentialBlockSize(int* grid, int* block, function* kernel, std::size_t (*shared)(int),
                                        std::size_t dynamic_shared, int most);
result cuLaunchKernel(function* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, stream* on, void** arguments,
                      void** list);
result cuLaunchKernelEx(const driver_launch* what, function* kernel, void** arguments, void** list);
result cuLaunchCooperativeKernel(function* kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, stream* on,
                                 void** arguments);
result cuLaunchHostFunc(stream* s, host_function run, void* user);
result cuMemAlloc_v2(device_address* at, std::size_t bytes);
result cuMemFree_v2(device_address at);
result cuMemAllocManaged(device_address* at, std::size_t bytes, unsigned flags);
result cuMemAllocHost_v2(void** pointer, std::size_t bytes);
result cuMemFreeHost(void* pointer);
result cuMemAllocAsync(device_address* at, std::size_t bytes, stream* on);
result cuMemFreeAsync(device_address at, stream* on);
result cuMemGetAddressRange_v2(device_address* base, std::size_t* bytes, device_address at);
result cuPointerGetAttribute(void* out, driver_pointer_attribute which, device_address at);
result cuMemcpyHtoD_v2(device_address to, const void* from, std::size_t bytes);
result cuMemcpyDtoH_v2(void* to, device_address from, std::size_t bytes);
result cuMemcpyDtoDAsync_v2(device_address to, device_address from, std::size_t bytes, stream* on);
result cuMemcpy2D_v2(const driver_copy_2d* c);
result cuMemcpy3D_v2(const driver_copy_3d* c);
result cuMemsetD8_v2(device_address at, unsigned char value, std::size_t count);
result cuMemsetD16_v2(device_address at, unsigned short value, std::size_t count);
result cuMemsetD32_v2(device_address at, unsigned value, std::size_t count);
result cuMemsetD2D32_v2(device_address at, std::size_t pitch, unsigned value, std::size_t width, std::size_t height);
result cuStreamCreate(stream** out, unsigned flags);
result cuStreamDestroy_v2(stream* s);
result cuStreamSynchronize(stream* s);
result cuStreamQuery(stream* s);
result cuStreamBeginCapture_v2(stream* s, capture_mode mode);
result cuStreamEndCapture(stream* s, graph** out);
result cuGraphInstantiateWithFlags(executable_graph** out, graph* from, unsigned long long flags);
result cuGraphLaunch(executable_graph* e, stream* on);
result cuGraphExecDestroy(executable_graph* e);
result cuGraphDestroy(graph* g);
result cuEventCreate(event** out, unsigned flags);
result cuEventDestroy_v2(event* e);
result cuEventRecord(event* e, stream* on);
result cuEventSynchronize(event* e);
result cuEventElapsedTime(float* milliseconds, event* start, event* end);
result cuGetProcAddress_v2(const char* name, void** out, int version, unsigned long long flags, int* status);
result cuMulticastUnbind(unsigned long long handle, int device, std::size_t offset, std::size_t bytes);
result cuMemAddressReserve(device_address* at, std::size_t bytes, std::size_t alignment, device_address wish,
                           unsigned long long flags);

} // extern "C"

inline constexpr result out_of_memory = static_cast<result>(2);
inline constexpr result no_binary = static_cast<result>(209);
inline constexpr result invalid_ptx = static_cast<result>(218);
inline constexpr result illegal_address = static_cast<result>(700);

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name.
inline void PrintTo(result code, std::ostream* out) {
    const char* name = nullptr;
    (void)cuGetErrorName(code, &name);
    *out << (name != nullptr ? name : "unknown code");
}

} // namespace softgpu::runtime
