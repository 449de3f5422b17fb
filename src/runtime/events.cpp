#include "runtime/events.hpp"

#include <atomic>
#include <memory>

namespace smelt {
namespace {

using Callback = std::shared_ptr<const OnEvent>;

// The callback of the process; never destroyed, since threads may compile until the end.
std::atomic<Callback>& listener() {
  static auto* callback = new std::atomic<Callback>;
  return *callback;
}

std::atomic<Fallback> policy{Fallback::Error};

}  // namespace

const char* name_of(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::Compiled: return "compiled";
    case Event::Kind::CacheHit: return "cache hit";
    case Event::Kind::CacheStored: return "cache stored";
    case Event::Kind::Loaded: return "loaded";
    case Event::Kind::FellBack: return "fell back";
  }
  return "unknown";
}

OnEvent on_event(OnEvent callback) {
  const Callback before =
      listener().exchange(callback ? std::make_shared<const OnEvent>(std::move(callback)) : Callback());
  return before ? *before : OnEvent();
}

void set_fallback(Fallback fallback) { policy.store(fallback); }
Fallback fallback() { return policy.load(); }

namespace runtime {

bool has_listener() { return listener().load() != nullptr; }

void emit(const Event& event) {
  const Callback callback = listener().load();
  if (!callback) return;
  try {
    (*callback)(event);
  } catch (...) {
    // Kernels are compiled whatever becomes of reports about it.
  }
}

}  // namespace runtime
}  // namespace smelt
