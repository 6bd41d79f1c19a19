# SPDX-License-Identifier: MIT
# cmake -DROOT=... -DOUTPUT=... -DDEPFILE=... -P embed_sources.cmake: the sources of the ladders and of the library, below
# ROOT, as a C++ table, so that the command can show sources wherever it is installed. DEPFILE names them and their
# folders, whose times change when a file is added or removed.
file(GLOB_RECURSE paths RELATIVE "${ROOT}"
  "${ROOT}/ladder/*.cu" "${ROOT}/ladder/*.cuh" "${ROOT}/ladder/*.hpp" "${ROOT}/ladder/*.cpp"
  "${ROOT}/include/warpfold/*.cuh" "${ROOT}/include/warpfold/*.hpp")
file(GLOB_RECURSE inputs LIST_DIRECTORIES true "${ROOT}/ladder/*" "${ROOT}/include/warpfold/*")
foreach(input IN LISTS inputs)
  if(NOT IS_DIRECTORY "${input}")
    list(REMOVE_ITEM inputs "${input}")
  endif()
endforeach()
list(APPEND inputs "${ROOT}/ladder" "${ROOT}/include/warpfold")
foreach(path IN LISTS paths)
  list(APPEND inputs "${ROOT}/${path}")
endforeach()
string(REPLACE " " "\\ " inputs "${inputs}")
list(JOIN inputs " " inputs)
file(WRITE "${DEPFILE}" "${OUTPUT}: ${inputs}\n")
set(text "// Made by ladder/engine/embed_sources.cmake.\n#include \"ladder/engine/sources.hpp\"\n\nnamespace warpfold::ladder {\n\n")
set(table "")
set(number 0)
foreach(path IN LISTS paths)
  file(READ "${ROOT}/${path}" content)
  if(content MATCHES "\\)embedded\"")
    message(FATAL_ERROR "${path} holds the end of the literal that it is put into")
  endif()
  # A literal of its own each; an empty file needs none.
  string(APPEND text "static constexpr std::string_view text_${number} = R\"embedded(${content})embedded\";\n")
  string(APPEND table "    {\"${path}\", text_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()
string(APPEND text
  "\nstatic constexpr source_file all[] = {\n${table}};\n\n"
  "std::span<const source_file> source_files() { return all; }\n\n"
  "} // namespace warpfold::ladder\n")
file(WRITE "${OUTPUT}" "${text}")
