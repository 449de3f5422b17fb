// libLLVM as a compiler: text in, object code out. The library is opened when it is first needed.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/check.hpp"
#include "runtime/cpu.hpp"
#include "runtime/disk_cache.hpp"
#include "runtime/elf_loader.hpp"
#include "runtime/llvm_compile.hpp"
#include "runtime/llvm_hook.hpp"
#include "runtime/llvm_library.hpp"

namespace smelt::runtime {

namespace {

using namespace llvm;

// What is known of a library without opening it.
struct Found {
  std::string path, triple;
  unsigned major = 0, minor = 0, patch = 0;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// A text that changes when the file does; empty when there is none.
std::string file_identity(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) return "";
  return fmt::format("{} {} {}.{} {}", path, facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ino);
}

// Machines of different processors may share a home, and so a cache.
#if defined(__x86_64__)
constexpr const char* kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64";
#else
constexpr const char* kArchitecture = "other";
#endif

// Where the library was found depends on these. The system's list of libraries is written again
// whenever one is installed.
std::string search_key() {
  return fmt::format("libLLVM\n{}\n{}\n{}\n{}", kArchitecture, variable("SMELT_LLVM"), variable("LD_LIBRARY_PATH"),
                     file_identity("/etc/ld.so.cache"));
}

std::string note_of(const Found& found) {
  return fmt::format("{}\n{}\n{}\n{} {} {}\n", found.path, file_identity(found.path), found.triple, found.major,
                     found.minor, found.patch);
}

// Nothing when the note does not fit what is there now.
std::optional<Found> read_note(const std::string& note) {
  std::istringstream lines(note);
  Found found;
  std::string identity;
  std::getline(lines, found.path);
  std::getline(lines, identity);
  std::getline(lines, found.triple);
  if (!(lines >> found.major >> found.minor >> found.patch)) return std::nullopt;
  if (identity.empty() || identity != file_identity(found.path)) return std::nullopt;
  return found;
}

std::string version_of(const Found& found) { return fmt::format("{}.{}.{}", found.major, found.minor, found.patch); }

class FoundLlvm final : public Llvm {
 public:
  // `chosen_cpu`: a name that read_cpu_facts() or cpu_facts_for() has checked; empty for the
  // processor at hand.
  FoundLlvm(Found found, OpenedLibrary library, std::string chosen_cpu)
      : found_(std::move(found)), chosen_cpu_(std::move(chosen_cpu)), library_(std::move(library)) {
    identity_ = fmt::format("LLVM {} {}\n{}\n{}\n{}", version_text(), file_identity(found_.path), found_.triple,
                            passes(found_.major), cpu_identity(chosen_cpu_));
  }

  int version() const override { return static_cast<int>(found_.major); }
  std::string version_text() const override { return version_of(found_); }
  std::string path() const override { return found_.path; }
  std::string triple() const override { return found_.triple; }
  std::string cpu_name() const override { return opened().host.cpu; }
  const std::string& identity() const override { return identity_; }

  std::string compile(const std::string& ir_text) override {
    const Opened& o = opened();
    return compile_text(*o.library.api, o.host, ir_text, kObject);
  }
  std::string assembly(const std::string& ir_text) override {
    const Opened& o = opened();
    return compile_text(*o.library.api, o.host, ir_text, kAssembly);
  }

 private:
  struct Opened {
    OpenedLibrary library;
    HostTarget host;
  };
  const Opened& opened() const {
    const std::lock_guard lock(mutex_);
    if (opened_) return *opened_;
    std::string why;
    if (!library_) library_ = open_library_at(found_.path, why);
    if (!library_) throw UserError(fmt::format("libLLVM, found earlier, cannot be opened any more: {}", why));
    opened_.emplace(Opened{library_, find_host_target(*library_.api, chosen_cpu_)});
    return *opened_;
  }

  Found found_;
  std::string chosen_cpu_, identity_;
  mutable std::mutex mutex_;
  mutable OpenedLibrary library_;
  mutable std::optional<Opened> opened_;
};

// The LLVM of a compiler that the user gave.
class HookedLlvm final : public Llvm {
 public:
  HookedLlvm(Found found, std::string passes, std::shared_ptr<const LlvmCompiler> compiler, std::string chosen_cpu)
      : found_(std::move(found)), compiler_(std::move(compiler)), chosen_cpu_(std::move(chosen_cpu)) {
    identity_ = fmt::format("{} {}\n{}\n{}\n{}\n{}", compiler_->name, version_text(), file_identity(found_.path),
                            found_.triple, passes, cpu_identity(chosen_cpu_));
  }

  int version() const override { return static_cast<int>(found_.major); }
  std::string version_text() const override { return version_of(found_); }
  std::string path() const override { return found_.path; }
  std::string triple() const override { return found_.triple; }
  std::string cpu_name() const override { return chosen_cpu_.empty() ? compiler_->target().cpu : chosen_cpu_; }
  // The caller may hold the lock of the language that the compiler is written in.
  bool on_any_thread() const override { return false; }
  const std::string& identity() const override { return identity_; }
  std::string compile(const std::string& ir_text) override { return compiler_->compile(ir_text, chosen_cpu_, false); }
  std::string assembly(const std::string& ir_text) override { return compiler_->compile(ir_text, chosen_cpu_, true); }

