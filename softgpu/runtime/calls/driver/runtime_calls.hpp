// SPDX-License-Identifier: MIT
// The runtime's functions that the driver's calls forward to. They are defined in softgpu/runtime/calls.
#pragma once

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/graph.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/abi/memory.hpp"

namespace softgpu::runtime {

struct memory_pool;

extern "C" {

error cudaGetDeviceCount(int* count);
error cudaInitDevice(int device, unsigned device_flags, unsigned flags);
error cudaSetDeviceFlags(unsigned flags);
error cudaDeviceReset();
error cudaDeviceSynchronize();
error cudaDeviceGetLimit(std::size_t* value, limit which);
error cudaDeviceSetLimit(limit which, std::size_t value);
error cudaDeviceGetCacheConfig(cache_preference* preference);
error cudaDeviceSetCacheConfig(cache_preference preference);
error cudaDeviceGetSharedMemConfig(bank_width* width);
error cudaDeviceSetSharedMemConfig(bank_width width);
error cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
error cudaCtxResetPersistingL2Cache();
error cudaDeviceGetPCIBusId(char* text, int length, int device);
error cudaDeviceGetByPCIBusId(int* device, const char* text);
error cudaDeviceCanAccessPeer(int* can, int device, int peer);
error cudaDeviceEnablePeerAccess(int peer, unsigned flags);
error cudaDeviceDisablePeerAccess(int peer);
error cudaDeviceGetP2PAttribute(int* value, int attribute, int source, int destination);
error cudaDeviceGetDefaultMemPool(memory_pool** pool, int device);
error cudaDeviceGetMemPool(memory_pool** pool, int device);
error cudaDeviceSetMemPool(int device, memory_pool* pool);

error cudaFuncGetAttributes(function_attributes* out, const void* kernel);
error cudaFuncSetAttribute(const void* kernel, function_attribute which, int value);
error cudaFuncSetCacheConfig(const void* kernel, cache_preference preference);
error cudaFuncSetSharedMemConfig(const void* kernel, bank_width width);
error cudaFuncGetName(const char** name, const void* kernel);
error cudaFuncGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset, std::size_t* bytes);
error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                             std::size_t dynamic_shared, unsigned flags);
error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* kernel, int blocks, int threads);
error cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* kernel, const launch_configuration* configuration);
error cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const launch_configuration* configuration);

error cudaLaunchKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                       std::size_t dynamic_shared_bytes, stream* on);
error cudaLaunchCooperativeKernel(const void* kernel, dimensions grid, dimensions block, void** arguments,
                                  std::size_t dynamic_shared_bytes, stream* on);
error cudaLaunchKernelExC(const launch_configuration* configuration, const void* kernel, void** arguments);
error cudaLaunchHostFunc(stream* s, host_function run, void* user);

error cudaMalloc(void** pointer, std::size_t bytes);
error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height);
error cudaFree(void* pointer);
error cudaMemGetInfo(std::size_t* available, std::size_t* total);
error cudaMallocHost(void** pointer, std::size_t bytes);
error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
error cudaFreeHost(void* pointer);
error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
error cudaHostUnregister(void* pointer);
error cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
error cudaHostGetFlags(unsigned* flags, void* host);
error cudaMallocAsync(void** pointer, std::size_t bytes, stream* on);
error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, memory_pool* pool, stream* on);
error cudaFreeAsync(void* pointer, stream* on);
error cudaMemPoolCreate(memory_pool** pool, const pool_properties* properties);
error cudaMemPoolDestroy(memory_pool* pool);
error cudaMemPoolTrimTo(memory_pool* pool, std::size_t bytes);
error cudaMemPoolGetAttribute(memory_pool* pool, pool_attribute which, void* value);
error cudaMemPoolSetAttribute(memory_pool* pool, pool_attribute which, void* value);
error cudaMemPoolGetAccess(access_flags* flags, memory_pool* pool, memory_location* at);
error cudaMemPoolSetAccess(memory_pool* pool, const memory_access* list, std::size_t count);
error cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, range_attribute which, const void* pointer,
                               std::size_t bytes);
error cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, range_attribute* which, std::size_t count,
                                const void* pointer, std::size_t bytes);

error cudaMemcpy(void* destination, const void* source, std::size_t bytes, copy_kind kind);
error cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on);

error cudaStreamCreateWithPriority(stream** out, unsigned flags, int priority);
error cudaStreamDestroy(stream* s);
error cudaStreamSynchronize(stream* s);
error cudaStreamQuery(stream* s);
error cudaStreamWaitEvent(stream* s, event* e, unsigned flags);
error cudaStreamGetFlags(stream* s, unsigned* flags);
error cudaStreamGetPriority(stream* s, int* priority);
error cudaStreamGetId(stream* s, unsigned long long* id);
error cudaStreamGetDevice(stream* s, int* device);
error cudaStreamAttachMemAsync(stream* s, void* pointer, std::size_t bytes, unsigned flags);
error cudaStreamAddCallback(stream* s, void (*run)(stream* on, error status, void* user), void* user, unsigned flags);
error cudaStreamCopyAttributes(stream* destination, stream* source);
error cudaStreamGetAttribute(stream* s, launch_attribute_id which, launch_attribute_value* value);
error cudaStreamSetAttribute(stream* s, launch_attribute_id which, const launch_attribute_value* value);
error cudaStreamBeginCapture(stream* s, capture_mode mode);
error cudaStreamBeginCaptureToGraph(stream* s, graph* into, graph_node* const* before, const edge_data* data,
                                    std::size_t count, capture_mode mode);
error cudaStreamEndCapture(stream* s, graph** out);
error cudaStreamIsCapturing(stream* s, capture_status* status);
error cudaThreadExchangeStreamCaptureMode(capture_mode* mode);

error cudaEventCreateWithFlags(event** out, unsigned flags);
error cudaEventDestroy(event* e);
error cudaEventRecordWithFlags(event* e, stream* on, unsigned flags);
error cudaEventQuery(event* e);
error cudaEventSynchronize(event* e);
error cudaEventElapsedTime(float* milliseconds, event* start, event* end);

error cudaGraphCreate(graph** out, unsigned flags);
error cudaGraphDestroy(graph* g);
error cudaGraphClone(graph** out, graph* from);
error cudaGraphInstantiate(executable_graph** out, graph* from, unsigned long long flags);
error cudaGraphLaunch(executable_graph* e, stream* on);
error cudaGraphUpload(executable_graph* e, stream* on);
error cudaGraphExecDestroy(executable_graph* e);
error cudaGraphExecGetFlags(executable_graph* e, unsigned long long* flags);
error cudaGraphGetNodes(graph* g, graph_node** out, std::size_t* count);
error cudaGraphGetRootNodes(graph* g, graph_node** out, std::size_t* count);
error cudaGraphDestroyNode(graph_node* n);
error cudaGraphNodeGetType(graph_node* n, node_type* type);
error cudaGraphNodeFindInClone(graph_node** out, graph_node* original, graph* clone);
error cudaGraphAddEmptyNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count);
error cudaGraphAddChildGraphNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                                 graph* child);
error cudaGraphChildGraphNodeGetGraph(graph_node* n, graph** child);
error cudaGraphAddEventRecordNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count, event* e);
error cudaGraphAddEventWaitNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count, event* e);
error cudaGraphDebugDotPrint(graph* g, const char* path, unsigned flags);

} // extern "C"

} // namespace softgpu::runtime
