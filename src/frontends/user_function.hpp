// Functions that a program defines itself, in the language or in C.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/ast.hpp"
#include "frontends/c_function.hpp"
#include "frontends/call.hpp"

namespace smelt::lang {

struct UserFunction {
  std::string_view name;
  Span span;                       // of its name, where it is defined
  size_t order;                    // among the program's functions: those before it are the ones that it may call
  std::vector<Formal> parameters;  // of C: without defaults
  std::vector<Value> defaults;     // per parameter; None where there is none
  const Definition* definition = nullptr;
  std::shared_ptr<const CFunction> c;  // in its place
};

class UserFunctions {
 public:
  // Throws when the name is taken.
  const UserFunction& add(const Source& source, UserFunction function);
  const UserFunction* find(std::string_view name) const;
  size_t count() const { return functions_.size(); }
  std::vector<std::string> names() const;

 private:
  std::unordered_map<std::string_view, UserFunction> functions_;
};

// "softclip(x, lo, hi=1)"
std::string usage_of(const Source& source, const Program& program, const UserFunction& function);
// A value for every parameter. Throws for too many, missing, doubled and unknown arguments.
std::vector<Value> match(const Source& source, const Program& program, const UserFunction& function, Span call,
                         const std::vector<Given>& given);

}  // namespace smelt::lang
