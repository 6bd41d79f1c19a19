# SPDX-License-Identifier: MIT
# cmake -DROOT=... -DPATTERNS=... -DFUNCTION=... -DOUTPUT=... -DDEPFILE=... -P embed_files.cmake: the files
# below ROOT that match PATTERNS (recursively) as a C++ table, which FUNCTION returns. So the command can show them wherever
# it is installed. DEPFILE names them and their folders, whose times change when a file is added or
# removed.
set(paths "")
set(inputs "")
foreach(pattern IN LISTS PATTERNS)
  file(GLOB_RECURSE found RELATIVE "${ROOT}" "${ROOT}/${pattern}")
  list(APPEND paths ${found})
  get_filename_component(folder "${ROOT}/${pattern}" DIRECTORY)
  while(NOT EXISTS "${folder}")
    get_filename_component(folder "${folder}" DIRECTORY)
  endwhile()
  file(GLOB_RECURSE below LIST_DIRECTORIES true "${folder}/*")
  foreach(input IN LISTS below)
    if(IS_DIRECTORY "${input}")
      list(APPEND inputs "${input}")
    endif()
  endforeach()
  list(APPEND inputs "${folder}")
endforeach()
list(REMOVE_DUPLICATES paths)
list(REMOVE_DUPLICATES inputs)
list(SORT paths)
foreach(path IN LISTS paths)
  list(APPEND inputs "${ROOT}/${path}")
endforeach()
string(REPLACE " " "\\ " inputs "${inputs}")
list(JOIN inputs " " inputs)
file(WRITE "${DEPFILE}" "${OUTPUT}: ${inputs}\n")
# As bytes that the assembler reads: a compiler takes seconds for as many literals.
set(text "// Made by cmake/embed_files.cmake.\n#include \"ladder/engine/sources.hpp\"\n\n")
set(table "")
set(number 0)
string(REGEX REPLACE "[^a-zA-Z0-9]" "_" symbol "${FUNCTION}")
foreach(path IN LISTS paths)
  set(name "${symbol}_${number}")
  string(APPEND text "asm(\".section .rodata\\n${name}: .incbin \\\"${ROOT}/${path}\\\"\\n${name}_end:\\n.previous\");\n"
    "extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${name}[], ${name}_end[];\n")
  string(APPEND table "    {\"${path}\", {${name}, ${name}_end}},\n")
  math(EXPR number "${number} + 1")
endforeach()
string(REGEX MATCH "^(.*)::([^:]*)$" whole "${FUNCTION}")
string(APPEND text
  "\nnamespace ${CMAKE_MATCH_1} {\n\nstd::span<const warpfold::ladder::source_file> ${CMAKE_MATCH_2}() {\n"
  "    static const warpfold::ladder::source_file all[] = {\n${table}    };\n    return all;\n}\n\n}\n")
file(WRITE "${OUTPUT}" "${text}")
