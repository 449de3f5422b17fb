#include "runtime/elf_object.hpp"

#include <fmt/format.h>

#include <cstring>

#include "smelt/error.hpp"

namespace smelt::runtime::elf {

namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // of a section: displacements stay far inside 32 bits
constexpr uint64_t kMostAlignment = 4096;
#if defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_X86_64;
#endif

[[noreturn]] void refuse(const std::string& why) {
  throw InternalError("the code of a kernel cannot be loaded: " + why);
}

std::string_view slice(std::string_view file, uint64_t offset, uint64_t bytes, const char* what) {
  if (offset > file.size() || bytes > file.size() - offset) refuse(fmt::format("{} lies outside of the file", what));
  return file.substr(offset, bytes);
}

// A struct of the file, which need not be aligned there.
template <class T>
T at(std::string_view bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

std::string_view text_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) refuse("a name lies outside of its table");
  const size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) refuse("a name has no end");
  return table.substr(offset, end - offset);
}

Elf64_Ehdr read_header(std::string_view file) {
  if (file.size() < sizeof(Elf64_Ehdr)) refuse("it is shorter than its header");
  const auto header = at<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL)
    refuse("it is no relocatable 64-bit object");
  if (header.e_machine != kMachine) refuse(fmt::format("it is for machine {}, this is {}", header.e_machine, kMachine));
  if (header.e_shentsize != sizeof(Elf64_Shdr)) refuse("its sections have an unknown form");
  return header;
}

// Finds whether a loaded section is code, and refuses flags that a kernel does not need.
void check_loaded(Section& s) {
  const Elf64_Shdr& h = s.header;
  if (h.sh_type != SHT_PROGBITS) refuse(fmt::format("section {} has type {}", s.name, h.sh_type));
  if (h.sh_flags & SHF_TLS) refuse("it has thread-local variables");
  s.code = h.sh_flags & SHF_EXECINSTR;
  // Tables of addresses are written by whoever relocates them, and by nobody afterwards.
  const bool only_relocated = s.name.substr(0, 12) == ".data.rel.ro";
  if ((h.sh_flags & SHF_WRITE) && !only_relocated) refuse(fmt::format("section {} can be written", s.name));
  if (h.sh_addralign > kMostAlignment || (h.sh_addralign & (h.sh_addralign - 1)) != 0)
    refuse(fmt::format("section {} is aligned to {} bytes", s.name, h.sh_addralign));
  if (h.sh_size > kMostBytes) refuse(fmt::format("section {} has {} bytes", s.name, h.sh_size));
}

std::vector<Section> read_sections(std::string_view file, const Elf64_Ehdr& header) {
  const std::string_view table =
      slice(file, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), "the table of sections");
  std::vector<Section> sections(header.e_shnum);
  for (size_t i = 0; i < sections.size(); ++i) {
    Section& s = sections[i];
    s.header = at<Elf64_Shdr>(table, i);
    if (s.header.sh_type != SHT_NOBITS && s.header.sh_type != SHT_NULL)
      s.bytes = slice(file, s.header.sh_offset, s.header.sh_size, "a section");
  }
  if (header.e_shstrndx >= sections.size()) refuse("its sections have no names");
  const std::string_view names = sections[header.e_shstrndx].bytes;
  uint64_t loaded = 0;
  for (Section& s : sections) {
    if (s.header.sh_type == SHT_NULL) continue;
    s.name = text_at(names, s.header.sh_name);
    // Nothing is thrown through a kernel, so its tables for that stay on the disk.
    s.loaded = (s.header.sh_flags & SHF_ALLOC) && s.name != ".eh_frame" && s.header.sh_size > 0;
    if (s.loaded) check_loaded(s);
    if (s.loaded && (loaded += s.header.sh_size) > file.size()) refuse("its sections overlap");
  }
  return sections;
}

std::vector<Symbol> read_symbols(const std::vector<Section>& sections) {
  std::vector<Symbol> symbols;
  bool seen = false;
  for (const Section& s : sections) {
    if (s.header.sh_type != SHT_SYMTAB) continue;
    if (seen) refuse("it has two tables of symbols");
    seen = true;
    if (s.header.sh_entsize != sizeof(Elf64_Sym) || s.header.sh_link >= sections.size())
      refuse("its symbols have an unknown form");
    const std::string_view names = sections[s.header.sh_link].bytes;
    for (size_t i = 0; i < s.bytes.size() / sizeof(Elf64_Sym); ++i) {
      const auto entry = at<Elf64_Sym>(s.bytes, i);
      symbols.push_back({text_at(names, entry.st_name), entry});
      const size_t in = entry.st_shndx;
      if (in < sections.size() && sections[in].loaded && entry.st_value > sections[in].header.sh_size)
        refuse(fmt::format("symbol {} lies outside of its section", symbols.back().name));
    }
  }
  return symbols;
}

}  // namespace

Object read_object(std::string_view file) {
  const Elf64_Ehdr header = read_header(file);
  Object object;
  object.sections = read_sections(file, header);
  object.symbols = read_symbols(object.sections);
  return object;
}

std::vector<Relocation> relocations_of(const Object& object) {
  std::vector<Relocation> relocations;
  for (const Section& s : object.sections) {
    const bool is_table = s.header.sh_type == SHT_RELA || s.header.sh_type == SHT_REL;
    const size_t target = s.header.sh_info;
    if (!is_table) continue;
    if (target >= object.sections.size()) refuse("relocations of no section");
    if (!object.sections[target].loaded) continue;
    if (s.header.sh_type == SHT_REL || s.header.sh_entsize != sizeof(Elf64_Rela))
      refuse("its relocations have an unknown form");
    for (size_t i = 0; i < s.bytes.size() / sizeof(Elf64_Rela); ++i) {
      const auto entry = at<Elf64_Rela>(s.bytes, i);
      if (entry.r_offset >= object.sections[target].header.sh_size) refuse("a relocation outside of its section");
      if (ELF64_R_SYM(entry.r_info) >= object.symbols.size()) refuse("a relocation by a symbol that is not there");
      relocations.push_back({target, entry});
    }
  }
  return relocations;
}

}  // namespace smelt::runtime::elf
