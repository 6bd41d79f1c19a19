// SPDX-License-Identifier: MIT
// The runtime's functions that the driver's calls forward to. They are defined in softgpu/runtime/calls.
#pragma once

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/graph.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/abi/shared.hpp"
#include "softgpu/runtime/abi/texture.hpp"
#include "softgpu/runtime/core/logs.hpp"

namespace softgpu::runtime {

struct memory_pool;
struct user_object;

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

error cudaDeviceGetHostAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int device);
error cudaDeviceGetP2PAtomicCapabilities(unsigned* out, const int* operations, unsigned count, int source,
                                         int destination);
error cudaDeviceRegisterAsyncNotification(int device, void (*who)(void*, void*, void*), void* user, void** handle);
error cudaDeviceUnregisterAsyncNotification(int device, void* handle);
error cudaLogsRegisterCallback(logs::listener who, void* user, logs::registration** out);
error cudaLogsUnregisterCallback(logs::registration* r);
error cudaLogsCurrent(std::uint32_t* iterator, unsigned flags);
error cudaLogsDumpToFile(std::uint32_t* iterator, const char* path, unsigned flags);
error cudaLogsDumpToMemory(std::uint32_t* iterator, char* buffer, std::size_t* bytes, unsigned flags);

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
error cudaMemPoolExportToShareableHandle(void* out, memory_pool* pool, pool_handles as, unsigned flags);
error cudaMemPoolImportFromShareableHandle(memory_pool** pool, void* handle, pool_handles as, unsigned flags);
error cudaMemPoolExportPointer(shared_handle* out, void* pointer);
error cudaMemPoolImportPointer(void** out, memory_pool* pool, const shared_handle* from);
error cudaMemGetDefaultMemPool(memory_pool** pool, memory_location* at, pool_allocation kind);
error cudaMemGetMemPool(memory_pool** pool, memory_location* at, pool_allocation kind);
error cudaMemSetMemPool(memory_location* at, pool_allocation kind, memory_pool* pool);
error cudaIpcGetMemHandle(shared_handle* out, void* pointer);
error cudaIpcOpenMemHandle(void** pointer, shared_handle handle, unsigned flags);
error cudaIpcCloseMemHandle(void* pointer);
error cudaIpcGetEventHandle(shared_handle* out, event* e);
error cudaIpcOpenEventHandle(event** out, shared_handle handle);
error cudaMemPoolGetAccess(access_flags* flags, memory_pool* pool, memory_location* at);
error cudaMemPoolSetAccess(memory_pool* pool, const memory_access* list, std::size_t count);
error cudaMemRangeGetAttribute(void* data, std::size_t data_bytes, range_attribute which, const void* pointer,
                               std::size_t bytes);
error cudaMemRangeGetAttributes(void** data, std::size_t* data_bytes, range_attribute* which, std::size_t count,
                                const void* pointer, std::size_t bytes);

error cudaMemPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count, memory_location* locations,
                                std::size_t* location_indices, std::size_t location_count, unsigned long long flags,
                                stream* on);
error cudaMemDiscardBatchAsync(void** pointers, std::size_t* sizes, std::size_t count, unsigned long long flags,
                               stream* on);
error cudaMemDiscardAndPrefetchBatchAsync(void** pointers, std::size_t* sizes, std::size_t count,
                                          memory_location* locations, std::size_t* location_indices,
                                          std::size_t location_count, unsigned long long flags, stream* on);

error cudaMemcpy(void* destination, const void* source, std::size_t bytes, copy_kind kind);
error cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, copy_kind kind, stream* on);

error cudaMemcpyToArray(array* to, std::size_t x, std::size_t y, const void* from, std::size_t count, copy_kind kind);
error cudaMemcpyToArrayAsync(array* to, std::size_t x, std::size_t y, const void* from, std::size_t count,
                             copy_kind kind, stream* on);
error cudaMemcpyFromArray(void* to, const array* from, std::size_t x, std::size_t y, std::size_t count, copy_kind kind);
error cudaMemcpyFromArrayAsync(void* to, const array* from, std::size_t x, std::size_t y, std::size_t count,
                               copy_kind kind, stream* on);
error cudaMemcpyArrayToArray(array* to, std::size_t to_x, std::size_t to_y, const array* from, std::size_t from_x,
                             std::size_t from_y, std::size_t count, copy_kind kind);

error cudaMalloc3DArray(array** out, const channel_format* format, extent size, unsigned flags);
error cudaMallocMipmappedArray(mipmapped_array** out, const channel_format* format, extent size, unsigned levels,
                               unsigned flags);
error cudaFreeArray(array* handle);
error cudaFreeMipmappedArray(mipmapped_array* handle);
error cudaGetMipmappedArrayLevel(array** out, const mipmapped_array* handle, unsigned level);
error cudaArrayGetMemoryRequirements(array_requirements* out, array* handle, int device);
error cudaMipmappedArrayGetMemoryRequirements(array_requirements* out, mipmapped_array* handle, int device);
error cudaArrayGetSparseProperties(void* out, array* handle);
error cudaMipmappedArrayGetSparseProperties(void* out, mipmapped_array* handle);
error cudaArrayGetPlane(array** out, array* handle, unsigned plane);
error cudaCreateTextureObject(texture_handle* out, const resource_description* resource, const texture_description* how,
                              const view_description* view);
