// Files of the user: read whole with a bound, and written so that no half of one ever is under
// its name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smelt::report {

// The whole file. Throws UserError when it cannot be read or holds more than max_bytes.
std::string read_text(const std::string& path, int64_t max_bytes);

// A new file that takes its name only in commit(): written without a name where the system can do
// that, else under a temporary name in the same folder. Not committed, it leaves nothing behind.
// What exists and is no regular file (/dev/null, a pipe) is written to directly. Every failure is a
// UserError that names the path.
class StagedFile {
 public:
  explicit StagedFile(std::string path);
  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void open_anonymous(unsigned mode);
  void name_anonymous();

  std::string path_;       // as the user wrote it, for messages
  std::string target_;     // with links followed
  std::string temporary_;  // name of the temporary, empty while there is none
  int fd_ = -1;
  bool direct_ = false;
  bool anonymous_ = false;
};

void write_text(const std::string& path, std::string_view text);

}  // namespace smelt::report
