// Stores that together fill what lies between the lanes (kernel/join_stores.hpp): their values are
// interleaved, and go to memory as whole vectors.
#include <fmt/format.h>

#include "emit/llvm_phase.hpp"

namespace smelt::emit {

// What each of some stores has, in vectors that follow each other, becomes what all have.
std::vector<std::string> PhasePrinter::interleave(const std::vector<std::vector<std::string>>& values,
                                                  const std::string& type) {
  const size_t count = values.size();
  if (count == 1) return values[0];
  const auto lanes = static_cast<size_t>(vector_.lanes);
  // n vectors take n * (n - 1) shuffles: of a product of factors, those of each remainder first.
  size_t factor = 2;
  while (factor < count && count % factor != 0) ++factor;
  if (factor < count) {
    std::vector<std::vector<std::string>> groups;
    for (size_t first = 0; first < factor; ++first) {
      std::vector<std::vector<std::string>> group;
      for (size_t i = first; i < count; i += factor) group.push_back(values[i]);
      groups.push_back(interleave(group, type));
    }
    return interleave(groups, type);
  }
  std::vector<std::string> made;
  for (size_t from = 0; from < values[0].size(); ++from)
    for (size_t v = 0; v < count; ++v) {
      std::string result = values[0][from];
      for (size_t part = 1; part < count; ++part) {
        std::vector<int64_t> order;
        for (size_t lane = 0; lane < lanes; ++lane) {
          const size_t element = v * lanes + lane, of = element % count;
          const bool known = of < part && part > 1;
          order.push_back(static_cast<int64_t>(of == part ? lanes + element / count
                                               : known    ? lane
                                               : of == 0  ? element / count
                                                          : lane));
        }
        result = shuffle(top(), type, result, values[part][from], order);
      }
      made.push_back(result);
    }
  return made;
}

void PhasePrinter::store_part(const kernel::Store& s, const Place& p, const Value& value, bool streaming) {
  auto& parts = parts_[p.resource];
  parts[s.part] = {p, splat(value, vector_.lanes)};
  if (!s.closes) return;
  const int lanes = vector_.lanes, align = size_of(p.dtype);
  if (vector_.tail && !has_masks(p.dtype)) {
    for (const auto& [part, own] : parts) store_lanes(own.first, s.step, own.second, std::nullopt, false);
    parts.clear();
    return;
  }
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, lanes);
  std::vector<std::vector<std::string>> values;
  int scope = 0;
  for (const auto& [part, own] : parts) values.push_back({to_memory(p.dtype, own.second, scope)});
  const Place first = parts.begin()->second.first;
  parts.clear();
  const std::vector<std::string> joined = interleave(values, type);
  const DType t = DType::I64;
  std::optional<Value> inside;
  if (vector_.tail) inside = op("mul $T $a, $b", t, {vector_.left, constant(t, *s.step)});
  for (size_t v = 0; v < joined.size(); ++v) {
    const auto begin = static_cast<int64_t>(v) * lanes;
    const Value at = pointer(first, first.offset + begin);
    if (inside) {
      const Value left = convert("trunc", op("sub $T $a, $b", t, {*inside, constant(t, begin)}), DType::I32);
      const Value mask = op("icmp slt $T $a, $b", DType::Bool, {iota(lanes, DType::I32), splat(left, lanes)});
      line(masked_call("store", memory, lanes, at.text, align, mask.text, joined[v], true));
    } else if (streaming) {
      line(fmt::format("store {} {}, ptr {}, align {}, !nontemporal !0", type, joined[v], at.text,
                       line_of(lanes * align)));
    } else {
      line(fmt::format("store {} {}, ptr {}, align {}", type, joined[v], at.text, align));
    }
  }
}

}  // namespace smelt::emit
