// A line on the terminal that says what takes so long: shown after a second (SMELT_PROGRESS_DELAY sets another delay), gone at the
// end, never in a pipe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace smelt::tool {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void stage(const std::string& what);

 private:
  void show();

  std::chrono::duration<double> delay_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace smelt::tool
