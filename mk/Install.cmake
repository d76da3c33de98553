# What `cmake --install` puts below a prefix, besides the targets, which say it themselves. The parts find each other
# by their places relative to one another, so the layout is fixed (bin, lib, lib/muster, include, share), and a prefix
# can be moved. Components: headers, library, cpu, tool, doc, examples.
include(CMakePackageConfigHelpers)

install(FILES include/muster.h DESTINATION include COMPONENT headers)
install(DIRECTORY include/muster DESTINATION include COMPONENT headers)
install(TARGETS muster_headers EXPORT headers COMPONENT headers)
file(GLOB tables CONFIGURE_DEPENDS include/muster/*.def)

# CMake and pkg-config.
set(package "${CMAKE_CURRENT_BINARY_DIR}/package")
configure_package_config_file(mk/package/musterConfig.cmake.in "${package}/musterConfig.cmake"
  INSTALL_DESTINATION lib/cmake/muster)
write_basic_package_version_file("${package}/musterConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${package}/musterConfig.cmake" "${package}/musterConfigVersion.cmake"
  DESTINATION lib/cmake/muster COMPONENT headers)
set(exports headers)
if(MUSTER_CPU_DEVICE)
  list(APPEND exports library cpu tool)
endif()
foreach(name IN LISTS exports)
  install(EXPORT ${name} NAMESPACE muster:: FILE muster-${name}.cmake DESTINATION lib/cmake/muster COMPONENT ${name})
endforeach()
foreach(name IN ITEMS muster-headers muster muster-static muster-report)
  configure_file(mk/package/${name}.pc.in "${package}/${name}.pc" @ONLY)
endforeach()
install(FILES "${package}/muster-headers.pc" DESTINATION lib/pkgconfig COMPONENT headers)
if(TARGET muster)
  install(FILES "${package}/muster.pc" "${package}/muster-report.pc" DESTINATION lib/pkgconfig COMPONENT library)
endif()
if(TARGET muster_static)
  install(FILES "${package}/muster-static.pc" DESTINATION lib/pkgconfig COMPONENT library)
endif()

# The manual.
if(TARGET muster_man)
  set(manual "${CMAKE_CURRENT_BINARY_DIR}/manual")
  file(GLOB headers CONFIGURE_DEPENDS include/muster.h include/muster/*)
  add_custom_command(OUTPUT "${manual}/links"
    COMMAND sh "${PROJECT_SOURCE_DIR}/mk/manual.sh" "${PROJECT_SOURCE_DIR}" ${PROJECT_VERSION} "${CMAKE_C_COMPILER}"
      $<TARGET_FILE:muster_man> "${manual}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${manual}" -P "${PROJECT_SOURCE_DIR}/mk/package/links.cmake"
    DEPENDS muster_man mk/manual.sh mk/manual.awk mk/api.awk mk/names.sh mk/names.awk mk/package/links.cmake ${headers}
    COMMENT "the manual" VERBATIM)
  add_custom_target(muster_manual ALL DEPENDS "${manual}/links")
  install(DIRECTORY "${manual}/man1" "${manual}/man3" DESTINATION share/man COMPONENT doc)
endif()

# For Python.
if(TARGET muster)
  set(module "${CMAKE_CURRENT_BINARY_DIR}/python/muster.py")
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/python")
  add_custom_command(OUTPUT "${module}"
    COMMAND sh "${PROJECT_SOURCE_DIR}/mk/python.sh" "${PROJECT_SOURCE_DIR}" ${PROJECT_VERSION} > "${module}"
    DEPENDS mk/python.sh mk/python.awk mk/api.awk python/muster.py.in include/muster.h ${tables} VERBATIM)
  add_custom_target(muster_python ALL DEPENDS "${module}")
  install(FILES "${module}" DESTINATION share/muster/python COMPONENT library)
endif()

install(DIRECTORY examples DESTINATION share/muster COMPONENT examples REGEX "examples/CMakeLists.txt$" EXCLUDE)
install(FILES README.md LICENSE doc/install.md doc/primitives.md doc/report.md doc/rules.md doc/tour.md doc/tour.zh.md
  DESTINATION share/doc/muster COMPONENT doc)

# Last: what was installed, for ./dev uninstall.
install(SCRIPT mk/package/manifest.cmake ALL_COMPONENTS)
