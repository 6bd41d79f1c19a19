# SPDX-License-Identifier: MIT
# What can be chosen at configure time, and what all of our own targets share.
option(WARPFOLD_LIBRARY_ONLY "Have the target warpfold::warpfold, the headers, and nothing else" OFF)
option(WARPFOLD_CUDA "Build the ladder (needs nvcc, CUDA 12.4 or later)" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_TESTS "Build the tests (needs GoogleTest)" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_BENCHMARKS "Build the benchmarks (needs Google Benchmark)" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_INSTALL "Have install rules" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(WARPFOLD_FUZZ "Build the libFuzzer programs (needs clang)" OFF)
set(WARPFOLD_SANITIZE "" CACHE STRING "Sanitizers to build all of our own code with: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
# CMake's own default for this type is -O2, with which older compilers vectorise little.
string(REPLACE "-O2" "-O3" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

# ccache, where it is installed: a file that was compiled before is copied.
find_program(WARPFOLD_COMPILER_CACHE ccache)
if(WARPFOLD_COMPILER_CACHE)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WARPFOLD_COMPILER_CACHE}")
  endif()
else()
  set(WARPFOLD_COMPILER_CACHE "")
endif()

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
