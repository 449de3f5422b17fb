// What profilers and debuggers learn of code that elf_loader.hpp loads: they find no file for it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/elf_object.hpp"

namespace smelt::runtime {

// Tells those that set_code_listing() names of an object that is loaded: `address` has where a
// loaded section lies. Gives what unlist_code() takes, null when no debugger was told.
void* list_code(const std::string& name, std::string_view file, const elf::Object& object,
                const std::function<char*(size_t section)>& address);
void unlist_code(void* listed) noexcept;

}  // namespace smelt::runtime
