/// \file
/// What of smelt is public: everything marked SMELT_API is part of the library's interface,
/// everything else may change.
#pragma once

/// Marks every public class and function. A shared library is built with SMELT_BUILDING
/// defined, and with hidden visibility for all else; programs that use it need to define nothing.
#if defined(SMELT_STATIC)
#define SMELT_API
#elif defined(_WIN32) && defined(SMELT_BUILDING)
#define SMELT_API __declspec(dllexport)
#elif defined(_WIN32)
#define SMELT_API __declspec(dllimport)
#else
#define SMELT_API __attribute__((visibility("default")))
#endif
