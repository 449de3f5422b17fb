#include "runtime/disk_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/bytes.hpp"
#include "smelt/error.hpp"
#include "smelt/runtime.hpp"

namespace smelt::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "smelt-cache-1\n";
constexpr const char* kEntry = ".entry";
constexpr const char* kNote = ".note";
constexpr const char* kTemporary = ".tmp";
constexpr auto kAbandoned = std::chrono::hours(1);  // a file of a writer that was killed

uint64_t hash(std::string_view text, uint64_t seed) { return checksum(text, seed); }
constexpr uint64_t kSeed = 0xcbf29ce484222325U, kOtherSeed = 0x9ae16a3b2f90404fU;

void append(std::string& out, uint64_t value) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
}
uint64_t number_at(std::string_view text, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value |= uint64_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
  return value;
}

// magic, length of the key, length of the value, key, value, checksum of all before it.
std::string pack(const std::string& key, const std::string& value) {
  std::string out(kMagic);
  append(out, key.size());
  append(out, value.size());
  out += key;
  out += value;
  append(out, hash(out, kSeed));
  return out;
}

std::optional<std::string> unpack(std::string_view file, const std::string& key) {
  const size_t head = kMagic.size() + 16;
  if (file.size() < head + 8 || file.substr(0, kMagic.size()) != kMagic) return std::nullopt;
  const uint64_t keys = number_at(file, kMagic.size()), values = number_at(file, kMagic.size() + 8);
  if (keys != key.size() || values != file.size() - head - keys - 8) return std::nullopt;
  if (file.substr(head, keys) != key) return std::nullopt;
  if (number_at(file, file.size() - 8) != hash(file.substr(0, file.size() - 8), kSeed)) return std::nullopt;
  return std::string(file.substr(head + keys, values));
}

// Closes its file.
class File {
 public:
  File(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  bool opened() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

// The whole of a file of this user.
std::optional<std::string> read_own(const std::string& path) {
  const File file(path, O_RDONLY);
  struct stat facts;
  if (!file.opened() || ::fstat(file.number(), &facts) != 0) return std::nullopt;
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid()) return std::string();
  if (facts.st_size > DiskCache::kLimit) return std::string();  // no entry is; reading it might take all memory
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t got = ::read(file.number(), text.data() + at, text.size() - at);
    if (got <= 0) return std::string();
    at += static_cast<size_t>(got);
  }
  return text;
}

bool write_whole(const std::string& path, const std::string& text) {
  const File file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.opened()) return false;
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t put = ::write(file.number(), text.data() + at, text.size() - at);
    if (put <= 0) return false;
    at += static_cast<size_t>(put);
  }
  return true;
}

// Readers see the whole of it, or what was there before.
bool write_aside(const std::string& folder, const std::string& path, const std::string& text) {
  static std::atomic<uint64_t> counter{0};
  const std::string aside = fmt::format("{}/{}-{}{}", folder, ::getpid(), counter++, kTemporary);
  if (write_whole(aside, text) && ::rename(aside.c_str(), path.c_str()) == 0) return true;
  ::unlink(aside.c_str());
  return false;
}

// Why a folder is not to be trusted; empty when it is.
std::string fault_of(const std::string& folder) {
  struct stat facts;
  if (::lstat(folder.c_str(), &facts) != 0) return fmt::format("{}: {}", folder, std::strerror(errno));
  if (S_ISLNK(facts.st_mode)) return folder + " is a link";
  if (!S_ISDIR(facts.st_mode)) return folder + " is not a folder";
  if (facts.st_uid != ::geteuid()) return folder + " belongs to another user";
  if (facts.st_mode & (S_IWGRP | S_IWOTH)) return folder + " can be written by others (chmod go-w fixes that)";
  return "";
}

struct Entry {
  fs::path path;
  int64_t bytes;
  fs::file_time_type used;
  bool temporary, kernel;
};

std::vector<Entry> entries_of(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string extension = it->path().extension().string();
    if (extension != kEntry && extension != kNote && extension != kTemporary) continue;
    std::error_code gone;  // another process may have removed it
    const auto bytes = static_cast<int64_t>(it->file_size(gone));
    const fs::file_time_type used = gone ? fs::file_time_type() : it->last_write_time(gone);
    if (!gone) entries.push_back({it->path(), bytes, used, extension == kTemporary, extension == kEntry});
  }
  return entries;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

