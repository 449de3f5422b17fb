// Every kernel that lowering makes of a real program is proved to stay inside its arrays, fused and
// unfused, for sizes that are symbols and sizes that are numbers, odd ones and 0 and 1 among them.
#include "kernel/lower.hpp"
#include "kernel/walk.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "graph/functions.hpp"
#include "kernel/kernel.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

namespace f = functions;
using Build = std::function<std::vector<NodeId>(GraphBuilder&, const IntExpr& rows, const IntExpr& columns)>;

struct Program {
  std::string name;
  Build build;
};

NodeId input(GraphBuilder& b, const std::string& name, Shape shape, DType dtype = DType::F32) {
  return b.input(name, dtype, std::move(shape));
}

std::vector<Program> programs() {
  return {
      {"relu layernorm",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::layernorm(b, f::relu(b, input(b, "x", {n, m})), {-1}, 1e-5, {}, {})};
       }},
      {"softmax",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::softmax(b, input(b, "x", {n, m}), {-1})};
       }},
      {"softmax of columns",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::softmax(b, input(b, "x", {n, m}), {0})};
       }},
      {"quantize",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::quantize_int8(b, input(b, "x", {n, m}, DType::F16), 0.05, 3.0)};
       }},
      {"column sums",
       [](auto& b, auto& n, auto& m) {
         return std::vector{b.reduce(ReduceKind::Sum, input(b, "x", {n, m}), {0}, false)};
       }},
      {"middle axis",
       [](auto& b, auto& n, auto& m) {
         return std::vector{b.reduce(ReduceKind::Max, input(b, "x", {3, n, m}), {1}, true)};
       }},
      {"full sum",
       [](auto& b, auto& n, auto& m) {
         return std::vector{b.reduce(ReduceKind::Sum, input(b, "x", {n, m}), {}, false)};
       }},
      {"argmax",
       [](auto& b, auto& n, auto& m) {
         return std::vector{b.reduce(ReduceKind::ArgMax, input(b, "x", {n, m}), {-1}, false)};
       }},
      {"full argmin",
       [](auto& b, auto& n, auto& m) {
         return std::vector{b.reduce(ReduceKind::ArgMin, input(b, "x", {n, m}), {}, false)};
       }},
      {"variance",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::var(b, input(b, "x", {n, m}), {-1}, 1, true)};
       }},
      {"logsumexp",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::logsumexp(b, input(b, "x", {n, m}), {-1}, false)};
       }},
      {"transpose",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::silu(b, f::transpose(b, input(b, "x", {n, m}), {}))};
       }},
      {"transpose and add",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m}), y = input(b, "y", {m, n});
         return std::vector{b.elementwise(Op::Add, {f::transpose(b, x, {}), y})};
       }},
      {"flip and roll",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::flip(b, f::roll(b, input(b, "x", {n, m}), 2, 1), {0, 1})};
       }},
      {"pad",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m});
         return std::vector{b.elementwise(Op::Sqrt, {b.pad(x, {2, 0}, {1, 3}, 0.5)})};
       }},
      {"concat",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m}), y = input(b, "y", {n, 3}), z = input(b, "z", {n, m});
         return std::vector{b.elementwise(Op::Mul, {b.concat({x, y, z}, 1), 2.0})};
       }},
      {"concat and reduce",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m}), y = input(b, "y", {n, 3});
         return std::vector{b.reduce(ReduceKind::Sum, b.concat({x, y}, 1), {-1}, false)};
       }},
      {"pad and reduce",
       [](auto& b, auto& n, auto& m) {
         return std::vector{b.reduce(ReduceKind::Sum, b.pad(input(b, "x", {n, m}), {1, 2}, {3, 4}, 1.0), {0}, false)};
       }},
      {"reshape",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::relu(b, b.reshape(input(b, "x", {n, m}), {m, n}))};
       }},
      {"flatten and sum in fours",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = b.reshape(input(b, "x", {n * 4, m}), {n, m * 4});
         return std::vector{b.reduce(ReduceKind::Sum, x, {-1}, false)};
       }},
      {"merge a reshape with a transpose",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m, 6});
         return std::vector{f::relu(b, b.reshape(b.permute(x, {1, 0, 2}), {m, n * 6}))};
       }},
      {"groupnorm",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::groupnorm(b, input(b, "x", {n, 6, m}), 3, 1e-5, {}, {})};
       }},
      {"batchnorm",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, 5, m}), mean = input(b, "mean", {5}), var = input(b, "var", {5});
         return std::vector{f::batchnorm(b, x, mean, var, 1e-5, {}, {}, 1)};
       }},
      {"take, clamped",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, 7}), at = input(b, "at", {m}, DType::I64);
         return std::vector{f::relu(b, f::take(b, x, at, 1, GatherMode::Clamp))};
       }},
      {"take, checked",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {7, n}), at = input(b, "at", {m}, DType::I32);
         return std::vector{f::take(b, x, at, 0, GatherMode::Check)};
       }},
      {"cross entropy",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m}), t = input(b, "t", {n}, DType::I64);
         return std::vector{f::cross_entropy(b, x, t, -1, f::Reduction::Mean)};
       }},
      {"tril",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::tril(b, input(b, "x", {n, m}), -1)};
       }},
      {"tile and repeat",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::repeat(b, f::tile(b, input(b, "x", {n, m}), {2, 3}), 2, 0)};
       }},
      {"eye and arange",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m});
         return std::vector{b.elementwise(Op::Add, {x, f::eye(b, n, m, 1, DType::F32)}),
                            f::arange(b, 0, n, 1, DType::I64)};
       }},
      {"strided slice",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n * 2, m + 3});
         return std::vector{f::relu(b, b.slice(x, {n * 2 - 1, 1}, {-2, 1}, {n, m + 1}))};
       }},
      {"moving differences",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m + 1});
         return std::vector{
             b.elementwise(Op::Sub, {b.slice(x, {0, 1}, {1, 1}, {n, m}), b.slice(x, {0, 0}, {1, 1}, {n, m})})};
       }},
      {"mean squared error",
       [](auto& b, auto& n, auto& m) {
         return std::vector{f::mse(b, input(b, "x", {n, m}), input(b, "y", {n, m}), f::Reduction::Mean)};
       }},
      {"several outputs",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, m});
         const NodeId e = b.elementwise(Op::Exp, {x});
         return std::vector{e, b.reduce(ReduceKind::Sum, e, {-1}, true), b.elementwise(Op::Sqrt, {e})};
       }},
      {"broadcast against rows and columns",
       [](auto& b, auto& n, auto& m) {
         const NodeId x = input(b, "x", {n, 1}), y = input(b, "y", {m}), s = input(b, "s", {});
         return std::vector{b.elementwise(Op::Mul, {b.elementwise(Op::Add, {x, y}), s})};
       }},
  };
}

