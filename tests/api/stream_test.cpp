// The caller's streams, events between them, and limits of the memory of a GPU: on a driver over
// host memory, which runs queued work as late as it may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include "fake_gpu.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;

class Streams : public testing::FakeGpu {
 protected:
  void* stream_of_last() const { return fake_->launches.back().stream; }
};

TEST_F(Streams, CarryEveryKindOfCall) {
  const Stream mine = Stream::create(*gpu_), own = Stream::current(*gpu_);
  EXPECT_NE(mine.handle(), own.handle());
  const Array x = Array::from({1.f, 2.f, 3.f, 4.f}).to(*gpu_), out = Array::from({0.f, 0.f, 0.f, 0.f}).to(*gpu_);
  const auto f = compile([](Array a) { return a * 2 + 1; });
  const Program program = compile_text("x * 3", {"x"});
  f(x), program(x);
  const auto check = [&](void* expected) {
    f(x);
    gpu_->synchronize();
    EXPECT_EQ(stream_of_last(), expected) << "a call";
    f.into(out)(x);
    gpu_->synchronize();
    EXPECT_EQ(stream_of_last(), expected) << "into";
    program({{"x", x}});
    gpu_->synchronize();
    EXPECT_EQ(stream_of_last(), expected) << "a program";
    Array y = x - 5;
    eval(y);
    gpu_->synchronize();
    EXPECT_EQ(stream_of_last(), expected) << "eval";
    const Bound bound = f.bind(x);
    bound();
    bound.synchronize();
    EXPECT_EQ(stream_of_last(), expected) << "a bound call";
  };
  check(own.handle());
  {
    const StreamScope scope(mine);
    EXPECT_EQ(Stream::current(*gpu_).handle(), mine.handle());
    check(mine.handle());
    {
      const StreamScope inner(own);
      check(own.handle());
    }
    check(mine.handle());
  }
  check(own.handle());
}

TEST_F(Streams, ABoundCallKeepsItsStream) {
  const Stream mine = Stream::create(*gpu_);
  const Array x = Array::from({1.f, 2.f}).to(*gpu_);
  const auto f = compile([](Array a) { return a * 2 + 1; });
  std::optional<Bound> bound;
  {
    const StreamScope scope(mine);
    bound = f.bind(x);
  }
  (*bound)();
  bound->synchronize();
  EXPECT_EQ(stream_of_last(), mine.handle());
}

TEST_F(Streams, TheCallersHandlesAreTaken) {
  const Stream mine = Stream::create(*gpu_), same(*gpu_, mine.handle());
  const StreamScope scope(same);
  const Array x = Array::from({1.f, 2.f}).to(*gpu_);
  compile([](Array a) { return a * 2 + 1; })(x);
  mine.synchronize();
  EXPECT_EQ(stream_of_last(), mine.handle());
  const Stream standard(*gpu_, nullptr);
  EXPECT_EQ(standard.handle(), nullptr);
}

TEST_F(Streams, EventsOrderThem) {
  const Stream a = Stream::create(*gpu_), b = Stream::create(*gpu_);
  const Array x = Array::from({1.f, 2.f}).to(*gpu_);
  const auto f = compile([](Array v) { return v * 2 + 1; });
  f(x);
  gpu_->synchronize();
  fake_->launches.clear();
  const StreamEvent done(*gpu_), start(*gpu_, true), end(*gpu_, true);
  Array first, second;
  start.record(a);
  {
    const StreamScope scope(a);
    first = f(x);
  }
  done.record(a);
  end.record(a);
  done.wait(b);
  {
    const StreamScope scope(b);
    second = f(first);
  }
  EXPECT_TRUE(fake_->launches.empty()) << "nothing has waited yet";
  b.synchronize();
  ASSERT_EQ(fake_->launches.size(), 2u) << "b waited for what is in a";
  EXPECT_EQ(fake_->launches[0].stream, a.handle());
  EXPECT_EQ(fake_->launches[1].stream, b.handle());
  done.synchronize();
  end.synchronize();
  EXPECT_GE(end.elapsed_ms(start), 0);
}

TEST_F(Streams, ADeviceWaitsForAllOfThem) {
  const Stream a = Stream::create(*gpu_), b = Stream::create(*gpu_);
  const Array x = Array::from({1.f, 2.f}).to(*gpu_);
  const auto f = compile([](Array v) { return v * 2 + 1; });
  f(x);
  gpu_->synchronize();
  fake_->launches.clear();
  std::vector<Array> results;  // freeing memory waits too
  for (const Stream& stream : {a, b}) {
    const StreamScope scope(stream);
    results.push_back(f(x));
  }
  EXPECT_TRUE(fake_->launches.empty());
  gpu_->synchronize();
  EXPECT_EQ(fake_->launches.size(), 2u);
  Device::cpu().synchronize();
}

