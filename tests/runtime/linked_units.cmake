# SPDX-License-Identifier: MIT
# A program of three units, built with -rdc=true and linked on the device: in the fair order, in orders drawn from a seed, and
# with all checks. Findings and profiles must name the right unit.
warpfold_cuda_program(program_linked RDC
  SOURCES programs/linked/main.cu programs/linked/data.cu programs/linked/shapes.cu)
add_dependencies(program_linked softgpu_runtime)
add_test(NAME program.linked COMMAND program_linked)
set_tests_properties(program.linked PROPERTIES ENVIRONMENT "${drop_in}" TIMEOUT 120)
foreach(seed IN ITEMS 1 2 3)
  add_test(NAME adversarial.linked.${seed} COMMAND program_linked)
  set_tests_properties(adversarial.linked.${seed} PROPERTIES TIMEOUT 120
    ENVIRONMENT "${drop_in};SOFTGPU_SCHEDULE=adversarial;SOFTGPU_SEED=${seed}")
endforeach()

add_executable(test_linked linked_test.cpp)
target_link_libraries(test_linked PRIVATE warpfold::house nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(test_linked PRIVATE
  SOFTGPU_FOLDER="$<TARGET_FILE_DIR:softgpu_runtime>"
  PROGRAM="$<TARGET_FILE:program_linked>"
  SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/programs/linked")
add_dependencies(test_linked program_linked)
gtest_discover_tests(test_linked DISCOVERY_TIMEOUT 60)
