// Code and its program in one file: caches that a program is compiled with, so that what it
// needs is known, and compiled from without a compiler.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/bytes.hpp"
#include "runtime/disk_cache.hpp"

namespace smelt::runtime {

// Code by a hash of the key that it has in the cache on disk.
using SavedCode = std::map<std::string, std::string>;

// Notes what is found in another cache, and what is made.
class RecordingCache final : public DiskCache {
 public:
  explicit RecordingCache(std::shared_ptr<DiskCache> beneath) : DiskCache(""), beneath_(std::move(beneath)) {}
  std::optional<std::string> find(const std::string& key, Kind kind) override;
  bool store(const std::string& key, const std::string& value, Kind kind) noexcept override;
  SavedCode code() const;

 private:
  void note(const std::string& key, const std::string& value, Kind kind);
  const std::shared_ptr<DiskCache> beneath_;  // may be empty
  mutable std::mutex mutex_;
  SavedCode code_;
};

// Has this code, and takes no more.
class SealedCache final : public DiskCache {
 public:
  explicit SealedCache(SavedCode code) : DiskCache(""), code_(std::move(code)) {}
  std::optional<std::string> find(const std::string& key, Kind kind) override;
  bool store(const std::string&, const std::string&, Kind) noexcept override { return false; }

 private:
  const SavedCode code_;
};

}  // namespace smelt::runtime
