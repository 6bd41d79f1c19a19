// SPDX-License-Identifier: MIT
// The calls that the tests make besides those of runtime_calls.hpp, declared without a CUDA header, and printing of errors.
#pragma once

#include <cstddef>
#include <ostream>

#include "softgpu/observe/launch_record.hpp"
#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/calls/driver/runtime_calls.hpp"

namespace softgpu::runtime {

extern "C" {

error cudaGetLastError();
error cudaPeekAtLastError();
const char* cudaGetErrorName(error e);
const char* cudaGetErrorString(error e);

error cudaGetDevice(int* device);
error cudaSetDevice(int device);
error cudaDeviceGetAttribute(int* value, int attribute, int device);
error cudaGetDeviceProperties(device_properties* out, int device);
error cudaRuntimeGetVersion(int* version);

error cudaPointerGetAttributes(pointer_attributes* attributes, const void* pointer);

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
error cudaStreamSynchronize_ptsz(stream* s);
error cudaStreamQuery_ptsz(stream* s);
error cudaLaunchHostFunc_ptsz(stream* s, void (*run)(void*), void* user);
error cudaEventCreate(event** out);
error cudaEventRecord(event* e, stream* on);

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
