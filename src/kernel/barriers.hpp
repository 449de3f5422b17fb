// Where the scratch of a team of threads is, and where its threads wait for each other. A GPU only.
//
// A buffer whose every access is at the same index of Vector loops that deal out the same elements
// belongs to the threads one by one: each finds what it left itself, in registers or in its own
// part of the memory (Scope::Lane). The others are shared (Scope::Workgroup), and a barrier is
// before what touches one that was touched since the last barrier:
//
//   vector %y < 64 by 1: scratch0[%y] = in0[%y]        vector %y < 64 by 1: scratch0[%y] = in0[%y]
//   vector %x < 64 by 1: out1[%x] = scratch0[63 - %x]  →  barrier
//                                                      vector %x < 64 by 1: out1[%x] = scratch0[63 - %x]
#pragma once

#include <optional>
#include <set>
#include <string>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Whether an access is to scratch that threads share.
bool is_shared(const Kernel& kernel, const Access& access);
// A pipeline, within which the team waits on its own; and the buffers that are in its memory.
bool is_pipeline(const Stmt& s);
std::set<int> in_memory_of_pipeline(const Kernel& kernel);
// Whether a buffer is one of these, or in the memory of one: what is used behind a pipeline is in
// that of its parts.
bool meets_memory(const Kernel& kernel, const std::set<int>& buffers, int buffer);
// Whether a team goes through the body of a statement again and again.
bool repeats(const Stmt& s);
// The first dimension of an access whose index grows by 1 with a loop variable. A buffer of
// Scope::Lane has one for its Vector loops, and its elements along it are dealt out to the threads.
std::optional<size_t> axis_along(const Access& access, Symbol var);

// Both return whether they changed the kernel; that barriers are in it is a change, also where none
// is needed.
bool place_scratch(Kernel& kernel);
bool insert_barriers(Kernel& kernel);

}  // namespace smelt::kernel
