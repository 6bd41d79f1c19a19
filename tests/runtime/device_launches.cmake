# SPDX-License-Identifier: MIT
# Kernels that launch kernels, and conditional nodes of graphs: in the fair order, in orders drawn from a seed, with all
# checks, and with the static runtime.
foreach(program IN ITEMS conditional_graphs device_launches)
  warpfold_cuda_program(program_${program} DEVICE_RUNTIME SOURCES programs/${program}.cu)
  add_dependencies(program_${program} softgpu_runtime)
  add_test(NAME program.${program} COMMAND program_${program})
  set_tests_properties(program.${program} PROPERTIES ENVIRONMENT "${drop_in}" TIMEOUT 120)
  foreach(seed IN ITEMS 1 2 3 4 5)
    add_test(NAME adversarial.${program}.${seed} COMMAND program_${program})
    set_tests_properties(adversarial.${program}.${seed} PROPERTIES TIMEOUT 120
      ENVIRONMENT "${drop_in};SOFTGPU_SCHEDULE=adversarial;SOFTGPU_SEED=${seed}")
  endforeach()
  foreach(schedule IN ITEMS fair adversarial)
    add_test(NAME checked.${program}.${schedule}
      COMMAND warpfold run --check all --schedule ${schedule} --error-exit 99 -- $<TARGET_FILE:program_${program}>)
    set_tests_properties(checked.${program}.${schedule} PROPERTIES TIMEOUT 120)
  endforeach()
endforeach()

add_executable(test_device_launches device_launches_test.cpp)
target_link_libraries(test_device_launches PRIVATE warpfold::house nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(test_device_launches PRIVATE
  SOFTGPU_FOLDER="$<TARGET_FILE_DIR:softgpu_runtime>"
  PROGRAM="$<TARGET_FILE:program_device_launches>")
add_dependencies(test_device_launches program_device_launches)
gtest_discover_tests(test_device_launches DISCOVERY_TIMEOUT 60)
