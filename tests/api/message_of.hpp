// What a user is told.
#pragma once

#include <functional>
#include <smelt/smelt.hpp>
#include <string>

namespace smelt::testing {

inline std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "nothing thrown";
}

}  // namespace smelt::testing
