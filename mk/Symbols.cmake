# The functions that a public header declares, for the linker.
#
# muster_symbols(NAME HEADER): NAME.map, a version script, and NAME.symbols, a list, in the build folder at hand.
function(muster_symbols name header)
  set(script "${PROJECT_SOURCE_DIR}/mk/symbols.sh")
  set(include "${PROJECT_SOURCE_DIR}/include")
  file(GLOB tables CONFIGURE_DEPENDS "${include}/muster/*.def")
  add_custom_command(OUTPUT ${name}.map ${name}.symbols
    COMMAND sh "${script}" map MUSTER_${PROJECT_VERSION_MAJOR} "${include}" "${include}/${header}" > ${name}.map
    COMMAND sh "${script}" list "${include}" "${include}/${header}" > ${name}.symbols
    DEPENDS "${script}" "${PROJECT_SOURCE_DIR}/mk/api.awk" "${include}/${header}" ${tables} VERBATIM)
  add_custom_target(${name}.names DEPENDS ${name}.map ${name}.symbols)
endfunction()

# muster_exports(TARGET NAME): the shared library TARGET exports these and no others.
function(muster_exports target name)
  set(map "${CMAKE_CURRENT_BINARY_DIR}/${name}.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}" LINKER:-z,defs)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
  add_dependencies(${target} ${name}.names)
endfunction()
