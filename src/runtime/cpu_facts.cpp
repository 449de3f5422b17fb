#include <fmt/format.h>
#include <sched.h>
#include <sys/auxv.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

#include "runtime/cpu.hpp"
#include "smelt/error.hpp"

namespace smelt::runtime {

static std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// A number with a unit, as sysfs writes cache sizes: "48K", "32M", "1024".
static int64_t parse_bytes(const std::string& text) {
  const long long number = std::atoll(text.c_str());
  if (text.find('K') != std::string::npos) return number << 10;
  if (text.find('M') != std::string::npos) return number << 20;
  return number;
}

static void read_caches(CpuFacts& facts) {
  for (int i = 0; i < 16; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string level = first_line(folder + "level");
    if (level.empty()) return;
    const int64_t bytes = parse_bytes(first_line(folder + "size"));
    if (bytes <= 0 || first_line(folder + "type") == "Instruction") continue;
    if (level == "1") facts.l1_bytes = bytes;
    if (level == "2") facts.l2_bytes = bytes;
    if (level == "3") facts.l3_bytes = bytes;
  }
}

static std::string read_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

// Processors that a cgroup grants, rounded up; 0 when it sets no limit. `quota` and `period` are
// microseconds.
static int granted(double quota, double period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>(quota / period + 0.999);
}

static int cgroup_threads() {
  std::istringstream v2(first_line("/sys/fs/cgroup/cpu.max"));
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period) return quota == "max" ? 0 : granted(std::atof(quota.c_str()), period);
  return granted(std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").c_str()),
                 std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str()));
}

int usable_threads() {
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) threads = CPU_COUNT(&set);
  if (const int limit = cgroup_threads()) threads = std::min(threads, limit);
  return std::max(threads, 1);
}

static int64_t memory_bytes() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const long long limit = std::atoll(first_line(path).c_str());
    if (limit > 0) bytes = std::min<int64_t>(bytes, limit);
  }
  return bytes;
}

#if defined(__x86_64__)
static bool is_level(std::string_view name) {
  return name == "x86-64" || name == "x86-64-v2" || name == "x86-64-v3" || name == "x86-64-v4";
}
static std::string isa_of_level(std::string_view name) {
  return name == "x86-64-v4" ? "avx512" : name == "x86-64-v3" ? "avx2" : "sse2";
}

// A lesser processor than the one at hand, or nothing. LLVM would end the process on a name that it
// does not know, and the system on instructions that the machine does not have.
static std::string chosen_isa() {
  const char* chosen = std::getenv("SMELT_CPU");
  if (!chosen || !*chosen) return {};
  const std::string_view name = chosen;
  const bool known = is_level(name);
  // Not by the names of the levels, which not every compiler knows; f16c and lzcnt came with fma
  // and bmi.
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  const bool able = name == "x86-64-v4" ? v4 : name == "x86-64-v3" ? v3 : true;
  if (!known || !able)
    throw UserError(
        fmt::format("SMELT_CPU is \"{}\", {}\nhelp: one of x86-64, x86-64-v2, x86-64-v3, x86-64-v4", name,
                    known ? "whose instructions this machine does not have" : "no processor that smelt compiles for"));
  return isa_of_level(name);
}
#endif

static std::string read_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (const std::string chosen = chosen_isa(); !chosen.empty()) return chosen;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
  return "sse2";
#elif defined(__aarch64__)
  return "neon";
#else
  return "generic";
#endif
}

#if defined(__x86_64__)
// The processor's own description, but for the number of the core that answers.
static std::string describe_processor() {
  constexpr unsigned leaves[][2] = {{0, 0},    {1, 0},    {7, 0},    {7, 1},          {0xd, 1},       {0x14, 0},
                                    {0x19, 0}, {0x1e, 1}, {0x24, 0}, {0x80000001, 0}, {0x80000008, 0}};
  std::string text;
  for (const auto& leaf : leaves) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaf[0], leaf[1], &a, &b, &c, &d)) continue;
    if (leaf[0] == 1) b = 0;
    text += fmt::format("{:x}.{:x}:{:x}.{:x}.{:x}.{:x} ", leaf[0], leaf[1], a, b, c, d);
  }
  // What the system saves of the vector registers.
  unsigned low = 0, high = 0;
  if (__builtin_cpu_supports("avx")) asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return text + fmt::format("{:x}", low);
}
#elif defined(__aarch64__)
static std::string describe_processor() {
  return fmt::format("{} {:x} {:x}", first_line("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1"),
                     getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}
#else
static std::string describe_processor() { return read_name(); }
#endif

std::string cpu_identity() {
  const char* chosen = std::getenv("SMELT_CPU");
  return cpu_identity(chosen ? chosen : "");
}
std::string cpu_identity(const std::string& level) { return fmt::format("{} {}", level, describe_processor()); }

static int vector_bits_of(const std::string& isa) { return isa == "avx512" ? 512 : isa == "avx2" ? 256 : 128; }

CpuFacts cpu_facts_for(const std::string& level) {
#if defined(__x86_64__)
  if (is_level(level)) {
    CpuFacts facts = read_cpu_facts();
    facts.isa = isa_of_level(level);
    facts.vector_bits = vector_bits_of(facts.isa);
    facts.slow_division = facts.isa == "avx512" && __builtin_cpu_is("intel");
    facts.dot_bf16 = facts.dot_bytes = facts.tiles = false;
    return facts;
  }
#endif
  throw UserError(
      fmt::format("there is no processor \"{}\" to compile for\nhelp: on x86-64, one of x86-64, x86-64-v2, x86-64-v3, "
                  "x86-64-v4",
                  level));
}

CpuFacts read_cpu_facts() {
  CpuFacts facts;
  facts.name = read_name();
  facts.isa = read_isa();
  facts.vector_bits = vector_bits_of(facts.isa);
#if defined(__x86_64__)
  facts.slow_division =
      facts.isa == "avx512" && __builtin_cpu_is("intel");  // AMD's take half as long, hidden by other work
  const char* chosen = std::getenv("SMELT_CPU");
  const bool all = facts.isa == "avx512" && !(chosen && *chosen);
  facts.dot_bf16 = all && __builtin_cpu_supports("avx512bf16");
  facts.dot_bytes = all && __builtin_cpu_supports("avx512vnni");
  facts.tiles = all && missing_cpu_features("amx-bf16 amx-int8 amx-tile").empty();
#endif
  facts.threads = usable_threads();
  facts.memory_bytes = memory_bytes();
  read_caches(facts);
  return facts;
}

}  // namespace smelt::runtime
