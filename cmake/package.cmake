# `make package`: a .deb of what is installed.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME smelt)
set(CPACK_PACKAGE_CONTACT "the smelt project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # libc6, libstdc++6, libgcc-s1 and libfmt by the names and versions of this system
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# LLVM is opened while smelt runs, any one of these; without it programs run in the interpreter. To link the static library: libfmt-dev.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libllvm19 | libllvm22 | libllvm21 | libllvm20 | libllvm18 | libllvm17 | libllvm17t64 | libllvm16 | libllvm16t64, libfmt-dev")
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # what is packed is named by `make package`; the tests need not be built for it
include(CPack)
