# The Python package: the extension module beside the package's own files, in build/python. `pip install ./python` builds it by
# python/build_backend.py, `make python` a wheel.

set(ALPHASTEP_PYTHON_PACKAGE AUTO CACHE STRING "ON, OFF, or AUTO: where Python 3.11 or later and its headers are found")

if(ALPHASTEP_PYTHON_PACKAGE AND ALPHASTEP_IO)
  if(NOT Python3_EXECUTABLE)
    find_program(alphastep_python3 python3 PATHS /usr/bin NO_DEFAULT_PATH) # Debian's own has NumPy, and its headers in python3-dev
    mark_as_advanced(alphastep_python3)
    if(alphastep_python3)
      set(Python3_EXECUTABLE ${alphastep_python3})
    endif()
  endif()
  find_package(Python3 3.11 QUIET COMPONENTS Interpreter Development.Module)
  if(Python3_Development.Module_FOUND)
    set(package ${PROJECT_BINARY_DIR}/python/alphastep)
    file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.c)
    add_library(alphastep_python MODULE ${python_sources})
    alphastep_settings(alphastep_python)
    # Python's slots hold functions as void *, which ISO C does not know of.
    target_compile_options(alphastep_python PRIVATE -Wno-pedantic -Wno-cast-qual)
    target_compile_definitions(alphastep_python PRIVATE Py_LIMITED_API=0x030B0000)
    target_include_directories(alphastep_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
    alphastep_forget_paths(alphastep_python)
    target_link_libraries(alphastep_python PRIVATE alphastep::io_static m)
    set_target_properties(alphastep_python PROPERTIES
      PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so C_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${package})
    file(GLOB package_files CONFIGURE_DEPENDS python/alphastep/*.py python/alphastep/*.pyi python/alphastep/py.typed)
    # Methods for all kinds of things, from the table of keys.
    add_executable(alphastep_print_schema python/generate/print_schema.c)
    alphastep_settings(alphastep_print_schema)
    target_link_libraries(alphastep_print_schema PRIVATE alphastep::io_static m)
    set(parts ${package}/_parts.py)
    add_custom_command(OUTPUT ${parts}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${package}
      COMMAND alphastep_print_schema > ${PROJECT_BINARY_DIR}/python/schema.json
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/python/generate/generate_parts.py ${PROJECT_BINARY_DIR}/python/schema.json ${parts}
      DEPENDS alphastep_print_schema ${PROJECT_SOURCE_DIR}/python/generate/generate_parts.py VERBATIM)
    add_custom_target(alphastep_python_files ALL COMMAND ${CMAKE_COMMAND} -E make_directory ${package}
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${package_files} ${package} DEPENDS ${parts})
    set(ALPHASTEP_HAS_PYTHON_PACKAGE ON)
  elseif(NOT ALPHASTEP_PYTHON_PACKAGE STREQUAL AUTO)
    message(FATAL_ERROR "Python 3.11 or later with its headers (Debian: python3-dev) was not found")
  else()
    message(NOTICE "alphastep is built without the Python package: Python 3.11 or later with its headers (Debian: python3-dev) was not found")
  endif()
endif()
