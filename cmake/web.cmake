# The page of reports: built from web/ with Node, and put into libalphastep-io.
#
# alphastep_template(SOURCE): SOURCE holds the page that cmake/page.cmake makes when the library is built. Where that cannot be made, for want
# of Node, npm or a network, it is empty, the build says why, and reports are plain.

function(alphastep_template source)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(page ${PROJECT_BINARY_DIR}/report-template.html)
  if(NOT ALPHASTEP_WEB)
    return()
  endif()
  if(EXISTS ${page}) # what was missing may be there now
    file(SIZE ${page} size)
    if(size EQUAL 0)
      file(REMOVE ${page})
    endif()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*)
  set(script ${PROJECT_SOURCE_DIR}/cmake/page.cmake)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -DWEB=${web} -DPAGE=${page} -P ${script}
    DEPENDS ${sources} ${script} ${web}/build.mjs ${web}/package-lock.json
    COMMENT "Building the report's page" VERBATIM)
  set_source_files_properties(${source} PROPERTIES
    OBJECT_DEPENDS ${page} COMPILE_DEFINITIONS "ASI_TEMPLATE=\"${page}\"")
endfunction()
