// Programs in text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "api/specialize.hpp"
#include "frontends/language.hpp"
#include "smelt/program.hpp"

namespace smelt {

Program::Program(detail::AnyFunction any, std::vector<std::string> parameters)
    : any_(std::move(any)), parameters_(std::move(parameters)) {}

const std::vector<std::string>& Program::parameters() const { return parameters_; }

std::vector<Array> Program::checked(std::vector<Array> arguments) const {
  if (arguments.size() != parameters_.size())
    throw UserError(fmt::format("the program takes {} array{} ({}), not {}", parameters_.size(),
                                parameters_.size() == 1 ? "" : "s", fmt::join(parameters_, ", "), arguments.size()));
  return arguments;
}

std::vector<Array> Program::in_order(std::initializer_list<Named> arguments) const {
  std::vector<Array> arrays(parameters_.size());
  for (const auto& [name, array] : arguments) {
    const auto found = std::find(parameters_.begin(), parameters_.end(), name);
    if (found == parameters_.end())
      throw UserError(
          fmt::format("the program has no input '{}'\nhelp: it has {}", name, fmt::join(parameters_, ", ")));
    Array& place = arrays[static_cast<size_t>(found - parameters_.begin())];
    if (place.defined()) throw UserError(fmt::format("the input '{}' is given twice", name));
    place = array;
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    if (!arrays[i].defined()) throw UserError(fmt::format("the input '{}' is not given", parameters_[i]));
  return arrays;
}

namespace {

Program program_of(const std::string& source, std::vector<std::string> parameters, bool declared, Options options) {
  const std::string file = options.name;
  detail::Build build = [source, file, parameters](const std::vector<detail::InputType>& types,
                                                   const std::vector<int>&) {
    std::vector<lang::InputType> given;
    for (size_t i = 0; i < types.size(); ++i) given.push_back({parameters[i], types[i].dtype, types[i].shape});
    return detail::Traced{lang::parse_program(source, file, given), {}};
  };
  return Program(detail::AnyFunction(std::move(build), declared, std::move(options)), std::move(parameters));
}

void name_after(Options& options, const char* name) {
  if (options.name == Options{}.name) options.name = name;
}

}  // namespace

Program compile_text(const std::string& source, Options options) {
  name_after(options, "program");
  std::vector<std::string> parameters;
  bool open = false;
  for (const lang::DeclaredInput& input : lang::declared_inputs(source, options.name)) {
    parameters.push_back(input.name);
    open |= input.open;
  }
  // A program that says all there is to know can be checked now.
  if (!open) lang::parse_program(source, options.name);
  return program_of(source, std::move(parameters), true, std::move(options));
}

Program compile_text(const std::string& expression, std::vector<std::string> parameters, Options options) {
  name_after(options, "expression");
  if (!lang::declared_inputs(expression, options.name).empty())
    throw UserError("the program declares its inputs itself\nhelp: leave the list of parameters out");
  return program_of(expression, std::move(parameters), false, std::move(options));
}

}  // namespace smelt
