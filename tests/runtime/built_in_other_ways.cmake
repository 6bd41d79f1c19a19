# SPDX-License-Identifier: MIT
# Programs as other projects build them: kernels before main and in other threads, in several translation units, in a
# library that is loaded and closed, and compiled with other options.
warpfold_cuda_program(program_early SOURCES programs/early.cu)
warpfold_cuda_program(program_units SOURCES programs/units_a.cu programs/units_b.cu)
warpfold_cuda_library(program_plugin SOURCES programs/plugin.cu)
warpfold_cuda_program(program_plugin_host SOURCES programs/plugin_host.cu)
target_link_libraries(program_plugin_host PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(program_plugin_host program_plugin)
warpfold_cuda_program(program_options_debug SOURCES programs/options.cu OPTIONS -G -Xcompiler=-O0)
warpfold_cuda_program(program_options_fast SOURCES programs/options.cu
  OPTIONS -use_fast_math --compress-mode=speed --default-stream per-thread)
warpfold_cuda_program(program_options_plain SOURCES programs/options.cu OPTIONS --no-compress -Xcicc -O0)
warpfold_cuda_program(program_captured_function SOURCES programs/captured_function.cu)
foreach(program IN ITEMS captured_function early units plugin_host options_debug options_fast options_plain)
  add_dependencies(program_${program} softgpu_runtime)
  set(arguments "")
  if(program STREQUAL "plugin_host")
    set(arguments "$<TARGET_FILE:program_plugin>")
  endif()
  add_test(NAME program.${program} COMMAND program_${program} ${arguments})
  set_tests_properties(program.${program} PROPERTIES ENVIRONMENT "${drop_in}" TIMEOUT 300)
endforeach()