TEST_F(Streams, EventsOfKernelsNameTheGpu) {
  std::vector<Event> events;
  on_event([&](const Event& event) { events.push_back(event); });
  set_threads(1);  // so that they come one after another
  Options options;
  options.name = "doubled";
  const Array x = Array::from({1.f, 2.f}).to(*gpu_);
  set_cache({"off", std::nullopt});
  compile([](Array v) { return relu(v) * 2; }, options)(x);
  set_cache({});
  set_threads(0);
  on_event({});
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events.front().kind, Event::Kind::Compiled);
  EXPECT_EQ(events.back().kind, Event::Kind::Loaded);
  for (const Event& event : events) {
    EXPECT_EQ(event.program, "doubled");
    EXPECT_EQ(event.device, "cuda");
    EXPECT_EQ(event.kernel, "kernel 1 (relu, *)");
    EXPECT_GT(event.bytes, 0);
  }
}

TEST_F(Streams, OtherDevicesHaveNone) {
  EXPECT_EQ(message_of([] { Stream::create(Device::cpu()); }),
            "Stream::create(): cpu has no streams of CUDA\nhelp: Device::cuda() has");
  EXPECT_THAT(message_of([&] { (void)StreamEvent{Device::cpu()}; }),
              HasSubstr("StreamEvent: cpu has no streams of CUDA"));
  EXPECT_THAT(message_of([&] { (void)Stream(Device::cpu(), nullptr); }),
              HasSubstr("Stream: cpu has no streams of CUDA"));
}

TEST_F(Streams, MemoryOfAGpuIsLimitedAndTheCallersToGive) {
  const Array x = Array::from(std::vector<float>(1000, 1.f)).to(*gpu_);
  EXPECT_EQ(memory_use(*gpu_).bytes, 4096);  // in whole pieces of 256
  set_memory_limit(*gpu_, 7000);
  const std::string message = message_of([&] { Array::from(std::vector<float>(1000, 2.f)).to(*gpu_); });
  EXPECT_NE(
      message.find("4096 more bytes would pass the limit of 7000 bytes for memory of GPU 0, of which 4096 are in use"),
      std::string::npos)
      << message;
  set_memory_limit(*gpu_, 0);
  // What calls and dropped arrays have left is given up for arrays.
  Options options;
  options.device = *gpu_;
  compile([](Array v) { return v * 2 + 1; }, options)(Array::from(std::vector<float>(100000, 1.f)));
  EXPECT_GE(memory_use(*gpu_).bytes, 4000 + 800000);
  set_memory_limit(*gpu_, 900000);
  {
    const Array y = Array::from(std::vector<float>(220160, 2.f)).to(*gpu_);
    EXPECT_EQ(memory_use(*gpu_).bytes, 4096 + 880640);
  }
  EXPECT_EQ(memory_use(*gpu_).bytes, 4096 + 880640) << "kept for the next one";
  set_memory_limit(*gpu_, 0);
  void* const library = dlopen(SMELT_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  const auto allocate = reinterpret_cast<int (*)(uint64_t*, size_t)>(dlsym(library, "cuMemAlloc_v2"));
  const auto release = reinterpret_cast<int (*)(uint64_t)>(dlsym(library, "cuMemFree_v2"));
  std::vector<void*> given;
  size_t returned = 0;
  set_allocator(*gpu_, {[&](size_t bytes, size_t alignment) {
                          EXPECT_EQ(alignment, 256u);
                          uint64_t address = 0;
                          EXPECT_EQ(allocate(&address, bytes), 0);
                          given.push_back(reinterpret_cast<void*>(address));
                          return given.back();
                        },
                        [&](void* memory, size_t bytes) {
                          returned += bytes;
                          EXPECT_EQ(release(reinterpret_cast<uint64_t>(memory)), 0);
                        }});
  {
    const Array y = Array::from(std::vector<float>(1000, 2.f)).to(*gpu_);
    ASSERT_EQ(given.size(), 1u);
    EXPECT_EQ(y.data(), given[0]);
    EXPECT_EQ(memory_use(*gpu_).bytes, 8096);
  }
  EXPECT_EQ(returned, 4000u);
}

}  // namespace
}  // namespace smelt
