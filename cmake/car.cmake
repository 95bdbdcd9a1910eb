# The files of examples/car inside the command, which runs that car for `alphastep papers` wherever it is put.
#
# alphastep_car(SOURCE): SOURCE includes a list with a line CAR_FILE(NUMBER, NAME, PATH) for each file.

function(alphastep_car source)
  set(folder ${PROJECT_SOURCE_DIR}/examples/car)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.yaml ${folder}/parts/*)
  set(lines "")
  set(number 0)
  foreach(file ${files})
    file(RELATIVE_PATH name ${folder} ${file})
    string(APPEND lines "CAR_FILE(${number}, \"${name}\", \"${file}\")\n")
    math(EXPR number "${number} + 1")
  endforeach()
  set(list ${PROJECT_BINARY_DIR}/car-files.inc)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}" @ONLY) # written only where it changes
  set_source_files_properties(${source} PROPERTIES
    OBJECT_DEPENDS "${files};${list}" COMPILE_DEFINITIONS "CAR_FILES=\"${list}\"")
endfunction()
