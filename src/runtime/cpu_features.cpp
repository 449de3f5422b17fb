// The extensions of a processor that compiled code may use, by the names that LLVM has for them.
#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "runtime/cpu.hpp"

namespace smelt::runtime {

#if defined(__x86_64__)

namespace {

enum Register : int { A, B, C, D };
enum class Saved : unsigned {
  Nothing = 0,
  Ymm = 0x6,
  Zmm = 0xe6,
  Tiles = 0x60000
};  // that the system must save, by its bits in XCR0

// What code generators use. `level`: the first of the levels x86-64 (1) to x86-64-v4 that has it;
// 9: none.
struct Feature {
  std::string_view name;
  unsigned leaf, subleaf;
  Register where;
  int bit, level;
  Saved saved = Saved::Nothing;
};
constexpr Feature kFeatures[] = {
    {"sse3", 1, 0, C, 0, 2},
    {"pclmul", 1, 0, C, 1, 9},
    {"ssse3", 1, 0, C, 9, 2},
    {"fma", 1, 0, C, 12, 3, Saved::Ymm},
    {"cx16", 1, 0, C, 13, 2},
    {"sse4.1", 1, 0, C, 19, 2},
    {"sse4.2", 1, 0, C, 20, 2},
    {"movbe", 1, 0, C, 22, 3},
    {"popcnt", 1, 0, C, 23, 2},
    {"aes", 1, 0, C, 25, 9},
    {"avx", 1, 0, C, 28, 3, Saved::Ymm},
    {"f16c", 1, 0, C, 29, 3, Saved::Ymm},
    {"bmi", 7, 0, B, 3, 3},
    {"avx2", 7, 0, B, 5, 3, Saved::Ymm},
    {"bmi2", 7, 0, B, 8, 3},
    {"avx512f", 7, 0, B, 16, 4, Saved::Zmm},
    {"avx512dq", 7, 0, B, 17, 4, Saved::Zmm},
    {"adx", 7, 0, B, 19, 9},
    {"avx512ifma", 7, 0, B, 21, 9, Saved::Zmm},
    {"avx512cd", 7, 0, B, 28, 4, Saved::Zmm},
    {"sha", 7, 0, B, 29, 9},
    {"avx512bw", 7, 0, B, 30, 4, Saved::Zmm},
    {"avx512vl", 7, 0, B, 31, 4, Saved::Zmm},
    {"avx512vbmi", 7, 0, C, 1, 9, Saved::Zmm},
    {"avx512vbmi2", 7, 0, C, 6, 9, Saved::Zmm},
    {"gfni", 7, 0, C, 8, 9},
    {"vaes", 7, 0, C, 9, 9, Saved::Ymm},
    {"vpclmulqdq", 7, 0, C, 10, 9, Saved::Ymm},
    {"avx512vnni", 7, 0, C, 11, 9, Saved::Zmm},
    {"avx512bitalg", 7, 0, C, 12, 9, Saved::Zmm},
    {"avx512vpopcntdq", 7, 0, C, 14, 9, Saved::Zmm},
    {"avx512vp2intersect", 7, 0, D, 8, 9, Saved::Zmm},
    {"avx512fp16", 7, 0, D, 23, 9, Saved::Zmm},
    {"avxvnni", 7, 1, A, 4, 9, Saved::Ymm},
    {"avx512bf16", 7, 1, A, 5, 9, Saved::Zmm},
    {"avxifma", 7, 1, A, 23, 9, Saved::Ymm},
    {"avxvnniint8", 7, 1, D, 4, 9, Saved::Ymm},
    {"avxneconvert", 7, 1, D, 5, 9, Saved::Ymm},
    {"avxvnniint16", 7, 1, D, 10, 9, Saved::Ymm},
    {"amx-bf16", 7, 0, D, 22, 9, Saved::Tiles},
    {"amx-tile", 7, 0, D, 24, 9, Saved::Tiles},
    {"amx-int8", 7, 0, D, 25, 9, Saved::Tiles},
    {"lzcnt", 0x80000001, 0, C, 5, 3},
    {"sse4a", 0x80000001, 0, C, 6, 9},
    {"xop", 0x80000001, 0, C, 11, 9, Saved::Ymm},
    {"fma4", 0x80000001, 0, C, 16, 9, Saved::Ymm},
    {"tbm", 0x80000001, 0, C, 21, 9},
};

unsigned saved_by_system() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kOsxsave = 1U << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsxsave)) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// Linux lets a process have the registers of tiles once it has asked for them.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // arch_prctl(2)
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

bool has(const Feature& f) {
  unsigned words[4] = {};
  if (!__get_cpuid_count(f.leaf, f.subleaf, &words[A], &words[B], &words[C], &words[D])) return false;
  const auto needed = static_cast<unsigned>(f.saved);
  return (words[f.where] >> f.bit & 1) && (saved_by_system() & needed) == needed &&
         (f.saved != Saved::Tiles || may_use_tiles());
}

int number_of_level(const std::string& level) {
  if (level == "x86-64") return 1;
  return level.starts_with("x86-64-v") ? std::atoi(level.c_str() + 8) : 0;
}

}  // namespace

std::string cpu_features(const std::string& level) {
  const int number = number_of_level(level);
  std::string text;
  for (const Feature& f : kFeatures)
    if (number > 0 ? f.level <= number : has(f)) text += fmt::format("{}{}", text.empty() ? "" : " ", f.name);
  return text;
}

std::string missing_cpu_features(const std::string& features) {
  std::istringstream words(features);
  std::string missing;
  for (std::string word; words >> word;) {
    bool found = false;
    for (const Feature& f : kFeatures) found = found || (f.name == word && has(f));
    if (!found) missing += (missing.empty() ? "" : " ") + word;
  }
  return missing;
}

#elif defined(__aarch64__)

// The system's words of bits, whose names are many.
std::string cpu_features(const std::string&) {
  return fmt::format("hwcap:{:x} hwcap2:{:x}", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

std::string missing_cpu_features(const std::string& features) {
  std::istringstream words(features);
  std::string missing;
  for (std::string word; words >> word;) {
    const size_t colon = word.find(':');
    const bool second = word.substr(0, colon) == "hwcap2";
    const unsigned long there = getauxval(second ? AT_HWCAP2 : AT_HWCAP);
    const unsigned long asked = colon == std::string::npos ? 0 : std::strtoul(word.c_str() + colon + 1, nullptr, 16);
    if (asked & ~there)
      missing += fmt::format("{}{}:{:x}", missing.empty() ? "" : " ", word.substr(0, colon), asked & ~there);
  }
  return missing;
}

#else

std::string cpu_features(const std::string&) { return read_cpu_facts().name; }
std::string missing_cpu_features(const std::string& features) {
  return features == read_cpu_facts().name ? "" : features;
}

#endif

}  // namespace smelt::runtime
