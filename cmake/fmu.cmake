# The binary of exported FMUs, the same for every model: the runtime in src/fmu/runtime, the parts of the libraries that a machine needs, and
# libc and libm. Where a library of others would be needed, the functions of the folders `plain` stand before those of the archives.

set(fmu_sources
  src/fmu/runtime/fmi2.c src/fmu/runtime/fmi3.c src/fmu/runtime/keep.c src/fmu/runtime/open.c src/fmu/runtime/step.c
  src/fmu/runtime/uri.c src/fmu/runtime/values.c
  src/file/plain/flexible_file.c src/file/plain/fmus.c src/file/plain/libraries.c src/file/plain/mesh.c src/file/plain/value.c)
# Linear algebra of our own; a test that wants the same bits has it, too.
add_library(alphastep_plain OBJECT
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
  "ASI_FMU_BINARY=\"$<TARGET_FILE:alphastep_fmu>\"" "ASI_FMU_LICENSE=\"${PROJECT_SOURCE_DIR}/LICENSE\"")
add_dependencies(alphastep_fmu_embedded alphastep_fmu)
set_source_files_properties(src/fmu/embedded/binary.c PROPERTIES
  OBJECT_DEPENDS "${PROJECT_BINARY_DIR}/alphastep_fmu.so;${PROJECT_SOURCE_DIR}/LICENSE")
foreach(kind shared static)
  target_sources(alphastep_io_${kind} PRIVATE $<TARGET_OBJECTS:alphastep_fmu_embedded>)
endforeach()
