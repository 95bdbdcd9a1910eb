# Makes the report's page: cmake -DWEB=FOLDER -DPAGE=FILE -P page.cmake
#
# The packages of FOLDER/package-lock.json are installed once, into FOLDER/node_modules, whatever the number of build directories. Without
# Node, npm or their packages FILE is left empty, and a line says so: reports will be plain.

# Sets `out` to why there can be no page; empty: the packages are there.
function(install_packages out)
  find_program(NODE node NO_CMAKE_SYSTEM_PATH) # as the shell finds it
  find_program(NPM npm NO_CMAKE_SYSTEM_PATH)
  if(NOT NODE OR NOT NPM)
    set(${out} "Node or npm is not installed" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(NOT version MATCHES "^v([0-9]+)" OR CMAKE_MATCH_1 LESS 18)
    set(${out} "Node is older than version 18" PARENT_SCOPE)
    return()
  endif()
  file(LOCK ${WEB}/.lock GUARD FUNCTION TIMEOUT 600 RESULT_VARIABLE locked)
  if(NOT locked EQUAL 0)
    set(${out} "${WEB} cannot be locked: ${locked}" PARENT_SCOPE)
    return()
  endif()
  set(stamp ${WEB}/node_modules/.installed)
  file(SHA256 ${WEB}/package-lock.json wanted)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  set(${out} "" PARENT_SCOPE)
  if(installed STREQUAL wanted)
    return()
  endif()
  execute_process(
    COMMAND ${NPM} ci --no-audit --no-fund --ignore-scripts --fetch-retries=1 --fetch-timeout=30000
    WORKING_DIRECTORY ${WEB} TIMEOUT 300 RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${out} "npm cannot install the packages of web/package-lock.json" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
endfunction()

install_packages(reason)
if(reason)
  message(NOTICE "Reports will be plain, without animation: ${reason}.")
  file(WRITE ${PAGE} "")
  return()
endif()
find_program(NODE node NO_CMAKE_SYSTEM_PATH)
execute_process(COMMAND ${NODE} build.mjs ${PAGE} WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "The report's page could not be built.")
endif()
