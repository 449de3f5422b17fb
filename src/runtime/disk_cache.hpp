// What was compiled once, kept in files: bytes by a key that says everything they depend on. A
// cache that cannot be used is no error: everything works without, only slower.
//
// An entry is one file, written aside and renamed, with its key, its lengths and a checksum in it:
// a file that is cut short, changed, or not ours is removed and made again. Many processes and
// threads may share a folder.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace smelt::runtime {

struct CacheInfo {
  std::string folder;   // empty when there is no place for one
  std::string refused;  // why it is not used; empty when it is
  int64_t entries = 0, bytes = 0, limit_bytes = 0;
};

class DiskCache {
 public:
  // In this folder, which is made when it is not there. Refused when it belongs to another user,
  // when others may write to it, or when it is a link.
  explicit DiskCache(std::string folder, int64_t limit_bytes = kLimit);
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;
  virtual ~DiskCache() = default;
  // As configure() said; else in $SMELT_CACHE_DIR, else $XDG_CACHE_HOME/smelt, else ~/.cache/smelt,
  // up to $SMELT_CACHE_LIMIT bytes. SMELT_CACHE_DIR=off uses none.
  static std::shared_ptr<DiskCache> of_user();
  // The folder ("off": none) and the limit of all caches of the user, those that are there too;
  // without a value as of_user() finds it.
  static void configure(std::optional<std::string> folder, std::optional<int64_t> limit_bytes);

  // The value of this key, made where it is not known. Threads that request one key at a time make
  // it once. `hit` says where it is from, `stored` whether it is new in the folder.
  std::string get(const std::string& key, const std::function<std::string()>& make, bool* hit = nullptr,
                  bool* stored = nullptr);

  // Entries are compiled kernels; notes are what helps to find them, and are not counted.
  enum class Kind : uint8_t { Entry, Note };
  virtual std::optional<std::string> find(const std::string& key, Kind kind = Kind::Entry);
  virtual bool store(const std::string& key, const std::string& value, Kind kind = Kind::Entry) noexcept;

  // Texts by the names of their files, which are neither counted nor removed for others.
  std::optional<std::string> text(const std::string& name);
  bool keep_text(const std::string& name, const std::string& text) noexcept;
  bool remove_text(const std::string& name);  // whether it was there

  CacheInfo info() const;
  int64_t clear();  // entries removed

  static constexpr int64_t kLimit = int64_t{256} << 20;

 private:
  void move_to(const std::string& folder, int64_t limit_bytes);
  std::string usable_folder();  // empty when there is none
  void make_room(int64_t coming);

  std::string folder_;  // guarded, as all below
  int64_t limit_;
  mutable std::mutex mutex_;
  bool looked_ = false;
  std::string refused_;
  int64_t bytes_ = -1;  // about as many as there are; -1: not counted yet
  int64_t written_ = 0;
  std::map<std::string, std::shared_future<std::string>> making_;
};

}  // namespace smelt::runtime
