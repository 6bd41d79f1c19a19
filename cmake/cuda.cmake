# SPDX-License-Identifier: MIT
# nvcc without CMake's CUDA language: which compiler, which toolkit, and functions that use them. Kernels are
# compiled to objects that hold PTX (and machine code where WARPFOLD_CUDA_ARCHITECTURES asks for it); the C++ compiler
# links them with the shared CUDA runtime, so that the software GPU's libcudart can take its place at run time.
#
# Sets WARPFOLD_CUDA OFF where there is no nvcc; else
#   WARPFOLD_CUDA_VERSION      "13.0.88"
#   WARPFOLD_CUDA_INCLUDE_DIRS where cuda_runtime.h, cub/ and cuda/ are
#   WARPFOLD_CUDA_RUNTIME      the shared runtime, a file
# and the target warpfold::cudart (headers as system headers, and that file).

include("${CMAKE_CURRENT_LIST_DIR}/toolkit.cmake")

set(WARPFOLD_CUDA_ARCHITECTURES "" CACHE STRING
  "Architectures to make machine code for, beside PTX: \"80;90\". None is needed for the software GPU")
set(WARPFOLD_PTX_ARCHITECTURE 75 CACHE STRING
  "Architecture of the PTX. A later one gives predictions of later cards the code that they run, and runs on no earlier card")

if(WARPFOLD_CUDA)
  warpfold_find_nvcc()
  if(WARPFOLD_NVCC)
    warpfold_ask_toolkit()
    message(STATUS "nvcc ${WARPFOLD_CUDA_VERSION}: ${WARPFOLD_NVCC}, runtime ${WARPFOLD_CUDA_RUNTIME}")
    add_library(warpfold_cudart SHARED IMPORTED GLOBAL)
    add_library(warpfold::cudart ALIAS warpfold_cudart)
    set_target_properties(warpfold_cudart PROPERTIES
      IMPORTED_LOCATION "${WARPFOLD_CUDA_RUNTIME}"
      INTERFACE_INCLUDE_DIRECTORIES "${WARPFOLD_CUDA_INCLUDE_DIRS}")
  else()
    message(STATUS "No nvcc of CUDA ${WARPFOLD_CUDA_OLDEST} or later: code for GPUs is left out (WARPFOLD_NVCC names one)")
    set(WARPFOLD_CUDA OFF)
  endif()
endif()

# warpfold_cuda_objects(<out> SOURCES a.cu ... [TOGETHER b.cu ...] [RDC] [DEVICE_RUNTIME] [NO_LINES] [OPTIONS nvcc options ...])
# Compiles each source to an object file and gives their paths in <out>, to be added to a target of the same directory.
# TOGETHER: with WARPFOLD_UNITY, five of them to an object; the names in their unnamed namespaces must differ.
# RDC: their kernels use each other's functions and variables; one more object links them on the device.
# DEVICE_RUNTIME: RDC, with CUDA's device runtime, for kernels that launch kernels or set conditions of graphs.
# NO_LINES: without line information, for small files.
function(warpfold_cuda_objects out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RDC;DEVICE_RUNTIME;NO_LINES" "" "SOURCES;TOGETHER;OPTIONS")
  set(device_runtime none)
  if(arg_DEVICE_RUNTIME)
    set(arg_RDC ON)
    set(device_runtime static)
  endif()
  if(NOT WARPFOLD_UNITY)
    list(APPEND arg_SOURCES ${arg_TOGETHER})
    set(arg_TOGETHER "")
  endif()
  while(arg_TOGETHER)
    list(SUBLIST arg_TOGETHER 0 5 part)
    list(REMOVE_ITEM arg_TOGETHER ${part})
    list(GET part 0 first)
    set(joined "${CMAKE_CURRENT_BINARY_DIR}/together/${first}")
    list(TRANSFORM part PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    set(parts_${joined} ${part})
    list(TRANSFORM part REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN part "" text)
    file(CONFIGURE OUTPUT "${joined}" CONTENT "${text}" @ONLY)
    list(APPEND arg_SOURCES "${joined}")
  endwhile()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "warpfold_cuda_objects(${out}): no SOURCES")
  endif()
  # Of the host's code; kernels are optimised either way. Without machine code for a GPU nobody measures it, and less
  # optimisation compiles sooner.
  set(optimisation -O3)
  if(NOT WARPFOLD_CUDA_ARCHITECTURES)
    set(optimisation -O1)
  endif()
  set(lines -lineinfo)
  if(arg_NO_LINES OR "-G" IN_LIST arg_OPTIONS) # the latter has them
    set(lines "")
  endif()
  set(flags -std=c++20 ${optimisation} ${lines} -cudart shared -ccbin "${CMAKE_CXX_COMPILER}" "-I${PROJECT_SOURCE_DIR}"
    "-I${PROJECT_SOURCE_DIR}/include" -Xcompiler=-fPIC,-Wall,-Wextra --extended-lambda)
  if(NOT arg_OPTIONS MATCHES "arch=compute_90a") # code for these instructions alone compiles for nothing else
    list(APPEND flags -gencode "arch=compute_${WARPFOLD_PTX_ARCHITECTURE},code=compute_${WARPFOLD_PTX_ARCHITECTURE}")
    foreach(architecture IN LISTS WARPFOLD_CUDA_ARCHITECTURES)
      list(APPEND flags -gencode "arch=compute_${architecture},code=sm_${architecture}")
    endforeach()
  endif()
  if(WARPFOLD_WERROR)
    list(APPEND flags -Xcompiler=-Werror)
  endif()
  if(arg_RDC)
    list(APPEND flags -rdc=true)
  endif()
  set(cache "")
  if(WARPFOLD_COMPILER_CACHE)
    # By the files it depends on: ccache preprocesses for one architecture, and kernels may differ from one to the next.
    set(cache ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 ${WARPFOLD_COMPILER_CACHE})
  endif()
  set(objects "")
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
    string(REGEX REPLACE "^.*/together/" "together/" name "${name}")
    string(REPLACE "../" "up/" place "${name}")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${out}.dir/${place}.o")
    get_filename_component(folder "${object}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(OUTPUT "${object}"
      COMMAND ${cache} "${WARPFOLD_NVCC}" ${flags} ${arg_OPTIONS} -MD -MF "${object}.d" -MT "${object}" -c "${source}"
        -o "${object}"
      DEPENDS "${source}" ${parts_${source}} "${WARPFOLD_NVCC}"
      DEPFILE "${object}.d"
      COMMENT "nvcc ${name}"
      VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND objects "${object}")
  endforeach()
  if(arg_RDC)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${out}.dir/device_link.o")
    add_custom_command(OUTPUT "${object}"
      COMMAND "${WARPFOLD_NVCC}" ${flags} ${arg_OPTIONS} -cudadevrt ${device_runtime} -dlink ${objects}
        -o "${object}"
      DEPENDS ${objects} "${WARPFOLD_NVCC}"
      COMMENT "nvcc -dlink ${out}"
      VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    list(APPEND objects "${object}")
  endif()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()

# What targets with kernels share: the shared runtime, found through RUNPATH, which LD_LIBRARY_PATH outranks.
function(warpfold_link_cuda target)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${target} PRIVATE warpfold::house warpfold::cudart)
  target_link_options(${target} PRIVATE -Wl,--enable-new-dtags)
endfunction()

# warpfold_cuda_program(<target> SOURCES a.cu b.cpp ... [RDC] [DEVICE_RUNTIME] [OPTIONS nvcc options ...]): an executable. C++ sources are
# compiled as all others are.
function(warpfold_cuda_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "RDC;DEVICE_RUNTIME" "" "SOURCES;OPTIONS")
  set(kernels ${arg_SOURCES})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "\\.cu$")
  set(rdc "")
  if(arg_RDC)
    set(rdc RDC)
  endif()
  if(arg_DEVICE_RUNTIME)
    set(rdc DEVICE_RUNTIME)
  endif()
  warpfold_cuda_objects(${target} SOURCES ${kernels} ${rdc} OPTIONS ${arg_OPTIONS})
  add_executable(${target} ${arg_SOURCES} ${${target}})
  warpfold_link_cuda(${target})
  if(arg_DEVICE_RUNTIME)
    get_filename_component(runtime_folder "${WARPFOLD_CUDA_RUNTIME}" DIRECTORY)
    get_filename_component(compiler_folder "${WARPFOLD_NVCC}" DIRECTORY)
    find_library(WARPFOLD_CUDA_DEVICE_RUNTIME cudadevrt REQUIRED
      HINTS "${runtime_folder}" "${compiler_folder}/../lib64" "${compiler_folder}/../lib")
    target_link_libraries(${target} PRIVATE "${WARPFOLD_CUDA_DEVICE_RUNTIME}")
  endif()
