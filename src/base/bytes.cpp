#include "base/bytes.hpp"

#include <bit>

namespace smelt {

uint64_t checksum(std::string_view text, uint64_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return seed;
}

void ByteWriter::number(double value) { number(std::bit_cast<uint64_t>(value)); }

uint64_t ByteReader::word() {
  if (bytes_.size() < 8) throw DamagedBytes();
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value |= uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
  bytes_.remove_prefix(8);
  return value;
}

double ByteReader::real() { return std::bit_cast<double>(word()); }

std::string_view ByteReader::text() {
  const uint64_t length = word();
  if (length > bytes_.size()) throw DamagedBytes();
  const std::string_view text = bytes_.substr(0, length);
  bytes_.remove_prefix(length);
  return text;
}

}  // namespace smelt
