// SPDX-License-Identifier: MIT
// Our declarations of the driver's interface are laid out and numbered like CUDA's.
#include <cuda.h>

#include "softgpu/runtime/abi/driver.hpp"
#include "softgpu/runtime/abi/driver_texture.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "softgpu/runtime/abi/memory_operations.hpp"
#include "softgpu/runtime/abi/shared.hpp"
#include "softgpu/runtime/calls/driver/graph/parameters.hpp"
#include "tests/runtime/abi/same_abi.hpp"

#define SOFTGPU_RESULT(number, name) static_assert((number) == static_cast<int>(::name));
#if CUDA_VERSION >= 13000
#include "softgpu/runtime/abi/driver_errors.def"
#endif
#undef SOFTGPU_RESULT

SAME_SIZE(driver_launch, CUlaunchConfig);
SAME_FIELD(driver_launch, dynamic_shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_FIELD(driver_launch, stream, CUlaunchConfig, hStream);
SAME_FIELD(driver_launch, attributes, CUlaunchConfig, attrs);
SAME_FIELD(driver_launch, attribute_count, CUlaunchConfig, numAttrs);
SAME_SIZE(launch_attribute, CUlaunchAttribute);
SAME_SIZE(pool_properties, CUmemPoolProps);
SAME_SIZE(memory_access, CUmemAccessDesc);
SAME_SIZE(universal_id, CUuuid);

SAME_SIZE(driver_conditional_parameters, CUDA_CONDITIONAL_NODE_PARAMS);
SAME_SIZE(memory_operation_parameters, CUstreamBatchMemOpParams);
SAME_FIELD(memory_operation_parameters, address, CUstreamBatchMemOpParams, waitValue.address);
SAME_FIELD(memory_operation_parameters, value, CUstreamBatchMemOpParams, waitValue.value64);
SAME_FIELD(memory_operation_parameters, flags, CUstreamBatchMemOpParams, writeValue.flags);
SAME_FIELD(memory_operation_parameters, flags_of_barrier, CUstreamBatchMemOpParams, memoryBarrier.flags);
SAME_SIZE(memory_batch_parameters, CUDA_BATCH_MEM_OP_NODE_PARAMS);
SAME_FIELD(memory_batch_parameters, list, CUDA_BATCH_MEM_OP_NODE_PARAMS, paramArray);
SAME_VALUE(memory_operation_type::write_64, CU_STREAM_MEM_OP_WRITE_VALUE_64);
SAME_VALUE(memory_operation_type::barrier, CU_STREAM_MEM_OP_BARRIER);
SAME_VALUE(value_comparison::nor, CU_STREAM_WAIT_VALUE_NOR);
SAME_VALUE(node_type::memory_batch, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);

SAME_SIZE(driver_copy_2d, CUDA_MEMCPY2D);
SAME_FIELD(driver_copy_2d, source_type, CUDA_MEMCPY2D, srcMemoryType);
SAME_FIELD(driver_copy_2d, source_array, CUDA_MEMCPY2D, srcArray);
SAME_FIELD(driver_copy_2d, destination_x, CUDA_MEMCPY2D, dstXInBytes);
SAME_FIELD(driver_copy_2d, destination_pitch, CUDA_MEMCPY2D, dstPitch);
SAME_FIELD(driver_copy_2d, height, CUDA_MEMCPY2D, Height);

SAME_SIZE(driver_copy_3d, CUDA_MEMCPY3D);
SAME_FIELD(driver_copy_3d, source_type, CUDA_MEMCPY3D, srcMemoryType);
SAME_FIELD(driver_copy_3d, source_height, CUDA_MEMCPY3D, srcHeight);
SAME_FIELD(driver_copy_3d, destination_type, CUDA_MEMCPY3D, dstMemoryType);
SAME_FIELD(driver_copy_3d, destination_height, CUDA_MEMCPY3D, dstHeight);
SAME_FIELD(driver_copy_3d, depth, CUDA_MEMCPY3D, Depth);

SAME_VALUE(driver_memory_type::unified, CU_MEMORYTYPE_UNIFIED);
SAME_VALUE(driver_pointer_attribute::is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME_VALUE(driver_pointer_attribute::device_ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_VALUE(driver_pointer_attribute::range_start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME_VALUE(driver_pointer_attribute::mapped, CU_POINTER_ATTRIBUTE_MAPPED);
SAME_VALUE(driver_function_attribute::binary_version, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME_VALUE(driver_function_attribute::cluster_scheduling_policy,
           CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME_VALUE(jit_option::info_log, CU_JIT_INFO_LOG_BUFFER);
SAME_VALUE(jit_option::error_log_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(sr::launch_list_bytes == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT);
static_assert(sr::launch_list_buffer == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT);

SAME_SIZE(array_description, CUDA_ARRAY_DESCRIPTOR);
SAME_FIELD(array_description, channels, CUDA_ARRAY_DESCRIPTOR, NumChannels);
SAME_SIZE(array_3d_description, CUDA_ARRAY3D_DESCRIPTOR);
SAME_FIELD(array_3d_description, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
SAME_VALUE(array_format::signed_8, CU_AD_FORMAT_SIGNED_INT8);
SAME_VALUE(array_format::real_16, CU_AD_FORMAT_HALF);
SAME_VALUE(array_format::real_32, CU_AD_FORMAT_FLOAT);
SAME_VALUE(array_format::unsigned_unit_8x1, CU_AD_FORMAT_UNORM_INT8X1);
SAME_VALUE(array_format::signed_unit_16x4, CU_AD_FORMAT_SNORM_INT16X4);
SAME_SIZE(driver_resource, CUDA_RESOURCE_DESC);
SAME_FIELD(driver_resource, plane.pitch, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
SAME_FIELD(driver_resource, linear.bytes, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
SAME_FIELD(driver_resource, flags, CUDA_RESOURCE_DESC, flags);
SAME_SIZE(driver_texture, CUDA_TEXTURE_DESC);
SAME_FIELD(driver_texture, border, CUDA_TEXTURE_DESC, borderColor);
SAME_SIZE(view_description, CUDA_RESOURCE_VIEW_DESC);
static_assert(sr::texture_reads_integers == CU_TRSF_READ_AS_INTEGER && sr::texture_srgb == CU_TRSF_SRGB);
static_assert(sr::texture_seamless == CU_TRSF_SEAMLESS_CUBEMAP);

SAME_SIZE(shared_handle, CUipcMemHandle);
SAME_SIZE(shared_handle, CUipcEventHandle);
SAME_SIZE(shared_handle, CUmemPoolPtrExportData);
SAME_SIZE(physical_properties, CUmemAllocationProp);
SAME_FIELD(physical_properties, handles, CUmemAllocationProp, requestedHandleTypes);
SAME_FIELD(physical_properties, location, CUmemAllocationProp, location);
SAME_FIELD(physical_properties, usage, CUmemAllocationProp, allocFlags.usage);
SAME_SIZE(physical_handle, CUmemGenericAllocationHandle);
static_assert(sr::file_descriptor_handle == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);

SAME_SIZE(driver_kernel_parameters, CUDA_KERNEL_NODE_PARAMS_v2);
SAME_FIELD(driver_kernel_parameters, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_SIZE(driver_copy_parameters, CUDA_MEMCPY_NODE_PARAMS);
SAME_FIELD(driver_copy_parameters, copy, CUDA_MEMCPY_NODE_PARAMS, copyParams);
SAME_SIZE(driver_node_parameters, CUgraphNodeParams);
SAME_FIELD(driver_node_parameters, kernel, CUgraphNodeParams, kernel);
