// Programs in text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "api/specialize.hpp"
#include "frontends/language.hpp"
#include "smelt/saved.hpp"

namespace smelt {

namespace detail {

static const char* name_of_kind(char kind) { return kind == 'l' ? "a list" : "an array"; }

Flat ProgramInputs::checked(Flat flat, const std::string& given) const {
  if (given.size() != names.size())
    throw UserError(fmt::format("the program takes {} array{} ({}), not {}", names.size(), names.size() == 1 ? "" : "s",
                                fmt::join(names, ", "), given.size()));
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != kinds[i])
      throw UserError(fmt::format("the input '{}' is {}, but the argument is {}", names[i], name_of_kind(kinds[i]),
                                  name_of_kind(given[i])));
  return flat;
}

Flat ProgramInputs::in_order(std::initializer_list<std::pair<std::string, Array>> arguments) const {
  std::map<std::string, Array> given;
  for (const auto& [name, array] : arguments)
    if (!given.emplace(name, array).second) throw UserError(fmt::format("the input '{}' is given twice", name));
  Flat flat;
  const auto take = [&](const std::string& name) {
    const auto found = given.find(name);
    if (found == given.end()) return false;
    flat.arrays.push_back(found->second);
    given.erase(found);
    return true;
  };
  std::string missing;
  for (size_t i = 0; i < names.size(); ++i) {
    if (kinds[i] == 'a') {
      if (!take(names[i]) && missing.empty()) missing = names[i];
      continue;
    }
    int count = 0;
    while (take(fmt::format("{}[{}]", names[i], count))) ++count;
    flat.lists.push_back(count);
  }
  for (size_t i = 0, list = 0; i < names.size(); ++i) {
    if (kinds[i] == 'a') continue;
    const std::string next = fmt::format("{}[{}]", names[i], flat.lists[list++]);
    const auto later = given.lower_bound(names[i] + "[");
    if (later != given.end() && later->first.starts_with(names[i] + "["))
      throw UserError(fmt::format("the input '{}' is not given, but '{}' is", next, later->first));
  }
  if (!given.empty())
    throw UserError(
        fmt::format("the program has no input '{}'\nhelp: it has {}", given.begin()->first, fmt::join(names, ", ")));
  if (!missing.empty()) throw UserError(fmt::format("the input '{}' is not given", missing));
  return flat;
}

AnyFunction load_checked(const std::string& path, const Options& options, const std::vector<SavedParameter>& parameters,
                         int results) {
  std::vector<SavedParameter> has;
  int returns = -1;
  AnyFunction loaded = AnyFunction::load(path, options, &has, &returns);
  const auto text = [](const std::vector<SavedParameter>& list) {
    std::vector<std::string> words;
    for (const SavedParameter& parameter : list) words.push_back(parameter.list ? "std::vector<Array>" : "Array");
    return fmt::format("({})", fmt::join(words, ", "));
  };
  if (text(has) != text(parameters))
    throw UserError(
        fmt::format("load_function(): the function of {} takes {}, not {}", path, text(has), text(parameters)));
  if (returns >= 0 && results >= 0 && returns != results)
    throw UserError(fmt::format("load_function(): the function of {} returns {} array{}, not {}", path, returns,
                                returns == 1 ? "" : "s", results));
  return loaded;
}

}  // namespace detail

void Program::save(const std::string& path, const std::vector<std::string>& targets) const {
  std::vector<detail::SavedParameter> saved;
  for (size_t i = 0; i < inputs_->names.size(); ++i) saved.push_back({inputs_->names[i], inputs_->kinds[i] == 'l'});
  any_.save(path, targets, saved, -1);
}

Program load_program(const std::string& path, const Options& options) {
  std::vector<detail::SavedParameter> has;
  int returns = -1;
  detail::AnyFunction loaded = detail::AnyFunction::load(path, options, &has, &returns);
  auto made = std::make_shared<detail::ProgramInputs>();
  constexpr std::string_view kNames[] = {"x", "y", "z"};
  for (const detail::SavedParameter& parameter : has) {
    const size_t i = made->names.size();
    made->names.push_back(!parameter.name.empty()           ? parameter.name
                          : has.size() <= std::size(kNames) ? std::string(kNames[i])
                                                            : fmt::format("x{}", i));
    made->kinds += parameter.list ? 'l' : 'a';
  }
  return Program(std::move(loaded), std::move(made));
}

