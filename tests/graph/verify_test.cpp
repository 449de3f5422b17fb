// verify() takes what the builder makes, and refuses every graph with one thing wrong.
#include <gtest/gtest.h>

#include <functional>

#include "arrays.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using namespace testing;

const IntExpr B = sym("B"_size), C = sym("C"_size);

// Every kind of node. The names are their ids.
struct Sample {
  NodeId x, i, scalar, one, size, iota, sum, where, cast, total, argmax, reshape, permute, broadcast, slice, pad,
      concat, gather;
  Graph graph;
};

Sample sample() {
  GraphBuilder g;
  Sample s;
  s.x = g.input("x", DType::F32, {B, 4});
  s.i = g.input("i", DType::I32, {C});
  s.scalar = g.input("s", DType::F32, {});
  s.one = g.constant(Scalar::of_float(DType::F32, 1));
  s.size = g.size_value(B * 2);
  s.iota = g.iota({B, 4}, 1);
  s.sum = g.elementwise(Op::Add, {s.x, s.x});
  s.where = g.elementwise(Op::Where, {g.elementwise(Op::Lt, {s.x, s.sum}), s.x, s.sum});
  s.cast = g.cast(s.iota, DType::I8, true);
  s.total = g.reduce(ReduceKind::Sum, s.x, {1}, false);
  s.argmax = g.reduce(ReduceKind::ArgMax, s.x, {1}, false);
  s.reshape = g.reshape(s.x, {2, -1});
  s.permute = g.permute(s.x, {1, 0});
  s.broadcast = g.broadcast_to(g.reshape(s.x, {B, 1, 4}), {B, 3, 4});
  s.slice = g.slice(s.x, {0, 3}, {1, -2}, {B, 2});
  s.pad = g.pad(s.x, {1, 0}, {0, C}, s.scalar);
  s.concat = g.concat({s.x, s.slice}, 1);
  s.gather = g.gather(s.x, s.i, 1, GatherMode::Clamp);
  s.graph = g.finish({s.where, s.concat, s.gather});
  return s;
}

TEST(Verify, TakesWhatTheBuilderMakes) {
  EXPECT_NO_THROW(verify(sample().graph));
  EXPECT_NO_THROW(verify(Graph{}));
}

using Break = std::function<void(Sample&)>;

void expect_broken(const std::vector<std::pair<std::string, Break>>& cases) {
  for (const auto& [message, damage] : cases) {
    Sample s = sample();
    damage(s);
    try {
      verify(s.graph);
      ADD_FAILURE() << "not noticed: " << message;
    } catch (const InternalError& e) {
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what() << "\nshould say: " << message;
    }
  }
}

// Changes one node.
Break at(NodeId Sample::*which, std::function<void(Node&)> change) {
  return [=](Sample& s) { change(s.graph.nodes[static_cast<size_t>(s.*which)]); };
}

TEST(Verify, GraphAsAWhole) {
  expect_broken({
      {"does not come before", at(&Sample::sum, [](Node& n) { n.args[0] = 1000; })},
      {"does not come before", at(&Sample::sum, [](Node& n) { n.args[1] = -1; })},
      {"does not come before", [](Sample& s) { s.graph.nodes[static_cast<size_t>(s.sum)].args[0] = s.sum; }},
      {"is listed twice", [](Sample& s) { s.graph.inputs.push_back(s.x); }},
      {"is not an input node", [](Sample& s) { s.graph.inputs.push_back(s.sum); }},
      {"is no node", [](Sample& s) { s.graph.inputs.push_back(999); }},
      {"is not listed", [](Sample& s) { s.graph.inputs.pop_back(); }},
      {"output %999 is no node", [](Sample& s) { s.graph.outputs.push_back(999); }},
      {"uses the size N",
       [](Sample& s) {
         s.graph.constraints.push_back({Constraint::AtLeast, sym("N"_size), 1, "", {}});
       }},
      {"uses the size N", at(&Sample::iota, [](Node& n) { n.shape[0] = sym("N"_size); })},
      {"uses the size N", at(&Sample::size, [](Node& n) { n.size = sym("N"_size); })},
      {"uses the size N", at(&Sample::slice, [](Node& n) { n.starts[0] = sym("N"_size); })},
      {"negative size -1", at(&Sample::iota, [](Node& n) { n.shape[1] = -1; })},
  });
}

