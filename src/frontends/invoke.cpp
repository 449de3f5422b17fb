#include "frontends/invoke.hpp"

#include "frontends/call.hpp"

namespace smelt::lang {

Value invoke(GraphBuilder& builder, const Function& function, std::string_view written,
             const std::vector<Value>& arguments) {
  const Source nowhere;
  std::vector<Given> given;
  for (const Value& value : arguments) given.push_back({{}, {}, value});
  return Call(builder, nowhere, function, written, {}, given).build();
}

}  // namespace smelt::lang
