/// \file
/// The version of smelt: of the headers, by macros, and of the library, by version().
#pragma once

#include "smelt/export.hpp"

// CMakeLists.txt reads these lines; docs/compatibility.md says what the numbers mean.

/// The headers' major version; until 1.0 it is 0.
#define SMELT_VERSION_MAJOR 0
/// The headers' minor version: until 1.0 another one may break programs.
#define SMELT_VERSION_MINOR 1
/// The headers' patch version: another one breaks nothing.
#define SMELT_VERSION_PATCH 0
/// To compare: 10203 is 1.2.3.
#define SMELT_VERSION_NUMBER (SMELT_VERSION_MAJOR * 10000 + SMELT_VERSION_MINOR * 100 + SMELT_VERSION_PATCH)

namespace smelt {

/// "0.1.0", of the library that runs; the macros are of the headers that the program was compiled
/// with.
SMELT_API const char* version();
/// The same as SMELT_VERSION_NUMBER counts.
SMELT_API int version_number();

}  // namespace smelt
