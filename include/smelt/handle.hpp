/// \file
/// Shared ownership without the header of smart pointers, whose streams cost every file that
/// includes it 0.1 s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "smelt/export.hpp"

namespace smelt {

namespace detail {

// What handles share.
struct SMELT_API Shared {
  virtual ~Shared();
  int64_t handles = 1;
};
SMELT_API void retain(Shared* shared) noexcept;
SMELT_API void release(Shared* shared) noexcept;  // the last one deletes it

// An object that the last handle destroys.
template <class Object>
struct Holding final : Shared {
  explicit Holding(Object o) : object(std::move(o)) {}
  Object object;
};

// A std::shared_ptr<T> for the interface, made from any smart pointer.
template <class T>
class Handle {
 public:
  Handle() = default;
  Handle(std::nullptr_t) {}  // NOLINT: meant to convert
  // Takes over a count of `shared`.
  Handle(T* value, Shared* shared) : value_(value), shared_(shared) {}
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_convertible_v<U*, T*>)
      Handle(const Handle<U>& other)  // NOLINT: meant to convert
      : Handle(other.get(), other.shared()) {
    if (shared_) retain(shared_);
  }
  template <class Pointer>
  requires(
      !requires(const Pointer& p) { p.shared(); } && requires(const Pointer& p) { static_cast<T*>(p.get()); })
      Handle(Pointer pointer)  // NOLINT: meant to convert
      : value_(pointer.get()), shared_(new Holding<Pointer>(std::move(pointer))) {}
  Handle(const Handle& other) noexcept : value_(other.value_), shared_(other.shared_) {
    if (shared_) retain(shared_);
  }
  Handle(Handle&& other) noexcept
      : value_(std::exchange(other.value_, nullptr)), shared_(std::exchange(other.shared_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(value_, other.value_);
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Handle() {
    if (shared_) release(shared_);
  }

  T* get() const { return value_; }
  T* operator->() const { return value_; }
  template <class U = T>
  U& operator*() const {
    return *value_;
  }
  explicit operator bool() const { return value_ != nullptr; }
  Shared* shared() const { return shared_; }
  friend bool operator==(const Handle& a, const Handle& b) { return a.value_ == b.value_; }
  friend bool operator==(const Handle& a, std::nullptr_t) { return a.value_ == nullptr; }

 private:
  T* value_ = nullptr;
  Shared* shared_ = nullptr;
};

}  // namespace detail

/// What keeps memory alive (Array::adopt): any smart pointer, a std::shared_ptr<void> for example,
/// or nullptr.
using Owner = detail::Handle<void>;

}  // namespace smelt
