#include "base/symbol.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using testing::message_of;

TEST(Symbol, OfOneKindAndNameIsOne) {
  EXPECT_EQ(Symbol::size("B"), "B"_size);
  EXPECT_EQ(Symbol::local(7), Symbol::local(7));
  EXPECT_FALSE(Symbol::local(7) == Symbol::local(8));
  EXPECT_FALSE("v7"_size == Symbol::local(7)) << "what a user calls a size";
  EXPECT_FALSE("parts"_loop == "parts"_launch);
}

TEST(Symbol, Texts) {
  const std::pair<Symbol, const char*> texts[] = {{"B"_size, "B"},
                                                  {Symbol::open_size(-1), "..."},
                                                  {Symbol::open_size(2), "...2"},
                                                  {"i0"_loop, "%i0"},
                                                  {Symbol::local(7), "%v7"},
                                                  {"parts"_launch, "%parts"},
                                                  {Symbol::multiplier(0), "%multiplier0"},
                                                  {Symbol::stride(3, 1), "%stride3_1"},
                                                  {Symbol::window(4, 1), "%w4_1"},
                                                  {Symbol::gathered(5), "%picked5"},
                                                  {Symbol::proof("0B"), "%0B"}};
  for (const auto& [symbol, text] : texts) {
    EXPECT_EQ(symbol.str(), text);
    EXPECT_EQ(symbol.name(), text + !symbol.is_size());
    EXPECT_EQ(fmt::format("{}", symbol), text);
  }
}

TEST(Symbol, WhatAKindHas) {
  EXPECT_EQ(Symbol::local(7).local_id(), 7);
  EXPECT_EQ(Symbol::stride(3, 1).stride_param(), 3);
  EXPECT_EQ(Symbol::stride(3, 1).stride_dimension(), 1);
  EXPECT_EQ(message_of<InternalError>([&] { ("v7"_loop).local_id(); }),
            "internal error in smelt: %v7 is a symbol of another kind");
  EXPECT_EQ(message_of<InternalError>([&] { Symbol::local(3).stride_param(); }),
            "internal error in smelt: %v3 is a symbol of another kind");
  EXPECT_TRUE(Symbol::open_size(0).is_open_size());
  EXPECT_FALSE(("B"_size).is_open_size());
}

TEST(Symbol, OrderIsThatOfTheTexts) {
  std::vector<Symbol> symbols{"b"_size, Symbol::local(10), "B"_size, Symbol::local(9), "i"_loop, "parts"_launch};
  std::sort(symbols.begin(), symbols.end());
  std::string text;
  for (const Symbol s : symbols) text += s.str() + " ";
  EXPECT_EQ(text, "%i %parts %v10 %v9 B b ");
  EXPECT_TRUE("part"_loop < "part"_launch) << "of equal texts the kinds decide";
}

TEST(Symbol, ManyThreadsMakeTheSame) {
  std::vector<std::vector<Symbol>> made(8);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&mine] {
      for (int id = 1000; id < 2000; ++id) mine.push_back(Symbol::local(id));
    });
  for (std::thread& t : threads) t.join();
  for (const auto& mine : made) EXPECT_EQ(mine, made[0]);
}

}  // namespace
}  // namespace smelt
