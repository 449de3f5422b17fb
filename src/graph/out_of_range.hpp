// The error of an index that the data has.
#pragma once

#include <string>
#include <utility>

#include "graph/graph.hpp"

namespace smelt {

class OutOfRangeError : public UserError {
 public:
  OutOfRangeError(std::string what, const Origin& origin, std::string help)
      : UserError(what + place_text(origin) + "\nhelp: " + help),
        origin_(origin),
        what_(std::move(what)),
        help_(std::move(help)) {}

  const Origin& origin() const { return origin_; }
  // The same, of an equal program at another place.
  OutOfRangeError at(const Origin& origin) const { return {what_, origin, help_}; }

 private:
  Origin origin_;
  std::string what_, help_;
};

}  // namespace smelt
