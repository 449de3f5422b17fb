// Which of the small functions in front of a module stay.
#include <gtest/gtest.h>

#include "emit/cuda_text.hpp"

namespace smelt::emit::c_like {
namespace {

constexpr const char* kFunctions = R"(#define SMELT_INLINE static __device__ __forceinline__

struct Pair { int a, b; };
// Of one line.
SMELT_INLINE int first(int x) { return x + 1; }

// Of several, which
// calls the one above.
template <class T>
SMELT_INLINE T second(T x) {
#if __CUDA_ARCH__ >= 800
  asm("{ .reg .pred p; }" ::: "memory");
#endif
  return first(x);
}
SMELT_INLINE int third(int x) { return -x; }
)";

TEST(Used, KeepsWhatIsCalledAndWhatThatCalls) {
  EXPECT_EQ(only_used(kFunctions, "  y = second(x) + a_third + third_(x);"),
            R"(#define SMELT_INLINE static __device__ __forceinline__

struct Pair { int a, b; };
// Of one line.
SMELT_INLINE int first(int x) { return x + 1; }

// Of several, which
// calls the one above.
template <class T>
SMELT_INLINE T second(T x) {
#if __CUDA_ARCH__ >= 800
  asm("{ .reg .pred p; }" ::: "memory");
#endif
  return first(x);
}
)");
}

TEST(Used, LeavesNoFunctionWithoutACall) {
  const std::string kept = only_used(kFunctions, "x + 1");
  EXPECT_EQ(kept, "#define SMELT_INLINE static __device__ __forceinline__\n\nstruct Pair { int a, b; };\n\n");
  EXPECT_EQ(only_used(kFunctions, "third(x)").find("first"), std::string::npos);
}

// Of what stands in front of every kernel, each piece is recognised: no definition hides in another's.
TEST(Used, TakesThePreludeApart) {
  for (const int compute : {75, 80, 90, 100}) {
    const std::string all = cuda::prelude({.compute = compute});
    const std::string none = only_used(all, "");
    EXPECT_EQ(none.find("SMELT_INLINE "), none.rfind("SMELT_INLINE ")) << none;  // its own definition
    const std::string one = only_used(all, "round_f16(x)");
    for (const char* name : {"round_f16(", "to_f16(", "from_f16("}) EXPECT_NE(one.find(name), std::string::npos) << one;
    EXPECT_EQ(one.find("maximum("), std::string::npos) << one;
  }
}

}  // namespace
}  // namespace smelt::emit::c_like
