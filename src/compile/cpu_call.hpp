// A call on the CPU whose arrays are fixed.
#pragma once

#include <memory>
#include <vector>

#include "compile/state.hpp"

namespace smelt {

class CpuCall {
 public:
  using StatePtr = std::shared_ptr<const Executable::State>;
  CpuCall(StatePtr state, const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs);
  void run();
  int launches() const { return static_cast<int>(addresses_.size()); }

 private:
  struct Copy {
    TensorView from, to;
  };
  void find_addresses(const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs);

  StatePtr state_;
  std::shared_ptr<const Prepared> prepared_;
  std::vector<TensorView> inputs_, outputs_;  // the caller's
  std::vector<Tensor> copies_;                // row-major stand-ins
  std::vector<Copy> before_, after_;          // what a run copies
  Tensor memory_;                             // temporaries
  std::vector<Addresses> addresses_;          // per launch
  int32_t error_ = 0;
};

}  // namespace smelt
