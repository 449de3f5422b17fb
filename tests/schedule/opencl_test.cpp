// Schedules for an OpenCL device that is a CPU: those of a CPU, several iterations to a workgroup.
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "graph/build.hpp"
#include "kernel/lower.hpp"
#include "plan/plan.hpp"

namespace smelt::schedule {
namespace {

Target cpu_of_opencl() {
  Target target;
  target.device = "opencl";
  target.threads = 2;
  target.plain = true;
  return target;
}

struct Planned {
  Graph graph;
  plan::Plan plan;
  const Schedule& schedule() const { return *plan.groups.back().schedule; }
};

Planned planned(const std::string& program, const Target& target = cpu_of_opencl()) {
  plan::Options options;
  options.target = target;
  Planned p;
  p.graph = simplify(lang::parse_program(program, "<test>"));
  p.plan = plan::make_plan(p.graph, options);
  return p;
}

std::string softmax_of(const std::string& type) { return "input x: " + type + "\nreturn softmax(x)"; }

// Starting a workgroup costs as much as some hundred elements.
TEST(OpenClOfACpu, ShortRowsShareAWorkgroup) {
  EXPECT_EQ(planned(softmax_of("f32[65536, 64]")).schedule().workgroup, 64);
  EXPECT_EQ(planned(softmax_of("f32[65536, 1024]")).schedule().workgroup, 4);
  EXPECT_EQ(planned(softmax_of("f32[1024, 100000]")).schedule().workgroup, 1);
}

TEST(OpenClOfACpu, FewRowsKeepAllCoresBusy) {
  EXPECT_EQ(planned(softmax_of("f32[32, 64]")).schedule().workgroup, 1);
  EXPECT_EQ(planned(softmax_of("f32[128, 64]")).schedule().workgroup, 4);
}

// All else is as on a CPU.
TEST(OpenClOfACpu, LoopsAreThoseOfACpu) {
  Target cpu = cpu_of_opencl();
  cpu.plain = false;
  for (const char* program :
       {"input x: f32[1024, 1024]\nreturn softmax(x)", "input x: f32[1024, 1024]\nreturn sum(x, axis=0)",
        "input x: f32[1000, 1000]\nreturn exp(x) + x.T", "input x: f32[4096]\nreturn cumsum(x)"}) {
    const Planned here = planned(program), there = planned(program, cpu);
    const Schedule &a = here.schedule(), &b = there.schedule();
    EXPECT_EQ(a.strategy, b.strategy) << program;
    EXPECT_EQ(a.lanes, b.lanes) << program;
    EXPECT_EQ(a.tile, b.tile) << program;
    EXPECT_EQ(a.team, 0) << program;
  }
}

// A thread to an iteration, without barriers and without scratch that is turned.
TEST(OpenClOfACpu, KernelsHaveOneThreadToAnIteration) {
  for (const char* program :
       {"input x: f32[1024, 64]\nreturn softmax(x)", "input x: f32[1000, 1000]\nreturn x + x.T"}) {
    const Planned p = planned(program);
    const kernel::Kernel kernel = kernel::lower(p.graph, p.plan.groups[0], p.schedule(), "k0");
    EXPECT_EQ(kernel.dialect, kernel::Dialect::PlainThread);
    for (const kernel::Phase& phase : kernel.phases) {
      EXPECT_EQ(phase.team.threads, 1);
      EXPECT_EQ(phase.team.workgroup, std::max(1, p.schedule().workgroup));
    }
    const std::string text = kernel::print(kernel);
    EXPECT_EQ(text.find("barrier"), std::string::npos) << text;
    EXPECT_EQ(text.find("turn"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace smelt::schedule
