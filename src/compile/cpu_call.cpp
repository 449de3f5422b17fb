#include "compile/cpu_call.hpp"

#include "base/check.hpp"
#include "compile/gpu_call.hpp"
#include "compile/slices.hpp"

namespace smelt {

CpuCall::CpuCall(StatePtr state, const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs)
    : state_(std::move(state)), prepared_(prepare(*state_, inputs)) {
  check_outputs(*state_, *prepared_, outputs);
  inputs_ = inputs;
  outputs_ = outputs;
  if (!state_->device.compiles()) return;
  const std::vector<TensorView> sources = expected_inputs(*state_, inputs, copies_);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (sources[i].data != inputs[i].data) before_.push_back({inputs[i], sources[i]});
  std::vector<size_t> aside;
  const std::vector<TensorView> targets = direct_outputs(*state_, sources, outputs, copies_, aside);
  prepared_ = prepared_for(*state_, prepared_, sources, targets);
  const std::vector<size_t> computed = first_outputs(state_->graph);
  for (size_t o = 0; o < targets.size(); ++o)
    if (const size_t first = computed[o]; first != o) after_.push_back({targets[first], targets[o]});
  for (size_t o : aside) after_.push_back({targets[o], outputs[o]});
  find_addresses(sources, targets);
}

void CpuCall::find_addresses(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) {
  const Arena& arena = prepared_->arena;
  memory_ = Tensor::empty(DType::U8, {arena.bytes + prepared_->scratch_bytes});
  for (const Launch& launch : state_->launches)
    addresses_.push_back(
        smelt::find_addresses(launch, arena, static_cast<char*>(memory_.data), &error_, inputs, outputs));
}

void CpuCall::run() {
  if (!state_->device.compiles()) return interpret_into(state_->graph, inputs_, outputs_);
  for (const Copy& copy : before_) copy_as_expected(copy.from, copy.to);
  char* const scratch = static_cast<char*>(memory_.data) + prepared_->arena.bytes;
  error_ = 0;
  for (const Prepared::Run& kernels : prepared_->runs) {
    launch_run(*state_, *prepared_, kernels, addresses_, scratch);
    if (error_) throw_out_of_range(*state_, kernels.first, error_, inputs_, outputs_);
  }
  for (const Copy& copy : after_) copy_into(copy.from, copy.to);
}

// Either kind of call.

BoundCall Executable::bind(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) const {
  if (state_->device.is_gpu)
    return bind(inputs, outputs, state_->device.gpu ? runtime::current_stream(*state_->device.gpu) : nullptr);
  BoundCall bound;
  bound.cpu_call_ = std::make_shared<CpuCall>(state_, inputs, outputs);
  return bound;
}

void BoundCall::run() const { return call_ ? call_->run() : cpu_call_->run(); }
void BoundCall::synchronize() const {
  if (call_) call_->synchronize();
}
int BoundCall::launches() const { return call_ ? call_->launches() : cpu_call_->launches(); }
runtime::StreamHandle BoundCall::stream() const { return call_ ? call_->stream() : nullptr; }

}  // namespace smelt
