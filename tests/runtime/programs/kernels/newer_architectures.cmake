# SPDX-License-Identifier: MIT
# Programs with PTX for compute_80 and compute_90, which have special instructions for what these programs do.
foreach(program IN ITEMS half_intrinsics pipelines simd_intrinsics wide_tiles)
  warpfold_cuda_program(program_${program} SOURCES kernels/${program}.cu
    OPTIONS -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90)
  foreach(card IN ITEMS T4 A100 H100)
    program_test(program.${program}.${card} ${program} "" SOFTGPU_DEVICE=${card})
  endforeach()
endforeach()
foreach(card IN ITEMS T4 H100)
  checked_test(checked.wide_tiles.${card} wide_tiles --card ${card})
endforeach()

# Tensor cores.
warpfold_cuda_program(program_matrix_products SOURCES kernels/matrix_products.cu
  OPTIONS -gencode arch=compute_80,code=compute_80)
add_dependencies(program_matrix_products softgpu_runtime)
checked_test(checked.matrix_products matrix_products --card A100)

# Clusters and tensor maps.
foreach(program IN ITEMS clusters tensor_maps)
  warpfold_cuda_program(program_${program} SOURCES kernels/${program}.cu
    OPTIONS -gencode arch=compute_90a,code=compute_90a)
  add_dependencies(program_${program} softgpu_driver)
  program_test(program.${program} ${program} "")
  checked_test(checked.${program} ${program})
  adversarial_tests(${program} "" 1 2 3)
endforeach()

# Instructions of compute capability 12.0.
if(WARPFOLD_CUDA_VERSION VERSION_GREATER_EQUAL 12.8)
  warpfold_cuda_program(program_small_floats SOURCES kernels/small_floats.cu
    OPTIONS -gencode arch=compute_120a,code=compute_120a)
  program_test(program.small_floats small_floats "" SOFTGPU_DEVICE=RTX5090)
endif()
