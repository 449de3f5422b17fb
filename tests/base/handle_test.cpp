// Handles and callables of the interface, against those of the standard library.
#include "smelt/handle.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "smelt/callable.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

struct Counted {
  explicit Counted(int* left) : left(left) {}
  ~Counted() { ++*left; }
  int* left;
};

TEST(Handle, DestroysWithTheLastOne) {
  int left = 0;
  {
    detail::Handle<Counted> first(std::make_shared<Counted>(&left));
    detail::Handle<const Counted> second = first;
    detail::Handle<Counted> moved = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: what a move leaves behind
    EXPECT_EQ(moved.get(), second.get());
    moved = nullptr;
    EXPECT_EQ(left, 0);
    detail::Handle<const Counted>& alias = second;
    second = alias;
    EXPECT_EQ(second->left, &left);
  }
  EXPECT_EQ(left, 1);
}

TEST(Handle, TakesAnyPointerAndKeepsWhatHasNoAddress) {
  int left = 0;
  {
    const auto owner = std::make_shared<Counted>(&left);
    const Owner of_shared = owner, of_unique = std::make_unique<Counted>(&left);
    const Owner of_nothing = std::shared_ptr<void>(owner, nullptr), none = nullptr;
    EXPECT_EQ(of_shared.get(), owner.get());
    EXPECT_EQ(of_nothing.get(), nullptr);
    EXPECT_NE(of_nothing.shared(), nullptr);
    EXPECT_EQ(none.shared(), nullptr);
    EXPECT_EQ(owner.use_count(), 3);
  }
  EXPECT_EQ(left, 2);
}

TEST(Handle, CountsInSeveralThreads) {
  int left = 0;
  {
    const detail::Handle<Counted> shared(std::make_shared<Counted>(&left));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 10000; ++i) {
          const detail::Handle<Counted> copy = shared;
          EXPECT_EQ(copy->left, &left);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(left, 0);
  }
  EXPECT_EQ(left, 1);
}

int twice(int x) { return 2 * x; }

TEST(Callable, CallsLambdasFunctionsAndStdFunctions) {
  const Callable<int(int)> of_function = twice, of_lambda = [by = 3](int x) { return by * x; };
  const Callable<int(int)> of_std = std::function<int(int)>(twice);
  EXPECT_EQ(of_function(4), 8);
  EXPECT_EQ(of_lambda(4), 12);
  EXPECT_EQ(of_std(4), 8);
  const std::function<int(int)> back = of_lambda;
  EXPECT_EQ(back(5), 15);
  const Callable<void(std::string&)> drops_its_result = [](std::string& text) { return text.append("!").size(); };
  std::string text = "a";
  drops_its_result(text);
  EXPECT_EQ(text, "a!");
  const Callable<std::unique_ptr<int>(std::unique_ptr<int>)> moves = [](std::unique_ptr<int> p) { return p; };
  EXPECT_EQ(*moves(std::make_unique<int>(7)), 7);
}

TEST(Callable, CopiesShareTheObject) {
  const Callable<int()> counter = [n = 0]() mutable { return ++n; };
  const Callable<int()> copy = counter;  // NOLINT: a copy is what is tested
  EXPECT_EQ(counter(), 1);
  EXPECT_EQ(copy(), 2);
}

TEST(Callable, EmptyOnesSaySo) {
  int (*null)(int) = nullptr;
  const Callable<int(int)> empty, of_null = nullptr, of_pointer = null, of_std = std::function<int(int)>();
  for (const auto* callable : {&empty, &of_null, &of_pointer, &of_std}) {
    EXPECT_FALSE(*callable);
    try {
      (*callable)(1);
      ADD_FAILURE() << "an empty one was called";
    } catch (const UserError& e) {
      EXPECT_STREQ(e.what(), "a Callable without a function was called\nhelp: test it first: if (f) f()");
    }
  }
}

}  // namespace
}  // namespace smelt
