# What `cmake --install` and `make package` bring. find_package(smelt) gives smelt::smelt as smeltConfig.cmake says.
include(CMakePackageConfigHelpers)
set(smelt_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/smelt)

install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/smelt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/smelt RENAME copyright)
if(SMELT_TOOL)
  install(TARGETS smelt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(smelt_texts)
    install(FILES ${smelt_texts}/smelt.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${smelt_texts}/smelt DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
    install(FILES ${smelt_texts}/_smelt DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions)
    install(FILES ${smelt_texts}/smelt.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
  endif()
endif()

foreach(kind ${smelt_kinds})
  install(TARGETS smelt_${kind} EXPORT smelt_${kind}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT smelt_${kind} NAMESPACE smelt:: FILE smelt-${kind}.cmake DESTINATION ${smelt_cmake_dir})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/smeltConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/smeltConfig.cmake
  INSTALL_DESTINATION ${smelt_cmake_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/smeltConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/smeltConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/smeltConfigVersion.cmake
  DESTINATION ${smelt_cmake_dir})