error cudaDestroyTextureObject(texture_handle handle);
error cudaGetTextureObjectResourceDesc(resource_description* resource, texture_handle handle);
error cudaGetTextureObjectTextureDesc(texture_description* how, texture_handle handle);
error cudaGetTextureObjectResourceViewDesc(view_description* view, texture_handle handle);
error cudaCreateSurfaceObject(texture_handle* out, const resource_description* resource);
error cudaDestroySurfaceObject(texture_handle handle);
error cudaGetSurfaceObjectResourceDesc(resource_description* resource, texture_handle handle);
error cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, const channel_format* format, int device);

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
error cudaGraphConditionalHandleCreate(unsigned long long* out, graph* of, unsigned initial, unsigned flags);
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
error cudaGraphInstantiateWithParams(executable_graph** out, graph* from, instantiate_parameters* p);
error cudaGraphInstantiateWithParams_ptsz(executable_graph** out, graph* from, instantiate_parameters* p);
error cudaGraphExecUpdate(executable_graph* e, graph* from, update_information* information);
error cudaGraphNodeSetEnabled(executable_graph* e, graph_node* n, unsigned enabled);
error cudaGraphNodeGetEnabled(executable_graph* e, graph_node* n, unsigned* enabled);
error cudaGraphNodeSetParams(graph_node* n, node_parameters* p);
error cudaGraphExecNodeSetParams(executable_graph* e, graph_node* n, node_parameters* p);
error cudaGraphAddKernelNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                             const kernel_parameters* p);
error cudaGraphKernelNodeGetParams(graph_node* n, kernel_parameters* p);
error cudaGraphKernelNodeSetParams(graph_node* n, const kernel_parameters* p);
error cudaGraphExecKernelNodeSetParams(executable_graph* e, graph_node* n, const kernel_parameters* p);
error cudaGraphKernelNodeSetAttribute(graph_node* n, launch_attribute_id id, const launch_attribute_value* value);
error cudaGraphKernelNodeGetAttribute(graph_node* n, launch_attribute_id id, launch_attribute_value* value);
error cudaGraphKernelNodeCopyAttributes(graph_node* from, graph_node* to);
error cudaGraphAddMemcpyNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                             const copy_3d* p);
error cudaGraphMemcpyNodeGetParams(graph_node* n, copy_3d* p);
error cudaGraphMemcpyNodeSetParams(graph_node* n, const copy_3d* p);
error cudaGraphExecMemcpyNodeSetParams(executable_graph* e, graph_node* n, const copy_3d* p);
error cudaGraphAddMemsetNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                             const fill_parameters* p);
error cudaGraphMemsetNodeGetParams(graph_node* n, fill_parameters* p);
error cudaGraphMemsetNodeSetParams(graph_node* n, const fill_parameters* p);
error cudaGraphExecMemsetNodeSetParams(executable_graph* e, graph_node* n, const fill_parameters* p);
error cudaGraphAddHostNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                           const host_parameters* p);
error cudaGraphHostNodeGetParams(graph_node* n, host_parameters* p);
error cudaGraphHostNodeSetParams(graph_node* n, const host_parameters* p);
error cudaGraphExecHostNodeSetParams(executable_graph* e, graph_node* n, const host_parameters* p);
error cudaGraphExecChildGraphNodeSetParams(executable_graph* e, graph_node* n, graph* child);
error cudaGraphEventRecordNodeGetEvent(graph_node* n, event** e);
error cudaGraphEventRecordNodeSetEvent(graph_node* n, event* e);
error cudaGraphExecEventRecordNodeSetEvent(executable_graph* e, graph_node* n, event* what);
error cudaGraphEventWaitNodeGetEvent(graph_node* n, event** e);
error cudaGraphEventWaitNodeSetEvent(graph_node* n, event* e);
error cudaGraphExecEventWaitNodeSetEvent(executable_graph* e, graph_node* n, event* what);
error cudaGraphAddMemAllocNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count,
                               allocate_parameters* p);
error cudaGraphMemAllocNodeGetParams(graph_node* n, allocate_parameters* p);
error cudaGraphAddMemFreeNode(graph_node** out, graph* in, graph_node* const* before, std::size_t count, void* pointer);
error cudaGraphMemFreeNodeGetParams(graph_node* n, void* out);
error cudaUserObjectCreate(user_object** out, void* what, host_function destroy, unsigned references, unsigned flags);
error cudaUserObjectRetain(user_object* object, unsigned count);
error cudaUserObjectRelease(user_object* object, unsigned count);
error cudaGraphRetainUserObject(graph* g, user_object* object, unsigned count, unsigned flags);
error cudaGraphReleaseUserObject(graph* g, user_object* object, unsigned count);
error cudaDeviceGetGraphMemAttribute(int device, graph_memory_attribute which, void* value);
error cudaDeviceSetGraphMemAttribute(int device, graph_memory_attribute which, void* value);
error cudaDeviceGraphMemTrim(int device);

} // extern "C"

} // namespace softgpu::runtime
