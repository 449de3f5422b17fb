/// \file
/// Places in the caller's source, for messages.
#pragma once

namespace smelt {

/// A location in the caller's source. Functions take one as their last argument, whose default is
/// the place of the call; messages name it.
class Where {
 public:
  /// Where it is called; as a default argument, where the function is called that has it.
  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return Where(file, line);
  }
  constexpr const char* file() const { return file_; }  ///< as the compiler was given it
  constexpr int line() const { return line_; }          ///< from 1

 private:
  constexpr Where(const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

}  // namespace smelt
