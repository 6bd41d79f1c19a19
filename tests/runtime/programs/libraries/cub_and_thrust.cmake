# SPDX-License-Identifier: MIT
# CUB, Thrust and cooperative groups, unchanged. Their results must be right in the fair schedule with all lengths. With
# lengths of a few tiles they must also be right with plain handlers, in orders drawn from a seed, and with all checks, which
# must find nothing.
set(libraries cooperative_tiles cub_histogram cub_segmented_sort cub_segments cub_select cub_sort_keys cub_sort_pairs
  thrust_algorithms thrust_by_key thrust_sort)
foreach(program IN LISTS libraries)
  set(options "")
  if(program STREQUAL "cub_histogram")
    set(options -Wno-deprecated-declarations -Xcompiler=-Wno-deprecated-declarations) # arrays as CUDA 12 has them
  endif()
  warpfold_cuda_program(program_${program} SOURCES libraries/${program}.cu OPTIONS ${options})
endforeach()

# Other code: PTX of newer architectures, with further instructions, and code without optimisation.
warpfold_cuda_program(program_cub_scan_newer SOURCES libraries/cub_scan.cu
  OPTIONS -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90)
warpfold_cuda_program(program_cub_reduce_debug SOURCES libraries/cub_reduce.cu OPTIONS -G -Xcompiler=-O0)
warpfold_cuda_program(program_cub_select_plain SOURCES libraries/cub_select.cu OPTIONS -Xcicc -O0)

foreach(program IN LISTS libraries)
  program_test(program.${program} ${program} 1048576)
  if("plain" IN_LIST softgpu_lesser_sets)
    program_test(program.${program}.plain ${program} 20011 SOFTGPU_INSTRUCTION_SET=plain)
  endif()
  adversarial_tests(${program} 3457 1 2 3)
endforeach()
program_test(program.cub_scan_newer.A100 cub_scan_newer "" SOFTGPU_DEVICE=A100)
program_test(program.cub_scan_newer.H100 cub_scan_newer "" SOFTGPU_DEVICE=H100)
program_test(program.cub_reduce_debug cub_reduce_debug "")
program_test(program.cub_select_plain cub_select_plain 20011)

# thrust::unique in place has a finding (docs/checks.md), so here it works from one array to another.
foreach(program IN LISTS libraries)
  set(apart "")
  if(program STREQUAL "thrust_algorithms")
    set(apart apart)
  endif()
  set(run warpfold run --check all --error-exit 99)
  add_test(NAME checked.${program} COMMAND ${run} -- $<TARGET_FILE:program_${program}> 20011 ${apart})
  add_test(NAME checked_adversarial.${program}
    COMMAND ${run} --schedule adversarial --seed 4 -- $<TARGET_FILE:program_${program}> 3457 ${apart})
  set_tests_properties(checked.${program} checked_adversarial.${program} PROPERTIES TIMEOUT 900)
endforeach()
