// Programs with their code as bytes: made for one target, and made runnable again without a
// compiler.
//
// A file has no kernels and no plan, but what they follow from: the program, the facts of the
// machine that it was planned for, and what was decided later (Settled). The pipeline makes the
// same kernels of it again, and finds the code of each by its text: code runs only for the kernel
// that it was compiled from.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "compile/compile.hpp"
#include "runtime/saved_code.hpp"

namespace smelt {

// What a program was compiled for, and the code of all its programs.
struct SavedTarget {
  std::string name;      // "cpu", "x86-64-v3", "sm_90"
  std::string identity;  // of the code
  bool is_gpu = false;
  runtime::CpuFacts facts;  // that it was planned for
  std::string features;     // that the processor must have
  std::string triple;
  int llvm_version = 0;
  runtime::GpuFacts gpu_facts;
  int nvrtc_version = 0;
  std::shared_ptr<const schedule::Calibration> measured;  // of that machine; may be empty
  runtime::SavedCode code;
};

// The machine to compile for that stands for a target: "cpu" (the one at hand), "x86-64-v3",
// "sm_90", or of this executable. Throws UserError for another word, and where nothing compiles for
// it.
Machine machine_for_target(const std::string& name);

// Compiles programs for a target, and keeps their code.
class Saver {
 public:
  explicit Saver(Machine machine);
  // What the executable settled on, when it is of this target. Returns what is settled now.
  Settled add(const Graph& program, CompileOptions options, std::shared_ptr<const Settled> settled);
  SavedTarget target(const std::string& name) const;

 private:
  Machine machine_;
  std::shared_ptr<runtime::RecordingCache> recording_;
};

// Why the target's code does not run on this device; empty when it does.
std::string why_not_here(const SavedTarget& target, const Machine& device);
// How well it suits a device that it runs on: the more, the better.
int rank_of(const SavedTarget& target);
// The device, as one that has this code and no compiler.
Machine machine_with_code(const SavedTarget& target, const Machine& device);

void write(ByteWriter& out, const SavedTarget& target);
void write(ByteWriter& out, const Settled& settled);
SavedTarget read_target(ByteReader& in);
Settled read_settled(ByteReader& in);

}  // namespace smelt
