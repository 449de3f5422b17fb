// What smelt reports while it compiles, and what it does without a compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <filesystem>
#include <mutex>

#include "api/node.hpp"
#include "runtime/child_program.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

// Collects the events of a test.
class Events : public ::testing::Test {
 protected:
  void SetUp() override {
    on_event([this](const Event& event) {
      const std::lock_guard lock(mutex_);
      all_.push_back(event);
    });
  }
  void TearDown() override {
    on_event({});
    set_cache({});
    set_fallback(Fallback::Error);
  }
  int count(Event::Kind kind) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::count_if(all_.begin(), all_.end(), [&](const Event& e) { return e.kind == kind; }));
  }

  const Array x_ = Array::from({1.f, 2.f, 3.f});
  std::mutex mutex_;
  std::vector<Event> all_;
};

// The CPU where no compiler is.
Device without_compiler() {
  Machine machine;
  machine.name = "cpu";
  machine.facts = runtime::read_cpu_facts();
  machine.missing = "libLLVM was not found";
  return Device(std::make_shared<const detail::DeviceState>(detail::DeviceState{machine}));
}

TEST(EventKinds, HaveNames) {
  EXPECT_STREQ(name_of(Event::Kind::Compiled), "compiled");
  EXPECT_STREQ(name_of(Event::Kind::CacheHit), "cache hit");
  EXPECT_STREQ(name_of(Event::Kind::CacheStored), "cache stored");
  EXPECT_STREQ(name_of(Event::Kind::Loaded), "loaded");
  EXPECT_STREQ(name_of(Event::Kind::FellBack), "fell back");
}

TEST_F(Events, TellOfCodeOnItsWay) {
  if (!Device::cpu().usable()) GTEST_SKIP() << Device::cpu().missing();
  const runtime::TemporaryFolder folder;
  set_cache({folder.path() + "/cache", std::nullopt});
  Options options;
  options.name = "scaled";
  const auto f = [](Array x) { return relu(x) * 3.25f; };
  compile(f, options)(x_);
  ASSERT_EQ(count(Event::Kind::Compiled), 1);
  EXPECT_EQ(count(Event::Kind::CacheStored), 1);
  EXPECT_EQ(count(Event::Kind::CacheHit), 0);
  EXPECT_EQ(count(Event::Kind::Loaded), 1);
  const Event& compiled = all_[0];
  EXPECT_EQ(compiled.kind, Event::Kind::Compiled);
  EXPECT_EQ(compiled.program, "scaled");
  EXPECT_EQ(compiled.kernel, "kernel 1 (relu, *)");
  EXPECT_EQ(compiled.device, "cpu");
  EXPECT_GT(compiled.ms, 0);
  EXPECT_GT(compiled.bytes, 100);
  all_.clear();
  compile(f, options)(x_);
  EXPECT_EQ(count(Event::Kind::Compiled), 0);
  EXPECT_EQ(count(Event::Kind::CacheHit), 1);
  EXPECT_EQ(count(Event::Kind::Loaded), 1);
  all_.clear();
  set_cache({"off", std::nullopt});
  compile(f, options)(x_);
  EXPECT_EQ(count(Event::Kind::Compiled), 1);
  EXPECT_EQ(count(Event::Kind::CacheStored), 0);
}

TEST_F(Events, ACallbackThatThrowsDisturbsNothing) {
  if (!Device::cpu().usable()) GTEST_SKIP() << Device::cpu().missing();
  on_event([](const Event&) { throw std::runtime_error("no"); });
  EXPECT_EQ(compile([](Array x) { return x + 7.5f; })(x_).to_vector<float>(), (std::vector<float>{8.5f, 9.5f, 10.5f}));
  EXPECT_TRUE(on_event({}));
  EXPECT_FALSE(on_event({}));
}

TEST_F(Events, WithoutACompilerIsAnErrorUnlessAllowed) {
  Options options;
  options.device = without_compiler();
  options.name = "doubled";
  const auto f = [](Array x) { return x * 2; };
  const std::string message = message_of([&] { compile(f, options)(x_); });
  EXPECT_NE(message.find("doubled cannot be compiled: libLLVM was not found"), std::string::npos) << message;
  EXPECT_NE(message.find("Options::fallback"), std::string::npos) << message;
  options.fallback = Fallback::Allow;
  EXPECT_EQ(compile(f, options)(x_).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(count(Event::Kind::FellBack), 0);
  options.fallback = Fallback::Warn;
  const auto warned = compile(f, options);
  EXPECT_EQ(warned(x_).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  ASSERT_EQ(count(Event::Kind::FellBack), 1);
  EXPECT_NE(all_.back().message.find("libLLVM was not found"), std::string::npos);
  warned(x_);
  EXPECT_EQ(count(Event::Kind::FellBack), 1) << "once for an executable, not for every call";
  const Explanation e = warned.explain(x_);
  EXPECT_NE(e.text().find("not compiled: there is no compiler"), std::string::npos) << e.text();
  EXPECT_EQ(e.text().find("lanes"), std::string::npos) << e.text();
  EXPECT_EQ(e.kernels.at(0).note, "");
  EXPECT_NE(e.json().find("\"interpreted\": true"), std::string::npos);
}

TEST_F(Events, TheProcessHasAPolicyToo) {
  Options options;
  options.device = without_compiler();
  const auto f = [](Array x) { return x * 2; };
  set_fallback(Fallback::Allow);
  EXPECT_EQ(fallback(), Fallback::Allow);
  EXPECT_EQ(compile(f, options)(x_).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  options.fallback = Fallback::Error;
  EXPECT_THAT(message_of([&] { compile(f, options)(x_); }),
              HasSubstr("function cannot be compiled: libLLVM was not found"));
}

}  // namespace
}  // namespace smelt
