#include "compile/saved.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compile/gpu_copy.hpp"
#include "schedule/calibration.hpp"
#include "schedule/candidates.hpp"
#include "smelt/error.hpp"

namespace smelt {

namespace {

constexpr int kLargeTables = 12010;  // the driver that serves large arguments of kernels

std::string architecture() {
#if defined(__aarch64__)
  return "aarch64";
#elif defined(__x86_64__)
  return "x86-64";
#else
  return "another architecture";
#endif
}

void write(ByteWriter& out, const runtime::CpuFacts& f) {
  out.text(f.name);
  out.text(f.isa);
  out.number(f.vector_bits);
  for (const bool has : {f.slow_division, f.dot_bf16, f.dot_bytes, f.tiles}) out.number(has);
  out.number(f.threads);
  for (const int64_t bytes : {f.l1_bytes, f.l2_bytes, f.l3_bytes, f.memory_bytes}) out.number(bytes);
}

runtime::CpuFacts read_cpu_facts(ByteReader& in) {
  runtime::CpuFacts f;
  f.name = in.text();
  f.isa = in.text();
  f.vector_bits = in.number<int>();
  for (bool* has : {&f.slow_division, &f.dot_bf16, &f.dot_bytes, &f.tiles}) *has = in.word() != 0;
  f.threads = in.number<int>();
  for (int64_t* bytes : {&f.l1_bytes, &f.l2_bytes, &f.l3_bytes, &f.memory_bytes}) *bytes = in.number<int64_t>();
  return f;
}

void write(ByteWriter& out, const runtime::GpuFacts& f) {
  out.text(f.name);
  for (const int number : {f.ordinal, f.driver, f.compute, f.processors, f.threads_per_processor,
                           f.registers_per_processor, f.threads_per_workgroup})
    out.number(number);
  for (const int64_t bytes : {f.shared_bytes_per_processor, f.shared_bytes_per_workgroup, f.l2_bytes, f.memory_bytes})
    out.number(bytes);
  out.number(f.memory_gbs);
  out.number(f.clusters);
}

runtime::GpuFacts read_gpu_facts(ByteReader& in) {
  runtime::GpuFacts f;
  f.name = in.text();
  for (int* number : {&f.ordinal, &f.driver, &f.compute, &f.processors, &f.threads_per_processor,
                      &f.registers_per_processor, &f.threads_per_workgroup})
    *number = in.number<int>();
  for (int64_t* bytes : {&f.shared_bytes_per_processor, &f.shared_bytes_per_workgroup, &f.l2_bytes, &f.memory_bytes})
    *bytes = in.number<int64_t>();
  f.memory_gbs = in.real();
  f.clusters = in.word() != 0;
  return f;
}

// "sm_90" as 90; 0 for another text.
int architecture_of(const std::string& name) {
  const std::string digits = name.starts_with("sm_") ? name.substr(3) : "";
  const bool number =
      !digits.empty() && digits.size() <= 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : 0;
}

}  // namespace

Machine machine_for_target(const std::string& name) {
  Machine machine;
  if (name == "cpu")
    machine = Machine::cpu();
  else if (const int compute = architecture_of(name))
    machine = Machine::cuda_architecture(compute);
  else if (name.starts_with("x86-64"))
    machine = Machine::cpu_level(name);
  else
    throw UserError(
        fmt::format("save(): there is no target \"{}\"\nhelp: one or more of cpu, x86-64, x86-64-v2, x86-64-v3, "
                    "x86-64-v4, sm_75, sm_80, sm_90 and the like",
                    name));
  if (!machine.compiles()) throw UserError(fmt::format("save(): nothing compiles for {}: {}", name, machine.missing));
  return machine;
}

Saver::Saver(Machine machine) : machine_(std::move(machine)) {
  if (machine_.opencl)
    throw UserError(
        "save(): functions for OpenCL devices cannot be saved\nhelp: name targets, \"cpu\" or \"sm_90\" say");
  if (!machine_.identity.empty())
    throw UserError("save(): a function that was loaded from a file cannot be saved\nhelp: copy the file");
  if (!machine_.compiles())
    throw UserError(fmt::format("save(): nothing compiles for {}: {}", machine_.name, machine_.missing));
  machine_.identity = code_identity(machine_);
  recording_ = std::make_shared<runtime::RecordingCache>(machine_.cache);
  machine_.cache = recording_;
  // Without the GPU all functions are compiled, not only those that calls of these sizes need.
  machine_.gpu = nullptr;
  machine_.pool = nullptr;
  machine_.copier = nullptr;
  if (machine_.is_gpu) GpuCopier::code(machine_, machine_.gpu_facts.compute);
}

Settled Saver::add(const Graph& program, CompileOptions options, std::shared_ptr<const Settled> settled) {
  options.tune = false;
  // The notes of the cache count where nothing was settled.
  if (settled) options.settled = std::move(settled);
  return compile(program, machine_, options).settled();
}

SavedTarget Saver::target(const std::string& name) const {
  SavedTarget target;
  target.name = name;
  target.identity = machine_.identity;
  target.is_gpu = machine_.is_gpu;
  target.facts = machine_.facts;
  target.measured = machine_.measured;
  if (machine_.is_gpu) {
    target.gpu_facts = machine_.gpu_facts;
    target.nvrtc_version = machine_.nvrtc->version();
  } else {
    target.features = runtime::cpu_features(name.starts_with("x86-64") ? name : machine_.level);
    target.triple = machine_.llvm->triple();
    target.llvm_version = machine_.llvm->version();
  }
  target.code = recording_->code();
  return target;
}

std::string why_not_here(const SavedTarget& target, const Machine& device) {
  if (target.is_gpu != device.is_gpu || device.opencl) return fmt::format("it is no code for {}", device.name);
  if (!target.is_gpu) {
    const bool arm = target.triple.starts_with("aarch64");
    if (arm != (architecture() == "aarch64")) return fmt::format("this processor is {}", architecture());
    const std::string missing = runtime::missing_cpu_features(target.features);
    return missing.empty() ? "" : fmt::format("this processor ({}) has no {}", device.facts.name, missing);
  }
  if (!device.gpu) return fmt::format("there is no GPU to run it: {}", device.missing);
  const int built = target.gpu_facts.compute, here = device.gpu_facts.compute;
  if (built / 10 != here / 10 || built > here)
    return fmt::format("this GPU ({}) is sm_{}", device.gpu_facts.name, here);
  const int driver = device.gpu_facts.driver, needed = target.nvrtc_version;
  const bool old = driver / 1000 < needed / 1000 || (driver < kLargeTables && needed >= kLargeTables);
  return old ? fmt::format("it was compiled by CUDA {}.{}, and the driver supports {}.{}", needed / 1000,
                           needed % 1000 / 10, driver / 1000, driver % 1000 / 10)
             : "";
}

int rank_of(const SavedTarget& target) {
  if (target.is_gpu) return target.gpu_facts.compute;
  // This very processor's before a level's: it has more features.
  return target.facts.vector_bits * 64 +
         static_cast<int>(std::count(target.features.begin(), target.features.end(), ' '));
}

Machine machine_with_code(const SavedTarget& target, const Machine& device) {
  Machine machine = device;
  machine.identity = target.identity;
  machine.facts = target.facts;
  machine.measured = target.measured;
  machine.missing.clear();
  machine.cache = std::make_shared<runtime::SealedCache>(target.code);
  if (target.is_gpu) {
    machine.gpu_facts = target.gpu_facts;
    machine.nvrtc = runtime::Nvrtc::absent(target.nvrtc_version);
    machine.copier = std::make_shared<GpuCopier>(target.gpu_facts.compute);
  } else {
    machine.llvm = runtime::Llvm::absent(target.llvm_version, target.triple);
  }
  return machine;
}

void write(ByteWriter& out, const SavedTarget& target) {
  out.text(target.name);
  out.text(target.identity);
  out.number(target.is_gpu);
  write(out, target.facts);
  out.text(target.features);
  out.text(target.triple);
  out.number(target.llvm_version);
  write(out, target.gpu_facts);
  out.number(target.nvrtc_version);
  out.text(target.measured ? schedule::text_of(*target.measured) : "");
  out.list(target.code, [&](const auto& entry) {
    out.text(entry.first);
    out.text(entry.second);
  });
}

SavedTarget read_target(ByteReader& in) {
  SavedTarget target;
  target.name = in.text();
  target.identity = in.text();
  target.is_gpu = in.word() != 0;
  target.facts = read_cpu_facts(in);
  target.features = in.text();
  target.triple = in.text();
  target.llvm_version = in.number<int>();
  target.gpu_facts = read_gpu_facts(in);
  target.nvrtc_version = in.number<int>();
  if (const std::string_view text = in.text(); !text.empty()) {
    const auto measured = schedule::calibration_of(text);
    if (!measured) throw DamagedBytes();
    target.measured = std::make_shared<const schedule::Calibration>(*measured);
  }
  in.list([&] {
    std::string key(in.text());
    target.code[std::move(key)] = in.text();
  });
  return target;
}

void write(ByteWriter& out, const Settled& settled) {
  out.list(settled.splits, [&](const plan::Split& split) {
    out.list(split.nodes, [&](NodeId id) { out.number(id); });
    out.number(split.last);
    out.number(split.spilled_bytes);
    out.number(split.times_as_long);
  });
  out.list(settled.tunings, [&](const plan::Tuning& tuning) { out.text(schedule::text_of(tuning)); });
}

Settled read_settled(ByteReader& in) {
  Settled settled;
  in.list([&] {
    plan::Split split;
    in.list([&] { split.nodes.push_back(in.number<NodeId>()); });
    split.last = in.number<NodeId>();
    split.spilled_bytes = in.number<int64_t>();
    split.times_as_long = in.real();
    settled.splits.push_back(std::move(split));
  });
  in.list([&] {
    const auto tuning = schedule::tuning_of(std::string(in.text()));
    if (!tuning) throw DamagedBytes();
    settled.tunings.push_back(*tuning);
  });
  return settled;
}

}  // namespace smelt
