// libFuzzer: any bytes are an object that loads or an InternalError. Nothing is run.
#include "runtime/elf_loader.hpp"
#include "smelt/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    smelt::runtime::LoadedObject loaded({reinterpret_cast<const char*>(data), size});
  } catch (const smelt::InternalError&) {
  }
  return 0;
}
