// Helpers: small functions in front of a module's own. A module has those that its text calls, and
// those that these call; the compiler would read the others for nothing, a millisecond of them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::emit {

struct Definition {
  std::vector<std::string> names;       // that it defines; overloads are entries of one name
  std::string text;                     // with the comment above it, without its last newline; empty: a blank line
  std::vector<std::string> needs = {};  // the helpers that it calls, which come before it
  bool always = names.empty();          // every module has it
};
using HelperList = std::vector<Definition>;

void append(HelperList& list, const HelperList& more);

// The helpers that a text calls. Who spells a call takes the name from here: used("smaller").
class UsedHelpers {
 public:
  std::string_view operator()(std::string_view name) { return *names_.emplace(name).first; }
  void add(const UsedHelpers& other) { names_.insert(other.names_.begin(), other.names_.end()); }
  bool contains(const std::string& name) const { return names_.count(name) > 0; }
  const std::set<std::string>& names() const { return names_; }

 private:
  std::set<std::string> names_;
};

// The entries of the list that a text needs, in its order.
std::string text_of(const HelperList& list, UsedHelpers used);

}  // namespace smelt::emit
