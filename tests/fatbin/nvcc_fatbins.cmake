# SPDX-License-Identifier: MIT
# Fat binaries from this nvcc, one file per compression, and the PTX that each must contain.
set(fatbin_source ${CMAKE_CURRENT_SOURCE_DIR}/sample.cu)
set(fatbin_folder ${CMAKE_CURRENT_BINARY_DIR}/nvcc)
file(MAKE_DIRECTORY ${fatbin_folder})
set(fatbin_files)

function(make_fatbin name)
  add_custom_command(OUTPUT ${fatbin_folder}/${name}
    COMMAND ${WARPFOLD_NVCC} ${ARGN} ${fatbin_source} -o ${fatbin_folder}/${name}
    DEPENDS ${fatbin_source} VERBATIM)
  set(fatbin_files ${fatbin_files} ${fatbin_folder}/${name} PARENT_SCOPE)
endfunction()

set(fatbin_virtual -arch=compute_75 -code=compute_75,sm_75)
make_fatbin(expected.ptx -arch=compute_75 -ptx)
make_fatbin(default.fatbin ${fatbin_virtual} -fatbin)
make_fatbin(plain.fatbin ${fatbin_virtual} -fatbin --no-compress)
make_fatbin(relocatable.fatbin ${fatbin_virtual} -fatbin -rdc=true)
make_fatbin(several.fatbin -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=[sm_80,compute_80]
  -gencode arch=compute_90a,code=compute_90a -fatbin)
make_fatbin(no_ptx.fatbin -gencode arch=compute_80,code=sm_80 -fatbin)
# Older compilers have one compression only.
execute_process(COMMAND ${WARPFOLD_NVCC} --help OUTPUT_VARIABLE fatbin_nvcc_help ERROR_QUIET)
if(fatbin_nvcc_help MATCHES "--compress-mode")
  foreach(mode IN ITEMS size speed balance none)
    make_fatbin(${mode}.fatbin ${fatbin_virtual} -fatbin --compress-mode=${mode})
  endforeach()
endif()
add_custom_target(fatbin_samples DEPENDS ${fatbin_files})

target_sources(test_fatbin PRIVATE nvcc_test.cpp)
target_compile_definitions(test_fatbin PRIVATE FATBIN_FOLDER="${fatbin_folder}")
add_dependencies(test_fatbin fatbin_samples)
