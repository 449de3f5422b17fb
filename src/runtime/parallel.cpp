// Threads. Each participant of a loop owns a contiguous range of pieces, the same one in every call
// of the same size, so that data stays in the cache of the core that used it last; whoever is done
// helps the others. The caller takes part and waits only for workers that have joined, never for
// one that is still asleep: on a busy machine a loop is as fast as the processors it gets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/atomic_shared_ptr.hpp"
#include "runtime/cpu.hpp"
#include "smelt/error.hpp"
#include "smelt/runtime.hpp"

namespace smelt::runtime {

namespace {

using Body = std::function<void(int thread, int64_t begin, int64_t end)>;

constexpr int kPiecesEach = 4;      // enough for helping to even out, few enough to cost nothing
constexpr int kSpins = 1000;        // some tens of microseconds before a thread sleeps
constexpr size_t kMostTeams = 256;  // callers at a time that get helpers; further ones work alone

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How a loop is cut: `grains` grains into `pieces` pieces, the first ones larger by a grain where
// they do not divide evenly.
struct Cut {
  int64_t count = 0, grain = 1, grains = 0, pieces = 0;

  int64_t start(int64_t piece) const {
    const int64_t each = grains / pieces, more = grains % pieces;
    return std::min((piece * each + std::min(piece, more)) * grain, count);
  }
};

// Set in workers, and in callers while they work: loops inside loops run on the thread that meets
// them.
thread_local bool is_working = false;

// Workers and the one loop that they share with its caller.
class Team {
 public:
  bool try_take() { return !taken_.exchange(true, std::memory_order_acquire); }

  void run(int threads, const Cut& cut, const Body& body) {
    hire(threads - 1);
    body_ = &body;
    cut_ = cut;
    threads_ = threads;
    failure_ = nullptr;
    const int64_t pieces = cut.pieces;
    for (int t = 0; t < threads; ++t) {
      ranges_[t].next.store(pieces * t / threads, std::memory_order_relaxed);
      ranges_[t].end = pieces * (t + 1) / threads;
    }
    gate_.store(0, std::memory_order_release);  // open, nobody inside
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    epoch_.notify_all();
    work(0);
    gate_.fetch_or(kClosed, std::memory_order_acq_rel);
    wait_until_empty();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void release() { taken_.store(false, std::memory_order_release); }

 private:
  static constexpr uint32_t kClosed = uint32_t{1} << 31;
  struct alignas(64) Range {  // a cache line each
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  // Worker t runs for the life of the process; a thread that sleeps costs nothing.
  void hire(int workers) {
    if (workers + 1 > capacity_) {
      // Nobody looks at the ranges while the gate is closed.
      capacity_ = workers + 1;
      ranges_ = std::make_unique<Range[]>(static_cast<size_t>(capacity_));
    }
    try {
      for (; hired_ < workers; ++hired_) std::thread(&Team::serve, this, hired_ + 1).detach();
    } catch (const std::system_error&) {
      // The machine has no more threads to give; those that there are do the work.
    }
  }

  void serve(int t) {
    is_working = true;
    uint32_t seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && epoch_.load(std::memory_order_acquire) == seen; ++i) pause();
      epoch_.wait(seen, std::memory_order_acquire);
      seen = epoch_.load(std::memory_order_acquire);
      if (!enter()) continue;
      if (t < threads_) work(t);
      leave();
    }
  }

