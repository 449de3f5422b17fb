// What an error says, without the line that names a place of this test (placed_message_of() has
// it) and without how to report an InternalError. Errors of another type pass through and fail the
// test.
#pragma once

#include <functional>
#include <smelt/error.hpp>
#include <string>

namespace smelt::testing {

template <class Error = UserError>
std::string placed_message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing thrown";
}

template <class Error = UserError>
std::string message_of(const std::function<void()>& f) {
  std::string message = placed_message_of<Error>(f);
  const size_t at = message.find("\n  at ");
  if (at != std::string::npos) message.erase(at, message.find('\n', at + 1) - at);
  const size_t report = message.find("\nThis is a bug in smelt");
  if (report != std::string::npos) message.erase(report);
  return message;
}

}  // namespace smelt::testing
