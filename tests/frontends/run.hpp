// Runs programs of the language by the reference interpreter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontends/language.hpp"
#include "support/arrays.hpp"

namespace smelt::lang {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

std::vector<double> numbers_of(const TensorView& tensor);

Graph graph_of(const std::string& text, const NamedTensors& inputs);
// All outputs. Inputs without a declaration in the text are taken as they are.
std::vector<Tensor> run(const std::string& text, const NamedTensors& inputs = {});
// The numbers of the first output.
std::vector<double> numbers(const std::string& text, const NamedTensors& inputs = {});
// The message of the error, empty when there is none.
std::string error_of(const std::string& text, const NamedTensors& inputs = {});

}  // namespace smelt::lang
