#include "runtime/cubin.hpp"

#include <elf.h>

#include <cstring>
#include <vector>

namespace smelt::runtime {
namespace {

constexpr int kCudaMachine = 190;
// Records of .nv.info: a format, an attribute, two bytes, and as many more as these say where the
// format is the long one.
constexpr uint8_t kLongFormat = 4, kFrameSize = 0x11, kRegisterCount = 0x2f;
// Shared memory that the system has of each workgroup, where there is a section of this name.
constexpr const char* kReservedName = ".nv.shared.reserved.0";
constexpr int64_t kReservedBytes = 1024;

template <class T>
std::optional<T> read(std::string_view from, uint64_t at) {
  if (at > from.size() || from.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, from.data() + at, sizeof value);
  return value;
}

std::string_view part(std::string_view of, uint64_t at, uint64_t bytes) {
  return at <= of.size() && bytes <= of.size() - at ? of.substr(at, bytes) : std::string_view();
}

std::string_view text_at(std::string_view table, uint64_t at) {
  const std::string_view rest = at < table.size() ? table.substr(at) : std::string_view();
  return rest.substr(0, rest.find('\0'));
}

struct Cubin {
  std::vector<Elf64_Shdr> sections;
  std::string_view file, names;

  std::string_view bytes(const Elf64_Shdr& s) const { return part(file, s.sh_offset, s.sh_size); }
  const Elf64_Shdr* find(std::string_view name) const {
    for (const Elf64_Shdr& s : sections)
      if (text_at(names, s.sh_name) == name) return &s;
    return nullptr;
  }
};

std::optional<Cubin> open(std::string_view file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_machine != kCudaMachine || header->e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  Cubin cubin;
  cubin.file = file;
  for (int n = 0; n < header->e_shnum; ++n) {
    const auto section = read<Elf64_Shdr>(file, header->e_shoff + static_cast<uint64_t>(n) * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    cubin.sections.push_back(*section);
  }
  if (header->e_shstrndx >= cubin.sections.size()) return std::nullopt;
  cubin.names = cubin.bytes(cubin.sections[header->e_shstrndx]);
  return cubin;
}

// The number of a function's symbol.
std::optional<uint32_t> symbol_of(const Cubin& cubin, std::string_view function) {
  const Elf64_Shdr *symbols = cubin.find(".symtab"), *names = cubin.find(".strtab");
  if (!symbols || !names) return std::nullopt;
  const std::string_view all = cubin.bytes(*symbols), texts = cubin.bytes(*names);
  for (uint32_t n = 0;; ++n) {
    const auto symbol = read<Elf64_Sym>(all, uint64_t{n} * sizeof(Elf64_Sym));
    if (!symbol) return std::nullopt;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && text_at(texts, symbol->st_name) == function) return n;
  }
}

}  // namespace

std::optional<FunctionFacts> facts_of_cubin(std::string_view file, const std::string& function) {
  const auto cubin = open(file);
  if (!cubin) return std::nullopt;
  const Elf64_Shdr* info = cubin->find(".nv.info");
  const auto symbol = symbol_of(*cubin, function);
  if (!info || !symbol) return std::nullopt;
  FunctionFacts facts;
  const std::string_view records = cubin->bytes(*info);
  for (uint64_t at = 0; at < records.size();) {
    const auto format = read<uint8_t>(records, at), attribute = read<uint8_t>(records, at + 1);
    const auto size = read<uint16_t>(records, at + 2);
    if (!format || !attribute || !size) return std::nullopt;
    at += 4;
    if (*format != kLongFormat) continue;
    const auto of = read<uint32_t>(records, at), value = read<uint32_t>(records, at + 4);
    at += *size;
    if (*size != 8 || !of || !value || *of != *symbol) continue;
    if (*attribute == kRegisterCount) facts.registers = static_cast<int>(*value);
    if (*attribute == kFrameSize) facts.local_bytes = *value;
  }
  if (facts.registers <= 0) return std::nullopt;
  if (const Elf64_Shdr* shared = cubin->find(".nv.shared." + function)) {
    facts.shared_bytes = static_cast<int64_t>(shared->sh_size);
    if (cubin->find(kReservedName)) facts.shared_bytes -= kReservedBytes;
    if (facts.shared_bytes < 0) return std::nullopt;
  }
  return facts;
}

}  // namespace smelt::runtime
