#include "report/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "smelt/error.hpp"

namespace smelt::report {

std::string read_text(const std::string& path, int64_t max_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string text;
  char chunk[1 << 16];
  ssize_t got = 0;
  while ((got = ::read(fd, chunk, sizeof chunk)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text.append(chunk, static_cast<size_t>(got));
    if (static_cast<int64_t>(text.size()) > max_bytes) break;
  }
  const int error = errno;
  ::close(fd);
  if (got < 0) throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(error)));
  if (static_cast<int64_t>(text.size()) > max_bytes)
    throw UserError(
        fmt::format("{} is larger than {} bytes, which is more than a file of this kind can need", path, max_bytes));
  return text;
}

namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The file that the path leads to: a link keeps pointing at what it points at.
std::string follow_links(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) ? std::string(resolved) : path;
}

unsigned default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

StagedFile::StagedFile(std::string path) : path_(std::move(path)), target_(follow_links(path_)) {
  struct stat existing {};
  const bool exists = ::stat(target_.c_str(), &existing) == 0;
  if (path_.empty()) fail(ENOENT);
  if (exists && S_ISDIR(existing.st_mode)) fail(EISDIR);
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  if (exists && !S_ISREG(existing.st_mode)) {
    direct_ = true;
    fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail(errno);
    return;
  }
  open_anonymous(exists ? existing.st_mode & 0777 : default_mode());
}

StagedFile::~StagedFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void StagedFile::fail(int error) const {
  std::string what = fmt::format("cannot write {}: {}", path_.empty() ? "\"\"" : path_, std::strerror(error));
  if (error == ENOENT && !path_.empty())
    what += fmt::format("\nhelp: make the folder first: mkdir -p {}", folder_of(path_));
  if (error == ENOSPC) what += "\nhelp: free some space on that disk; nothing was left there";
  if (error == EFBIG) what += "\nhelp: files have a limit here: ulimit -f";
  throw UserError(what);
}

// A file without a name vanishes with the process, whatever ends it.
void StagedFile::open_anonymous(unsigned mode) {
#ifdef O_TMPFILE
  fd_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  anonymous_ = fd_ >= 0 && ::access("/proc/self/fd", X_OK) == 0;
  if (fd_ >= 0 && !anonymous_) {
    ::close(fd_);
    fd_ = -1;
  }
#endif
  if (fd_ < 0) {
    std::string name = target_ + ".XXXXXX";
    fd_ = ::mkstemp(name.data());
    if (fd_ < 0) fail(errno);
    temporary_ = name;
  }
  if (::fchmod(fd_, mode) != 0) fail(errno);
}

void StagedFile::name_anonymous() {
  const std::string self = fmt::format("/proc/self/fd/{}", fd_);
  for (int attempt = 0;; ++attempt) {
    const std::string name = fmt::format("{}.{}-{}", target_, ::getpid(), attempt);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = name;
      return;
    }
    if (errno != EEXIST || attempt > 100) fail(errno);
  }
}

void StagedFile::write(const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, from, bytes < (1u << 30) ? bytes : (1u << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(errno);
    from += done;
    bytes -= static_cast<size_t>(done);
  }
}

void StagedFile::commit() {
  if (anonymous_) name_anonymous();
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail(errno);
  if (direct_) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void write_text(const std::string& path, std::string_view text) {
  StagedFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace smelt::report
