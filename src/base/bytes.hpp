// Values as bytes in a file, and back: little-endian, lengths before what they count.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace smelt {

// FNV-1a: any single change of a bit changes it.
uint64_t checksum(std::string_view text, uint64_t seed = 0xcbf29ce484222325U);

class ByteWriter {
 public:
  void number(uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void number(double value);
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void number(T value) { number(static_cast<uint64_t>(static_cast<int64_t>(value))); }
  void text(std::string_view text) {
    number(text.size());
    bytes_ += text;
  }
  template <class List, class Each>
  void list(const List& list, const Each& each) {
    number(list.size());
    for (const auto& item : list) each(item);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What ByteReader throws for bytes that no ByteWriter wrote.
class DamagedBytes : public std::runtime_error {
 public:
  DamagedBytes() : std::runtime_error("its contents make no sense") {}
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t word();
  double real();
  template <class T>
  T number() {
    const auto value = static_cast<int64_t>(word());
    if constexpr (!std::is_same_v<T, int64_t> && !std::is_same_v<T, uint64_t>)
      if (static_cast<int64_t>(static_cast<T>(value)) != value) throw DamagedBytes();
    return static_cast<T>(value);
  }
  template <class Enum>
  Enum one_of(Enum last) {
    const uint64_t value = word();
    if (value > static_cast<uint64_t>(last)) throw DamagedBytes();
    return static_cast<Enum>(value);
  }
  std::string_view text();
  template <class Each>
  void list(const Each& each) {
    const uint64_t count = word();
    if (count > bytes_.size()) throw DamagedBytes();  // an item has a byte at least
    for (uint64_t i = 0; i < count; ++i) each();
  }
  bool done() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;  // that are left
};

}  // namespace smelt