 private:
  Found found_;
  std::shared_ptr<const LlvmCompiler> compiler_;
  std::string chosen_cpu_, identity_;
};

class AbsentLlvm final : public Llvm {
 public:
  AbsentLlvm(int version, std::string triple) : version_(version), triple_(std::move(triple)) {}
  int version() const override { return version_; }
  std::string version_text() const override { return std::to_string(version_); }
  std::string path() const override { return ""; }
  std::string triple() const override { return triple_; }
  std::string cpu_name() const override { return ""; }
  const std::string& identity() const override { return triple_; }
  std::string compile(const std::string&) override {
    throw UserError("the file of a saved function lacks code: another build of smelt saved it\nhelp: save it again");
  }
  std::string assembly(const std::string&) override {
    throw UserError("a function that was loaded from a file has no assembly\nhelp: compile it again where libLLVM is");
  }

 private:
  int version_;
  std::string triple_;
};

class LoadedModule final : public Module {
 public:
  LoadedModule(std::string_view object, const std::string& name) : object_(object, name) {}
  PhaseFunction function(const std::string& name) const override {
    void* const found = object_.function(name);
    SMELT_CHECK(found, "the module has no function {}", name);
    return reinterpret_cast<PhaseFunction>(found);
  }

 private:
  LoadedObject object_;
};

}  // namespace

std::shared_ptr<Llvm> Llvm::open(std::string& why, DiskCache* cache) {
#if defined(__x86_64__)
  return open_for(variable("SMELT_CPU"), why, cache);
#else
  return open_for("", why, cache);
#endif
}

std::shared_ptr<Llvm> Llvm::absent(int version, std::string triple) {
  return std::make_shared<AbsentLlvm>(version, std::move(triple));
}

// The compiler that the user gave, as a note has it; nothing when none fits.
static std::shared_ptr<Llvm> hooked_by_note(const std::shared_ptr<const LlvmCompiler>& compiler, const std::string& key,
                                            const std::string& level, DiskCache* cache) {
  if (!compiler || !cache) return nullptr;
  const auto note = cache->find(key, DiskCache::Kind::Note);
  const auto found = note ? read_note(*note) : std::nullopt;
  if (!found || found->path != compiler->path()) return nullptr;
  return std::make_shared<HookedLlvm>(*found, note->substr(note->rfind('\n') + 1), compiler, level);
}

// The same, which is opened and noted; nothing when it is not installed.
static std::shared_ptr<Llvm> hooked(const std::shared_ptr<const LlvmCompiler>& compiler, const std::string& key,
                                    const std::string& level, std::string& why, DiskCache* cache) {
  if (!compiler) return nullptr;
  const std::string path = compiler->path();
  if (path.empty()) {
    why += fmt::format("{}{} is not installed either: {}", why.empty() ? "" : "\n", compiler->name, compiler->install);
    return nullptr;
  }
  why.clear();  // of libLLVM, which is not needed
  const LlvmCompiler::Target target = compiler->target();
  const Found found{path, target.triple, static_cast<unsigned>(target.major), static_cast<unsigned>(target.minor),
                    static_cast<unsigned>(target.patch)};
  if (cache) cache->store(key, note_of(found) + target.passes, DiskCache::Kind::Note);
  return std::make_shared<HookedLlvm>(found, target.passes, compiler, level);
}

std::shared_ptr<Llvm> Llvm::open_for(const std::string& level, std::string& why, DiskCache* cache) {
  const std::string key = search_key();
  const std::shared_ptr<const LlvmCompiler> compiler = compiler_of_user();
  const std::string compiler_key = compiler ? key + "\n" + compiler->name : "";
  const bool by_name = compiler && variable("SMELT_LLVM") == compiler->name;
  if (auto noted = hooked_by_note(compiler, compiler_key, level, cache)) return noted;
  if (by_name) return hooked(compiler, compiler_key, level, why, cache);
  if (cache)
    if (const auto note = cache->find(key, DiskCache::Kind::Note))
      if (auto found = read_note(*note)) return std::make_shared<FoundLlvm>(*found, OpenedLibrary(), level);
  OpenedLibrary library = open_library(why);
  if (!library && !variable("SMELT_LLVM").empty()) return nullptr;
  if (!library) return hooked(compiler, compiler_key, level, why, cache);
  const Found found{library.path, default_triple(*library.api), library.major, library.minor, library.patch};
  if (cache) cache->store(key, note_of(found), DiskCache::Kind::Note);
  return std::make_shared<FoundLlvm>(found, std::move(library), level);
}

std::shared_ptr<Module> Llvm::load(const std::string& ir_text) { return load_object(compile(ir_text)); }

std::shared_ptr<Module> load_object(std::string_view object, const std::string& name) {
  return std::make_shared<LoadedModule>(object, name);
}

}  // namespace smelt::runtime
