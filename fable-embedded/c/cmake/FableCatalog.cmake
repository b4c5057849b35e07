# fable_catalog(TARGET lamp.toml [BUILTIN] [NAME name] [HEADER lamp.h])
#
# Makes a header of a catalog with `fable catalog c` and lets a target include it. It is made again when the TOML file or the
# command changes. BUILTIN is for a library that was built with FABLE_RUST_FILE. FABLE_COMMAND is the `fable` command, which is looked for in PATH.
function(fable_catalog target file)
  cmake_parse_arguments(PARSE_ARGV 2 own "BUILTIN" "NAME;HEADER" "")
  find_program(FABLE_COMMAND fable DOC "The `fable` command")
  if(NOT FABLE_COMMAND)
    message(FATAL_ERROR "fable_catalog needs the `fable` command: set FABLE_COMMAND, or commit what `fable catalog c` prints")
  endif()
  get_filename_component(file "${file}" ABSOLUTE)
  get_filename_component(stem "${file}" NAME_WE)
  if(NOT own_HEADER)
    set(own_HEADER "${stem}.h")
  endif()
  set(flags)
  if(own_BUILTIN)
    list(APPEND flags --builtin)
  endif()
  if(own_NAME)
    list(APPEND flags --name "${own_NAME}")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/fable-catalogs")
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(
    OUTPUT "${folder}/${own_HEADER}"
    COMMAND "${FABLE_COMMAND}" catalog c "${file}" ${flags} --output "${folder}/${own_HEADER}"
    DEPENDS "${file}" "${FABLE_COMMAND}"
    COMMENT "Generating ${own_HEADER} from ${stem}.toml"
    VERBATIM)
  target_sources(${target} PRIVATE "${folder}/${own_HEADER}")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
