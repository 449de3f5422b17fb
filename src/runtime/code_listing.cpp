#include "runtime/code_listing.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>

#include "smelt/error.hpp"
#include "smelt/runtime.hpp"

// GDB's interface for code that is made at run time: it looks for these names, and stops in the
// function.
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;  // 0: nothing, 1: registered, 2: unregistered
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
// Weak: LLVM in the same process has them too, and a debugger knows one of each.
__attribute__((weak, visibility("default"), noinline)) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}
__attribute__((weak, visibility("default"))) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
}

namespace smelt {
namespace runtime {
namespace {

CodeListing listing_of_environment() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  const std::string perf = "," + value("SMELT_PERF") + ",", gdb = value("SMELT_GDB");
  return {perf.find(",map,") != std::string::npos, perf.find(",jitdump,") != std::string::npos,
          !gdb.empty() && gdb != "0"};
}

// A file that is appended to for the life of the process.
class ListingFile {
 public:
  ListingFile(std::string path, int flags) : path_(std::move(path)) {
    number_ = ::open(path_.c_str(), flags | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (number_ < 0) throw UserError(fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
  }
  ListingFile(const ListingFile&) = delete;
  ListingFile& operator=(const ListingFile&) = delete;
  ~ListingFile() { ::close(number_); }
  int number() const { return number_; }
  // What a full disk loses is a name in a profile.
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t put = ::write(number_, bytes.data(), bytes.size());
      if (put <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(put));
    }
  }

 private:
  std::string path_;
  int number_;
};

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// tools/perf/Documentation/jitdump-specification.txt of Linux.
class JitDump {
 public:
  JitDump() : file_(fmt::format("jit-{}.dump", ::getpid()), O_RDWR) {
    std::string header;
    append(header, uint32_t{0x4a695444});  // "JiTD"
    append(header, uint32_t{1});           // version
    append(header, uint32_t{40});          // bytes of this header
#if defined(__aarch64__)
    append(header, uint32_t{EM_AARCH64});
#else
    append(header, uint32_t{EM_X86_64});
#endif
    append(header, uint32_t{0});
    append(header, static_cast<uint32_t>(::getpid()));
    append(header, now());
    append(header, uint64_t{0});
    file_.write(header);
    // That this page of the file is mapped as code is how perf finds the file.
    page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    marker_ = ::mmap(nullptr, page_, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_.number(), 0);
  }
  JitDump(const JitDump&) = delete;
  JitDump& operator=(const JitDump&) = delete;
  ~JitDump() {
    if (marker_ != MAP_FAILED) ::munmap(marker_, page_);
  }

  void add(const std::string& name, const char* code, uint64_t bytes) {
    std::string record;
    append(record, uint32_t{0});  // JIT_CODE_LOAD
    append(record, static_cast<uint32_t>(56 + name.size() + 1 + bytes));
    append(record, now());
    append(record, static_cast<uint32_t>(::getpid()));
    append(record, static_cast<uint32_t>(::syscall(SYS_gettid)));
    append(record, reinterpret_cast<uint64_t>(code));
    append(record, reinterpret_cast<uint64_t>(code));
    append(record, bytes);
    append(record, number_++);
    record += name;
    record += '\0';
    record.append(code, bytes);
    file_.write(record);
  }

 private:
  static uint64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1000000000U + static_cast<uint64_t>(time.tv_nsec);
  }

  ListingFile file_;
  uint64_t number_ = 0;
  size_t page_ = 0;
  void* marker_ = MAP_FAILED;
};

// The listings of the process; never destroyed.
struct Listings {
  std::mutex mutex;
  std::unique_ptr<ListingFile> map;
  std::unique_ptr<JitDump> dump;
  bool gdb = false;

  Listings() {
    try {
      apply(listing_of_environment());
    } catch (const UserError&) {
      // A profile without names is no reason to compute nothing.
    }
  }
  void apply(const CodeListing& listing) {
    gdb = listing.gdb;
    if (!listing.perf_map) map.reset();
    if (!listing.perf_jitdump) dump.reset();
    if (listing.perf_map && !map)
      map = std::make_unique<ListingFile>(fmt::format("/tmp/perf-{}.map", ::getpid()), O_WRONLY);
    if (listing.perf_jitdump && !dump) dump = std::make_unique<JitDump>();
  }
};
Listings& listings() {
  static auto* one = new Listings;
  return *one;
}

// The object with the addresses of its sections in it, as a debugger reads it.
struct Listed {
  jit_code_entry entry{};
  std::string file;
};

std::unique_ptr<Listed> relocated(std::string_view file, const elf::Object& object,
                                  const std::function<char*(size_t)>& address) {
  auto listed = std::make_unique<Listed>();
  listed->file = file;
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  for (size_t s = 0; s < object.sections.size(); ++s) {
    if (!object.sections[s].loaded) continue;
    const auto at = reinterpret_cast<Elf64_Addr>(address(s));
    std::memcpy(listed->file.data() + header.e_shoff + s * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_addr), &at,
                sizeof at);
  }
  listed->entry.symfile_addr = listed->file.data();
  listed->entry.symfile_size = listed->file.size();
  return listed;
}

void register_with_gdb(Listed& listed) {
  jit_code_entry*& first = __jit_debug_descriptor.first_entry;
  listed.entry.next_entry = first;
  if (first) first->prev_entry = &listed.entry;
  first = &listed.entry;
  __jit_debug_descriptor.relevant_entry = &listed.entry;
  __jit_debug_descriptor.action_flag = 1;
  __jit_debug_register_code();
}

}  // namespace

void* list_code(const std::string& name, std::string_view file, const elf::Object& object,
                const std::function<char*(size_t)>& address) {
  Listings& all = listings();
  const std::lock_guard lock(all.mutex);
  if (!all.map && !all.dump && !all.gdb) return nullptr;
  for (const elf::Symbol& symbol : object.symbols) {
    if (ELF64_ST_TYPE(symbol.entry.st_info) != STT_FUNC || symbol.entry.st_shndx == SHN_UNDEF) continue;
    if (symbol.entry.st_shndx >= object.sections.size() || !object.sections[symbol.entry.st_shndx].code) continue;
    const elf::Section& section = object.sections[symbol.entry.st_shndx];
    const char* const code = address(symbol.entry.st_shndx) + symbol.entry.st_value;
    const uint64_t bytes = std::min(symbol.entry.st_size, section.header.sh_size - symbol.entry.st_value);
    const std::string shown = fmt::format("smelt::{}{}{}", name, name.empty() ? "" : " ", symbol.name);
    if (all.map) all.map->write(fmt::format("{:x} {:x} {}\n", reinterpret_cast<uint64_t>(code), bytes, shown));
    if (all.dump) all.dump->add(shown, code, bytes);
  }
  if (!all.gdb) return nullptr;
  std::unique_ptr<Listed> listed = relocated(file, object, address);
  register_with_gdb(*listed);
  return listed.release();
}

void unlist_code(void* listed) noexcept {
  const std::unique_ptr<Listed> gone(static_cast<Listed*>(listed));
  const std::lock_guard lock(listings().mutex);
  jit_code_entry& entry = gone->entry;
  if (entry.next_entry) entry.next_entry->prev_entry = entry.prev_entry;
  (entry.prev_entry ? entry.prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry.next_entry;
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_descriptor.action_flag = 2;
  __jit_debug_register_code();
}

}  // namespace runtime

void set_code_listing(const CodeListing& listing) {
  runtime::Listings& all = runtime::listings();
  const std::lock_guard lock(all.mutex);
  all.apply(listing);
}

}  // namespace smelt
