# SPDX-License-Identifier: MIT
# A program of CUDA 10 whose runtime has a name of its own: `warpfold run` leads its calls to our runtime and our cuBLAS.
if(NOT TARGET warpfold OR NOT TARGET softgpu_redirect OR WARPFOLD_SANITIZE)
  return()
endif()
add_library(cuda_10_stand_in SHARED builds/cuda_10/stand_in.cpp)
target_link_options(cuda_10_stand_in PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/builds/cuda_10/stand_in.map)
set_target_properties(cuda_10_stand_in PROPERTIES OUTPUT_NAME cudart-0a1b2c3d SUFFIX .so.10.2)
add_executable(cuda_10_program builds/cuda_10/program.cpp builds/cuda_10/static_blas.cpp)
target_link_libraries(cuda_10_program PRIVATE cuda_10_stand_in)
add_dependencies(cuda_10_program softgpu_libraries warpfold)
add_test(NAME cuda_10.program COMMAND warpfold run -- $<TARGET_FILE:cuda_10_program>)
# Without our libraries its runtime fails: the test tests something.
add_test(NAME cuda_10.alone COMMAND cuda_10_program)
set_tests_properties(cuda_10.alone PROPERTIES WILL_FAIL ON)
set_tests_properties(cuda_10.program cuda_10.alone PROPERTIES TIMEOUT 900)
