// libLLVM as a loader: text in, callable functions out.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "base/check.hpp"
#include "runtime/cpu.hpp"
#include "runtime/llvm_compile.hpp"
#include "runtime/llvm_library.hpp"

namespace smelt::runtime {

namespace {

using namespace llvm;

// One JIT for all modules. Their functions get a number in front, because kernels of different programs share names; numbers
// are used again when a module goes, so that the JIT's table of names stays small.
class LinkedCode {
 public:
  LinkedCode(std::shared_ptr<Api> api) : api_(std::move(api)) {
    if (Error error = api_->create_jit(&jit_, nullptr))
      throw InternalError("LLVM cannot start its JIT: " + take_message(*api_, error));
    // A failed look-up says only that it failed; the cause goes to the reporter, which prints unless it is replaced.
    api_->set_error_reporter(api_->jit_session(jit_), &LinkedCode::on_error, this);
    Generator symbols = nullptr;
    if (Error error = api_->create_process_symbols(&symbols, api_->jit_global_prefix(jit_), nullptr, nullptr))
      throw InternalError("LLVM cannot see the symbols of this process: " + take_message(*api_, error));
    api_->add_generator(api_->main_dylib(jit_), symbols);
  }
  LinkedCode(const LinkedCode&) = delete;
  LinkedCode& operator=(const LinkedCode&) = delete;
  ~LinkedCode() {
    if (Error error = api_->dispose_jit(jit_)) take_message(*api_, error);
  }

  int take_number() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return next_++;
    const int number = free_.back();
    free_.pop_back();
    return number;
  }
  void give_number(int number) {
    const std::lock_guard lock(mutex_);
    free_.push_back(number);
  }
  [[noreturn]] void fail(Error error) {
    std::string message = take_message(*api_, error);
    const std::lock_guard lock(mutex_);
    message += reports_;
    reports_.clear();
    throw InternalError("LLVM cannot link a kernel: " + message);
  }
  Tracker new_tracker() { return api_->create_tracker(api_->main_dylib(jit_)); }
  const Api& api() const { return *api_; }
  Jit jit() const { return jit_; }

 private:
  static void on_error(void* self, Error error) {
    auto& linked = *static_cast<LinkedCode*>(self);
    const std::string message = take_message(*linked.api_, error);
    const std::lock_guard lock(linked.mutex_);
    linked.reports_ += "\n" + message;
  }

  std::shared_ptr<Api> api_;
  Jit jit_ = nullptr;
  std::mutex mutex_;
  std::vector<int> free_;
  std::string reports_;
  int next_ = 0;
};

class LlvmModule final : public Module {
 public:
  LlvmModule(std::shared_ptr<LinkedCode> linked, const HostTarget& host, const std::string& text)
      : linked_(std::move(linked)), number_(linked_->take_number()), tracker_(linked_->new_tracker()) {
    try {
      link(host, text);
    } catch (...) {
      unload();
      throw;
    }
  }
  LlvmModule(const LlvmModule&) = delete;
  LlvmModule& operator=(const LlvmModule&) = delete;
  ~LlvmModule() override { unload(); }

  PhaseFunction function(const std::string& name) const override {
    const auto found = functions_.find(name);
    SMELT_CHECK(found != functions_.end(), "the module has no function {}", name);
    return found->second;
  }

 private:
  void link(const HostTarget& host, const std::string& text) {
    const Api& api = linked_->api();
    const std::string prefix = fmt::format("m{}.", number_);
    Compiled compiled = compile_text(api, host, text, kObject, prefix);
    if (Error error = api.add_object(linked_->jit(), tracker_, compiled.code)) linked_->fail(error);
    for (const std::string& name : compiled.functions) {
      uint64_t address = 0;
      if (Error error = api.look_up(linked_->jit(), &address, (prefix + name).c_str())) linked_->fail(error);
      functions_[name] = reinterpret_cast<PhaseFunction>(address);
    }
  }
  void unload() {
    const Api& api = linked_->api();
    if (Error error = api.remove_tracker(tracker_)) take_message(api, error);
    api.release_tracker(tracker_);
    linked_->give_number(number_);
  }

  std::shared_ptr<LinkedCode> linked_;
  int number_;
  Tracker tracker_;
  std::map<std::string, PhaseFunction> functions_;
};

class OpenedLlvm final : public Llvm {
 public:
  explicit OpenedLlvm(OpenedLibrary library)
      : library_(std::move(library)),
        host_(find_host_target(*library_.api)),
        linked_(std::make_shared<LinkedCode>(library_.api)) {}

  int version() const override { return static_cast<int>(library_.major); }
  std::string version_text() const override {
    return fmt::format("{}.{}.{}", library_.major, library_.minor, library_.patch);
  }
  std::string path() const override { return library_.path; }
  std::string triple() const override { return host_.triple; }
  std::string cpu_name() const override { return host_.cpu; }

  std::shared_ptr<Module> load(const std::string& ir_text) override {
    return std::make_shared<LlvmModule>(linked_, host_, ir_text);
  }
  std::string assembly(const std::string& ir_text) override {
    const Api& api = *library_.api;
    const Compiled compiled = compile_text(api, host_, ir_text, kAssembly, "");
    std::string text(api.buffer_start(compiled.code), api.buffer_size(compiled.code));
    api.dispose_buffer(compiled.code);
    return text;
  }

 private:
  OpenedLibrary library_;
  HostTarget host_;
  std::shared_ptr<LinkedCode> linked_;
};

}  // namespace

std::shared_ptr<Llvm> Llvm::open(std::string& why) {
  OpenedLibrary library = open_library(why);
  if (!library.api) return nullptr;
  return std::make_shared<OpenedLlvm>(std::move(library));
}

}  // namespace smelt::runtime
