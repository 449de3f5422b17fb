#include "emit/cuda.hpp"

#include <algorithm>

#include "emit/c_like_phase.hpp"
#include "emit/cuda_text.hpp"
#include "kernel/pipeline.hpp"

namespace smelt::emit {
namespace {

HelperList cluster_helpers() {
  return {
      {{}, ""},
      {{"cluster_arrive"}, R"(// That a workgroup has begun: it says nothing of what it wrote, and waits for nothing.
SMELT_INLINE void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); })"},
      {{"cluster_wait"},
       R"(SMELT_INLINE void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); })"},
      {{"cluster_barrier"},
       R"(SMELT_INLINE void cluster_barrier() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); cluster_wait(); })",
       {"cluster_wait"}},
      {{"cluster_write"}, R"(// Writes to this place of the shared memory of the cluster's workgroup `rank`.
template <class T, class V> SMELT_INLINE void cluster_write(T* at, unsigned rank, V value) {
  const unsigned here = (unsigned)__cvta_generic_to_shared(at);
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  union { T value; unsigned char byte; unsigned short half; unsigned word; unsigned long long all; } x;
  x.value = (T)value;
  if (sizeof(T) == 8) asm volatile("st.shared::cluster.u64 [%0], %1;" :: "r"(there), "l"(x.all) : "memory");
  if (sizeof(T) == 4) asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(x.word) : "memory");
  if (sizeof(T) == 2) asm volatile("st.shared::cluster.u16 [%0], %1;" :: "r"(there), "h"(x.half) : "memory");
  if (sizeof(T) == 1) asm volatile("st.shared::cluster.u8 [%0], %1;" :: "r"(there), "h"((unsigned short)x.byte) : "memory");
})"},
  };
}

// A mailbox is a barrier in shared memory that opens when so many bytes have arrived in this
// workgroup. It needs no fence, which would wait for all that the threads have under way.
HelperList mailbox_helpers() {
  return {
      {{}, ""},
      {{"expect_mail"}, R"(SMELT_INLINE void expect_mail(unsigned long long* box, unsigned bytes) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(box);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(at), "r"(bytes) : "memory");
})"},
      {{"wait_for_mail"}, R"(SMELT_INLINE void wait_for_mail(unsigned long long* box) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(box);
  unsigned here = 0;
  while (!here)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(here) : "r"(at) : "memory");
})"},
      {{"send_mail"},
       R"(template <class T> SMELT_INLINE void send_mail(T* to, unsigned long long* box, unsigned rank, T value) {
  const unsigned here = (unsigned)__cvta_generic_to_shared(to), near_box = (unsigned)__cvta_generic_to_shared(box);
  unsigned there, far_box;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_box) : "r"(near_box), "r"(rank));
  union { T value; unsigned word; unsigned long long all; } x;
  x.value = value;
  if (sizeof(T) == 8)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                 :: "r"(there), "l"(x.all), "r"(far_box) : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :: "r"(there), "r"(x.word), "r"(far_box) : "memory");
})"},
  };
}

}  // namespace

HelperList cuda::helpers(const kernel::Kernel& kernel, const CudaTarget& target) {
  const auto any = [&](const auto& holds) { return std::any_of(kernel.phases.begin(), kernel.phases.end(), holds); };
  const bool clusters = any([](const kernel::Phase& p) { return p.team.cluster() > 1; });
  HelperList list = prelude(target);
  if (c_like::draws(kernel)) append(list, random_helpers());
  if (clusters) append(list, cluster_helpers());
  if (clusters && target.counted_stores()) append(list, mailbox_helpers());
  if (any([](const kernel::Phase& p) { return kernel::has_scans(p.body); })) append(list, scan_helpers());
  if (!kernel.fragments.empty()) append(list, matrix_helpers(kernel));
  if (kernel::holds_rows(kernel)) append(list, chain_helpers(kernel));
  if (any([](const kernel::Phase& p) { return p.counter >= 0; })) append(list, scan_grid_helpers());
  return list;
}

DeviceSource emit_cuda(const kernel::Kernel& kernel, const CudaTarget& target) {
  return c_like::print_kernel(kernel, {cuda_spellings(), target.counted_stores(), false, target.boxes},
                              cuda::helpers(kernel, target));
}

}  // namespace smelt::emit
