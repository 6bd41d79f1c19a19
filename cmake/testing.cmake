# SPDX-License-Identifier: MIT
# For projects that use warpfold: tests of kernels, with GoogleTest, that ctest runs on the software GPU.
include("${CMAKE_CURRENT_LIST_DIR}/toolkit.cmake")

# warpfold_add_cuda_test(<target>
#   SOURCES a.cu b.cpp ...      kernels and tests; main() is GoogleTest's own
#   [OPTIONS ...]               more options for nvcc: -gencode arch=compute_90,code=compute_90
#   [LIBRARIES ...]             to link with besides
#   [PREDICT h100 ...]          cards whose model says how long launches take, by name, or files of the project's own
#   [ENVIRONMENT VAR=x ...])    of the tests: SOFTGPU_DEVICE=T4
#
# An executable of that name, and a test for ctest for every TEST() in it. The .cu files are compiled by nvcc
# (WARPFOLD_NVCC, or else the compiler of CMake's CUDA language where the project has enabled it, or the first that is
# found) to PTX with line numbers, and with the target's definitions and include directories; the C++ compiler links them
# with the shared CUDA runtime. Under ctest that is the software GPU's; run by hand, the executable uses the GPU, and with
# `warpfold run` the software GPU. Needs enable_testing(), and GoogleTest: the project's own GTest::gtest_main, or what
# find_package(GTest) finds.
function(warpfold_add_cuda_test target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;OPTIONS;LIBRARIES;PREDICT;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "warpfold_add_cuda_test(${target}): give SOURCES, and of OPTIONS, LIBRARIES, PREDICT, "
      "ENVIRONMENT what is wanted; got ${ARGV}")
  endif()
  if(arg_PREDICT)
    warpfold_card_files(cards ${target} "${arg_PREDICT}")
    list(APPEND arg_ENVIRONMENT "SOFTGPU_PREDICT=${cards}")
  endif()
  if(NOT WARPFOLD_NVCC AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    set(WARPFOLD_NVCC "${CMAKE_CUDA_COMPILER}")
  endif()
  warpfold_find_nvcc()
  if(NOT WARPFOLD_NVCC)
    message(FATAL_ERROR "warpfold_add_cuda_test(${target}): no nvcc of CUDA ${WARPFOLD_CUDA_OLDEST} or later here; "
      "WARPFOLD_NVCC names one")
  endif()
  warpfold_ask_toolkit()
  if(NOT TARGET GTest::gtest_main)
    find_package(GTest REQUIRED)
  endif()
  include(GoogleTest)

  set(kernels ${arg_SOURCES})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "\\.cu$")
  warpfold_test_objects(objects ${target} "${kernels}" "${arg_OPTIONS}")
  add_executable(${target} ${arg_SOURCES} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} SYSTEM PRIVATE ${WARPFOLD_CUDA_INCLUDE_DIRS})
  target_link_libraries(${target} PRIVATE
    warpfold::testing GTest::gtest_main "${WARPFOLD_CUDA_RUNTIME}" ${arg_LIBRARIES})
  # The path to NVIDIA's runtime as a RUNPATH, which LD_LIBRARY_PATH outranks.
  target_link_options(${target} PRIVATE -Wl,--enable-new-dtags)
  if(TARGET softgpu_runtime) # built along
    add_dependencies(${target} softgpu_runtime softgpu_runtime_12)
  endif()

  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 600 NO_PRETTY_VALUES)
  # Behind what that function leaves to ctest, which lists the tests in a variable.
  get_target_property(folder warpfold::testing WARPFOLD_RUNTIME_FOLDER)
  set(environment "${CMAKE_CURRENT_BINARY_DIR}/${target}_environment.cmake")
  file(WRITE "${environment}" "if(${target}_TESTS)\n  set_tests_properties(\${${target}_TESTS} PROPERTIES\n"
    "    ENVIRONMENT [==[${arg_ENVIRONMENT}]==]\n"
    "    ENVIRONMENT_MODIFICATION [==[LD_LIBRARY_PATH=path_list_prepend:${folder}]==])\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${environment}")
endfunction()

# The files of cards, with commas between, in `out`.
function(warpfold_card_files out target cards)
  get_target_property(folder warpfold::testing WARPFOLD_CARDS_FOLDER)
  set(files "")
  foreach(card IN LISTS cards)
    if(EXISTS "${folder}/${card}.json")
      list(APPEND files "${folder}/${card}.json")
    else()
      get_filename_component(file "${card}" ABSOLUTE)
      if(NOT EXISTS "${file}")
        message(FATAL_ERROR "warpfold_add_cuda_test(${target}): PREDICT ${card} is neither a card in ${folder} nor a file")
      endif()
      list(APPEND files "${file}")
    endif()
  endforeach()
  list(JOIN files "," files)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# The objects of a target's .cu files, in `out`.
function(warpfold_test_objects out target kernels options)
  set(standard 17)
  foreach(language IN ITEMS CXX CUDA)
    if(CMAKE_${language}_STANDARD)
      set(standard ${CMAKE_${language}_STANDARD})
    endif()
  endforeach()
  set(flags -std=c++${standard} -O3 -lineinfo -cudart shared -ccbin "${CMAKE_CXX_COMPILER}" -Xcompiler=-fPIC
    -gencode "arch=compute_75,code=compute_75")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(objects "")
  foreach(source IN LISTS kernels)
    get_filename_component(source "${source}" ABSOLUTE)
    file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
    string(REPLACE "../" "up/" place "${name}")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${target}.cu.dir/${place}.o")
    get_filename_component(folder "${object}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(OUTPUT "${object}"
      COMMAND "${WARPFOLD_NVCC}" ${flags} "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
        "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" ${options}
        -MD -MF "${object}.d" -MT "${object}" -c "${source}" -o "${object}"
      DEPENDS "${source}" "${WARPFOLD_NVCC}"
      DEPFILE "${object}.d"
      COMMENT "nvcc ${name}"
      COMMAND_EXPAND_LISTS
      VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND objects "${object}")
  endforeach()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()
