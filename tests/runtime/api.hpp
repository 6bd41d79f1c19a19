// SPDX-License-Identifier: MIT
// The calls that the tests make, declared without a CUDA header, and printing of errors.
#pragma once

#include <cstddef>
#include <ostream>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/graph.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/abi/memory.hpp"

namespace softgpu::runtime {

struct memory_pool;

extern "C" {

error cudaGetLastError();
error cudaPeekAtLastError();
const char* cudaGetErrorName(error e);
const char* cudaGetErrorString(error e);

error cudaGetDeviceCount(int* count);
error cudaGetDevice(int* device);
error cudaSetDevice(int device);
error cudaDeviceGetAttribute(int* value, int attribute, int device);
error cudaGetDeviceProperties(device_properties* out, int device);
error cudaDeviceSynchronize();
error cudaDeviceReset();
error cudaDeviceGetLimit(std::size_t* value, limit which);
error cudaDeviceSetLimit(limit which, std::size_t value);
error cudaRuntimeGetVersion(int* version);

error cudaMalloc(void** pointer, std::size_t bytes);
error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
error cudaMallocHost(void** pointer, std::size_t bytes);
error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
error cudaHostUnregister(void* pointer);
error cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
error cudaFree(void* pointer);
error cudaFreeHost(void* pointer);
error cudaMemGetInfo(std::size_t* available, std::size_t* total);
error cudaPointerGetAttributes(pointer_attributes* attributes, const void* pointer);
error cudaMallocAsync(void** pointer, std::size_t bytes, stream* on);
error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, memory_pool* pool, stream* on);
error cudaFreeAsync(void* pointer, stream* on);
error cudaMemPoolCreate(memory_pool** pool, const pool_properties* properties);
error cudaMemPoolDestroy(memory_pool* pool);
error cudaMemPoolGetAttribute(memory_pool* pool, pool_attribute which, void* value);

error cudaMemcpy(void* destination, const void* source, std::size_t bytes, copy_kind kind);
error cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on);
error cudaMemcpy2D(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
                   std::size_t width, std::size_t height, copy_kind kind);
error cudaMemcpy3D(const copy_3d* what);
error cudaMemset(void* pointer, int value, std::size_t bytes);
error cudaMemsetAsync(void* pointer, int value, std::size_t bytes, stream* on);
error cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height);
error cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset, copy_kind kind);
error cudaMemcpyFromSymbol(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                           copy_kind kind);
error cudaGetSymbolAddress(void** address, const void* symbol);
error cudaGetSymbolSize(std::size_t* bytes, const void* symbol);

error cudaStreamCreate(stream** out);
error cudaStreamCreateWithFlags(stream** out, unsigned flags);
error cudaStreamCreateWithPriority(stream** out, unsigned flags, int priority);
error cudaStreamDestroy(stream* s);
error cudaStreamSynchronize(stream* s);
error cudaStreamSynchronize_ptsz(stream* s);
error cudaStreamQuery(stream* s);
error cudaStreamQuery_ptsz(stream* s);
error cudaStreamGetPriority(stream* s, int* priority);
error cudaStreamWaitEvent(stream* s, event* e, unsigned flags);
error cudaLaunchHostFunc(stream* s, void (*run)(void*), void* user);
error cudaLaunchHostFunc_ptsz(stream* s, void (*run)(void*), void* user);
error cudaStreamAddCallback(stream* s, void (*run)(stream*, error, void*), void* user, unsigned flags);
error cudaStreamBeginCapture(stream* s, capture_mode mode);
error cudaStreamEndCapture(stream* s, graph** out);
error cudaGraphInstantiate(executable_graph** out, graph* from, unsigned long long flags);
error cudaGraphLaunch(executable_graph* e, stream* on);
error cudaEventCreate(event** out);
error cudaEventCreateWithFlags(event** out, unsigned flags);
error cudaEventDestroy(event* e);
error cudaEventRecord(event* e, stream* on);
error cudaEventQuery(event* e);
error cudaEventSynchronize(event* e);
error cudaEventElapsedTime(float* milliseconds, event* start, event* end);

error cudaLaunchKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                       std::size_t dynamic_shared, stream* on);
error cudaLaunchCooperativeKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                                  std::size_t dynamic_shared, stream* on);
error cudaLaunchKernelExC(const launch_configuration* configuration, const void* kernel, void** arguments);
error cudaFuncGetAttributes(function_attributes* out, const void* kernel);
error cudaFuncSetAttribute(const void* kernel, function_attribute which, int value);
error cudaFuncSetCacheConfig(const void* kernel, cache_preference preference);
error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                    std::size_t dynamic_shared);
error cudaGraphicsMapResources(int count, void** resources, stream* on);

// NOLINTBEGIN(bugprone-reserved-identifier): the runtime's own names.
void** __cudaRegisterFatBinary(void* data);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int, void*, void*, void*,
                            void*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int, std::size_t bytes, int, int);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name, int, std::size_t bytes, int,
                              int);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dimensions grid, dimensions block, std::size_t dynamic_shared_bytes, stream* on);
error __cudaPopCallConfiguration(dimensions* grid, dimensions* block, std::size_t* dynamic_shared_bytes, void* on);
error __cudaGetKernel(function** kernel, const void* host);
error __cudaLaunchKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                         std::size_t dynamic_shared, stream* on);
// NOLINTEND(bugprone-reserved-identifier)

} // extern "C"

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name.
inline void PrintTo(error e, std::ostream* out) { *out << cudaGetErrorName(e); }

} // namespace softgpu::runtime
