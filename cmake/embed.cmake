# SPDX-License-Identifier: MIT
# warpfold_embed(<output.cpp>   files of the tree as a C++ table
#   FUNCTION a::f               `std::span<const warpfold::ladder::source_file> a::f()`
#   PATTERNS a/*.x ...)         from the tree's root, recursive; a pattern may match nothing
function(warpfold_embed output)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FUNCTION" "PATTERNS")
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} "-DPATTERNS=${arg_PATTERNS}"
      -DFUNCTION=${arg_FUNCTION} -DOUTPUT=${output} -DDEPFILE=${output}.d -P ${script}
    DEPENDS ${script}
    DEPFILE ${output}.d
    COMMENT "Embedding files for ${arg_FUNCTION}()"
    VERBATIM)
endfunction()