endfunction()

# warpfold_cuda_library(<target> SOURCES a.cu b.cpp ... [TOGETHER c.cu ...] [OPTIONS nvcc options ...]): the same, a shared
# library.
function(warpfold_cuda_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;TOGETHER;OPTIONS")
  set(kernels ${arg_SOURCES})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  list(FILTER arg_SOURCES EXCLUDE REGEX "\\.cu$")
  warpfold_cuda_objects(${target} SOURCES ${kernels} TOGETHER ${arg_TOGETHER} OPTIONS ${arg_OPTIONS})
  add_library(${target} SHARED ${arg_SOURCES} ${${target}})
  warpfold_link_cuda(${target})
endfunction()

# Units of LTO-IR for a test, as files UNIT.ltoir and, as programs have them, UNIT.fatbin in the folder LTO_UNITS; and
# NVIDIA_NVJITLINK: NVIDIA's library that optimises them, which only full toolkits have, empty without it.
function(warpfold_lto_units target)
  set(units ${CMAKE_CURRENT_BINARY_DIR}/lto)
  file(MAKE_DIRECTORY ${units})
  foreach(source IN LISTS ARGN)
    get_filename_component(unit ${source} NAME_WE)
    add_custom_command(OUTPUT ${units}/${unit}.ltoir
      COMMAND "${WARPFOLD_NVCC}" -dlto -arch=sm_75 -rdc=true -ltoir -ccbin "${CMAKE_CXX_COMPILER}"
        ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${units}/${unit}.ltoir
      COMMAND "${WARPFOLD_NVCC}" -gencode arch=compute_75,code=lto_75 -rdc=true -fatbin -ccbin "${CMAKE_CXX_COMPILER}"
        ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${units}/${unit}.fatbin
      DEPENDS ${source}
      COMMENT "nvcc -ltoir ${source}"
      VERBATIM)
    target_sources(${target} PRIVATE ${units}/${unit}.ltoir)
  endforeach()
  get_filename_component(toolkit "${WARPFOLD_NVCC}" REALPATH)
  get_filename_component(toolkit "${toolkit}/../.." ABSOLUTE)
  find_file(WARPFOLD_NVIDIA_NVJITLINK NAMES libnvJitLink.so.13 libnvJitLink.so.12
    PATHS ${toolkit}/lib64 ${toolkit}/lib ${toolkit}/targets/x86_64-linux/lib NO_DEFAULT_PATH)
  target_compile_definitions(${target} PRIVATE LTO_UNITS="${units}"
    NVIDIA_NVJITLINK="$<$<BOOL:${WARPFOLD_NVIDIA_NVJITLINK}>:${WARPFOLD_NVIDIA_NVJITLINK}>")
endfunction()
