// The frame of a phase: parameters, stack slots, scratch buffers, and the exported wrapper.
#include "emit/llvm_phase.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Kernel;
using kernel::Loop;
using kernel::Param;
using kernel::ParamKind;
using kernel::ScratchBuffer;
using kernel::Stmt;

static constexpr int64_t kMostStackBytes = 4096, kLine = 64;

IntExpr bytes_of(const ScratchBuffer& buffer) {
  const IntExpr bytes = count(buffer.dims) * size_of(buffer.dtype);
  return ceildiv(bytes, kLine) * kLine;
}

bool on_stack(const ScratchBuffer& buffer) {
  return bytes_of(buffer).constant().value_or(INT64_MAX) <= kMostStackBytes;
}

// Whether a step may compute with elements after the last of a row, whose results are dropped:
// LLVM drops the mask of a load from the stack. What a stack holds by chance may be denormal, and
// then takes a core hundreds of cycles.
static bool has_gaps(const ScratchBuffer& buffer) {
  const int64_t row = buffer.dims.empty() ? 1 : buffer.dims.back().constant().value_or(0);
  return is_float(buffer.dtype) && row * size_of(buffer.dtype) % kLine != 0;
}

PhasePrinter::PhasePrinter(const Kernel& kernel, int phase, const LlvmTarget& target,
                           std::set<std::string>& declarations)
    : kernel_(kernel),
      phase_(phase),
      target_(target),
      declarations_(declarations),
      known_(kernel.exprs.size()),
      bindings_(kernel.locals.size()),
      slots_(kernel.locals.size()),
      in_lanes_(kernel.locals.size()),
      dependencies_(kernel.exprs.size()),
      resource_count_(static_cast<int>(kernel.locals.size() + kernel.params.size() + kernel.buffers.size())) {}

// Which mutable locals are assigned in which Vector loop.
void PhasePrinter::find_slots(const std::vector<Stmt>& body, const Loop* vector_loop) {
  for (const Stmt& s : body) {
    const Loop* own = loop_of(s, kernel::LoopKind::Vector);
    if (const auto* inside = body_of(s)) find_slots(*inside, own && own->lanes > 1 ? own : vector_loop);
    const auto* assign = s.get_if<kernel::Assign>();
    if (!assign) continue;
    SMELT_CHECK(kernel_.locals[static_cast<size_t>(assign->local)].is_mutable, "local {} is assigned but not mutable",
                assign->local);
    Slot& slot = slots_[static_cast<size_t>(assign->local)];
    if (!slot.declared) slot.declared_in = vector_loop;
    slot.declared = true;
    if (!vector_loop) continue;
    SMELT_CHECK(slot.lanes == 0 || slot.lanes == vector_loop->lanes,
                "local {} is assigned in Vector loops of {} and {} lanes", assign->local, slot.lanes,
                vector_loop->lanes);
    slot.lanes = vector_loop->lanes;
    in_lanes_[static_cast<size_t>(assign->local)] = true;
  }
}

void PhasePrinter::define_stack(const std::string& name, const std::string& type) {
  stack_ += fmt::format("  {} = alloca {}, align 64\n", name, type);
}

void PhasePrinter::define_slots() {
  define_stack("%dummy", "i64");
  for (size_t id = 0; id < slots_.size(); ++id) {
    if (!slots_[id].declared) continue;
    const std::string type = lane_type(kernel_.locals[id].dtype);
    if (!slots_[id].declared_in) define_stack(fmt::format("%l{}", id), type);
    if (slots_[id].lanes) define_stack(fmt::format("%l{}.lanes", id), vector_of(type, slots_[id].lanes));
  }
}

void PhasePrinter::define_buffers() {
  IntExpr offset;
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const ScratchBuffer& buffer = kernel_.buffers[i];
    const std::string pointer = fmt::format("%b{}", i);
    buffers_[static_cast<int>(i)] = pointer;
    if (on_stack(buffer)) {
      define_stack(pointer, fmt::format("[{} x i8]", *bytes_of(buffer).constant()));
      if (has_gaps(buffer))
        line(fmt::format("call void @llvm.memset.p0.i64(ptr align 64 {}, i8 0, i64 {}, i1 false)", pointer,
                         *bytes_of(buffer).constant()));
      continue;
    }
    line(fmt::format("{} = getelementptr i8, ptr %scratch, i64 {}", pointer, integer(offset).text));
    offset = offset + bytes_of(buffer);
  }
}

// "ptr noalias %p0, i64 %s1, ...", where no other is the same memory, or, for the wrapper's call,
// "ptr %p0, i64 %s1, ...".
std::string PhasePrinter::parameters(bool with_attributes) const {
  std::string text = "i64 %begin, i64 %end";
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (kernel_.params[i].kind == ParamKind::Size) {
      text += fmt::format(", i64 %s{}", i);
      continue;
    }
    const bool is_read_only = !stored_[kernel_.locals.size() + i];
    const bool alone = !kernel_.may_be_shared(static_cast<int>(i));
    text += fmt::format(", ptr {}{}%p{}", with_attributes && alone ? "noalias " : "",
                        with_attributes && is_read_only ? "readonly " : "", i);
  }
  return text + (with_attributes ? ", ptr noalias %scratch" : ", ptr %scratch");
}

std::string PhasePrinter::body_function() {
  push(false, {});
  const std::vector<Stmt>& body = kernel_.phases[static_cast<size_t>(phase_)].body;
  stored_ = no_changes();
  collect_changes(body, stored_);
  find_dependencies();
  find_slots(body, nullptr);
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const Param& param = kernel_.params[i];
    if (param.kind != ParamKind::Size) continue;
    symbols_[*param.symbol] = {fmt::format("%s{}", i), DType::I64, 0, 0};
  }
  define_slots();
  define_buffers();
  configure_tiles();
  statements(body);
  if (streams_ && target_.triple.rfind("x86_64", 0) == 0) line("call void @llvm.x86.sse.sfence()");
  if (has_tiles_) line("call void @llvm.x86.tilerelease()");
  line("ret void");
  const std::string text = pop();
  return fmt::format("define internal void @{}_p{}.body({}) #0 {{\nentry:\n{}{}}}\n", kernel_.name, phase_,
                     parameters(true), stack_, text);
}

std::string PhasePrinter::wrapper() {
  std::string loads;
  int arrays = 0, sizes = 0;
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const bool is_size = kernel_.params[i].kind == ParamKind::Size;
    const int at = is_size ? sizes++ : arrays++;
    loads +=
        is_size
            ? fmt::format("  %a{0} = getelementptr i64, ptr %sizes, i64 {1}\n  %s{0} = load i64, ptr %a{0}\n", i, at)
            : fmt::format("  %a{0} = getelementptr ptr, ptr %arrays, i64 {1}\n  %p{0} = load ptr, ptr %a{0}\n", i, at);
  }
  return fmt::format(
      "define void @{0}_p{1}(i64 %begin, i64 %end, ptr %arrays, ptr %sizes, ptr %scratch) #0 {{\n{2}"
      "  call void @{0}_p{1}.body({3})\n  ret void\n}}\n",
      kernel_.name, phase_, loads, parameters(false));
}

std::string PhasePrinter::print() {
  // The body first: it finds out which params are only read.
  const std::string body = body_function();
  return body + "\n" + wrapper();
}

}  // namespace smelt::emit
