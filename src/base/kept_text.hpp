// Texts that live as long as the process, for values that are copied often and name a source file.
#pragma once

#include <string_view>

namespace smelt {

// The same pointer for the same text, ended by a zero.
const char* kept_text(std::string_view text);

}  // namespace smelt
