#include "runtime/nvtx.hpp"

#include <cstdint>
#include <cstdlib>

#include "runtime/shared_library.hpp"

namespace smelt::runtime {
namespace {

// What the profiler sees: as in nvtxDetail/nvtxTypes.h of NVTX 3, whose layout cannot change any
// more, since profilers meet programs of every age.

using Function = void (*)();

constexpr unsigned kModules =
    7;  // NvtxCallbackModule: 1 core, 2 CUDA, 3 OpenCL, 4 the CUDA runtime, 5 core with domains, 6 sync
constexpr unsigned kCoreDomains = 5;
constexpr unsigned kFunctions[kModules] = {0, 16, 9, 15, 7, 16, 7};
constexpr unsigned kMostFunctions = 16;
constexpr unsigned kDomainPush = 4, kDomainPop = 5, kDomainCreate = 12;  // NvtxCallbackIdCore2

struct CallbackTable {
  size_t bytes;
  int (*module)(unsigned number, Function*** table, unsigned* size);
};
struct VersionTable {
  size_t bytes;
  uint32_t version, reserved;
  void (*set_version)(uint32_t);
};
constexpr uint32_t kCallbacks = 1, kVersion = 3;  // NvtxExportTableID

struct EventAttributes {
  uint16_t version = 3, size = sizeof(EventAttributes);
  uint32_t category = 0;
  int32_t color_type = 0;
  uint32_t color = 0;
  int32_t payload_type = 0, reserved = 0;
  uint64_t payload = 0;
  int32_t message_type = 1;  // ASCII
  const char* message = nullptr;
};
static_assert(sizeof(EventAttributes) == 48);

// The profiler requests these tables by a function without arguments of ours, so that there is one
// set in a process.
struct Tables {
  Function functions[kModules][kMostFunctions] = {};    // what the profiler fills in
  Function* places[kModules][kMostFunctions + 1] = {};  // what it is handed: where to; ends in a null
  CallbackTable callbacks{sizeof(CallbackTable), [](unsigned number, Function*** table, unsigned* size) {
                            if (number == 0 || number >= kModules) return 0;
                            if (size) *size = kFunctions[number];
                            if (table) *table = the().places[number];
                            return 1;
                          }};
  VersionTable version{sizeof(VersionTable), 3, 0, [](uint32_t) {}};

  Tables() {
    for (unsigned m = 1; m < kModules; ++m)
      for (unsigned f = 1; f < kFunctions[m]; ++f) places[m][f] = &functions[m][f];
  }
  static Tables& the() {
    static Tables tables;
    return tables;
  }
  static const void* exported(uint32_t number) {
    if (number == kCallbacks) return &the().callbacks;
    return number == kVersion ? static_cast<const void*>(&the().version) : nullptr;
  }
};

class Attached final : public Nvtx {
 public:
  Attached(const Function* core, void* domain)
      : push_(reinterpret_cast<Push>(core[kDomainPush])),
        pop_(reinterpret_cast<Pop>(core[kDomainPop])),
        domain_(domain) {}
  void push(const char* name) const override {
    EventAttributes attributes;
    attributes.message = name;
    push_(domain_, &attributes);
  }
  void pop() const override { pop_(domain_); }

 private:
  using Push = int (*)(void*, const EventAttributes*);
  using Pop = int (*)(void*);
  Push push_;
  Pop pop_;
  void* domain_;
};

const Nvtx* attach() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  if (!path || !*path) return nullptr;
  std::string why;
  const SharedLibrary library = open_library(path, why);
  if (!library.handle) return nullptr;
  const Call<int(const void* (*)(uint32_t))> initialize(library, "InitializeInjectionNvtx2", false);
  if (!initialize || initialize(Tables::exported) == 0) return nullptr;
  const Function* core = Tables::the().functions[kCoreDomains];
  if (!core[kDomainPush] || !core[kDomainPop] || !core[kDomainCreate]) return nullptr;
  void* domain = reinterpret_cast<void* (*)(const char*)>(core[kDomainCreate])("smelt");
  static const Attached attached(core, domain);
  return &attached;
}

}  // namespace

const Nvtx* nvtx() {
  static const Nvtx* const found = attach();
  return found;
}

}  // namespace smelt::runtime
