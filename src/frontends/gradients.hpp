// Gradients of values of the language.
#pragma once

#include <vector>

#include "frontends/value.hpp"

namespace smelt::lang {

// The value with every array of it as a node of its own; these are appended. Numbers become f32.
// Throws UserBuildError for what gradients cannot be by.
Value aliased(GraphBuilder& b, const Value& value, std::vector<NodeId>& nodes);
// The arrays of a value that gradients are by.
std::vector<NodeId> arrays_of(GraphBuilder& b, const Value& value);
// The nodes from `next` on in the places of the arrays of the value.
Value of_shape(const Value& value, std::vector<NodeId>::const_iterator& next);

}  // namespace smelt::lang
