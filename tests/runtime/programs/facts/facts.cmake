# SPDX-License-Identifier: MIT
# Programs whose output on a real GPU, with CUDA 13, is in data/.
if(WARPFOLD_CUDA_VERSION VERSION_LESS 13)
  return()
endif()
warpfold_cuda_program(program_api_facts
  SOURCES facts/api_facts.cu facts/api_facts_memory.cu facts/api_facts_device.cu
  OPTIONS -Wno-deprecated-declarations -Xcompiler=-Wno-deprecated-declarations)
warpfold_cuda_program(program_sticky_facts SOURCES facts/sticky_facts.cu)
function(softgpu_golden_test name program expected)
  add_dependencies(${program} softgpu_runtime)
  add_test(NAME golden.${name} COMMAND ${CMAKE_COMMAND}
    -D PROGRAM=$<TARGET_FILE:${program}> -D ARGUMENT=${ARGN}
    -D EXPECTED=${CMAKE_CURRENT_SOURCE_DIR}/facts/data/${expected}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/facts/compare_output.cmake)
  set_tests_properties(golden.${name} PROPERTIES ENVIRONMENT "${drop_in}" TIMEOUT 900)
endfunction()
warpfold_cuda_program(program_array_facts SOURCES facts/array_facts.cu facts/array_facts_textures.cu
  OPTIONS -Wno-deprecated-declarations -Xcompiler=-Wno-deprecated-declarations)
foreach(part IN ITEMS allocations mipmaps copies textures)
  softgpu_golden_test(arrays.${part} program_array_facts array_facts.txt ${part})
endforeach()
warpfold_cuda_program(program_texture_facts SOURCES facts/texture_facts.cu)
foreach(part IN ITEMS filters types layers mipmaps)
  softgpu_golden_test(textures.${part} program_texture_facts texture_facts.txt ${part})
endforeach()
# Taken on an H200, 2026-11-23.
warpfold_cuda_program(program_cluster_facts SOURCES facts/cluster_facts.cu
  OPTIONS -gencode arch=compute_90a,code=compute_90a)
softgpu_golden_test(clusters program_cluster_facts cluster_facts.txt clusters)
warpfold_cuda_program(program_tensor_map_facts SOURCES facts/tensor_map_facts.cu facts/tensor_map_facts_errors.cu
  OPTIONS -gencode arch=compute_90a,code=compute_90a)
add_dependencies(program_tensor_map_facts softgpu_driver)
foreach(part IN ITEMS errors swizzles im2col stores)
  softgpu_golden_test(tensor_maps.${part} program_tensor_map_facts tensor_map_facts.txt ${part})
endforeach()
foreach(part IN ITEMS configurations functions allocations pointers copies symbols streams pools managed device
    last_errors error_texts)
  softgpu_golden_test(api.${part} program_api_facts api_facts.txt ${part})
endforeach()
foreach(fault IN ITEMS illegal_address misaligned trap assertion)
  softgpu_golden_test(sticky.${fault} program_sticky_facts sticky_${fault}.txt ${fault})
endforeach()
