# SPDX-License-Identifier: MIT
# A program that asks NVRTC for machine code: under `warpfold run` it gets PTX.
if(NOT TARGET warpfold OR NOT TARGET softgpu_redirect OR WARPFOLD_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  return()
endif()
add_library(nvrtc_stand_in SHARED builds/nvrtc/stand_in.cpp)
set_target_properties(nvrtc_stand_in PROPERTIES OUTPUT_NAME nvrtc SUFFIX .so.13)
add_executable(nvrtc_program builds/nvrtc/program.cpp)
target_link_libraries(nvrtc_program PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(nvrtc_program nvrtc_stand_in softgpu_libraries warpfold)
add_test(NAME nvrtc.program COMMAND warpfold run -- $<TARGET_FILE:nvrtc_program> $<TARGET_FILE:nvrtc_stand_in>)
# Alone it gets machine code: the test tests something.
add_test(NAME nvrtc.alone COMMAND nvrtc_program $<TARGET_FILE:nvrtc_stand_in>)
set_tests_properties(nvrtc.alone PROPERTIES WILL_FAIL ON)
set_tests_properties(nvrtc.program nvrtc.alone PROPERTIES TIMEOUT 900)
