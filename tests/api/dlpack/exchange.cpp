// smelt at one end of an exchange by DLPack, for numpy.py at the other: C functions that a Python
// calls by ctypes.
#include <smelt/smelt.hpp>

#include <cstring>
#include <string>

namespace {

std::string message;  // of the last error

template <class F>
auto guarded(F&& function) -> decltype(function()) {
  try {
    message.clear();
    return function();
  } catch (const smelt::Error& e) {
    message = e.what();
    return {};
  }
}

}  // namespace

extern "C" {

const char* exchange_error() { return message.c_str(); }

// What a program makes of a tensor of another library, as a tensor of smelt's: `x * 2 + 1`, or its
// transposed, which is a view.
smelt::dlpack::ManagedTensorVersioned* exchange_calculate(smelt::dlpack::ManagedTensorVersioned* in) {
  return guarded([&] {
    smelt::Array y = smelt::from_dlpack(in) * 2 + 1;
    eval(y);
    return to_dlpack(y);
  });
}
smelt::dlpack::ManagedTensor* exchange_calculate_legacy(smelt::dlpack::ManagedTensor* in) {
  return guarded([&] {
    smelt::Array y = smelt::from_dlpack(in) * 2 + 1;
    eval(y);
    return to_dlpack_legacy(y);
  });
}

// The tensor itself, there and back: the same memory, with the flags that it had.
smelt::dlpack::ManagedTensorVersioned* exchange_pass(smelt::dlpack::ManagedTensorVersioned* in) {
  return guarded([&] { return to_dlpack(smelt::from_dlpack(in)); });
}

// A function of smelt's writes into memory of the other library: `out = x * 3`. False and an error
// where it must not.
bool exchange_fill(smelt::dlpack::ManagedTensorVersioned* x, smelt::dlpack::ManagedTensorVersioned* out) {
  return guarded([&] {
    const smelt::Array source = smelt::from_dlpack(x), target = smelt::from_dlpack(out);
    const auto times3 = smelt::compile([](smelt::Array a) { return a * 3; });
    times3.into(target)(source);
    return true;
  });
}

// For consumers that never come: what a capsule does that nobody takes.
void exchange_drop(smelt::dlpack::ManagedTensorVersioned* tensor) { tensor->deleter(tensor); }
void exchange_drop_legacy(smelt::dlpack::ManagedTensor* tensor) { tensor->deleter(tensor); }

}  // extern "C"
