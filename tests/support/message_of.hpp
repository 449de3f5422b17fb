// What a user is told, without the line that names a place of this test; placed_message_of() has
// it.
#pragma once

#include <functional>
#include <smelt/error.hpp>
#include <string>

namespace smelt::testing {

inline std::string placed_message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing thrown";
}

inline std::string message_of(const std::function<void()>& f) {
  std::string message = placed_message_of(f);
  const size_t at = message.find("\n  at ");
  if (at != std::string::npos) message.erase(at, message.find('\n', at + 1) - at);
  return message;
}

}  // namespace smelt::testing
