// SPDX-License-Identifier: MIT
// Our declarations of graphs and captures against CUDA's own headers: all checked while compiling.
#include <cuda_runtime_api.h>

#include "softgpu/runtime/abi/graph.hpp"
#include "tests/runtime/abi/same_abi.hpp"

#if CUDART_VERSION >= 13000

SAME_SIZE(kernel_parameters, cudaKernelNodeParams);
SAME_FIELD(kernel_parameters, function, cudaKernelNodeParams, func);
SAME_FIELD(kernel_parameters, grid, cudaKernelNodeParams, gridDim);
SAME_FIELD(kernel_parameters, block, cudaKernelNodeParams, blockDim);
SAME_FIELD(kernel_parameters, dynamic_shared_bytes, cudaKernelNodeParams, sharedMemBytes);
SAME_FIELD(kernel_parameters, arguments, cudaKernelNodeParams, kernelParams);
SAME_FIELD(kernel_parameters, extra, cudaKernelNodeParams, extra);
SAME_SIZE(kernel_parameters, cudaKernelNodeParamsV2);
SAME_FIELD(kernel_parameters, extra, cudaKernelNodeParamsV2, extra);
SAME_SIZE(fill_parameters, cudaMemsetParams);
SAME_FIELD(fill_parameters, destination, cudaMemsetParams, dst);
SAME_FIELD(fill_parameters, pitch, cudaMemsetParams, pitch);
SAME_FIELD(fill_parameters, value, cudaMemsetParams, value);
SAME_FIELD(fill_parameters, element_bytes, cudaMemsetParams, elementSize);
SAME_FIELD(fill_parameters, width, cudaMemsetParams, width);
SAME_FIELD(fill_parameters, height, cudaMemsetParams, height);
SAME_SIZE(fill_parameters, cudaMemsetParamsV2);
SAME_SIZE(host_parameters, cudaHostNodeParams);
SAME_FIELD(host_parameters, function, cudaHostNodeParams, fn);
SAME_FIELD(host_parameters, user, cudaHostNodeParams, userData);
SAME_SIZE(copy_parameters, cudaMemcpyNodeParams);
SAME_FIELD(copy_parameters, copy, cudaMemcpyNodeParams, copyParams);
SAME_SIZE(child_parameters, cudaChildGraphNodeParams);
SAME_FIELD(child_parameters, ownership, cudaChildGraphNodeParams, ownership);
SAME_SIZE(allocate_parameters, cudaMemAllocNodeParams);
SAME_FIELD(allocate_parameters, pool, cudaMemAllocNodeParams, poolProps);
SAME_FIELD(allocate_parameters, access, cudaMemAllocNodeParams, accessDescs);
SAME_FIELD(allocate_parameters, access_count, cudaMemAllocNodeParams, accessDescCount);
SAME_FIELD(allocate_parameters, bytes, cudaMemAllocNodeParams, bytesize);
SAME_FIELD(allocate_parameters, pointer, cudaMemAllocNodeParams, dptr);
SAME_SIZE(allocate_parameters, cudaMemAllocNodeParamsV2);
SAME_SIZE(free_parameters, cudaMemFreeNodeParams);
SAME_SIZE(conditional_parameters, cudaConditionalNodeParams);
SAME_FIELD(conditional_parameters, handle, cudaConditionalNodeParams, handle);
SAME_FIELD(conditional_parameters, type, cudaConditionalNodeParams, type);
SAME_FIELD(conditional_parameters, size, cudaConditionalNodeParams, size);
SAME_FIELD(conditional_parameters, bodies, cudaConditionalNodeParams, phGraph_out);
SAME_SIZE(node_parameters, cudaGraphNodeParams);
SAME_FIELD(node_parameters, type, cudaGraphNodeParams, type);
SAME_FIELD(node_parameters, kernel, cudaGraphNodeParams, kernel);
SAME_FIELD(node_parameters, copy, cudaGraphNodeParams, memcpy);
SAME_FIELD(node_parameters, fill, cudaGraphNodeParams, memset);
SAME_FIELD(node_parameters, host, cudaGraphNodeParams, host);
SAME_FIELD(node_parameters, graph, cudaGraphNodeParams, graph);
SAME_FIELD(node_parameters, event, cudaGraphNodeParams, eventWait);
SAME_FIELD(node_parameters, allocate, cudaGraphNodeParams, alloc);
SAME_FIELD(node_parameters, free, cudaGraphNodeParams, free);
SAME_FIELD(node_parameters, conditional, cudaGraphNodeParams, conditional);
SAME_FIELD(node_parameters, reserved_too, cudaGraphNodeParams, reserved2);
SAME_SIZE(edge_data, cudaGraphEdgeData);
SAME_FIELD(edge_data, to_port, cudaGraphEdgeData, to_port);
SAME_FIELD(edge_data, type, cudaGraphEdgeData, type);
SAME_SIZE(instantiate_parameters, cudaGraphInstantiateParams);
SAME_FIELD(instantiate_parameters, flags, cudaGraphInstantiateParams, flags);
SAME_FIELD(instantiate_parameters, upload, cudaGraphInstantiateParams, uploadStream);
SAME_FIELD(instantiate_parameters, error_node, cudaGraphInstantiateParams, errNode_out);
SAME_FIELD(instantiate_parameters, result, cudaGraphInstantiateParams, result_out);
SAME_SIZE(update_information, cudaGraphExecUpdateResultInfo);
SAME_FIELD(update_information, error_node, cudaGraphExecUpdateResultInfo, errorNode);
SAME_FIELD(update_information, error_from_node, cudaGraphExecUpdateResultInfo, errorFromNode);

