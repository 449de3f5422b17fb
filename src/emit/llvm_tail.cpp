// The last lanes of a Vector loop on targets without masked loads and stores of their type: LLVM
// would make a branch per lane of them, so the elements go through a full vector on the stack
// instead, by a copy of just their bytes.
#include <fmt/format.h>

#include <bit>

#include "emit/llvm_phase.hpp"

namespace smelt::emit {

// AVX-512 masks every type, AVX2 elements of 4 and 8 bytes.
bool PhasePrinter::has_masks(DType dtype) const {
  if (target_.triple.rfind("x86_64", 0) != 0) return false;
  return target_.vector_bits >= 512 || (target_.vector_bits >= 256 && size_of(dtype) >= 4);
}

std::string PhasePrinter::tail_memory(std::string_view element, int lanes) {
  const std::string memory = fmt::format("%tail.{}", suffix(element, lanes));
  if (stack_.find("  " + memory + " =") == std::string::npos) define_stack(memory, vector_of(element, lanes));
  return memory;
}

// Reversed lanes end at the end of the vector, others start at its start.
void PhasePrinter::copy_tail(const Place& p, bool backward, const std::string& memory, bool out) {
  const DType t = DType::I64;
  const std::string element = memory_type(p.dtype);
  Value there = pointer(p, p.offset), here{memory, DType::I64, 0, 0};
  if (backward) {
    const Value back = op("sub $T $a, $b", t, {constant(t, 1), vector_.left});
    const Value gap = op("sub $T $a, $b", t, {constant(t, vector_.lanes), vector_.left});
    there = define(top(), t, 0, fmt::format("getelementptr {}, ptr {}, i64 {}", element, there.text, back.text));
    here = define(top(), t, 0, fmt::format("getelementptr {}, ptr {}, i64 {}", element, here.text, gap.text));
  }
  const Value bytes = op("mul $T $a, $b", t, {vector_.left, constant(t, size_of(p.dtype))});
  line(fmt::format("call void @llvm.memcpy.p0.p0.i64(ptr {}, ptr {}, i64 {}, i1 false)", out ? there.text : here.text,
                   out ? here.text : there.text, bytes.text));
}

std::string PhasePrinter::load_tail(const Place& p, bool backward) {
  const std::string element = memory_type(p.dtype), type = vector_of(element, vector_.lanes);
  const std::string memory = tail_memory(element, vector_.lanes);
  line(fmt::format("store {} zeroinitializer, ptr {}", type, memory));
  copy_tail(p, backward, memory, false);
  const std::string bits = name(top(), fmt::format("load {}, ptr {}", type, memory));
  return backward ? reversed(top(), element, vector_.lanes, bits) : bits;
}

// A masked store of a few lanes takes 13 ns on Zen 3, where masks are vectors; one to memory and
// back as long as a load waits for it.
bool PhasePrinter::is_known_tail(bool backward) const {
  return vector_.tail && vector_.known && !backward && target_.vector_bits < 512;
}

// Where parts of powers of two begin, and their lengths.
PhasePrinter::Parts PhasePrinter::known_parts() const {
  Parts parts;
  int first = 0;
  for (int left = static_cast<int>(*vector_.known); left > 0;) {
    const int count = static_cast<int>(std::bit_floor(static_cast<unsigned>(left)));
    parts.emplace_back(first, count);
    first += count, left -= count;
  }
  return parts;
}

std::string PhasePrinter::load_known_tail(int scope, DType dtype, const std::string& pointer) {
  const std::string element = memory_type(dtype);
  return in_parts(scope, element, known_parts(), [&](int first, int count) {
    const std::string from = name(scope, fmt::format("getelementptr {}, ptr {}, i64 {}", element, pointer, first));
    return name(scope, fmt::format("load {}, ptr {}, align {}", vector_of(element, count), from, size_of(dtype)));
  });
}

void PhasePrinter::store_known_tail(DType dtype, const std::string& pointer, const std::string& bits) {
  const std::string element = memory_type(dtype);
  for (const auto& [first, count] : known_parts()) {
    const std::string to = name(top(), fmt::format("getelementptr {}, ptr {}, i64 {}", element, pointer, first));
    line(fmt::format("store {} {}, ptr {}, align {}", vector_of(element, count),
                     lanes_of(top(), element, bits, first, count), to, size_of(dtype)));
  }
}

void PhasePrinter::store_tail(const Place& p, bool backward, const std::string& bits) {
  const std::string element = memory_type(p.dtype), type = vector_of(element, vector_.lanes);
  const std::string memory = tail_memory(element, vector_.lanes);
  const std::string ordered = backward ? reversed(top(), element, vector_.lanes, bits) : bits;
  line(fmt::format("store {} {}, ptr {}", type, ordered, memory));
  copy_tail(p, backward, memory, true);
}

// Between the whole steps of a loop of streaming stores and its end: whole lines bypass the caches
// as well, so that only parts of lines are fetched.
void PhasePrinter::store_tail_lines(const Place& p, const std::string& bits) {
  const DType t = DType::I64;
  const int size = size_of(p.dtype), count = kCacheLine / size;
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, count);
  const Value at = pointer(p, p.offset);
  const Value address = define(at.scope, t, 0, fmt::format("ptrtoint ptr {} to i64", at.text));
  const Value beyond = op("and $T $a, $b", t, {address, constant(t, kCacheLine - 1)});
  const Value begins = op("icmp eq $T $a, $b", DType::Bool, {beyond, constant(t, 0)});
  const Value streams = op("and $T $a, $b", DType::Bool, {begins, *vector_.streams});
  const Value left = convert("trunc", vector_.left, DType::I32);
  for (int first = 0; first < vector_.lanes; first += count) {
    std::vector<int64_t> order;
    for (int lane = first; lane < first + count; ++lane) order.push_back(lane < vector_.lanes ? lane : -1);
    const std::string own =
        count == vector_.lanes ? bits : shuffle(top(), vector_of(memory, vector_.lanes), bits, "poison", order);
    const Value there = define(top(), t, 0, fmt::format("getelementptr {}, ptr {}, i64 {}", memory, at.text, first));
    const Value rest = op("sub $T $a, $b", DType::I32, {left, constant(DType::I32, first)});
    const Value fits = op("icmp sge $T $a, $b", DType::Bool, {rest, constant(DType::I32, count)});
    const Value whole = op("and $T $a, $b", DType::Bool, {fits, streams});
    const Value mask = op("icmp slt $T $a, $b", DType::Bool, {iota(count, DType::I32), splat(rest, count)});
    const Value some = op("icmp sgt $T $a, $b", DType::Bool, {rest, constant(DType::I32, 0)});
    const int label = ++labels_;
    line(fmt::format("br i1 {0}, label %line{1}, label %part{1}\nline{1}:", whole.text, label));
    line(fmt::format("store {} {}, ptr {}, align {}, !nontemporal !0", type, own, there.text, kCacheLine));
    line(fmt::format("br label %lined{0}\npart{0}:\n  br i1 {1}, label %some{0}, label %lined{0}\nsome{0}:", label,
                     some.text));
    line(masked_call("store", memory, count, there.text, size, mask.text, own, true));
    line(fmt::format("br label %lined{0}\nlined{0}:", label));
  }
}

}  // namespace smelt::emit
