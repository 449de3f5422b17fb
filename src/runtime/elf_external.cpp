// What code of LLVM may call although no kernel names it: moving memory, and arithmetic that a
// processor has no instruction for.
#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include <algorithm>

#include "runtime/elf_loader.hpp"

namespace smelt::runtime {

namespace {

struct External {
  std::string_view name;
  void* address;
};

template <class Signature>
External external(std::string_view name, Signature* function) {
  return {name, reinterpret_cast<void*>(function)};
}

using F1 = float(float);
using D1 = double(double);

// Half precision to and from float and double, where the processor has no instruction. They belong
// to the library of the compiler, and not every compiler that can build smelt has them.
constexpr std::string_view kOfCompiler[] = {"__extendhfsf2", "__truncsfhf2",   "__truncdfhf2",
                                            "__extendhfdf2", "__gnu_h2f_ieee", "__gnu_f2h_ieee"};

}  // namespace

void* external_function(std::string_view name) {
  const External known[] = {
      external<void*(void*, const void*, size_t)>("memcpy", ::memcpy),
      external<void*(void*, const void*, size_t)>("memmove", ::memmove),
      external<void*(void*, int, size_t)>("memset", ::memset),
      external<F1>("floorf", ::floorf),
      external<D1>("floor", ::floor),
      external<F1>("ceilf", ::ceilf),
      external<D1>("ceil", ::ceil),
      external<F1>("truncf", ::truncf),
      external<D1>("trunc", ::trunc),
      external<F1>("rintf", ::rintf),
      external<D1>("rint", ::rint),
      external<F1>("nearbyintf", ::nearbyintf),
      external<D1>("nearbyint", ::nearbyint),
      external<F1>("sqrtf", ::sqrtf),
      external<D1>("sqrt", ::sqrt),
      external<float(float, float)>("fmodf", ::fmodf),
      external<double(double, double)>("fmod", ::fmod),
      external<float(float, float, float)>("fmaf", ::fmaf),
      external<double(double, double, double)>("fma", ::fma),
  };
  for (const External& e : known)
    if (e.name == name) return e.address;
  const bool of_compiler = std::find(std::begin(kOfCompiler), std::end(kOfCompiler), name) != std::end(kOfCompiler);
  return of_compiler ? ::dlsym(RTLD_DEFAULT, std::string(name).c_str()) : nullptr;
}

}  // namespace smelt::runtime
