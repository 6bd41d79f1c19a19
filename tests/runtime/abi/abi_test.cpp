// SPDX-License-Identifier: MIT
// Our declarations of the runtime's interface against CUDA's own headers: all checked while compiling.
#include <cuda_runtime_api.h>

#include "softgpu/runtime/abi/copy.hpp"
#include "softgpu/runtime/abi/device_properties.hpp"
#include "softgpu/runtime/abi/error.hpp"
#include "softgpu/runtime/abi/launch.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/abi/shared.hpp"
#include "softgpu/runtime/core/streams/event.hpp"
#include "softgpu/runtime/core/streams/stream.hpp"
#include "tests/runtime/abi/same_abi.hpp"

#if CUDART_VERSION >= 13000

#define SOFTGPU_ERROR(code, id, name, text) static_assert(static_cast<int>(sr::error::id) == static_cast<int>(name));
#include "softgpu/runtime/abi/errors.def"
#undef SOFTGPU_ERROR

#define SOFTGPU_ATTRIBUTE(number, name, value) static_assert(number == static_cast<int>(name));
#include "softgpu/runtime/abi/device_attributes.def"
#undef SOFTGPU_ATTRIBUTE

SAME_SIZE(device_properties, cudaDeviceProp);
SAME_FIELD(device_properties, name, cudaDeviceProp, name);
SAME_FIELD(device_properties, uuid, cudaDeviceProp, uuid);
SAME_FIELD(device_properties, luid, cudaDeviceProp, luid);
SAME_FIELD(device_properties, luid_device_node_mask, cudaDeviceProp, luidDeviceNodeMask);
SAME_FIELD(device_properties, total_global_memory, cudaDeviceProp, totalGlobalMem);
#define SOFTGPU_PROPERTY(type, name, cudas, attribute) SAME_FIELD(device_properties, name, cudaDeviceProp, cudas);
#define SOFTGPU_PROPERTIES(count, name, cudas, ...) SAME_FIELD(device_properties, name, cudaDeviceProp, cudas);
#define SOFTGPU_PROPERTY_13 SOFTGPU_PROPERTY
#include "softgpu/runtime/abi/device_properties.def"
SAME_FIELD(device_properties, reserved, cudaDeviceProp, reserved);