TEST(Verify, Leaves) {
  expect_broken({
      {"1 arguments, not 0", at(&Sample::scalar, [](Node& n) { n.args = {0}; })},
      {"rank 1", at(&Sample::one, [](Node& n) { n.shape = {1}; })},
      {"a f32 as f64", at(&Sample::one, [](Node& n) { n.dtype = DType::F64; })},
      {"not a scalar i64", at(&Sample::size, [](Node& n) { n.dtype = DType::I32; })},
      {"dtype i32", at(&Sample::iota, [](Node& n) { n.dtype = DType::I32; })},
      {"axis 2 of rank 2", at(&Sample::iota, [](Node& n) { n.axes = {2}; })},
      {"axis -1 of rank 2", at(&Sample::iota, [](Node& n) { n.axes = {-1}; })},
      {"0 axes, not one", at(&Sample::iota, [](Node& n) { n.axes = {}; })},
  });
}

TEST(Verify, Elementwise) {
  expect_broken({
      {"1 arguments, not 2", at(&Sample::sum, [](Node& n) { n.args.pop_back(); })},
      {"argument 0 has shape [C], not [B, 4]", at(&Sample::sum,
                                                  [](Node& n) {
                                                    n.args = {1, 1};
                                                  })},
      {"argument 0 is f32, not i64", [](Sample& s) { s.graph.nodes[static_cast<size_t>(s.sum)].args[1] = s.iota; }},
      {"bitwise_and does not take f32", at(&Sample::sum, [](Node& n) { n.op = Op::And; })},
      {"less of f32 is not f32", at(&Sample::sum, [](Node& n) { n.op = Op::Lt; })},
      {"argument 0 is f32, not bool", at(&Sample::where, [](Node& n) { n.args[0] = n.args[1]; })},
      {"argument 0 has shape", at(&Sample::sum,
                                  [](Node& n) {
                                    n.shape = {B, 5};
                                  })},
      {"shape [B, 5] of [B, 4]", at(&Sample::cast,
                                    [](Node& n) {
                                      n.shape = {B, 5};
                                    })},
      {"wraps i64 to f32", at(&Sample::cast, [](Node& n) { n.dtype = DType::F32; })},
  });
}

TEST(Verify, Reduce) {
  expect_broken({
      {"no axes", at(&Sample::total, [](Node& n) { n.axes = {}; })},
      {"shape [B], not []", at(&Sample::total,
                               [](Node& n) {
                                 n.axes = {0, 1};
                               })},
      {"shape [B], not [4]", at(&Sample::total, [](Node& n) { n.axes = {0}; })},
      {"not ascending axes of rank 2", at(&Sample::total,
                                          [](Node& n) {
                                            n.axes = {1, 1};
                                          })},
      {"not ascending axes of rank 2", at(&Sample::total, [](Node& n) { n.axes = {7}; })},
      {"dtype f64 of an argument of f32", at(&Sample::total, [](Node& n) { n.dtype = DType::F64; })},
      {"any of f32", at(&Sample::total, [](Node& n) { n.reduce = ReduceKind::Any; })},
      {"argmax of f32 gives f32", at(&Sample::argmax, [](Node& n) { n.dtype = DType::F32; })},
      {"sum of i8",
       [](Sample& s) {
         Node& n = s.graph.nodes[static_cast<size_t>(s.total)];
         n.args = {s.cast};
         // The cast comes before it; only its dtype is too small to add up.
         n.dtype = DType::I8;
       }},
  });
}

