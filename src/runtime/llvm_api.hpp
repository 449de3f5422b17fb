// The functions of the LLVM C API that smelt calls, declared by hand and looked up in a library
// opened at run time. One line is one function: its type and its name. Only functions that every
// libLLVM from 16 to 22 exports are here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/shared_library.hpp"

namespace smelt::runtime::llvm {

struct ContextOpaque;
struct ModuleOpaque;
struct MemoryBufferOpaque;
struct TargetOpaque;
struct TargetMachineOpaque;
struct TargetDataOpaque;
struct PassOptionsOpaque;
struct ErrorOpaque;
struct DiagnosticOpaque;

using Context = ContextOpaque*;
using IrModule = ModuleOpaque*;
using MemoryBuffer = MemoryBufferOpaque*;
using Target = TargetOpaque*;
using TargetMachine = TargetMachineOpaque*;
using TargetData = TargetDataOpaque*;
using PassOptions = PassOptionsOpaque*;
using Error = ErrorOpaque*;
using Diagnostic = DiagnosticOpaque*;

using Bool = int;
using DiagnosticHandler = void (*)(Diagnostic, void*);

inline constexpr int kReturnStatus = 2;                  // LLVMVerifierFailureAction
inline constexpr int kAssembly = 0, kObject = 1;         // LLVMCodeGenFileType
inline constexpr int kLevelLess = 1, kLevelDefault = 2;  // LLVMCodeGenOptLevel
inline constexpr int kRelocPic = 2;                      // LLVMRelocMode
inline constexpr int kCodeModelSmall = 3;                // LLVMCodeModel

struct Api {
  SharedLibrary library;
  explicit Api(const SharedLibrary& from) : library(from) {}

  // messages
  Call<void(unsigned*, unsigned*, unsigned*)> get_version{library, "LLVMGetVersion"};
  Call<void(char*)> dispose_message{library, "LLVMDisposeMessage"};
  Call<char*(Error)> get_error_message{library, "LLVMGetErrorMessage"};
  Call<void(char*)> dispose_error_message{library, "LLVMDisposeErrorMessage"};
  Call<char*(Diagnostic)> get_diagnostic_text{library, "LLVMGetDiagInfoDescription"};
  Call<int(Diagnostic)> get_diagnostic_severity{library, "LLVMGetDiagInfoSeverity"};

  // text to module
  Call<Context()> create_context{library, "LLVMContextCreate"};
  Call<void(Context)> dispose_context{library, "LLVMContextDispose"};
  Call<void(Context, DiagnosticHandler, void*)> set_diagnostic_handler{library, "LLVMContextSetDiagnosticHandler"};
  Call<MemoryBuffer(const char*, size_t, const char*)> copy_to_buffer{library,
                                                                      "LLVMCreateMemoryBufferWithMemoryRangeCopy"};
  Call<Bool(Context, MemoryBuffer, IrModule*, char**)> parse{library, "LLVMParseIRInContext"};
  Call<Bool(IrModule, int, char**)> verify{library, "LLVMVerifyModule"};
  Call<void(IrModule)> dispose_module{library, "LLVMDisposeModule"};
  Call<void(IrModule, const char*)> set_target{library, "LLVMSetTarget"};
  Call<void(IrModule, TargetData)> set_data_layout{library, "LLVMSetModuleDataLayout"};

  // target
  Call<char*()> default_triple{library, "LLVMGetDefaultTargetTriple"};
  Call<char*()> host_cpu_name{library, "LLVMGetHostCPUName"};
  Call<char*()> host_cpu_features{library, "LLVMGetHostCPUFeatures"};
  Call<Bool(const char*, Target*, char**)> target_from_triple{library, "LLVMGetTargetFromTriple"};
  Call<TargetMachine(Target, const char*, const char*, const char*, int, int, int)> create_target_machine{
      library, "LLVMCreateTargetMachine"};
  Call<void(TargetMachine)> dispose_target_machine{library, "LLVMDisposeTargetMachine"};
  Call<TargetData(TargetMachine)> create_target_data{library, "LLVMCreateTargetDataLayout"};
  Call<void(TargetData)> dispose_target_data{library, "LLVMDisposeTargetData"};
  Call<Bool(TargetMachine, IrModule, int, char**, MemoryBuffer*)> emit_to_memory{library,
                                                                                 "LLVMTargetMachineEmitToMemoryBuffer"};
  Call<const char*(MemoryBuffer)> buffer_start{library, "LLVMGetBufferStart"};
  Call<size_t(MemoryBuffer)> buffer_size{library, "LLVMGetBufferSize"};
  Call<void(MemoryBuffer)> dispose_buffer{library, "LLVMDisposeMemoryBuffer"};

  // passes
  Call<PassOptions()> create_pass_options{library, "LLVMCreatePassBuilderOptions"};
  Call<void(PassOptions)> dispose_pass_options{library, "LLVMDisposePassBuilderOptions"};
  Call<Error(IrModule, const char*, TargetMachine, PassOptions)> run_passes{library, "LLVMRunPasses"};

  // The host's target: LLVM names these after its architectures.
#if defined(__aarch64__)
  Call<void()> initialize_target_info{library, "LLVMInitializeAArch64TargetInfo"};
  Call<void()> initialize_target{library, "LLVMInitializeAArch64Target"};
  Call<void()> initialize_target_mc{library, "LLVMInitializeAArch64TargetMC"};
  Call<void()> initialize_asm_printer{library, "LLVMInitializeAArch64AsmPrinter"};
#else
  Call<void()> initialize_target_info{library, "LLVMInitializeX86TargetInfo"};
  Call<void()> initialize_target{library, "LLVMInitializeX86Target"};
  Call<void()> initialize_target_mc{library, "LLVMInitializeX86TargetMC"};
  Call<void()> initialize_asm_printer{library, "LLVMInitializeX86AsmPrinter"};
#endif
};

}  // namespace smelt::runtime::llvm
