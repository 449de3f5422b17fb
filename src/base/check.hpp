// Invariants of smelt itself: SMELT_CHECK(condition, "what {} went wrong", value) throws
// InternalError.
#pragma once

#include <fmt/format.h>

#include "smelt/error.hpp"

#define SMELT_CHECK(condition, ...)                                           \
  do {                                                                        \
    if (!(condition)) throw ::smelt::InternalError(fmt::format(__VA_ARGS__)); \
  } while (false)
