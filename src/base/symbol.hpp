// The symbols of integer expressions. The kind says what a symbol is; its text is for people.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace smelt {

// A value as cheap as a pointer: symbols of one kind and name are one entry of a table that all
// threads share and that only grows. Symbols are ordered by their text, so output does not depend
// on the order in which they were made.
class Symbol {
 public:
  enum class Kind : uint8_t {
    Size,        // "B": a size of the user's program
    Loop,        // "%i0": the variable of a loop
    Local,       // "%v7": the value of local 7 of a kernel
    Launch,      // "%parts": computed for a launch, from the sizes of the call
    Multiplier,  // "%multiplier0": the same, for divisions by an expression of sizes
    Stride,      // "%stride3_1": of param 3 along dimension 1, an argument of the launch
    Window,      // "%w4_1": the position of an element of reduction 4 along axis 1
    Gathered,    // "%picked5": an index that is read from memory, where no local holds it yet
    Proof,       // "%0B": stands for an expression inside one proof
  };

  static Symbol size(std::string_view name);
  // "...": the dimensions that "..." stands for in a type; "...1": in that of item 1 of a list.
  static Symbol open_size(int64_t item);
  static Symbol loop(std::string_view name);
  static Symbol local(int32_t id);
  static Symbol launch(std::string_view name);
  static Symbol multiplier(size_t number);
  static Symbol stride(int param, int dimension);
  static Symbol window(int32_t reduction, int axis);
  static Symbol gathered(size_t number);
  static Symbol proof(std::string_view name);

  Kind kind() const { return entry_->kind; }
  bool is_size() const { return kind() == Kind::Size; }
  bool is_open_size() const { return is_size() && entry_->numbers[0]; }
  bool is_local() const { return kind() == Kind::Local; }
  const std::string& name() const { return entry_->name; }  // "B", "i0", "v7", "stride3_1"
  const std::string& str() const { return entry_->text; }   // the same with a percent sign, except for sizes

  int32_t local_id() const { return number(Kind::Local, 0); }
  int stride_param() const { return number(Kind::Stride, 0); }
  int stride_dimension() const { return number(Kind::Stride, 1); }

  friend bool operator==(Symbol a, Symbol b) { return a.entry_ == b.entry_; }
  friend bool operator<(Symbol a, Symbol b) { return a.entry_ != b.entry_ && a.is_before(b); }

 private:
  struct Entry {
    Kind kind;
    std::string name, text;
    std::array<int, 2> numbers;  // that the name is made of
  };
  explicit Symbol(const Entry* entry) : entry_(entry) {}
  static Symbol of(Kind kind, std::string name, std::array<int, 2> numbers = {});
  int number(Kind kind, size_t n) const;
  bool is_before(Symbol other) const;

  const Entry* entry_;
};

}  // namespace smelt

template <>
struct fmt::formatter<smelt::Symbol> : fmt::formatter<fmt::string_view> {
  format_context::iterator format(smelt::Symbol symbol, format_context& context) const;
};
