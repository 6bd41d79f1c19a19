// SPDX-License-Identifier: MIT
// Our declarations of the driver's interface are laid out and numbered like CUDA's.
#include <cuda.h>

#include "softgpu/runtime/abi/driver.hpp"
#include "softgpu/runtime/abi/memory.hpp"
#include "tests/runtime/same_abi.hpp"

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
