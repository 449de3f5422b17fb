// Names and formulas are those of the System V ABI for AMD64 and of ELF for the Arm 64-bit
// Architecture.
#include "runtime/elf_relocate.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

#include "smelt/error.hpp"

namespace smelt::runtime::elf {

namespace {

[[noreturn]] void refuse(uint32_t type, const char* why) {
  throw InternalError(fmt::format("the code of a kernel cannot be loaded: a relocation of type {} {}", type, why));
}

template <class T>
T read(const Place& place) {
  T value;
  std::memcpy(&value, place.bytes, sizeof value);
  return value;
}

template <class T>
void write(uint32_t type, const Place& place, T value) {
  if (place.room < sizeof value) refuse(type, "reaches beyond its section");
  std::memcpy(place.bytes, &value, sizeof value);
}

bool fits(int64_t value, int bits) {
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  return value >= -most - 1 && value <= most;
}

int32_t in_32_bits(uint32_t type, int64_t value) {
  if (!fits(value, 32)) refuse(type, "does not reach so far");
  return static_cast<int32_t>(value);
}

// Puts the low `bits` of a value into an instruction.
void insert(uint32_t type, const Place& place, int64_t value, int bits, int shift) {
  if (place.room < 4) refuse(type, "reaches beyond its section");
  const uint32_t mask = ((uint32_t{1} << bits) - 1) << shift;
  const uint32_t instruction = read<uint32_t>(place);
  write<uint32_t>(type, place, (instruction & ~mask) | ((static_cast<uint32_t>(value) << shift) & mask));
}

constexpr uint64_t kPage = ~uint64_t{0xfff};

}  // namespace

bool wants_slot_x86_64(uint32_t type) {
  return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

bool wants_slot_aarch64(uint32_t type) { return type == R_AARCH64_ADR_GOT_PAGE || type == R_AARCH64_LD64_GOT_LO12_NC; }

void relocate_x86_64(uint32_t type, const Place& place, uint64_t symbol, int64_t addend) {
  const uint64_t target = symbol + static_cast<uint64_t>(addend);
  const auto distance = static_cast<int64_t>(target - place.address);
  switch (type) {
    case R_X86_64_NONE: return;
    case R_X86_64_64: return write<uint64_t>(type, place, target);
    case R_X86_64_PC64: return write<int64_t>(type, place, distance);
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: return write<int32_t>(type, place, in_32_bits(type, distance));
    default: refuse(type, "is unknown");
  }
}

void relocate_aarch64(uint32_t type, const Place& place, uint64_t symbol, int64_t addend) {
  const uint64_t target = symbol + static_cast<uint64_t>(addend);
  const auto distance = static_cast<int64_t>(target - place.address);
  // The low 12 bits of an address, in units of what is loaded.
  const auto low = [&](int log_bytes) {
    if (target & ((uint64_t{1} << log_bytes) - 1)) refuse(type, "is not aligned");
    insert(type, place, static_cast<int64_t>((target & 0xfff) >> log_bytes), 12, 10);
  };
  switch (type) {
    case R_AARCH64_NONE: return;
    case R_AARCH64_ABS64: return write<uint64_t>(type, place, target);
    case R_AARCH64_PREL64: return write<int64_t>(type, place, distance);
    case R_AARCH64_PREL32: return write<int32_t>(type, place, in_32_bits(type, distance));
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      if (distance & 3 || !fits(distance, 28)) refuse(type, "does not reach so far");
      return insert(type, place, distance >> 2, 26, 0);
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE: {
      const auto pages = static_cast<int64_t>((target & kPage) - (place.address & kPage));
      if (!fits(pages, 33)) refuse(type, "does not reach so far");
      insert(type, place, pages >> 12, 2, 29);
      return insert(type, place, pages >> 14, 19, 5);
    }
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return low(0);
    case R_AARCH64_LDST16_ABS_LO12_NC: return low(1);
    case R_AARCH64_LDST32_ABS_LO12_NC: return low(2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC: return low(3);
    case R_AARCH64_LDST128_ABS_LO12_NC: return low(4);
    default: refuse(type, "is unknown");
  }
}

}  // namespace smelt::runtime::elf
