// Turns a square of scratch by blocks that fit the vector registers: rows are loaded, halves of
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
  const kernel::ScratchBuffer& buffer = kernel_.buffers[static_cast<size_t>(s.buffer)];
  const int64_t side = buffer.dims[0].constant().value();
  const int bytes = size_of(buffer.dtype), lanes = std::clamp(target_.vector_bits / 8 / bytes, 2, 16);
  SMELT_CHECK(!vector_.loop && side % lanes == 0, "a square of {} is turned by blocks of {}", side, lanes);
  const std::string type = fmt::format("<{} x i{}>", lanes, 8 * bytes);  // bits, whatever they mean
  const int label = ++labels_;
  const int64_t across = side / lanes;
  std::string body;
  const auto row = [&](const char* which, const char* first, int r) {
    const std::string at = fmt::format("%{}{}.{}", which, label, r);
    body += fmt::format("  {} = getelementptr i8, ptr %{}{}, i64 {}\n", at, first, label, r * side * bytes);
    return at;
  };
  std::vector<std::string> rows;
  for (int r = 0; r < lanes; ++r) {
    const std::string at = row("from", "block.from", r);
    rows.push_back(fmt::format("%row{}.{}", label, r));
    body += fmt::format("  {} = load {}, ptr {}, align {}\n", rows.back(), type, at, bytes * lanes);
  }
  for (int distance = lanes / 2, step = 0; distance >= 1; distance /= 2, ++step)
    for (int r = 0; r < lanes; ++r) {
      if (r & distance) continue;
      const std::string first = rows[static_cast<size_t>(r)], second = rows[static_cast<size_t>(r + distance)];
      for (const bool other : {false, true}) {
        const int at = r + (other ? distance : 0);
        rows[static_cast<size_t>(at)] = fmt::format("%step{}.{}.{}", label, step, at);
        body += fmt::format("  {} = shufflevector {} {}, {} {}, {}\n", rows[static_cast<size_t>(at)], type, first, type,
                            second, exchanged(lanes, distance, other));
      }
    }
  for (int r = 0; r < lanes; ++r) {
    const std::string at = row("to", "block.to", r);
    body += fmt::format("  store {} {}, ptr {}, align {}\n", type, rows[static_cast<size_t>(r)], at, bytes * lanes);
  }
  line(fmt::format("; turn scratch{} from scratch{}", s.buffer, s.source));
  const std::string before = fmt::format("before.turn{}", label);
  line(fmt::format("br label %{}", before));
  // Blocks along a row of the source, then the next rows.
  scopes_.back().text += fmt::format(
      "{before}:\n  br label %turn{n}\nturn{n}:\n  %turn{n}.i = phi i64 [ 0, %{before} ], [ %turn{n}.next, %turn{n} ]\n"
      "  %turn{n}.r = udiv i64 %turn{n}.i, {across}\n  %turn{n}.c = urem i64 %turn{n}.i, {across}\n"
      "  %turn{n}.rb = mul i64 %turn{n}.r, {row_of_blocks}\n  %turn{n}.cb = mul i64 %turn{n}.c, {block}\n"
      "  %turn{n}.f = add i64 %turn{n}.rb, %turn{n}.cb\n  %block.from{n} = getelementptr i8, ptr {source}, i64 "
      "%turn{n}.f\n"
      "  %turn{n}.rc = mul i64 %turn{n}.c, {row_of_blocks}\n  %turn{n}.cr = mul i64 %turn{n}.r, {block}\n"
      "  %turn{n}.t = add i64 %turn{n}.rc, %turn{n}.cr\n  %block.to{n} = getelementptr i8, ptr {to}, i64 %turn{n}.t\n"
      "{body}  %turn{n}.next = add i64 %turn{n}.i, 1\n  %turn{n}.more = icmp ult i64 %turn{n}.next, {blocks}\n"
      "  br i1 %turn{n}.more, label %turn{n}, label %turned{n}\nturned{n}:\n",
      fmt::arg("before", before), fmt::arg("n", label), fmt::arg("across", across),
      fmt::arg("row_of_blocks", lanes * side * bytes), fmt::arg("block", lanes * bytes),
      fmt::arg("source", buffers_.at(s.source)), fmt::arg("to", buffers_.at(s.buffer)), fmt::arg("body", body),
      fmt::arg("blocks", across * across));
  Changes changes = no_changes();
  changes[kernel_.locals.size() + kernel_.params.size() + static_cast<size_t>(s.buffer)] = true;
  forget(changes);
}

}  // namespace smelt::emit
