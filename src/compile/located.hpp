// Machine code as text, with the line of the source that each line comes from. Internal to this
// folder.
#pragma once

#include <string>

#include "compile/compile.hpp"

namespace smelt {

// LLVM IR with debug locations: every instruction has the line of the text where it is.
std::string with_locations(const std::string& ir_text);

// PTX or assembly without its directives for locations, which become the numbers of lines.
CodeLines without_locations(const std::string& text);

}  // namespace smelt
