// The page of `smelt report`: what the compiler knows of a program as one JSON document, and the
// HTML file around it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/bench.hpp"
#include "report/depth.hpp"
#include "report/explain.hpp"
#include "report/profile.hpp"

namespace smelt::report {

// What the document is made from. What is absent shows as unknown.
struct PageInput {
  Explanation explanation;
  const Executable& executable;
  std::string text = {};                 // of the program
  std::string command = {};              // that wrote the page
  std::string problem = {};              // why there are no kernels, where they could not be built
  std::vector<std::string> inputs = {};  // "x: f32[4096,1024]"
  BenchTitle title = {};
  const Executable* unfused = nullptr;
  std::vector<Tensor> arrays = {};  // of the inputs, to run the program with
  std::vector<Tensor> fused_results = {}, unfused_results = {};
  std::optional<BenchResult> bench = {};
  std::optional<Depths> depths = {};
  std::optional<Profile> profile = {};
};

nlohmann::ordered_json page_json(const PageInput& input);
// Whether the arrays of a run are small enough for a page to show its values.
bool shows_values(const Graph& graph, const SizeBinding& sizes);
// The whole file. A page that is served has a version: it reloads when its address has another.
std::string page_html(const nlohmann::ordered_json& json, int version = 0);
// The same as files of their own, for several pages that share what they can: `style` and `script`
// are addresses.
std::string page_html(const nlohmann::ordered_json& json, const std::string& style, const std::string& script);
std::string page_style();
std::string page_script();

}  // namespace smelt::report
