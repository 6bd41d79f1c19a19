# SPDX-License-Identifier: MIT
# Programs as other projects build them: kernels before main and in other threads, in several translation units, in a
# library that is loaded and closed, and compiled with other options.
warpfold_cuda_program(program_early SOURCES builds/early.cu)
warpfold_cuda_program(program_after_main SOURCES builds/after_main.cu)
program_test(program.after_main after_main "" MALLOC_PERTURB_=165) # what is in freed memory changes
warpfold_cuda_program(program_units SOURCES builds/units_a.cu builds/units_b.cu)
warpfold_cuda_library(program_plugin SOURCES builds/plugin.cu)
warpfold_cuda_program(program_plugin_host SOURCES builds/plugin_host.cu)
target_link_libraries(program_plugin_host PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(program_plugin_host program_plugin)
warpfold_cuda_program(program_options_debug SOURCES builds/options.cu OPTIONS -G -Xcompiler=-O0)
warpfold_cuda_program(program_options_fast SOURCES builds/options.cu
  OPTIONS -use_fast_math --compress-mode=speed --default-stream per-thread)
warpfold_cuda_program(program_options_plain SOURCES builds/options.cu OPTIONS --no-compress -Xcicc -O0)
foreach(program IN ITEMS early units plugin_host options_debug options_fast options_plain)
  set(arguments "")
  if(program STREQUAL "plugin_host")
    set(arguments "$<TARGET_FILE:program_plugin>")
  endif()
  program_test(program.${program} ${program} "${arguments}")
endforeach()
