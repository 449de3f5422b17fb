// libFuzzer: any bytes are an array or a UserError, and an array has as many bytes as its file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "report/npy.hpp"
#include "smelt/error.hpp"

using namespace smelt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = ::memfd_create("fuzz.npy", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  try {
    const Tensor array = report::read_npy(path);
    if (array.bytes() > static_cast<int64_t>(size)) std::abort();
    // Every element is read.
    const Tensor copy = contiguous_copy(array);
    if (copy.bytes() != array.bytes()) std::abort();
  } catch (const UserError&) {
  }
  return 0;
}
