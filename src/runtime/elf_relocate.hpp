// The arithmetic of relocations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace smelt::runtime::elf {

struct Place {
  char* bytes;       // where the relocated bytes are
  size_t room;       // bytes from there to the end of the section
  uint64_t address;  // of `bytes`, when the code runs
};

// Whether a relocation of this type wants the address of a slot that holds its symbol's address,
// instead of the symbol's.
bool wants_slot_x86_64(uint32_t type);
bool wants_slot_aarch64(uint32_t type);
// Writes symbol + addend into a place, as the type says. Throws InternalError when the type is
// unknown, or what it writes does not fit.
void relocate_x86_64(uint32_t type, const Place& place, uint64_t symbol, int64_t addend);
void relocate_aarch64(uint32_t type, const Place& place, uint64_t symbol, int64_t addend);

}  // namespace smelt::runtime::elf
