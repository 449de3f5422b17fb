#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "smelt/error.hpp"

namespace smelt::tool {

namespace {

// A second, or what SMELT_PROGRESS_DELAY says: 0 shows the line always, however short the work.
std::chrono::duration<double> delay() {
  const char* chosen = std::getenv("SMELT_PROGRESS_DELAY");
  if (!chosen || !*chosen) return std::chrono::seconds(1);
  char* end = nullptr;
  const double seconds = std::strtod(chosen, &end);
  if (*end || !(seconds >= 0 && seconds <= 1e6))
    throw UserError(fmt::format(
        "SMELT_PROGRESS_DELAY is \"{}\", not a number of seconds from 0 to 1000000\nhelp: write for instance "
        "SMELT_PROGRESS_DELAY=0.5",
        chosen));
  return std::chrono::duration<double>(seconds);
}

}  // namespace

Progress::Progress(const CommonOptions& options) : json_(options.progress == "json") {
  delay_ = delay();
  const char* terminal = std::getenv("TERM");
  const bool dumb = !terminal || std::string_view(terminal) == "dumb";
  if (options.progress == "auto" && ::isatty(STDERR_FILENO) == 1 && !dumb) thread_ = std::thread([this] { show(); });
}

double Progress::elapsed_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Progress::stage(const std::string& what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  if (!json_) return;
  static const auto first = start_;  // a command may report in several parts
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - first).count();
  const nlohmann::ordered_json line = {{"stage", what}, {"elapsed_s", elapsed}};
  fmt::print(stderr, "{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::fflush(stderr);
}

void Progress::show() {
  std::unique_lock lock(mutex_);
  if (delay_.count() > 0 && changed_.wait_for(lock, delay_, [this] { return done_; })) return;
  // Seldom: a benchmark runs at the same time.
  do {
    fmt::print(stderr, "\r\033[K{} ({:.0f} s)", what_, elapsed_s());
    std::fflush(stderr);
  } while (!changed_.wait_for(lock, std::chrono::milliseconds(500), [this] { return done_; }));
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace smelt::tool
