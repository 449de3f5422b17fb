// The code of an operation of the user's own, as the stages hold it.
#pragma once

#include <memory>

#include "smelt/custom_call.hpp"

namespace smelt {

struct CustomCode {
  std::string name;                       // how explanations and errors call it
  Callable<void(const CustomCall&)> cpu;  // may be empty
  std::optional<CudaKernel> cuda;         // may be empty
  bool on_host = false;                   // `cpu` serves GPUs too, where `cuda` is empty
  bool pure = false;                      // equal calls have equal results
  // Its gradient; may be null.
  std::shared_ptr<const detail::CustomRule> rule = nullptr;
};

}  // namespace smelt
