# SPDX-License-Identifier: MIT
# Kernels that launch kernels, and conditional nodes of graphs: in the fair order, in orders drawn from a seed, with all
# checks, and with the static runtime.
foreach(program IN ITEMS conditional_graphs device_launches)
  warpfold_cuda_program(program_${program} DEVICE_RUNTIME SOURCES streams/${program}.cu)
  program_test(program.${program} ${program} "")
  adversarial_tests(${program} "" 1 2 3 4 5)
  foreach(schedule IN ITEMS fair adversarial)
    checked_test(checked.${program}.${schedule} ${program} --schedule ${schedule})
  endforeach()
endforeach()

add_executable(test_device_launches streams/device_launches_test.cpp)
target_link_libraries(test_device_launches PRIVATE warpfold::house nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(test_device_launches PRIVATE
  SOFTGPU_FOLDER="$<TARGET_FILE_DIR:softgpu_runtime>"
  PROGRAM="$<TARGET_FILE:program_device_launches>")
add_dependencies(test_device_launches program_device_launches)
gtest_discover_tests(test_device_launches DISCOVERY_TIMEOUT 600 NO_PRETTY_VALUES)
