#include "frontends/user_function.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "frontends/parser.hpp"

namespace smelt::lang {

const UserFunction& UserFunctions::add(const Source& source, UserFunction function) {
  const std::string_view name = function.name;
  const auto taken = [&](const std::string& by) {
    source.fail(function.span, fmt::format("{} {}", quoted(name), by), "choose another name");
  };
  if (function_named(name)) taken("is a function of the language already");
  if (dtype_named(name)) taken("is the name of a type");
  if (name == "inf" || name == "nan" || name == "pi") taken("is a number of the language");
  if (const UserFunction* other = find(name))
    taken(fmt::format("is defined already, on line {}", source.origin(other->span).line));
  function.order = functions_.size();
  return functions_.emplace(name, std::move(function)).first->second;
}

const UserFunction* UserFunctions::find(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

std::vector<std::string> UserFunctions::names() const {
  std::vector<std::string> all;
  for (const auto& [name, function] : functions_) all.emplace_back(name);
  return all;
}

std::string usage_of(const Source& source, const Program& program, const UserFunction& function) {
  if (function.c) return function.c->signature();
  std::vector<std::string> texts;
  for (const Formal& p : function.parameters)
    texts.push_back(shown(p.name) + (p.value == kAbsent ? "" : "=" + shown(source.text(program.at(p.value).span), 20)));
  return fmt::format("{}({})", shown(function.name), fmt::join(texts, ", "));
}

std::vector<Value> match(const Source& source, const Program& program, const UserFunction& function, Span call,
                         const std::vector<Given>& given) {
  const std::vector<Formal>& parameters = function.parameters;
  const auto usage = [&] { return usage_of(source, program, function); };
  std::vector<Value> values = function.defaults;
  std::vector<bool> filled(parameters.size());
  for (size_t g = 0; g < given.size(); ++g) {
    size_t p = g;
    if (!given[g].name.empty()) {
      p = static_cast<size_t>(
          std::find_if(parameters.begin(), parameters.end(), [&](const Formal& f) { return f.name == given[g].name; }) -
          parameters.begin());
      if (p == parameters.size())
        source.fail(given[g].span, fmt::format("{} has no parameter {}", shown(function.name), quoted(given[g].name)),
                    usage());
    }
    if (p >= parameters.size())
      source.fail(given[g].span,
                  fmt::format("{} takes at most {} argument{}", shown(function.name), parameters.size(),
                              parameters.size() == 1 ? "" : "s"),
                  usage());
    if (filled[p]) source.fail(given[g].span, fmt::format("{} is given twice", quoted(parameters[p].name)), usage());
    filled[p] = true;
    values[p] = given[g].value;
  }
  for (size_t p = 0; p < parameters.size(); ++p)
    if (!filled[p] && parameters[p].value == kAbsent)
      source.fail(call, fmt::format("{} needs {}", shown(function.name), quoted(parameters[p].name)), usage());
  return values;
}

}  // namespace smelt::lang
