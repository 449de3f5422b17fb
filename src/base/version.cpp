#include "smelt/version.hpp"

namespace smelt {

const char* version() { return SMELT_VERSION; }
int version_number() { return SMELT_VERSION_NUMBER; }

}  // namespace smelt