  bool enter() {
    uint32_t gate = gate_.load(std::memory_order_acquire);
    while (!(gate & kClosed))
      if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

  void leave() {
    if (gate_.fetch_sub(1, std::memory_order_acq_rel) == (kClosed | 1)) gate_.notify_all();
  }

  void wait_until_empty() {
    for (int i = 0; i < kSpins && gate_.load(std::memory_order_acquire) != kClosed; ++i) pause();
    for (uint32_t gate; (gate = gate_.load(std::memory_order_acquire)) != kClosed;) gate_.wait(gate);
  }

  // Its own range first, then what the others have left.
  void work(int t) {
    for (int i = 0; i < threads_; ++i) {
      Range& range = ranges_[(t + i) % threads_];
      for (;;) {
        if (range.next.load(std::memory_order_relaxed) >= range.end) break;
        const int64_t piece = range.next.fetch_add(1, std::memory_order_relaxed);
        if (piece >= range.end) break;
        run_piece(t, piece);
      }
    }
  }

  void run_piece(int t, int64_t piece) {
    try {
      (*body_)(t, cut_.start(piece), cut_.start(piece + 1));
    } catch (...) {
      const std::lock_guard lock(failing_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  std::atomic<bool> taken_{false};
  std::atomic<uint32_t> epoch_{0};       // counts loops; workers sleep on it
  std::atomic<uint32_t> gate_{kClosed};  // how many workers are inside, and whether more may enter
  std::unique_ptr<Range[]> ranges_;
  int capacity_ = 0, hired_ = 0;
  const Body* body_ = nullptr;
  Cut cut_;
  int threads_ = 0;
  std::mutex failing_;
  std::exception_ptr failure_;
};

// Threads belong to the process. Never destroyed, because its workers never end. The first teams
// are taken first, so that those of rare moments with many callers have few workers.
Team* take_team() {
  static auto* teams = new std::array<std::atomic<Team*>, kMostTeams>{};
  for (std::atomic<Team*>& place : *teams) {
    Team* team = place.load(std::memory_order_acquire);
    if (!team) {
      auto fresh = std::make_unique<Team>();
      if (place.compare_exchange_strong(team, fresh.get(), std::memory_order_acq_rel)) team = fresh.release();
    }
    if (team->try_take()) return team;
  }
  return nullptr;
}

std::atomic<int> callers{0};        // that are in a loop
std::atomic<int> process_limit{0};  // set_threads(); 0: none
thread_local int thread_limit = 0;  // ThreadLimit; 0: none

// An outside pool, and the version of it that a loop began with.
AtomicSharedPtr<const ThreadPool>& outside_pool() {
  static auto* pool = new AtomicSharedPtr<const ThreadPool>;
  return *pool;
}

int processors() {
  static const int count = usable_threads();
  return count;
}

// What a caller gets of the processors that `most` threads would use, given the other callers.
int share_of(int most, int among) {
  const int all = std::max(most, processors());
  return std::min(most, (all + among - 1) / among);
}

// Set while a thread works.
class Working {
 public:
  Working() : before_(std::exchange(is_working, true)) {}
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
  ~Working() { is_working = before_; }

 private:
  bool before_;
};

void run_outside(const ThreadPool& pool, int threads, const Cut& cut, const Body& body) {
  std::atomic<int64_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;
  pool(threads, [&](int index) {
    const Working working;
    for (int64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < cut.pieces;) {
      try {
        body(index, cut.start(piece), cut.start(piece + 1));
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
      }
    }
  });
  if (failure) std::rethrow_exception(failure);
  if (next.load() < cut.pieces)
    throw UserError(
        "the pool of set_thread_pool() returned before its tasks had run\nhelp: it runs task(0) to task(count - 1), "
        "and "
        "returns when all are done");
}

}  // namespace

void parallel_for(int threads, int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  Cut cut;
  cut.count = count;
  cut.grain = std::max<int64_t>(grain, 1);
  cut.grains = count / cut.grain + (count % cut.grain != 0);
  if (const int limit = process_limit.load(std::memory_order_relaxed)) threads = std::min(threads, limit);
  if (thread_limit > 0) threads = std::min(threads, thread_limit);
  threads = static_cast<int>(std::min<int64_t>(std::max(threads, 1), cut.grains));
  if (threads == 1 || is_working) return body(0, 0, count);
  if (const auto pool = outside_pool().load()) {
    cut.pieces = std::min<int64_t>(int64_t{threads} * kPiecesEach, cut.grains);
    return run_outside(*pool, threads, cut, body);
  }
  struct Turn {
    const int among = callers.fetch_add(1, std::memory_order_relaxed) + 1;
    Team* const team = take_team();
    const Working working;
    ~Turn() {
      if (team) team->release();
      callers.fetch_sub(1, std::memory_order_relaxed);
    }
  } turn;
  threads = share_of(threads, turn.among);
  if (!turn.team || threads == 1) return body(0, 0, count);
  cut.pieces = std::min<int64_t>(int64_t{threads} * kPiecesEach, cut.grains);
  turn.team->run(threads, cut, body);
}

}  // namespace smelt::runtime

namespace smelt {

void set_threads(int threads) {
  if (threads < 0)
    throw UserError(fmt::format("set_threads({}): a number of threads is 1 or more\nhelp: 0 takes all", threads));
  runtime::process_limit.store(threads);
}

ThreadLimit::ThreadLimit(int threads) {
  if (threads < 1) throw UserError(fmt::format("ThreadLimit({}): a number of threads is 1 or more", threads));
  before_ = std::exchange(runtime::thread_limit, threads);
}
ThreadLimit::~ThreadLimit() { runtime::thread_limit = before_; }

void set_thread_pool(ThreadPool pool) {
  runtime::outside_pool().store(pool ? std::make_shared<const ThreadPool>(std::move(pool)) : nullptr);
}

}  // namespace smelt
