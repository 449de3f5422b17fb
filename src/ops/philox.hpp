// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011): a
// function from a counter of 128 bits and a key of 64 bits to four words of 32 bits, which look
// random. There is no state, so that every element of an array finds its number alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace smelt::philox {

inline constexpr int kRounds = 10;
inline constexpr uint32_t kMultiplier[2] = {0xD2511F53u, 0xCD9E8D57u};
inline constexpr uint32_t kKeyStep[2] = {0x9E3779B9u, 0xBB67AE85u};

using Words = std::array<uint32_t, 4>;

// The counter and the key are given as their lower and upper halves are in Random123: word 0 is the
// lowest.
constexpr Words block(uint64_t counter, uint64_t upper_counter, uint64_t key) {
  Words c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), static_cast<uint32_t>(upper_counter),
             static_cast<uint32_t>(upper_counter >> 32)};
  uint32_t k[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t p = uint64_t{kMultiplier[0]} * c[0], q = uint64_t{kMultiplier[1]} * c[2];
    c = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(p)};
    k[0] += kKeyStep[0];
    k[1] += kKeyStep[1];
  }
  return c;
}

// What element e of an array of random words is. The words of one block serve four elements.
enum class Draw : uint8_t {
  Words,  // word e
  Radii,  // of the pair that e belongs to, the first word
  Turns,  // the second; less a quarter of 2^32 where e is odd, so that the cosine of the one angle is the sine of the other
};

constexpr uint32_t draw(Draw kind, int64_t element, uint64_t seed, uint64_t offset, uint64_t stream) {
  const Words words = block(offset + static_cast<uint64_t>(element) / 4, stream, seed);
  const auto at = static_cast<size_t>(element & 3);
  switch (kind) {
    case Draw::Words: break;
    case Draw::Radii: return words[at & 2];
    case Draw::Turns: return words[at | 1] - (static_cast<uint32_t>(at & 1) << 30);
  }
  return words[at];
}

}  // namespace smelt::philox
