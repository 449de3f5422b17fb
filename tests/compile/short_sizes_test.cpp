#include "graph/short_sizes.hpp"

#include <gtest/gtest.h>

#include "frontends/language.hpp"

namespace smelt {
namespace {

TEST(ShortSizes, AreThoseOfLastAxes) {
  const Graph g =
      lang::parse_program("input x: f32[B, C]\ninput y: f32[C, D]\ninput z: f32[E]\nreturn x, y, z\n", "test");
  const SizeBinding all{{"B", 4}, {"C", 3}, {"D", 16}, {"E", 5}};
  EXPECT_EQ(short_sizes(g, all), (SizeBinding{{"C", 3}, {"D", 16}}));
  EXPECT_EQ(short_sizes(g, {{"C", 17}, {"D", 1}}), SizeBinding{});
  EXPECT_EQ(short_sizes(g, {}), SizeBinding{});
}

TEST(ShortSizes, AreConstantsEverywhere) {
  const char* text =
      "input x: f32[B, C]\nreturn x[:, 1:-1] * x.shape[1], concat((x, x), axis=1), pad(x, 1), mean(x, axis=1)\n";
  const Graph open = lang::parse_program(text, "test"), known = with_sizes(open, {{"C", 5}});
  verify(known);
  EXPECT_EQ(known.size_symbols(), std::vector<std::string>{"B"});
  const Graph simple = simplify(known);
  verify(simple);
  for (const Node& node : simple.nodes)
    for (const IntExpr& size : node.shape) EXPECT_FALSE(size.mentions("C")) << print(simple);
  EXPECT_EQ(print(with_sizes(open, {})), print(open));
}

}  // namespace
}  // namespace smelt
