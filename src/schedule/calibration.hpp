// Numbers of the cost model that were measured on the machine at hand, in place of the built-in
// ones of target_facts.cpp. `smelt devices --calibrate` measures them (report/calibrate.hpp).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.hpp"

namespace smelt::schedule {

struct Target;

// Rates are bytes read and written in a microsecond: by one thread of a CPU, or by a whole GPU.
enum class Fact : uint8_t {
  FirstCache,       // CPU: copies that fill half of the first level
  SecondCache,      // CPU: half of the second level
  SharedCache,      // a quarter of the last level
  FullCache,        // CPU: as large as the last level
  Memory,           // far larger than the last level
  FullCacheRead,    // CPU: arrays as large as the last level that are only read
  FullCacheWrite,   // CPU: only written
  MemoryRead,       // CPU: arrays far larger than that which are only read
  MemoryWrite,      // CPU: only written
  Threads,          // CPU: how many `all threads` are
  SharedByAll,      // CPU: SharedCache, by all threads together
  MemoryByAll,      // CPU: Memory, by all threads together
  Launch,           // microseconds of a kernel over nothing
  LaunchByAll,      // CPU: of one that all threads take part in
  Operations,       // simple operations on 32 bits, in a microsecond, of a thread or multiprocessor
  Wide,             // simple operations that one on 64 bits takes as long as
  Bf16,             // CPU: that an element of bf16 takes to be read or stored, besides one of f32
  F16,              // CPU: the same of f16
  Gather,           // CPU: instructions of a vector register that an element takes whose place the data names
  Scan,             // CPU: of an element of a running sum along a row
  ScanExtreme,      // CPU: of a running maximum
  Multiplications,  // CPU: of f32 in products of matrices, in a microsecond of a thread
};
inline constexpr size_t kFactCount = static_cast<size_t>(Fact::Multiplications) + 1;

// Every number by its place: the facts, then what each scalar operation on floats takes, in simple
// operations on 32 bits: of f32, then of f64.
inline constexpr size_t kNumbers = kFactCount + 2 * static_cast<size_t>(kOpCount);
constexpr size_t place_of(Fact fact) { return static_cast<size_t>(fact); }
constexpr size_t place_of(Op op, bool wide) { return kFactCount + 2 * static_cast<size_t>(op) + (wide ? 1 : 0); }

struct Calibration {
  std::array<double, kNumbers> numbers{};  // 0: not measured

  double of(Fact fact) const { return numbers[place_of(fact)]; }
  double of(Op op, bool wide) const { return numbers[place_of(op, wide)]; }
  bool operator==(const Calibration&) const = default;
};

// "memory", "exp.f32"; and what a number counts: "GB/s", "µs".
std::string name_of_number(size_t place);
std::string_view unit_of_number(size_t place);
// What the model takes for the number where nothing is measured.
double built_in(const Target& target, size_t place);

// Rounded, so that a file holds the number itself.
double rounded(double number);
// Why a measured number is not to be believed beside the built-in one; empty: it is.
std::string fault_of(const Target& target, size_t place, double number);

// A line for each number that was measured, and back: nothing for other texts.
std::string text_of(const Calibration& calibration);
std::optional<Calibration> calibration_of(std::string_view text);

}  // namespace smelt::schedule
