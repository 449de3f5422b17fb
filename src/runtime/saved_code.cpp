#include "runtime/saved_code.hpp"

#include <fmt/format.h>

namespace smelt::runtime {

static std::string name_of(const std::string& key) {
  constexpr uint64_t kOtherSeed = 0x9ae16a3b2f90404fU;
  return fmt::format("{:016x}{:016x}", checksum(key), checksum(key, kOtherSeed));
}

void RecordingCache::note(const std::string& key, const std::string& value, Kind kind) {
  if (kind == Kind::Note) return;
  const std::lock_guard lock(mutex_);
  code_[name_of(key)] = value;
}

std::optional<std::string> RecordingCache::find(const std::string& key, Kind kind) {
  std::optional<std::string> value = beneath_ ? beneath_->find(key, kind) : std::nullopt;
  if (value) note(key, *value, kind);
  return value;
}

bool RecordingCache::store(const std::string& key, const std::string& value, Kind kind) noexcept {
  try {
    note(key, value, kind);
  } catch (const std::exception&) {
    return false;  // out of memory; what is saved lacks it, and loading says so
  }
  return beneath_ && beneath_->store(key, value, kind);
}

SavedCode RecordingCache::code() const {
  const std::lock_guard lock(mutex_);
  return code_;
}

std::optional<std::string> SealedCache::find(const std::string& key, Kind kind) {
  if (kind == Kind::Note) return std::nullopt;
  const auto found = code_.find(name_of(key));
  return found == code_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace smelt::runtime