TEST(Verify, Movement) {
  expect_broken({
      {"dtype f16 of an argument of f32", at(&Sample::reshape, [](Node& n) { n.dtype = DType::F16; })},
      {"the order is no permutation", at(&Sample::permute,
                                         [](Node& n) {
                                           n.axes = {1, 1};
                                         })},
      {"the order is no permutation", at(&Sample::permute,
                                         [](Node& n) {
                                           n.axes = {1, 2};
                                         })},
      {"1 axes for rank 2", at(&Sample::permute, [](Node& n) { n.axes = {0}; })},
      {"size 4 of axis 0", at(&Sample::permute,
                              [](Node& n) {
                                n.axes = {0, 1};
                              })},
      {"[B, 1, 4] to [B, 3, 5]", at(&Sample::broadcast, [](Node& n) { n.shape[2] = 5; })},
      {"shape [B, 3] of an argument", at(&Sample::broadcast,
                                         [](Node& n) {
                                           n.shape = {B, 3};
                                         })},
      {"step 0 of axis 1", at(&Sample::slice, [](Node& n) { n.steps[1] = 0; })},
      {"axis 1 from 3 by -2 of 4, 3 times", at(&Sample::slice, [](Node& n) { n.shape[1] = 3; })},
      {"axis 1 from 4 by -2 of 4, 2 times", at(&Sample::slice, [](Node& n) { n.starts[1] = 4; })},
      {"1 starts and 2 steps for rank 2", at(&Sample::slice, [](Node& n) { n.starts.pop_back(); })},
      {"axis 0 is padded by -1", at(&Sample::pad, [](Node& n) { n.starts[0] = -1; })},
      {"axis 0 is padded by -1", at(&Sample::pad, [](Node& n) { n.starts[0] = 2; })},
      {"the value has shape [B, 4]", at(&Sample::pad, [](Node& n) { n.args[1] = n.args[0]; })},
      {"no arguments", at(&Sample::concat, [](Node& n) { n.args = {}; })},
      {"shape [B, 6], not [B, 4]", at(&Sample::concat, [](Node& n) { n.args.pop_back(); })},
      {"argument 0 has shape [B, 4]", at(&Sample::concat, [](Node& n) { n.axes = {0}; })},
      {"indices are f32", at(&Sample::gather, [](Node& n) { n.args[1] = n.args[0]; })},
      {"shape [B, C], not [C, 4]", at(&Sample::gather, [](Node& n) { n.axes = {0}; })},
      {"axis 3 of rank 2", at(&Sample::gather, [](Node& n) { n.axes = {3}; })},
  });
}

TEST(Verify, ReshapeOfConstants) {
  GraphBuilder g;
  const NodeId y = g.reshape(g.input("x", DType::F32, {6}), {2, 3});
  Graph graph = g.finish({y});
  graph.nodes[static_cast<size_t>(y)].shape = {2, 4};
  EXPECT_EQ(message_of<InternalError>([&] { verify(graph); }),
            "internal error in smelt: graph: %1 (reshape): 8 elements of 6");
}

TEST(Print, EveryKindOfNode) {
  EXPECT_EQ(print(sample().graph),
            "%0 = input f32[B, 4] x\n"
            "%1 = input i32[C] i\n"
            "%2 = input f32 s\n"
            "%3 = constant f32 1\n"
            "%4 = size i64 2*B\n"
            "%5 = iota i64[B, 4] axis=1\n"
            "%6 = add f32[B, 4] %0 %0\n"
            "%7 = less bool[B, 4] %0 %6\n"
            "%8 = where f32[B, 4] %7 %0 %6\n"
            "%9 = cast i8[B, 4] %5 wrap\n"
            "%10 = sum f32[B] %0 axes=[1]\n"
            "%11 = argmax i64[B] %0 axes=[1]\n"
            "%12 = reshape f32[2, 2*B] %0\n"
            "%13 = permute f32[4, B] %0 order=[1, 0]\n"
            "%14 = reshape f32[B, 1, 4] %0\n"
            "%15 = broadcast f32[B, 3, 4] %14\n"
            "%16 = slice f32[B, 2] %0 starts=[0, 3] steps=[1, -2]\n"
            "%17 = pad f32[B + 1, C + 4] %0 %2 low=[1, 0]\n"
            "%18 = concat f32[B, 6] %0 %16 axis=1\n"
            "%19 = gather f32[B, C] %0 %1 axis=1 mode=clamp\n"
            "return %8 %18 %19\n");
}

TEST(Print, NamesOfTheUserAreOneHarmlessWord) {
  GraphBuilder g;
  const NodeId x = g.input("x;}asm(\"\n\xc3\xa9", DType::F32, {});
  EXPECT_EQ(print(g.finish({x})), "%0 = input f32 x\\x3b\\x7dasm\\x28\\x22\\x0a\\xc3\\xa9\nreturn %0\n");
}

TEST(Print, Constraints) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B, C});
  g.require({Constraint::Equal, B, C, "", {}});
  g.require({Constraint::AtLeast, B, 4, "", {}});
  g.require({Constraint::Divisible, B * 2, 3, "", {}});
  EXPECT_EQ(print(g.finish({x})),
            "%0 = input f32[B, C] x\n"
            "require B == C\n"
            "require B >= 4\n"
            "require (2*B) % (3) == 0\n"
            "return %0\n");
}

TEST(UseCounts, CountOutputsAndRepeatedArguments) {
  GraphBuilder g;
  const NodeId x = g.input("x", DType::F32, {B});
  const NodeId y = g.elementwise(Op::Mul, {x, x});
  EXPECT_EQ(use_counts(g.finish({y, y, x})), (std::vector<int>{3, 2}));
}

}  // namespace
}  // namespace smelt
