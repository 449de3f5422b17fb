// Turns scratch by square blocks that fit the vector registers: rows are loaded, halves of
// neighbouring rows change places, then quarters, until single lanes have, and what were columns
// are stored as rows.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

namespace {

// Lanes of two rows that change places at this distance: the first row of the result keeps those
// whose `distance` bit is clear.
std::string exchanged(int lanes, int distance, bool second) {
  std::string order;
  for (int l = 0; l < lanes; ++l) {
    const int from_first = second ? l + distance : l, from_second = second ? l : l - distance;
    const int at = l & distance ? lanes + from_second : from_first;
    order += fmt::format("{}i32 {}", l ? ", " : "", at);
  }
  return fmt::format("<{} x i32> <{}>", lanes, order);
}

}  // namespace

void PhasePrinter::turn(const kernel::Turn& s) {
  const DType dtype = kernel_.dtype_of(s.into);
  const int bytes = size_of(dtype), lanes = std::clamp(target_.vector_bits / 8 / bytes, 2, 16);
  SMELT_CHECK(!vector_.loop, "scratch is turned inside of a vector loop");
  const std::string type = fmt::format("<{} x i{}>", lanes, 8 * bytes);  // bits, whatever they mean
  const int label = ++labels_;
  const Block from = block_of(s.from), into = block_of(s.into);
  const std::string height = integer(s.rows).text, width = integer(s.columns).text;
  const auto put = [&](const std::string& text) { scopes_.back().text += text; };
  line(fmt::format("; turn scratch{} from scratch{}", s.into.array, s.from.array));
  const std::string before = fmt::format("before.turn{}", label);
  line(fmt::format("br label %{}", before));
  // Blocks of columns, and of each those of rows.
  put(fmt::format(
      "{0}:\n  br label %turn{1}\nturn{1}:\n  %turn{1}.c = phi i64 [ 0, %{0} ], [ %turn{1}.next, %turned{1} ]\n"
      "  br label %block{1}\nblock{1}:\n  %block{1}.r = phi i64 [ 0, %turn{1} ], [ %block{1}.next, %block{1} ]\n",
      before, label));
  const auto corner = [&](const Block& b, const char* down, const char* across) {
    const std::string rows = name(top(), fmt::format("mul i64 {}, {}", down, b.stride)),
                      row = name(top(), fmt::format("getelementptr i8, ptr {}, i64 {}", b.first, rows));
    return name(top(), fmt::format("getelementptr i{}, ptr {}, i64 {}", 8 * bytes, row, across));
  };
  const auto row_of = [&](const std::string& first, const Block& b, int r) {
    if (r == 0) return first;
    const std::string by = name(top(), fmt::format("mul i64 {}, {}", b.stride, r));
    return name(top(), fmt::format("getelementptr i8, ptr {}, i64 {}", first, by));
  };
  const std::string r = fmt::format("%block{}.r", label), c = fmt::format("%turn{}.c", label);
  const std::string first = corner(from, r.c_str(), c.c_str()), to = corner(into, c.c_str(), r.c_str());
  std::vector<std::string> rows;
  for (int l = 0; l < lanes; ++l)
    rows.push_back(name(top(), fmt::format("load {}, ptr {}, align {}", type, row_of(first, from, l), bytes * lanes)));
  for (int distance = lanes / 2; distance >= 1; distance /= 2)
    for (int l = 0; l < lanes; ++l) {
      if (l & distance) continue;
      const std::string one = rows[static_cast<size_t>(l)], two = rows[static_cast<size_t>(l + distance)];
      for (const bool other : {false, true})
        rows[static_cast<size_t>(l + (other ? distance : 0))] = name(
            top(),
            fmt::format("shufflevector {} {}, {} {}, {}", type, one, type, two, exchanged(lanes, distance, other)));
    }
  for (int l = 0; l < lanes; ++l)
    line(fmt::format("store {} {}, ptr {}, align {}", type, rows[static_cast<size_t>(l)], row_of(to, into, l),
                     bytes * lanes));
  put(
      fmt::format("  %block{0}.next = add i64 %block{0}.r, {1}\n  %block{0}.more = icmp ult i64 %block{0}.next, {2}\n"
                  "  br i1 %block{0}.more, label %block{0}, label %turned{0}\nturned{0}:\n"
                  "  %turn{0}.next = add i64 %turn{0}.c, {1}\n  %turn{0}.more = icmp ult i64 %turn{0}.next, {3}\n"
                  "  br i1 %turn{0}.more, label %turn{0}, label %end.turn{0}\nend.turn{0}:\n",
                  label, lanes, height, width));
  Changes changes = no_changes();
  changes[static_cast<size_t>(resource_of(s.into))] = true;
  forget(changes);
}

}  // namespace smelt::emit
