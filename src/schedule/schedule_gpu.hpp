// What the families of schedules for a GPU share. Internal to this folder.
#pragma once

#include <variant>

#include "schedule/local.hpp"
#include "schedule/parts.hpp"

namespace smelt::schedule {

constexpr int kWarp = 32;
constexpr int kWorkgroup = 256;
constexpr int kMostThreads = 1024;  // of a workgroup
constexpr int kMostCluster = 8;     // workgroups that every GPU with clusters takes
// Bytes of a row that one thread holds at most: enough accesses under way, and registers left to
// compute with.
constexpr int64_t kMostBytesPerThread = 128;
// Instructions of kernel IR, about, that a function writes out for the elements of one thread.
// NVRTC takes a millisecond for each eight of them.
constexpr int64_t kMostWrittenOutInstructions = 12000;

struct Widths {
  int smallest = 8, largest = 1;  // bytes of the elements read and written along the lanes
  int reads = 0, stored = 1;      // stored: bytes of the widest element written
  bool any = false;               // something is read or written along the lanes
  int64_t windows = 0;            // bytes that one element of the lanes reads of windows
};

// Along s.vector_axis.
Widths widths_of(const Graph& graph, const Schedule& s);
// Neighbours that one thread takes: accesses of 16 bytes, at least of the widest elements.
int lanes_of(const Widths& w);
// Also of an extent that is not known: the kernel requires a multiple then.
bool may_divide(int lanes, const IntExpr& extent);
// Whether some element is a reduction over a few elements of its own.
bool has_local(const Graph& graph, const Group& group);
// The most elements of a thread that stay below kMostWrittenOutInstructions in all passes together;
// at least 1.
int64_t most_written_out(const Graph& graph, const Group& group, const Domain& domain, const SizeBinding& sizes);
// At least 1.
int64_t steps_of(int64_t elements, int64_t step);

// schedule_gpu_row.cpp
std::variant<Schedule, Refusal> row_gpu(const Graph& graph, Domain domain, const Group& group, const Options& options);
// schedule_gpu_column.cpp
std::variant<Schedule, Refusal> column_gpu(const Graph& graph, Domain domain, const Group& group,
                                           const Options& options);

}  // namespace smelt::schedule
