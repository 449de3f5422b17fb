#include "graph/short_sizes.hpp"

#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

TEST(ShortSizes, AreThoseOfLastAxes) {
  const Graph g =
      lang::parse_program("input x: f32[B, C]\ninput y: f32[C, D]\ninput z: f32[E]\nreturn x, y, z\n", "test");
  const SizeBinding all{{"B"_size, 4}, {"C"_size, 3}, {"D"_size, 16}, {"E"_size, 5}};
  EXPECT_EQ(short_sizes(g, all), (SizeBinding{{"C"_size, 3}, {"D"_size, 16}}));
  EXPECT_EQ(short_sizes(g, {{"C"_size, 17}, {"D"_size, 1}}), SizeBinding{});
  EXPECT_EQ(short_sizes(g, {}), SizeBinding{});
}

TEST(ShortSizes, AreConstantsEverywhere) {
  const char* text =
      "input x: f32[B, C]\nreturn x[:, 1:-1] * x.shape[1], concat((x, x), axis=1), pad(x, 1), mean(x, axis=1)\n";
  const Graph open = lang::parse_program(text, "test"), known = with_sizes(open, {{"C"_size, 5}});
  verify(known);
  EXPECT_EQ(known.size_symbols(), std::vector<Symbol>{"B"_size});
  const Graph simple = simplify(known);
  verify(simple);
  for (const Node& node : simple.nodes)
    for (const IntExpr& size : node.shape) EXPECT_FALSE(size.mentions("C"_size)) << print(simple);
  EXPECT_EQ(print(with_sizes(open, {})), print(open));
}

}  // namespace
}  // namespace smelt
