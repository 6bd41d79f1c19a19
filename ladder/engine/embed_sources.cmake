# SPDX-License-Identifier: MIT
# cmake -DROOT=... -DLIST=FILE -DOUTPUT=... -P embed_sources.cmake: the files that LIST names, below ROOT, as a C++
# table, so that the command can show sources wherever it is installed.
file(STRINGS "${LIST}" paths)
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
