# SPDX-License-Identifier: MIT
# The same objects linked with NVIDIA's static runtime, nvcc's default: `warpfold run` leads its functions to ours. The results,
# the counters and the findings are those of the program that is linked with the shared runtime. Programs whose threads or
# blocks wait for each other count otherwise in every run, and so do those whose kernels read memory of the host, which begins
# anywhere: they are not among these.
get_filename_component(runtime_folder "${WARPFOLD_CUDA_RUNTIME}" DIRECTORY)
set(static_runtime "${runtime_folder}/libcudart_static.a")
if(NOT EXISTS "${static_runtime}" OR NOT TARGET warpfold OR WARPFOLD_SANITIZE)
  return()
endif()
find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(program IN ITEMS calls cooperative copies cub_reduce graphs_capture graphs_nodes managed surfaces symbols textures
    thrust_reduce)
  get_target_property(object program_${program} SOURCES)
  add_executable(static_${program} "${object}")
  set_target_properties(static_${program} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(static_${program} PRIVATE "${static_runtime}" Threads::Threads ${CMAKE_DL_LIBS} rt)
  add_dependencies(static_${program} program_${program} softgpu_libraries warpfold)
  add_test(NAME static.${program} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/static_test.py
    $<TARGET_FILE:warpfold> $<TARGET_FILE:program_${program}> $<TARGET_FILE:static_${program}> ${CMAKE_STRIP})
  set_tests_properties(static.${program} PROPERTIES TIMEOUT 900)
endforeach()
# A stripped file without kernels, as the runtime's module of cuda-bindings is.
add_executable(static_without_kernels builds/without_kernels.cpp)
target_link_options(static_without_kernels PRIVATE -s)
target_link_libraries(static_without_kernels PRIVATE "${static_runtime}" Threads::Threads ${CMAKE_DL_LIBS} rt)
add_dependencies(static_without_kernels softgpu_libraries warpfold)
add_test(NAME static.without_kernels COMMAND warpfold run -- $<TARGET_FILE:static_without_kernels>)
set_tests_properties(static.without_kernels PROPERTIES TIMEOUT 900)