SAME_VALUE(capture_status::active, cudaStreamCaptureStatusActive);
SAME_VALUE(capture_status::invalidated, cudaStreamCaptureStatusInvalidated);
SAME_VALUE(capture_mode::global, cudaStreamCaptureModeGlobal);
SAME_VALUE(capture_mode::this_thread, cudaStreamCaptureModeThreadLocal);
SAME_VALUE(capture_mode::relaxed, cudaStreamCaptureModeRelaxed);
SAME_VALUE(capture_dependencies_set, cudaStreamSetCaptureDependencies);
SAME_VALUE(event_record_external, cudaEventRecordExternal);
SAME_VALUE(event_wait_external, cudaEventWaitExternal);
SAME_VALUE(node_type::kernel, cudaGraphNodeTypeKernel);
SAME_VALUE(node_type::copy, cudaGraphNodeTypeMemcpy);
SAME_VALUE(node_type::fill, cudaGraphNodeTypeMemset);
SAME_VALUE(node_type::host, cudaGraphNodeTypeHost);
SAME_VALUE(node_type::graph, cudaGraphNodeTypeGraph);
SAME_VALUE(node_type::empty, cudaGraphNodeTypeEmpty);
SAME_VALUE(node_type::event_wait, cudaGraphNodeTypeWaitEvent);
SAME_VALUE(node_type::event_record, cudaGraphNodeTypeEventRecord);
SAME_VALUE(node_type::semaphore_signal, cudaGraphNodeTypeExtSemaphoreSignal);
SAME_VALUE(node_type::semaphore_wait, cudaGraphNodeTypeExtSemaphoreWait);
SAME_VALUE(node_type::allocate, cudaGraphNodeTypeMemAlloc);
SAME_VALUE(node_type::free, cudaGraphNodeTypeMemFree);
SAME_VALUE(node_type::conditional, cudaGraphNodeTypeConditional);
SAME_VALUE(conditional_type::if_else, cudaGraphCondTypeIf);
SAME_VALUE(conditional_type::loop, cudaGraphCondTypeWhile);
SAME_VALUE(conditional_type::choose, cudaGraphCondTypeSwitch);
SAME_VALUE(condition_assign_default, cudaGraphCondAssignDefault);
SAME_VALUE(instantiate_auto_free, cudaGraphInstantiateFlagAutoFreeOnLaunch);
SAME_VALUE(instantiate_upload, cudaGraphInstantiateFlagUpload);
SAME_VALUE(instantiate_device_launch, cudaGraphInstantiateFlagDeviceLaunch);
SAME_VALUE(instantiate_node_priority, cudaGraphInstantiateFlagUseNodePriority);
SAME_VALUE(instantiate_result::invalid_structure, cudaGraphInstantiateInvalidStructure);
SAME_VALUE(instantiate_result::operation_not_supported, cudaGraphInstantiateNodeOperationNotSupported);
SAME_VALUE(update_result::topology_changed, cudaGraphExecUpdateErrorTopologyChanged);
SAME_VALUE(update_result::node_type_changed, cudaGraphExecUpdateErrorNodeTypeChanged);
SAME_VALUE(update_result::function_changed, cudaGraphExecUpdateErrorFunctionChanged);
SAME_VALUE(update_result::parameters_changed, cudaGraphExecUpdateErrorParametersChanged);
SAME_VALUE(update_result::not_supported, cudaGraphExecUpdateErrorNotSupported);
SAME_VALUE(update_result::unsupported_function_change, cudaGraphExecUpdateErrorUnsupportedFunctionChange);
SAME_VALUE(update_result::attributes_changed, cudaGraphExecUpdateErrorAttributesChanged);
SAME_VALUE(graph_memory_attribute::used_high, cudaGraphMemAttrUsedMemHigh);
SAME_VALUE(graph_memory_attribute::reserved_current, cudaGraphMemAttrReservedMemCurrent);
SAME_VALUE(graph_memory_attribute::reserved_high, cudaGraphMemAttrReservedMemHigh);

#endif