// All kernels of a program, by `visit`; what went wrong, or "".
std::string with_kernels(const Program& program, const IntExpr& rows, const IntExpr& columns, bool fuse,
                         const std::function<void(kernel::Kernel&)>& visit) {
  GraphBuilder builder;
  std::string text;
  try {
    const Graph graph = builder.finish(program.build(builder, rows, columns));
    plan::Options options;
    options.fuse = fuse;
    options.target.threads = 4;
    options.sizes = {{"N"_size, 1000}, {"M"_size, 777}};
    const plan::Plan plan = plan::make_plan(graph, options);
    std::vector<plan::FusionGroup> groups;
    for (const plan::FusionGroup& group : plan.groups) {
      if (group.parts.empty()) groups.push_back(group);
      groups.insert(groups.end(), group.parts.begin(), group.parts.end());
    }
    for (const plan::FusionGroup& group : groups) {
      const auto made = schedule::make_schedule(graph, group, options);
      if (!std::holds_alternative<schedule::Schedule>(made)) return "no schedule";
      kernel::Kernel kernel = kernel::lower(graph, group, std::get<schedule::Schedule>(made), "k0");
      text = print(kernel);
      EXPECT_FALSE(kernel.clamped) << text;
      visit(kernel);
    }
  } catch (const UserError& e) {
    return rows.is(0) ? "" : e.what();  // the maximum of nothing
  } catch (const InternalError& e) {
    const std::string message = e.what();
    return message.substr(0, message.find("\nThis is a bug")) + "\n" + text;
  }
  return "";
}

TEST(Lower, EveryKernelIsProved) {
  const IntExpr N = sym("N"_size), M = sym("M"_size);
  const std::vector<std::pair<IntExpr, IntExpr>> sizes = {{N, M}, {N, 1024}, {7, M},    {33, 65},
                                                          {1, 1}, {N, 1},    {1, 4099}, {0, 5}};
  for (const Program& program : programs())
    for (const auto& [rows, columns] : sizes)
      for (const bool fuse : {true, false}) {
        SCOPED_TRACE(
            fmt::format("{} of {} x {}, {}", program.name, rows.str(), columns.str(), fuse ? "fused" : "unfused"));
        EXPECT_EQ(with_kernels(program, rows, columns, fuse, [](const auto& kernel) { verify(kernel); }), "");
      }
}

// An output is written to its last element, so a store moved by one in any dimension leaves it:
// that must not be proved. What an interior writes may end before the last.
TEST(Lower, AStoreOneTooFarIsNotProved) {
  const IntExpr N = sym("N"_size), M = sym("M"_size);
  int moved = 0;
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
  const std::vector<bool> ways{true};  // all of it takes minutes under the sanitizers, or without optimisation
#else
  const std::vector<bool> ways{true, false};
#endif
  for (const Program& program : programs())
    for (const bool fuse : ways) {
      SCOPED_TRACE(fmt::format("{}, {}", program.name, fuse ? "fused" : "unfused"));
      const auto move_stores = [&](kernel::Kernel& kernel) {
        for (kernel::Phase& phase : kernel.phases)
          kernel::for_each_stmt(phase.body, [&](kernel::Stmt& s) {
            if (auto* loop = s.get_if<kernel::Loop>()) loop->interior.reset();
            auto* store = s.get_if<kernel::Store>();
            if (!store || store->access.scratch || store->access.array == kernel.error_param) return;
            if (store->mask != kernel::kNoExpr) return;
            for (const int64_t by : {1, -1})
              for (IntExpr& index : store->access.index) {
                index = index + by;
                EXPECT_THAT(message_of<InternalError>([&] { verify(kernel); }), HasSubstr("is not proved inside"))
                    << kernel::print(kernel);
                index = index - by;
                ++moved;
              }
          });
      };
      EXPECT_EQ(with_kernels(program, N, M, fuse, move_stores), "");
    }
  EXPECT_GT(moved, 100);
}

}  // namespace
}  // namespace smelt
