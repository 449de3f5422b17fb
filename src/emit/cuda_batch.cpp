// Batches: one function in which every workgroup finds its part in a table, and runs that part's
// body.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/cuda_text.hpp"
#include "kernel/text.hpp"

namespace smelt::emit {
namespace {

using kernel::Kernel;
using kernel::Param;
using kernel::ParamKind;
using BodyForm = kernel::Variant::Form;

// Whether all parts of a body have the same array or number in a param.
bool is_common(const Kernel& batch, int body, size_t param) {
  const kernel::Part* first = nullptr;
  for (const kernel::Part& part : batch.parts) {
    if (part.body != body) continue;
    if (!first) first = &part;
    if (part.values[param] < 0 || part.values[param] != first->values[param]) return false;
  }
  return first != nullptr;
}

BatchTable table_of(const Kernel& batch, int64_t bytes) {
  BatchTable table;
  for (size_t b = 0; b < batch.bodies.size(); ++b) {
    const Kernel& body = batch.bodies[b];
    std::vector<int> place;
    int words = 0;
    for (size_t p = 0; p < body.params.size(); ++p) {
      const Param& param = body.params[p];
      if (param.kind == ParamKind::Size && param.symbol == kernel::kLaunchStream)
        place.push_back(BatchTable::kNowhere);  // a GPU does not ask
      else if (param.kind != ParamKind::Size && is_common(batch, static_cast<int>(b), p))
        place.push_back(-1 - table.commons++);
      else
        place.push_back(words++);
    }
    table.words = std::max(table.words, words);
    table.place.push_back(std::move(place));
  }
  table.capacity = static_cast<int>(std::min<size_t>(batch.parts.size(), 65535));
  while (table.capacity > 1 && table.bytes() > bytes) --table.capacity;
  return table;
}

std::string table_text(const BatchTable& t) {
  std::string text = "\nstruct Parts {\n";
  if (t.commons) text += fmt::format("  unsigned long long common[{}];\n", t.commons);
  if (t.words) text += fmt::format("  unsigned long long words[{}];\n", t.capacity * t.words);
  text += fmt::format(
      "  unsigned first[{0}], count, shift;\n  unsigned short near[{1}];\n  unsigned char body[{0}];\n}};\n",
      t.capacity, BatchTable::kNear + 1);
  return text;
}

// The part of this workgroup: an entry of `near` says about where, the rest is halved.
constexpr const char* kFind = R"(  const unsigned hint = blockIdx.x >> parts.shift;
  unsigned part = parts.near[hint], last = parts.near[hint + 1];
  while (part < last) {
    const unsigned middle = (part + last + 1) / 2;
    if (parts.first[middle] <= blockIdx.x) part = middle; else last = middle - 1;
  }
  const unsigned workgroup = blockIdx.x - parts.first[part];
)";

// The call of a body with what the table has for it. An address is loaded as one, so that the
// compiler knows that it is one of the device's memory.
std::string call_text(const Kernel& body, const BatchTable& table, size_t b, const std::string& function) {
  std::string arguments;
  for (size_t p = 0; p < body.params.size(); ++p) {
    const Param& param = body.params[p];
    const int place = table.place[b][p];
    const std::string word = place >= 0 ? fmt::format("parts.words[part * {} + {}]", table.words, place)
                                        : fmt::format("parts.common[{}]", -1 - place);
    if (place == BatchTable::kNowhere)
      arguments += "0";
    else if (param.kind == ParamKind::Size)
      arguments += fmt::format("(long long){}", word);
    else if (param.kind == ParamKind::Scalar)
      arguments += fmt::format("*(const {}*)&{}", c_like::memory_type(cuda_spellings(), param.dtype), word);
    else
      arguments += fmt::format("*({}* const*)&{}", c_like::memory_type(cuda_spellings(), param.dtype), word);
    arguments += ", ";
  }
  return fmt::format("{}({}workgroup)", function, arguments);
}

// For each body the first function that is at least as general, else its last.
std::vector<const c_like::Printed*> chosen(const std::vector<std::vector<c_like::Printed>>& bodies, BodyForm form) {
  std::vector<const c_like::Printed*> result;
  for (const std::vector<c_like::Printed>& variants : bodies) {
    const auto found =
        std::find_if(variants.begin(), variants.end(), [&](const c_like::Printed& v) { return v.form >= form; });
    result.push_back(found == variants.end() ? &variants.back() : &*found);
  }
  return result;
}

}  // namespace

