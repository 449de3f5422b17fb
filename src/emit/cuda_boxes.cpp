// What parts that come as boxes call: PTX ISA, "cp.async.bulk.tensor", "mbarrier" and "setmaxnreg".
#include <fmt/format.h>

#include <string>

#include "emit/cuda_text.hpp"

namespace smelt::emit::cuda {
namespace {

std::string copy_of_sides(int sides) {
  std::string parameters, operands, places;
  for (int s = 0; s < sides; ++s) {
    parameters += fmt::format(", int at{}", s);
    operands += fmt::format(", \"r\"(at{})", s);
    places += fmt::format("{}%{}", s ? ", " : "", s + 3);
  }
  return fmt::format(R"(
SMELT_INLINE void copy_box(void* to, const BoxMap* map, unsigned long long* filled{0}) {{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("cp.async.bulk.tensor.{1}d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {{{2}}}], [%2];"
               :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"((unsigned)__cvta_generic_to_shared(filled)){3} : "memory");
#endif
}})",
                     parameters, sides, places, operands);
}

}  // namespace

HelperList box_helpers() {
  const auto only_groups = [](const std::string& head, const std::string& code) {
    return head + " {\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n  " + code + "\n#endif\n}";
  };
  std::string copies = "// Boxes of arrays with so many sides; places may be outside, where all is 0.";
  for (int sides = 2; sides <= 5; ++sides) copies += copy_of_sides(sides);
  return {
      {{}, ""},
      {{}, "struct __align__(64) BoxMap { unsigned long long words[16]; };  // CUtensorMap\n"},
      {{"begin_stages"},
       R"(// A stage is filled when all bytes of its boxes have come, and freed when all warps of the team have left it; each time is a turn.
SMELT_INLINE void begin_stages(unsigned long long* filled, unsigned long long* freed, int stages, int warps) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  for (int s = 0; s < stages; ++s) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"((unsigned)__cvta_generic_to_shared(filled + s)) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(freed + s)), "r"(warps) : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
})"},
      {{"await_turn"}, R"(SMELT_INLINE void await_turn(unsigned long long* stage, int turn) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const unsigned at = (unsigned)__cvta_generic_to_shared(stage);
  unsigned here = 0;
  while (!here)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(here) : "r"(at), "r"(turn) : "memory");
#endif
})"},
      {{"expect_boxes"},
       only_groups("SMELT_INLINE void expect_boxes(unsigned long long* filled, int bytes)",
                   R"(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"((unsigned)__cvta_generic_to_shared(filled)), "r"(bytes) : "memory");)")},
      {{"copy_box"}, copies},
      {{"leave_stage"},
       only_groups("SMELT_INLINE void leave_stage(unsigned long long* freed)",
                   R"(if ((threadIdx.x & 31) == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"((unsigned)__cvta_generic_to_shared(freed)) : "memory");)")},
      {{"see_stores"},
       only_groups("// What was stored becomes visible to the units.\nSMELT_INLINE void see_stores()",
                   R"(asm volatile("fence.proxy.async.shared::cta;" ::: "memory");)")},
      {{"await_group", "begin_group"},
       R"(// Two groups of four warps go on in turns: each waits for the other one to let it begin.
SMELT_INLINE void await_group(int t) { asm volatile("bar.sync %0, 256;" :: "r"(2 + t / 128) : "memory"); }
SMELT_INLINE void begin_group(int t) { asm volatile("bar.arrive %0, 256;" :: "r"(3 - t / 128) : "memory"); })"},
      {{"give_registers"},
       only_groups("template <int kLeft> SMELT_INLINE void give_registers()",
                   R"(asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(kLeft));)")},
      {{"take_registers"},
       only_groups("template <int kAll> SMELT_INLINE void take_registers()",
                   R"(asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(kAll));)")},
      {{"team_barrier"},
       R"(// Of the team alone.
template <int kThreads> SMELT_INLINE void team_barrier() { asm volatile("bar.sync 1, %0;" :: "n"(kThreads) : "memory"); })"},
  };
}

}  // namespace smelt::emit::cuda
