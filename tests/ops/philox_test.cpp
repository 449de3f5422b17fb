#include "ops/philox.hpp"

#include <gtest/gtest.h>

namespace smelt::philox {
namespace {

// The known answers that Random123 publishes for philox4x32 of 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(block(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(block(ones, ones, ones), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(block(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, FourElementsShareABlock) {
  for (int64_t e = 0; e < 40; ++e) {
    const Words words = block(uint64_t{7} + static_cast<uint64_t>(e) / 4, 3, 11);
    const size_t at = static_cast<size_t>(e % 4);
    EXPECT_EQ(draw(Draw::Words, e, 11, 7, 3), words[at]);
    EXPECT_EQ(draw(Draw::Radii, e, 11, 7, 3), words[at / 2 * 2]);
    EXPECT_EQ(draw(Draw::Turns, e, 11, 7, 3), words[at / 2 * 2 + 1] - (e % 2 ? 0x40000000u : 0));
  }
}

}  // namespace
}  // namespace smelt::philox