DeviceSource emit_cuda_batch(const Kernel& batch, const CudaTarget& target, int64_t table_bytes) {
  DeviceSource source;
  source.table = table_of(batch, table_bytes);
  std::string bodies_text, functions;
  UsedHelpers used;
  const size_t phases = batch.bodies[0].phases.size();
  for (size_t i = 0; i < phases; ++i) {
    std::vector<std::vector<c_like::Printed>> bodies;
    for (const Kernel& body : batch.bodies) {
      SMELT_CHECK(body.phases.size() == phases, "bodies of {} have different phases", batch.name);
      bodies.push_back(c_like::print_variants(body, i, fmt::format("{}_p{}", body.name, i),
                                              {cuda_spellings(), target.counted_stores(), /*part=*/true}));
      for (const c_like::Printed& p : bodies.back()) {
        bodies_text += p.text;
        used.add(p.used);
      }
    }
    DevicePhase phase;
    for (const BodyForm form : {BodyForm::Fast, BodyForm::Odd, BodyForm::Any}) {
      const bool exists = std::any_of(bodies.begin(), bodies.end(), [&](const std::vector<c_like::Printed>& variants) {
        return std::any_of(variants.begin(), variants.end(), [&](const c_like::Printed& v) { return v.form == form; });
      });
      if (!exists) continue;
      const std::vector<const c_like::Printed*> parts = chosen(bodies, form);
      DeviceVariant made;
      made.function = parts[0]->variant.function;
      made.function.name = fmt::format("{}_p{}{}", batch.name, i,
                                       form == BodyForm::Fast  ? ""
                                       : form == BodyForm::Odd ? "_odd"
                                                               : "_any");
      functions +=
          fmt::format("\nextern \"C\" __global__ void __launch_bounds__({}) {}(const SMELT_TABLE Parts parts) {{\n{}",
                      made.function.threads, made.function.name, kFind);
      for (size_t b = 0; b < parts.size(); ++b) {
        const DeviceFunction& function = parts[b]->variant.function;
        SMELT_CHECK(function.threads == made.function.threads && function.cluster == 1,
                    "bodies of {} have workgroups of {} and {} threads", batch.name, made.function.threads,
                    function.threads);
        made.function.shared_bytes = max(made.function.shared_bytes, function.shared_bytes);
        made.bodies.push_back(parts[b]->variant);
        const std::string call = call_text(batch.bodies[b], source.table, b, function.name);
        functions += parts.size() == 1
                         ? fmt::format("  {};\n", call)
                         : fmt::format("  {}if (parts.body[part] == {}) {};\n", b ? "else " : "", b, call);
      }
      functions += "}\n";
      phase.variants.push_back(std::move(made));
    }
    source.phases.push_back(std::move(phase));
  }
  std::string head;
  for (const Kernel& body : batch.bodies) head += fmt::format("// {}\n{}", body.name, c_like::comment_on_params(body));
  // Read where it is, whatever the index: no thread makes a copy of it.
  const bool in_place = target.compute >= 70 && target.nvrtc >= 11070;
  functions = fmt::format("\n#define SMELT_TABLE {}\n", in_place ? "__grid_constant__" : "") +
              table_text(source.table) + bodies_text + functions;
  source.begin = cuda_spellings().begin;
  HelperList helpers = cuda::prelude(target);
  if (std::any_of(batch.bodies.begin(), batch.bodies.end(), c_like::draws)) append(helpers, cuda::random_helpers());
  source.text = head + text_of(helpers, used) + functions;
  return source;
}

}  // namespace smelt::emit