DiskCache::DiskCache(std::string folder, int64_t limit_bytes) : folder_(std::move(folder)), limit_(limit_bytes) {}

namespace {

// What configure() said, and the caches that follow it. Never destroyed: devices live until the
// end.
struct Configured {
  std::mutex mutex;
  std::optional<std::string> folder;
  std::optional<int64_t> limit;
  std::vector<std::weak_ptr<DiskCache>> caches;

  std::string folder_now() const {
    const std::string chosen = folder.value_or(variable("SMELT_CACHE_DIR"));
    if (chosen == "off") return "";
    if (!chosen.empty()) return chosen;
    const std::string places = variable("XDG_CACHE_HOME"), home = variable("HOME");
    // The specification of XDG_CACHE_HOME says that relative paths are to be ignored.
    if (!places.empty() && places[0] == '/') return places + "/smelt";
    return home.empty() ? "" : home + "/.cache/smelt";
  }

  int64_t limit_now() const {
    if (limit) return *limit;
    const std::string text = variable("SMELT_CACHE_LIMIT");
    int64_t bytes = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (!text.empty() && (failed != std::errc() || end != text.data() + text.size() || bytes < 0))
      throw UserError(fmt::format("SMELT_CACHE_LIMIT is \"{}\"\nhelp: a number of bytes, 268435456 for 256 MiB", text));
    return text.empty() ? DiskCache::kLimit : bytes;
  }
};

Configured& configured() {
  static auto* one = new Configured;
  return *one;
}

}  // namespace

std::shared_ptr<DiskCache> DiskCache::of_user() {
  Configured& all = configured();
  const std::lock_guard lock(all.mutex);
  auto made = std::make_shared<DiskCache>(all.folder_now(), all.limit_now());
  std::erase_if(all.caches, [](const auto& cache) { return cache.expired(); });
  all.caches.push_back(made);
  return made;
}

void DiskCache::configure(std::optional<std::string> folder, std::optional<int64_t> limit_bytes) {
  Configured& all = configured();
  const std::lock_guard lock(all.mutex);
  all.folder = std::move(folder);
  all.limit = limit_bytes;
  const std::string now = all.folder_now();
  const int64_t limit = all.limit_now();
  for (const auto& cache : all.caches)
    if (const std::shared_ptr<DiskCache> there = cache.lock()) there->move_to(now, limit);
}

void DiskCache::move_to(const std::string& folder, int64_t limit_bytes) {
  const std::lock_guard lock(mutex_);
  if (folder != folder_) looked_ = false, refused_.clear();
  folder_ = folder;
  limit_ = limit_bytes;
  bytes_ = -1;
}

std::string DiskCache::usable_folder() {
  const std::lock_guard lock(mutex_);
  if (looked_) return refused_.empty() ? folder_ : "";
  looked_ = true;
  if (folder_.empty()) {
    refused_ =
        "there is no folder for it (SMELT_CACHE_DIR=off, or neither SMELT_CACHE_DIR, XDG_CACHE_HOME nor HOME is set)";
    return "";
  }
  std::error_code failed;
  const fs::path parent = fs::path(folder_).parent_path();
  if (!parent.empty()) fs::create_directories(parent, failed);
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    refused_ = fmt::format("{} cannot be made: {}", folder_, std::strerror(errno));
    return "";
  }
  refused_ = fault_of(folder_);
  return refused_.empty() ? folder_ : "";
}

static std::string path_of(const std::string& folder, const std::string& key, DiskCache::Kind kind) {
  return fmt::format("{}/{:016x}{:016x}{}", folder, hash(key, kSeed), hash(key, kOtherSeed),
                     kind == DiskCache::Kind::Note ? kNote : kEntry);
}

std::optional<std::string> DiskCache::find(const std::string& key, Kind kind) {
  const std::string folder = usable_folder();
  if (folder.empty()) return std::nullopt;
  const std::string path = path_of(folder, key, kind);
  const std::optional<std::string> file = read_own(path);
  if (!file) return std::nullopt;
  std::optional<std::string> value = unpack(*file, key);
  if (!value)
    ::unlink(path.c_str());
  else
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // used now: kept longest
  return value;
}