SAME_SIZE(function_attributes, cudaFuncAttributes);
SAME_FIELD(function_attributes, shared_bytes, cudaFuncAttributes, sharedSizeBytes);
SAME_FIELD(function_attributes, constant_bytes, cudaFuncAttributes, constSizeBytes);
SAME_FIELD(function_attributes, local_bytes, cudaFuncAttributes, localSizeBytes);
SAME_FIELD(function_attributes, max_threads_per_block, cudaFuncAttributes, maxThreadsPerBlock);
SAME_FIELD(function_attributes, registers, cudaFuncAttributes, numRegs);
SAME_FIELD(function_attributes, ptx_version, cudaFuncAttributes, ptxVersion);
SAME_FIELD(function_attributes, binary_version, cudaFuncAttributes, binaryVersion);
SAME_FIELD(function_attributes, cache_mode, cudaFuncAttributes, cacheModeCA);
SAME_FIELD(function_attributes, max_dynamic_shared_bytes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_FIELD(function_attributes, preferred_shared_carveout, cudaFuncAttributes, preferredShmemCarveout);
SAME_FIELD(function_attributes, cluster_dimensions_must_be_set, cudaFuncAttributes, clusterDimMustBeSet);
SAME_FIELD(function_attributes, required_cluster_width, cudaFuncAttributes, requiredClusterWidth);
SAME_FIELD(function_attributes, required_cluster_height, cudaFuncAttributes, requiredClusterHeight);
SAME_FIELD(function_attributes, required_cluster_depth, cudaFuncAttributes, requiredClusterDepth);
SAME_FIELD(function_attributes, cluster_scheduling_policy, cudaFuncAttributes, clusterSchedulingPolicyPreference);
SAME_FIELD(function_attributes, non_portable_cluster_size_allowed, cudaFuncAttributes, nonPortableClusterSizeAllowed);
SAME_FIELD(function_attributes, reserved, cudaFuncAttributes, reserved);

SAME_SIZE(pointer_attributes, cudaPointerAttributes);
SAME_FIELD(pointer_attributes, type, cudaPointerAttributes, type);
SAME_FIELD(pointer_attributes, device, cudaPointerAttributes, device);
SAME_FIELD(pointer_attributes, device_pointer, cudaPointerAttributes, devicePointer);
SAME_FIELD(pointer_attributes, host_pointer, cudaPointerAttributes, hostPointer);

SAME_SIZE(pitched_pointer, cudaPitchedPtr);
SAME_FIELD(pitched_pointer, pointer, cudaPitchedPtr, ptr);
SAME_FIELD(pitched_pointer, pitch, cudaPitchedPtr, pitch);
SAME_FIELD(pitched_pointer, width, cudaPitchedPtr, xsize);
SAME_FIELD(pitched_pointer, height, cudaPitchedPtr, ysize);

SAME_SIZE(extent, cudaExtent);
SAME_FIELD(extent, width, cudaExtent, width);
SAME_FIELD(extent, height, cudaExtent, height);
SAME_FIELD(extent, depth, cudaExtent, depth);

SAME_SIZE(position, cudaPos);
SAME_FIELD(position, x, cudaPos, x);
SAME_FIELD(position, y, cudaPos, y);
SAME_FIELD(position, z, cudaPos, z);

SAME_SIZE(copy_3d, cudaMemcpy3DParms);
SAME_FIELD(copy_3d, source_array, cudaMemcpy3DParms, srcArray);
SAME_FIELD(copy_3d, source_position, cudaMemcpy3DParms, srcPos);
SAME_FIELD(copy_3d, source, cudaMemcpy3DParms, srcPtr);
SAME_FIELD(copy_3d, destination_array, cudaMemcpy3DParms, dstArray);
SAME_FIELD(copy_3d, destination_position, cudaMemcpy3DParms, dstPos);
SAME_FIELD(copy_3d, destination, cudaMemcpy3DParms, dstPtr);
SAME_FIELD(copy_3d, extent, cudaMemcpy3DParms, extent);
SAME_FIELD(copy_3d, kind, cudaMemcpy3DParms, kind);

SAME_SIZE(copy_3d_peer, cudaMemcpy3DPeerParms);
SAME_FIELD(copy_3d_peer, source_array, cudaMemcpy3DPeerParms, srcArray);
SAME_FIELD(copy_3d_peer, source_position, cudaMemcpy3DPeerParms, srcPos);
SAME_FIELD(copy_3d_peer, source, cudaMemcpy3DPeerParms, srcPtr);
SAME_FIELD(copy_3d_peer, destination_array, cudaMemcpy3DPeerParms, dstArray);
SAME_FIELD(copy_3d_peer, destination_position, cudaMemcpy3DPeerParms, dstPos);
SAME_FIELD(copy_3d_peer, destination, cudaMemcpy3DPeerParms, dstPtr);
SAME_FIELD(copy_3d_peer, extent, cudaMemcpy3DPeerParms, extent);
SAME_FIELD(copy_3d_peer, source_device, cudaMemcpy3DPeerParms, srcDevice);
SAME_FIELD(copy_3d_peer, destination_device, cudaMemcpy3DPeerParms, dstDevice);

SAME_SIZE(channel_format, cudaChannelFormatDesc);
SAME_FIELD(channel_format, x, cudaChannelFormatDesc, x);
SAME_FIELD(channel_format, y, cudaChannelFormatDesc, y);
SAME_FIELD(channel_format, z, cudaChannelFormatDesc, z);
SAME_FIELD(channel_format, w, cudaChannelFormatDesc, w);
SAME_FIELD(channel_format, kind, cudaChannelFormatDesc, f);

SAME_SIZE(memory_location, cudaMemLocation);
SAME_FIELD(memory_location, type, cudaMemLocation, type);
SAME_FIELD(memory_location, id, cudaMemLocation, id);

SAME_SIZE(memory_access, cudaMemAccessDesc);
SAME_FIELD(memory_access, location, cudaMemAccessDesc, location);
SAME_FIELD(memory_access, flags, cudaMemAccessDesc, flags);

SAME_SIZE(pool_properties, cudaMemPoolProps);
SAME_FIELD(pool_properties, allocation, cudaMemPoolProps, allocType);
SAME_FIELD(pool_properties, handles, cudaMemPoolProps, handleTypes);
SAME_FIELD(pool_properties, location, cudaMemPoolProps, location);
SAME_FIELD(pool_properties, win32_security_attributes, cudaMemPoolProps, win32SecurityAttributes);
SAME_FIELD(pool_properties, max_bytes, cudaMemPoolProps, maxSize);
SAME_FIELD(pool_properties, usage, cudaMemPoolProps, usage);
SAME_FIELD(pool_properties, reserved, cudaMemPoolProps, reserved);

SAME_SIZE(dimensions, dim3);
SAME_FIELD(dimensions, x, dim3, x);
SAME_FIELD(dimensions, y, dim3, y);
SAME_FIELD(dimensions, z, dim3, z);

SAME_SIZE(launch_configuration, cudaLaunchConfig_t);
SAME_FIELD(launch_configuration, grid, cudaLaunchConfig_t, gridDim);
SAME_FIELD(launch_configuration, block, cudaLaunchConfig_t, blockDim);
SAME_FIELD(launch_configuration, dynamic_shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
SAME_FIELD(launch_configuration, stream, cudaLaunchConfig_t, stream);
SAME_FIELD(launch_configuration, attributes, cudaLaunchConfig_t, attrs);
SAME_FIELD(launch_configuration, attribute_count, cudaLaunchConfig_t, numAttrs);

SAME_SIZE(launch_attribute, cudaLaunchAttribute);
SAME_FIELD(launch_attribute, id, cudaLaunchAttribute, id);
SAME_FIELD(launch_attribute, value, cudaLaunchAttribute, val);

SAME_SIZE(launch_attribute_value, cudaLaunchAttributeValue);
static_assert(offsetof(sr::launch_attribute_value, cooperative) == offsetof(cudaLaunchAttributeValue, cooperative));
static_assert(offsetof(sr::launch_attribute_value, cluster) == offsetof(cudaLaunchAttributeValue, clusterDim));
static_assert(offsetof(sr::launch_attribute_value, priority) == offsetof(cudaLaunchAttributeValue, priority));
static_assert(offsetof(sr::launch_attribute_value, window.bytes) ==
              offsetof(cudaLaunchAttributeValue, accessPolicyWindow.num_bytes));
static_assert(offsetof(sr::launch_attribute_value, programmatic_event.what) ==
              offsetof(cudaLaunchAttributeValue, programmaticEvent.event));
static_assert(offsetof(sr::launch_attribute_value, completion_event.what) ==
              offsetof(cudaLaunchAttributeValue, launchCompletionEvent.event));

SAME_VALUE(copy_kind::host_to_host, cudaMemcpyHostToHost);
SAME_VALUE(copy_kind::host_to_device, cudaMemcpyHostToDevice);
SAME_VALUE(copy_kind::device_to_host, cudaMemcpyDeviceToHost);
SAME_VALUE(copy_kind::device_to_device, cudaMemcpyDeviceToDevice);
SAME_VALUE(copy_kind::automatic, cudaMemcpyDefault);
SAME_VALUE(memory_type::unregistered, cudaMemoryTypeUnregistered);
SAME_VALUE(memory_type::host, cudaMemoryTypeHost);
SAME_VALUE(memory_type::device, cudaMemoryTypeDevice);
SAME_VALUE(memory_type::managed, cudaMemoryTypeManaged);
SAME_VALUE(memory_advice::set_read_mostly, cudaMemAdviseSetReadMostly);
SAME_VALUE(memory_advice::unset_read_mostly, cudaMemAdviseUnsetReadMostly);
SAME_VALUE(memory_advice::set_preferred_location, cudaMemAdviseSetPreferredLocation);
SAME_VALUE(memory_advice::unset_preferred_location, cudaMemAdviseUnsetPreferredLocation);
SAME_VALUE(memory_advice::set_accessed_by, cudaMemAdviseSetAccessedBy);
SAME_VALUE(memory_advice::unset_accessed_by, cudaMemAdviseUnsetAccessedBy);
SAME_VALUE(range_attribute::read_mostly, cudaMemRangeAttributeReadMostly);
SAME_VALUE(range_attribute::preferred_location, cudaMemRangeAttributePreferredLocation);
SAME_VALUE(range_attribute::accessed_by, cudaMemRangeAttributeAccessedBy);
SAME_VALUE(range_attribute::last_prefetch_location, cudaMemRangeAttributeLastPrefetchLocation);
SAME_VALUE(range_attribute::preferred_location_type, cudaMemRangeAttributePreferredLocationType);
SAME_VALUE(range_attribute::preferred_location_id, cudaMemRangeAttributePreferredLocationId);
SAME_VALUE(range_attribute::last_prefetch_location_type, cudaMemRangeAttributeLastPrefetchLocationType);
SAME_VALUE(range_attribute::last_prefetch_location_id, cudaMemRangeAttributeLastPrefetchLocationId);
SAME_VALUE(location_type::none, cudaMemLocationTypeNone);
SAME_VALUE(location_type::device, cudaMemLocationTypeDevice);
SAME_VALUE(location_type::host, cudaMemLocationTypeHost);
SAME_VALUE(location_type::host_numa, cudaMemLocationTypeHostNuma);
SAME_VALUE(location_type::host_numa_current, cudaMemLocationTypeHostNumaCurrent);
SAME_VALUE(access_flags::none, cudaMemAccessFlagsProtNone);
SAME_VALUE(access_flags::read, cudaMemAccessFlagsProtRead);
SAME_VALUE(access_flags::read_write, cudaMemAccessFlagsProtReadWrite);
SAME_VALUE(pool_attribute::reuse_follow_event_dependencies, cudaMemPoolReuseFollowEventDependencies);
SAME_VALUE(pool_attribute::reuse_allow_opportunistic, cudaMemPoolReuseAllowOpportunistic);
SAME_VALUE(pool_attribute::reuse_allow_internal_dependencies, cudaMemPoolReuseAllowInternalDependencies);
SAME_VALUE(pool_attribute::release_threshold, cudaMemPoolAttrReleaseThreshold);
SAME_VALUE(pool_attribute::reserved_current, cudaMemPoolAttrReservedMemCurrent);
SAME_VALUE(pool_attribute::reserved_high, cudaMemPoolAttrReservedMemHigh);
SAME_VALUE(pool_attribute::used_current, cudaMemPoolAttrUsedMemCurrent);
SAME_VALUE(pool_attribute::used_high, cudaMemPoolAttrUsedMemHigh);
SAME_VALUE(pool_allocation::pinned, cudaMemAllocationTypePinned);
SAME_VALUE(pool_allocation::managed, cudaMemAllocationTypeManaged);
SAME_VALUE(pool_handles::none, cudaMemHandleTypeNone);
SAME_VALUE(pool_handles::file_descriptor, cudaMemHandleTypePosixFileDescriptor);
SAME_SIZE(shared_handle, cudaIpcMemHandle_t);
SAME_SIZE(shared_handle, cudaIpcEventHandle_t);
SAME_SIZE(shared_handle, cudaMemPoolPtrExportData);
SAME_VALUE(function_attribute::max_dynamic_shared_bytes, cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME_VALUE(function_attribute::preferred_shared_carveout, cudaFuncAttributePreferredSharedMemoryCarveout);
SAME_VALUE(function_attribute::cluster_dimensions_must_be_set, cudaFuncAttributeClusterDimMustBeSet);
SAME_VALUE(function_attribute::required_cluster_width, cudaFuncAttributeRequiredClusterWidth);
SAME_VALUE(function_attribute::required_cluster_height, cudaFuncAttributeRequiredClusterHeight);
SAME_VALUE(function_attribute::required_cluster_depth, cudaFuncAttributeRequiredClusterDepth);
SAME_VALUE(function_attribute::non_portable_cluster_size_allowed, cudaFuncAttributeNonPortableClusterSizeAllowed);
SAME_VALUE(function_attribute::cluster_scheduling_policy, cudaFuncAttributeClusterSchedulingPolicyPreference);
SAME_VALUE(cache_preference::none, cudaFuncCachePreferNone);
SAME_VALUE(cache_preference::shared, cudaFuncCachePreferShared);
SAME_VALUE(cache_preference::l1, cudaFuncCachePreferL1);
SAME_VALUE(cache_preference::equal, cudaFuncCachePreferEqual);
SAME_VALUE(bank_width::automatic, cudaSharedMemBankSizeDefault);
SAME_VALUE(bank_width::four_bytes, cudaSharedMemBankSizeFourByte);
SAME_VALUE(bank_width::eight_bytes, cudaSharedMemBankSizeEightByte);
SAME_VALUE(limit::stack_bytes, cudaLimitStackSize);
SAME_VALUE(limit::printf_bytes, cudaLimitPrintfFifoSize);
SAME_VALUE(limit::heap_bytes, cudaLimitMallocHeapSize);
SAME_VALUE(limit::synchronization_depth, cudaLimitDevRuntimeSyncDepth);
SAME_VALUE(limit::pending_launches, cudaLimitDevRuntimePendingLaunchCount);
SAME_VALUE(limit::l2_fetch_granularity, cudaLimitMaxL2FetchGranularity);
SAME_VALUE(limit::persisting_l2_bytes, cudaLimitPersistingL2CacheSize);
SAME_VALUE(launch_attribute_id::ignore, cudaLaunchAttributeIgnore);
SAME_VALUE(launch_attribute_id::access_policy_window, cudaLaunchAttributeAccessPolicyWindow);
SAME_VALUE(launch_attribute_id::cooperative, cudaLaunchAttributeCooperative);
SAME_VALUE(launch_attribute_id::synchronization_policy, cudaLaunchAttributeSynchronizationPolicy);
SAME_VALUE(launch_attribute_id::cluster_dimensions, cudaLaunchAttributeClusterDimension);
SAME_VALUE(launch_attribute_id::cluster_scheduling_policy, cudaLaunchAttributeClusterSchedulingPolicyPreference);
SAME_VALUE(launch_attribute_id::programmatic_stream_serialization, cudaLaunchAttributeProgrammaticStreamSerialization);
SAME_VALUE(launch_attribute_id::programmatic_event, cudaLaunchAttributeProgrammaticEvent);
SAME_VALUE(launch_attribute_id::priority, cudaLaunchAttributePriority);
SAME_VALUE(launch_attribute_id::memory_domain_map, cudaLaunchAttributeMemSyncDomainMap);
SAME_VALUE(launch_attribute_id::memory_domain, cudaLaunchAttributeMemSyncDomain);
SAME_VALUE(launch_attribute_id::preferred_cluster_dimensions, cudaLaunchAttributePreferredClusterDimension);
SAME_VALUE(launch_attribute_id::launch_completion_event, cudaLaunchAttributeLaunchCompletionEvent);
SAME_VALUE(launch_attribute_id::device_updatable_node, cudaLaunchAttributeDeviceUpdatableKernelNode);
SAME_VALUE(launch_attribute_id::preferred_shared_carveout, cudaLaunchAttributePreferredSharedMemoryCarveout);
SAME_VALUE(launch_attribute_id::nvlink_centric_scheduling, cudaLaunchAttributeNvlinkUtilCentricScheduling);
SAME_VALUE(host_number, cudaCpuDeviceId);
SAME_VALUE(no_device_number, cudaInvalidDeviceId);
SAME_VALUE(host_allocation_portable, cudaHostAllocPortable);
SAME_VALUE(host_allocation_mapped, cudaHostAllocMapped);
SAME_VALUE(host_allocation_write_combined, cudaHostAllocWriteCombined);
SAME_VALUE(host_register_portable, cudaHostRegisterPortable);
SAME_VALUE(host_register_mapped, cudaHostRegisterMapped);
SAME_VALUE(host_register_io_memory, cudaHostRegisterIoMemory);
SAME_VALUE(host_register_read_only, cudaHostRegisterReadOnly);
SAME_VALUE(attach_global, cudaMemAttachGlobal);
SAME_VALUE(attach_host, cudaMemAttachHost);
SAME_VALUE(attach_single, cudaMemAttachSingle);
SAME_VALUE(stream_non_blocking, cudaStreamNonBlocking);
SAME_VALUE(event_blocking_sync, cudaEventBlockingSync);
SAME_VALUE(event_disable_timing, cudaEventDisableTiming);
SAME_VALUE(event_interprocess, cudaEventInterprocess);

#else

static_assert(sizeof(sr::device_properties_12) == sizeof(cudaDeviceProp));
SAME_FIELD(device_properties_12, name, cudaDeviceProp, name);
SAME_FIELD(device_properties_12, uuid, cudaDeviceProp, uuid);
SAME_FIELD(device_properties_12, luid, cudaDeviceProp, luid);
SAME_FIELD(device_properties_12, luid_device_node_mask, cudaDeviceProp, luidDeviceNodeMask);
SAME_FIELD(device_properties_12, total_global_memory, cudaDeviceProp, totalGlobalMem);
#define SOFTGPU_PROPERTY(type, name, cudas, attribute) SAME_FIELD(device_properties_12, name, cudaDeviceProp, cudas);
#define SOFTGPU_PROPERTIES(count, name, cudas, ...) SAME_FIELD(device_properties_12, name, cudaDeviceProp, cudas);
#define SOFTGPU_PROPERTY_12 SOFTGPU_PROPERTY
#include "softgpu/runtime/abi/device_properties.def"
SAME_FIELD(device_properties_12, reserved2, cudaDeviceProp, reserved2);
SAME_FIELD(device_properties_12, reserved1, cudaDeviceProp, reserved1);
SAME_FIELD(device_properties_12, reserved, cudaDeviceProp, reserved);

#endif
