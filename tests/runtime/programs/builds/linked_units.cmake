# SPDX-License-Identifier: MIT
# A program of three units, built with -rdc=true and linked on the device: in the fair order, in orders drawn from a seed, and
# with all checks. Findings and profiles must name the right unit.
warpfold_cuda_program(program_linked RDC
  SOURCES builds/linked/main.cu builds/linked/data.cu builds/linked/shapes.cu)
program_test(program.linked linked "")
adversarial_tests(linked "" 1 2 3)

add_executable(test_linked builds/linked_test.cpp)
target_link_libraries(test_linked PRIVATE warpfold::house nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(test_linked PRIVATE
  SOFTGPU_FOLDER="$<TARGET_FILE_DIR:softgpu_runtime>"
  PROGRAM="$<TARGET_FILE:program_linked>"
  SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/builds/linked")
add_dependencies(test_linked program_linked)
gtest_discover_tests(test_linked DISCOVERY_TIMEOUT 600 NO_PRETTY_VALUES)
