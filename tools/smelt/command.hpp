// What the commands share: common options, where text and JSON go, and the exit statuses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "report/style.hpp"

namespace smelt::tool {

enum ExitStatus : int { kFine = 0, kCheckFailed = 1, kUserMistake = 2, kBug = 3 };

// Prints an error for people; returns the status.
int fail(int status, const std::string& message);

struct CommonOptions {
  std::string json;  // a path, "-" for standard output, empty for none
  std::string device = "auto";
  int threads = 0;                // of the CPU; 0: all that it has
  std::string progress = "auto";  // "auto", "none", "json"
};

// Throws UserError for a name that no device can have.
void check_device_name(const CommonOptions& options);
// The device by its name. Throws UserError when it is not here, or lacks what compiles for it.
Machine find_device(const CommonOptions& options);
// The same, when programs are to run on it.
Machine find_device_here(const CommonOptions& options);
// "error", "warn" or "allow". Throws UserError for another word.
Fallback fallback_of(const std::string& word);
// CPU threads, or multiprocessors of a GPU.
int thread_count(const CommonOptions& options, const Machine& device);

// Inside single quotes, as a shell takes it.
std::string shell_quoted(std::string_view text);

// Throws UserError when a file that an option names has another ending than that of what is
// written; files without one, /dev/stdout say, are taken.
void check_ending(const std::string& option, const std::string& path, std::string_view ending, const std::string& what);

// Text for people goes to standard output unless JSON goes there.
class Output {
 public:
  explicit Output(const CommonOptions& options);
  void text(const std::string& text) const;
  void json(const nlohmann::ordered_json& json) const;  // where --json says; nowhere without it
  void note(const std::string& text) const;             // to standard error
  const report::Style& style() const { return style_; }

 private:
  std::string json_path_;
  report::Style style_;
};

}  // namespace smelt::tool