bool DiskCache::store(const std::string& key, const std::string& value, Kind kind) noexcept {
  try {
    const std::string folder = usable_folder();
    if (folder.empty()) return false;
    const std::string text = pack(key, value);
    make_room(static_cast<int64_t>(text.size()));
    return write_aside(folder, path_of(folder, key, kind), text);
  } catch (const std::exception&) {
    // Out of memory, say: what is not kept is made again.
  }
  return false;
}

std::optional<std::string> DiskCache::text(const std::string& name) {
  const std::string folder = usable_folder();
  return folder.empty() ? std::nullopt : read_own(folder + "/" + name);
}

bool DiskCache::keep_text(const std::string& name, const std::string& text) noexcept {
  try {
    const std::string folder = usable_folder();
    return !folder.empty() && write_aside(folder, folder + "/" + name, text);
  } catch (const std::exception&) {
    return false;
  }
}

bool DiskCache::remove_text(const std::string& name) {
  const std::string folder = usable_folder();
  return !folder.empty() && ::unlink((folder + "/" + name).c_str()) == 0;
}

// Removes what was not used for longest, down to three quarters of the limit, so that the folder is
// not read for every entry.
void DiskCache::make_room(int64_t coming) {
  const std::lock_guard lock(mutex_);
  // Other processes write too: count again now and then.
  if (bytes_ >= 0 && bytes_ + coming <= limit_ && ++written_ % 64 != 0) {
    bytes_ += coming;
    return;
  }
  std::vector<Entry> entries = entries_of(folder_);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  bytes_ = 0;
  for (const Entry& entry : entries) bytes_ += entry.bytes;
  const bool full = bytes_ + coming > limit_;
  const auto now = fs::file_time_type::clock::now();
  for (const Entry& entry : entries) {
    const bool abandoned = entry.temporary && now - entry.used > kAbandoned;
    const bool oldest = full && !entry.temporary && bytes_ + coming > limit_ / 4 * 3;
    if (!abandoned && !oldest) continue;
    std::error_code gone;
    fs::remove(entry.path, gone);
    bytes_ -= entry.bytes;
  }
  bytes_ += coming;
}

std::string DiskCache::get(const std::string& key, const std::function<std::string()>& make, bool* hit, bool* stored) {
  std::promise<std::string> promise;
  std::shared_future<std::string> other;
  {
    const std::lock_guard lock(mutex_);
    const auto [it, first] = making_.try_emplace(key);
    if (first)
      it->second = promise.get_future().share();
    else
      other = it->second;
  }
  if (hit) *hit = true;
  if (stored) *stored = false;
  if (other.valid()) return other.get();
  const auto done = [&] {
    const std::lock_guard lock(mutex_);
    making_.erase(key);
  };
  try {
    std::optional<std::string> value = find(key);
    if (hit) *hit = value.has_value();
    if (!value) {
      value = make();
      const bool kept = store(key, *value);
      if (stored) *stored = kept;
    }
    promise.set_value(*value);
    done();
    return *value;
  } catch (...) {
    promise.set_exception(std::current_exception());
    done();
    throw;
  }
}

CacheInfo DiskCache::info() const {
  CacheInfo info;
  {
    const std::lock_guard lock(mutex_);
    info.folder = folder_;
    info.limit_bytes = limit_;
  }
  info.refused = info.folder.empty() ? "there is no folder for it" : fault_of(info.folder);
  std::error_code failed;
  if (!info.folder.empty() && !fs::exists(fs::symlink_status(info.folder, failed)))
    info.refused.clear();  // made when needed
  if (!info.refused.empty()) return info;
  for (const Entry& entry : entries_of(info.folder)) {
    if (entry.kernel) ++info.entries;
    info.bytes += entry.bytes;
  }
  return info;
}

int64_t DiskCache::clear() {
  int64_t removed = 0;
  const CacheInfo before = info();
  if (!before.refused.empty()) return 0;
  for (const Entry& entry : entries_of(before.folder)) {
    std::error_code gone;
    if (fs::remove(entry.path, gone) && entry.kernel) ++removed;
  }
  const std::lock_guard lock(mutex_);
  bytes_ = -1;
  return removed;
}

}  // namespace smelt::runtime

namespace smelt {

void set_cache(const CacheOptions& options) {
  if (options.limit_bytes && *options.limit_bytes < 0)
    throw UserError(fmt::format("set_cache(): a limit of {} bytes is negative", *options.limit_bytes));
  runtime::DiskCache::configure(options.folder, options.limit_bytes);
}

}  // namespace smelt
