// libFuzzer: any text is a scalar function in C or a UserError. On arrays and on numbers it becomes
// a valid graph, or says why not.
#include "frontends/c_function.hpp"
#include "graph/build_detail.hpp"

using namespace smelt;

namespace {

void apply(const lang::CFunction& function, bool on_numbers) {
  const IntExpr rows = IntExpr::symbol(Symbol::size("B"));
  GraphBuilder b;
  std::vector<lang::Value> arguments;
  for (const lang::CParameter& p : function.parameters())
    arguments.push_back(on_numbers ? lang::Value::integer(3) : lang::Value::array(b.input("x", p.dtype, {rows, 4})));
  const lang::Value result = function.build(b, arguments);
  const Graph graph = b.finish({lang::as_array(b, result)});
  verify(graph);
  const Graph simple = simplify(graph);
  verify(simple);
  print(simple);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const lang::Source source(std::string(reinterpret_cast<const char*>(data), size), "fuzz.c");
  try {
    const lang::CFunction function(source, {0, static_cast<uint32_t>(size)});
    function.signature();
    for (const bool on_numbers : {false, true}) try {
        apply(function, on_numbers);
      } catch (const UserBuildError&) {
      }
  } catch (const UserError&) {
  }
  return 0;
}
