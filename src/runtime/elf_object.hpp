// A relocatable ELF file, checked and taken apart. Every number in it may be a lie.
#pragma once

#include <elf.h>

#include <string_view>
#include <vector>

namespace smelt::runtime::elf {

struct Section {
  std::string_view name;
  Elf64_Shdr header;
  std::string_view bytes;  // of the file; empty for what has none
  bool code = false, loaded = false;
};

struct Symbol {
  std::string_view name;
  Elf64_Sym entry;
};

struct Object {
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
};

// Throws InternalError when the file is cut short, contradicts itself, is for another machine, or
// has what no kernel has. Sections to be loaded have an alignment that is a power of two of at most
// a page; symbols of them lie inside.
Object read_object(std::string_view file);

// The relocations of a section that is loaded: offsets lie inside, symbols exist.
struct Relocation {
  size_t section;
  Elf64_Rela entry;
};
std::vector<Relocation> relocations_of(const Object& object);

}  // namespace smelt::runtime::elf
