# The page of reports: built from web/ with Node, and put into the library.
#
# alphastep_template(TARGET FILE): FILE becomes the template of TARGET, if Node and npm are there and the packages of
# web/package-lock.json can be had. Otherwise reports are plain ones. The packages are installed once, into
# web/node_modules, whatever the number of build directories.

# Sets `out` to why there can be no page; empty: there can be one.
function(alphastep_web_packages web out)
  find_program(NODE_EXECUTABLE node NO_CMAKE_SYSTEM_PATH) # as the shell finds it
  find_program(NPM_EXECUTABLE npm NO_CMAKE_SYSTEM_PATH)
  mark_as_advanced(NODE_EXECUTABLE NPM_EXECUTABLE)
  if(NOT NODE_EXECUTABLE OR NOT NPM_EXECUTABLE)
    set(${out} "Node or npm is not installed" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${NODE_EXECUTABLE} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(NOT version MATCHES "^v([0-9]+)" OR CMAKE_MATCH_1 LESS 18)
    set(${out} "Node is older than version 18" PARENT_SCOPE)
    return()
  endif()
  file(LOCK ${web}/.lock GUARD FUNCTION TIMEOUT 600 RESULT_VARIABLE locked)
  if(NOT locked EQUAL 0)
    set(${out} "${web} cannot be locked: ${locked}" PARENT_SCOPE)
    return()
  endif()
  set(stamp ${web}/node_modules/.installed)
  file(SHA256 ${web}/package-lock.json wanted)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(installed STREQUAL wanted)
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  message(STATUS "Installing the packages of the report's page")
  execute_process(
    COMMAND ${NPM_EXECUTABLE} ci --no-audit --no-fund --ignore-scripts --fetch-retries=1 --fetch-timeout=30000
    WORKING_DIRECTORY ${web} TIMEOUT 300 RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${out} "npm cannot install the packages of web/package-lock.json" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
  set(${out} "" PARENT_SCOPE)
endfunction()

function(alphastep_template source)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(page ${PROJECT_BINARY_DIR}/report-template.html)
  if(NOT ALPHASTEP_WEB)
    return()
  endif()
  alphastep_web_packages(${web} reason)
  if(reason)
    message(NOTICE "Reports will be plain, without animation: ${reason}.")
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(OUTPUT ${page}
    COMMAND ${NODE_EXECUTABLE} build.mjs ${page}
    DEPENDS ${sources} ${web}/build.mjs ${web}/package-lock.json
    WORKING_DIRECTORY ${web}
    COMMENT "Building the report's page" VERBATIM)
  set_source_files_properties(${source} PROPERTIES
    OBJECT_DEPENDS ${page} COMPILE_DEFINITIONS "ASI_TEMPLATE=\"${page}\"")
endfunction()
