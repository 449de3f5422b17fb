// libFuzzer: any text is a graph or a UserError. A graph stays valid when it is simplified, and
// prints.
#include "frontends/language.hpp"

using namespace smelt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const IntExpr rows = IntExpr::symbol(Symbol::size("B")), columns = IntExpr::symbol(Symbol::size("C"));
  // For bare expressions; a program declares its own.
  const std::vector<lang::InputType> inputs = {{"x", DType::F32, {rows, columns}},
                                               {"y", DType::F32, {columns}},
                                               {"i", DType::I32, {rows}},
                                               {"b", DType::Bool, {rows, 8}}};
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const bool program = text.find("input ") != std::string::npos;
    const Graph graph = lang::parse_program(text, "fuzz.smelt", program ? std::vector<lang::InputType>() : inputs);
    verify(graph);
    const Graph simple = simplify(graph);
    verify(simple);
    print(simple);
  } catch (const UserError&) {
  }
  return 0;
}
