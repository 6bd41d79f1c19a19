# SPDX-License-Identifier: MIT
# What can be chosen at configure time, and what all of our own targets share.
option(WARPFOLD_LIBRARY_ONLY "Have the target warpfold::warpfold, the headers, and nothing else" OFF)
option(WARPFOLD_CUDA "Build the ladder (needs nvcc, CUDA 12.4 or later)" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_TESTS "Build the tests (needs GoogleTest)" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_BENCHMARKS "Build the benchmarks (needs Google Benchmark)" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_INSTALL "Have install rules" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_UNITY "Compile several C++ sources at once: a full build takes half the time, one changed file longer" OFF)
option(WARPFOLD_FUZZ "Build the libFuzzer programs (needs clang)" OFF)
set(WARPFOLD_SANITIZE "" CACHE STRING "Sanitizers to build all of our own code with: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# CMake's default for this type is -O2; older compilers vectorize little at -O2.
string(REPLACE "-O2" "-O3" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

# ccache is used where it is installed and runs.
find_program(WARPFOLD_COMPILER_CACHE ccache)
if(WARPFOLD_COMPILER_CACHE)
  execute_process(COMMAND "${WARPFOLD_COMPILER_CACHE}" --version RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(STATUS "${WARPFOLD_COMPILER_CACHE} does not run; building without it")
    set(WARPFOLD_COMPILER_CACHE "")
  elseif(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WARPFOLD_COMPILER_CACHE}")
  endif()
else()
  set(WARPFOLD_COMPILER_CACHE "")
endif()

# warpfold_unity(<target> ...): with WARPFOLD_UNITY their C++ sources are compiled eight at a time. The names in the unnamed
# namespaces of such a target must differ.
function(warpfold_unity)
  if(WARPFOLD_UNITY)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# warpfold_optimise_less(<level> <target> ...): in release builds, for code whose run time is that of what it calls: it compiles
# sooner.
function(warpfold_optimise_less level)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O${level}>)
    endforeach()
  endif()
endfunction()

# Link to it for our warnings and include root: target_link_libraries(x PRIVATE warpfold::house)
add_library(warpfold_house INTERFACE)
add_library(warpfold::house ALIAS warpfold_house)
target_include_directories(warpfold_house INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(warpfold_house INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion>)
# GCC 12 and 13 take these two for true where they inline std::string and std::optional (GCC bugs 105651 and 80635).
target_compile_options(warpfold_house INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-maybe-uninitialized>)
if(WARPFOLD_WERROR)
  target_compile_options(warpfold_house INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(WARPFOLD_SANITIZE)
  add_compile_options(-fsanitize=${WARPFOLD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WARPFOLD_SANITIZE})
endif()
