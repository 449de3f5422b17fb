// What takes so long, on standard error: a line on a terminal, shown after a second
// (SMELT_PROGRESS_DELAY sets another delay) and gone at the end; or with --progress json a line of
// JSON for every stage.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "command.hpp"

namespace smelt::tool {

class Progress {
 public:
  explicit Progress(const CommonOptions& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void stage(const std::string& what);

 private:
  void show();

  double elapsed_s() const;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const bool json_;
  std::chrono::duration<double> delay_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace smelt::tool