namespace {

// The arrays of a call by the names that the program has for them: "x", or of a list "xs[0]",
// "xs[1]", ...
std::vector<std::string> names_of(const std::vector<lang::DeclaredInput>& inputs, const std::vector<int>& counts) {
  std::vector<std::string> names;
  size_t list = 0;
  for (const lang::DeclaredInput& input : inputs) {
    if (!input.list) {
      names.push_back(input.name);
      continue;
    }
    const int count = counts[list++];
    if (count == 0 || (input.count >= 0 && input.count != count))
      throw UserError(fmt::format("the input '{}' is a list of {}, but {} {} given", input.name,
                                  input.count < 0 ? "one array or more" : std::to_string(input.count), count,
                                  count == 1 ? "is" : "are"));
    for (int i = 0; i < count; ++i) names.push_back(fmt::format("{}[{}]", input.name, i));
  }
  return names;
}

Program program_of(const std::string& source, const std::vector<lang::DeclaredInput>& inputs, bool declared,
                   Options options) {
  const std::string file = options.name;
  detail::Build build = [source, file, inputs](const std::vector<detail::InputType>& types,
                                               const std::vector<int>& lists) {
    const std::vector<std::string> names = names_of(inputs, lists);
    std::vector<lang::InputType> given;
    for (size_t i = 0; i < types.size(); ++i) given.push_back({names[i], types[i].dtype, types[i].shape});
    return detail::Traced{lang::parse_program(source, file, given), {}, {}};
  };
  auto made = std::make_shared<detail::ProgramInputs>();
  for (const lang::DeclaredInput& input : inputs) {
    made->names.push_back(input.name);
    made->kinds += input.list ? 'l' : 'a';
  }
  options.parameters = made->names;
  detail::AnyFunction function(std::move(build), declared, std::move(options), made->kinds);
  return Program(std::move(function), std::move(made));
}

// Whether the language takes it for the name of an input.
bool is_name(const std::string& text) {
  try {
    const std::vector<lang::DeclaredInput> inputs =
        lang::declared_inputs(fmt::format("input {0}: f32[N]\nreturn {0}\n", text), "");
    return inputs.size() == 1 && inputs[0].name == text;
  } catch (const UserError&) {
    return false;
  }
}

void name_after(Options& options, const char* name) {
  if (options.name == Options{}.name) options.name = name;
}

}  // namespace

Program compile_text(const std::string& source, Options options) {
  name_after(options, "program");
  const std::vector<lang::DeclaredInput> inputs = lang::declared_inputs(source, options.name);
  const bool open = std::any_of(inputs.begin(), inputs.end(), [](const lang::DeclaredInput& input) {
    return input.open || (input.list && input.count < 0);
  });
  // A program that says all there is to know can be checked now.
  if (!open) lang::parse_program(source, options.name);
  return program_of(source, inputs, true, std::move(options));
}

Program compile_text(const std::string& expression, std::vector<std::string> parameters, Options options) {
  name_after(options, "expression");
  if (!lang::declared_inputs(expression, options.name).empty())
    throw UserError("the program declares its inputs itself\nhelp: leave the list of parameters out");
  std::vector<lang::DeclaredInput> inputs;
  for (std::string& name : parameters) {
    if (!is_name(name))
      throw UserError(fmt::format(
          "'{}' is no name for a parameter\nhelp: letters, digits and _, not a word of the language", name));
    const auto same = [&](const lang::DeclaredInput& input) { return input.name == name; };
    if (std::any_of(inputs.begin(), inputs.end(), same))
      throw UserError(fmt::format("two parameters are called '{}'", name));
    inputs.push_back({std::move(name)});
  }
  return program_of(expression, inputs, false, std::move(options));
}

}  // namespace smelt
