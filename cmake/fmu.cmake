# The binary of exported FMUs, the same for every model: the runtime in src/fmu/runtime, the parts of the libraries that a machine needs, and
# libc and libm. Where a library of others would be needed, the functions of the folders `plain` stand before those of the archives.

set(fmu_sources
  src/fmu/runtime/fmi2.c src/fmu/runtime/fmi3.c src/fmu/runtime/keep.c src/fmu/runtime/open.c src/fmu/runtime/step.c
  src/fmu/runtime/uri.c src/fmu/runtime/values.c
  src/file/plain/flexible_file.c src/file/plain/fmus.c src/file/plain/libraries.c src/file/plain/mesh.c src/file/plain/value.c)
# Linear algebra of our own; a test that wants the same bits has it, too.
add_library(alphastep_plain OBJECT
  src/base/plain/pool.c
  src/linalg/plain/dense_lu.c src/linalg/plain/minimum_degree.c src/linalg/plain/sparse_lu.c
  src/analysis/plain/without_lapack.c src/reduction/plain/without_lapack.c)
set(fmu_map ${PROJECT_SOURCE_DIR}/cmake/fmu.map)
add_library(alphastep_fmu SHARED ${fmu_sources} $<TARGET_OBJECTS:alphastep_plain>)
foreach(target alphastep_plain alphastep_fmu)
  alphastep_settings(${target})
  alphastep_forget_paths(${target})
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  target_include_directories(${target} PRIVATE include src)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
endforeach()
# Archives, not targets: these would bring the libraries that they need. libalphastep-io itself holds the binary, so it comes by its objects.
add_library(alphastep_fmu_parts STATIC $<TARGET_OBJECTS:alphastep_io_objects>)
set_target_properties(alphastep_fmu_parts PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(alphastep_fmu PRIVATE
  $<TARGET_FILE:alphastep_fmu_parts> $<TARGET_FILE:alphastep_static> m)
add_dependencies(alphastep_fmu alphastep_fmu_parts alphastep_static)
set_target_properties(alphastep_fmu PROPERTIES
  PREFIX "" SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINK_DEPENDS ${fmu_map} LINKER_LANGUAGE C)
target_link_options(alphastep_fmu PRIVATE -Wl,--version-script=${fmu_map} -Wl,--as-needed)
if(NOT ALPHASTEP_SANITIZE AND NOT ALPHASTEP_FUZZ)
  target_link_options(alphastep_fmu PRIVATE -Wl,--no-undefined -Wl,-s)
endif()

# Inside libalphastep-io, for the exporter.
add_library(alphastep_fmu_embedded OBJECT src/fmu/embedded/binary.c)
alphastep_settings(alphastep_fmu_embedded)
alphastep_forget_paths(alphastep_fmu_embedded)
set_target_properties(alphastep_fmu_embedded PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_include_directories(alphastep_fmu_embedded PRIVATE include src)
target_compile_definitions(alphastep_fmu_embedded PRIVATE
  "ASI_EXPORTED_BINARY=\"$<TARGET_FILE:alphastep_fmu>\"" "ASI_EXPORTED_LICENSE=\"${PROJECT_SOURCE_DIR}/LICENSE\"")
add_dependencies(alphastep_fmu_embedded alphastep_fmu)
set_source_files_properties(src/fmu/embedded/binary.c PROPERTIES
  OBJECT_DEPENDS "${PROJECT_BINARY_DIR}/alphastep_fmu.so;${PROJECT_SOURCE_DIR}/LICENSE")
foreach(kind shared static)
  target_sources(alphastep_io_${kind} PRIVATE $<TARGET_OBJECTS:alphastep_fmu_embedded>)
endforeach()

# ---- the same for Windows, where mingw is found ------------------------------------------------------
# Without CMake's cross compiling, which would take a build of its own: each source is a command. What needs a library of others is left out, or
# has its twin in src/base/windows or in a folder `plain`.

set(ALPHASTEP_FMU_WINDOWS AUTO CACHE STRING "FMUs for Windows, too: ON, OFF, or AUTO: where x86_64-w64-mingw32-gcc is found")
if(ALPHASTEP_FMU_WINDOWS AND NOT ALPHASTEP_SANITIZE AND NOT ALPHASTEP_FUZZ)
  find_program(MINGW_C_COMPILER x86_64-w64-mingw32-gcc)
  find_program(MINGW_AR x86_64-w64-mingw32-ar)
  mark_as_advanced(MINGW_C_COMPILER MINGW_AR)
endif()
if(MINGW_C_COMPILER AND MINGW_AR)
  set(mingw_flags -std=c11 -O3 -ffp-contract=off -Wall -Wextra -Wno-format -D__USE_MINGW_ANSI_STDIO=1 -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
  if(ALPHASTEP_WERROR)
    list(APPEND mingw_flags -Werror)
  endif()
  file(GLOB first RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    src/base/plain/*.c src/linalg/plain/*.c src/analysis/plain/*.c src/reduction/plain/*.c src/file/plain/*.c src/fmu/runtime/*.c)
  file(GLOB rest RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    src/base/*.c src/base/windows/*.c src/lie/*.c src/linalg/*.c src/core/*/*.c src/expression/*.c src/elements/*.c src/control/*.c src/model/*.c
    src/file/*.c src/results/*.c)
  list(FILTER rest EXCLUDE REGEX "src/base/(file|folder|locale)[.]c")
  list(FILTER rest EXCLUDE REGEX "src/file/(flexible_file|fmus|libraries|mesh|value)[.]c")
  list(FILTER rest EXCLUDE REGEX "src/results/(csv|hdf5|layout|pack|reader[a-z_]*|writer)[.]c")
  list(APPEND rest src/reduction/flexible.c src/fmu/interface.c)
  foreach(name analysis continuation equilibrium motion parameter problem_blocks statics sweep)
    list(APPEND rest src/analysis/${name}.c)
  endforeach()
  foreach(group first rest)
    set(${group}_objects)
    foreach(source ${${group}})
      string(REPLACE / _ object mingw/${source}.o)
      string(REPLACE mingw_ mingw/ object ${object})
      add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${MINGW_C_COMPILER} ${mingw_flags} -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
          -MD -MT ${object} -MF ${object}.d -c ${PROJECT_SOURCE_DIR}/${source} -o ${object}
        DEPENDS ${PROJECT_SOURCE_DIR}/${source} DEPFILE ${object}.d
        COMMENT "Building ${source} for Windows" VERBATIM)
      list(APPEND ${group}_objects ${object})
    endforeach()
  endforeach()
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/mingw)
  add_custom_command(OUTPUT mingw/parts.a
    COMMAND ${CMAKE_COMMAND} -E rm -f mingw/parts.a COMMAND ${MINGW_AR} qcs mingw/parts.a ${rest_objects}
    DEPENDS ${rest_objects} COMMENT "Packing parts for Windows" VERBATIM)
  set(fmu_windows ${PROJECT_BINARY_DIR}/alphastep_fmu.dll)
  add_custom_command(OUTPUT ${fmu_windows}
    COMMAND ${MINGW_C_COMPILER} -shared -static -s -Wl,--no-insert-timestamp -o ${fmu_windows} ${first_objects} mingw/parts.a
    DEPENDS ${first_objects} mingw/parts.a COMMENT "Linking FMUs' library for Windows" VERBATIM)
  set_property(SOURCE src/fmu/embedded/binary.c APPEND PROPERTY OBJECT_DEPENDS ${fmu_windows})
  target_compile_definitions(alphastep_fmu_embedded PRIVATE "ASI_EXPORTED_WINDOWS=\"${fmu_windows}\"")
endif()
