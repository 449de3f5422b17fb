#include "runtime/elf_loader.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/code_listing.hpp"
#include "runtime/elf_object.hpp"
#include "runtime/elf_relocate.hpp"
#include "smelt/error.hpp"

namespace smelt::runtime {

namespace {

using namespace elf;

[[noreturn]] void refuse(const std::string& why) {
  throw InternalError("the code of a kernel cannot be loaded: " + why);
}

constexpr uint64_t kMostBytes = uint64_t{512} << 20;

uint64_t aligned(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

// A jump to any address, followed by the address: what a call reaches when its function is too
// far away, and at the same time the slot that code reads a function's address from.
constexpr uint64_t kSlotBytes = 16, kSlotAddress = 8;
void write_slot(char* slot, uint64_t address) {
#if defined(__aarch64__)
  const unsigned char jump[] = {0x50, 0x00, 0x00, 0x58,   // ldr x16, #8
                                0x00, 0x02, 0x1f, 0xd6};  // br x16
#else
  const unsigned char jump[] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x0f, 0x0b};  // jmp *2(%rip); ud2
#endif
  std::memcpy(slot, jump, sizeof jump);
  std::memcpy(slot + kSlotAddress, &address, sizeof address);
}

bool wants_slot(uint32_t type) {
#if defined(__aarch64__)
  return wants_slot_aarch64(type);
#else
  return wants_slot_x86_64(type);
#endif
}

void relocate(uint32_t type, const Place& place, uint64_t symbol, int64_t addend) {
#if defined(__aarch64__)
  relocate_aarch64(type, place, symbol, addend);
#else
  relocate_x86_64(type, place, symbol, addend);
#endif
}

// Where everything goes: code, then slots, then, on pages of their own, constants.
struct Layout {
  std::vector<uint64_t> sections;  // offsets, for those that are loaded
  std::vector<int64_t> slots;      // per symbol; -1 for none
  uint64_t code_bytes = 0, bytes = 0;
};

Layout lay_out(const Object& object, const std::vector<Relocation>& relocations, uint64_t page) {
  Layout layout;
  layout.sections.resize(object.sections.size());
  layout.slots.assign(object.symbols.size(), -1);
  uint64_t at = 0;
  const auto place = [&](bool code) {
    for (size_t s = 0; s < object.sections.size(); ++s) {
      const Section& section = object.sections[s];
      if (!section.loaded || section.code != code) continue;
      at = aligned(at, std::max<uint64_t>(section.header.sh_addralign, 1));
      layout.sections[s] = at;
      at += section.header.sh_size;
      if (at > kMostBytes) refuse("it is too large");
    }
  };
  place(true);
  at = aligned(at, kSlotBytes);
  for (const Relocation& r : relocations) {
    const size_t symbol = ELF64_R_SYM(r.entry.r_info);
    const bool outside = object.symbols[symbol].entry.st_shndx == SHN_UNDEF;
    if (layout.slots[symbol] >= 0 || (!outside && !wants_slot(ELF64_R_TYPE(r.entry.r_info)))) continue;
    layout.slots[symbol] = static_cast<int64_t>(at);
    at += kSlotBytes;
  }
  at = layout.code_bytes = aligned(at, page);
  if (at > kMostBytes) refuse("it is too large");
  place(false);
  layout.bytes = aligned(at, page);
  return layout;
}

// The address that a symbol has, inside of the object or outside.
uint64_t address_of(const Object& object, const Layout& layout, size_t index, uint64_t base) {
  const Symbol& symbol = object.symbols[index];
  const size_t in = symbol.entry.st_shndx;
  if (in == SHN_UNDEF) {
    void* address = external_function(symbol.name);
    if (!address) refuse(fmt::format("it calls {}, which is not known", symbol.name));
    return reinterpret_cast<uint64_t>(address);
  }
  const int type = ELF64_ST_TYPE(symbol.entry.st_info);
  if (type == STT_TLS || type == STT_GNU_IFUNC) refuse(fmt::format("symbol {} has type {}", symbol.name, type));
  if (in >= object.sections.size() || !object.sections[in].loaded)
    refuse(fmt::format("symbol {} is in section {}, which is not loaded", symbol.name, in));
  return base + layout.sections[in] + symbol.entry.st_value;
}

void relocate_all(const Object& object, const std::vector<Relocation>& relocations, const Layout& layout,
                  char* memory) {
  const auto base = reinterpret_cast<uint64_t>(memory);
  for (size_t s = 0; s < layout.slots.size(); ++s)
    if (layout.slots[s] >= 0) write_slot(memory + layout.slots[s], address_of(object, layout, s, base));
  for (const Relocation& r : relocations) {
    const auto type = static_cast<uint32_t>(ELF64_R_TYPE(r.entry.r_info));
    const size_t symbol = ELF64_R_SYM(r.entry.r_info);
    const uint64_t offset = layout.sections[r.section] + r.entry.r_offset;
    const Place place{memory + offset, object.sections[r.section].header.sh_size - r.entry.r_offset, base + offset};
    const bool outside = object.symbols[symbol].entry.st_shndx == SHN_UNDEF;
    uint64_t target;
    if (wants_slot(type))
      target = base + static_cast<uint64_t>(layout.slots[symbol]) + kSlotAddress;
    else if (outside)
      target = base + static_cast<uint64_t>(layout.slots[symbol]);
    else
      target = address_of(object, layout, symbol, base);
    relocate(type, place, target, r.entry.r_addend);
  }
}

void protect(char* memory, uint64_t bytes, int protection) {
  if (bytes > 0 && ::mprotect(memory, bytes, protection) != 0)
    throw UserError(
        fmt::format("the system does not let smelt run code that it makes: {}\nhelp: a policy of this "
                    "machine (SELinux, a container's seccomp profile) may forbid it",
                    std::strerror(errno)));
}

}  // namespace

LoadedObject::LoadedObject(std::string_view file, const std::string& name) {
  const Object object = read_object(file);
  const std::vector<Relocation> relocations = relocations_of(object);
  const Layout layout = lay_out(object, relocations, static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  if (layout.bytes == 0) return;
  void* mapped = ::mmap(nullptr, layout.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw UserError(fmt::format("no memory for the code of a kernel: {}", std::strerror(errno)));
  memory_ = static_cast<char*>(mapped);
  bytes_ = layout.bytes;
  try {
    for (size_t s = 0; s < object.sections.size(); ++s)
      if (object.sections[s].loaded)
        std::memcpy(memory_ + layout.sections[s], object.sections[s].bytes.data(), object.sections[s].bytes.size());
    relocate_all(object, relocations, layout, memory_);
    for (size_t s = 0; s < object.symbols.size(); ++s) {
      const Elf64_Sym& entry = object.symbols[s].entry;
      if (ELF64_ST_BIND(entry.st_info) != STB_GLOBAL || ELF64_ST_TYPE(entry.st_info) != STT_FUNC) continue;
      if (entry.st_shndx == SHN_UNDEF) continue;
      const uint64_t address = address_of(object, layout, s, reinterpret_cast<uint64_t>(memory_));
      if (!object.sections[entry.st_shndx].code) refuse("a function is not in a section of code");
      functions_[std::string(object.symbols[s].name)] = reinterpret_cast<void*>(address);
    }
    protect(memory_, layout.code_bytes, PROT_READ | PROT_EXEC);
    protect(memory_ + layout.code_bytes, layout.bytes - layout.code_bytes, PROT_READ);
#if defined(__aarch64__)
    __builtin___clear_cache(memory_, memory_ + layout.code_bytes);
#endif
    listed_ = list_code(name, file, object, [&](size_t s) { return memory_ + layout.sections[s]; });
  } catch (...) {
    ::munmap(memory_, bytes_);
    throw;
  }
}

LoadedObject::~LoadedObject() {
  if (listed_) unlist_code(listed_);
  if (memory_) ::munmap(memory_, bytes_);
}

void* LoadedObject::function(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

}  // namespace smelt::runtime
