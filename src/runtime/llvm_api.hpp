// The functions of the LLVM C API that smelt calls, declared by hand and looked up in a library opened at run time. One line
// is one function: its type and its name. Only functions that every libLLVM from 16 to 22 exports stand here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

// A library opened at run time; `missing` collects the names that it lacks.
struct Library {
  void* handle = nullptr;
  std::vector<std::string>* missing = nullptr;
  void* find(const char* name) const;
};

// One function of the library, called like a function.
template <class Signature>
class Function;
template <class R, class... A>
class Function<R(A...)> {
 public:
  Function(const Library& library, const char* name) : pointer_(reinterpret_cast<R (*)(A...)>(library.find(name))) {}
  R operator()(A... a) const { return pointer_(a...); }

 private:
  R (*pointer_)(A...);
};

struct Api {
  Library library;
  explicit Api(const Library& from) : library(from) {}

  // messages
  Function<void(unsigned*, unsigned*, unsigned*)> get_version{library, "LLVMGetVersion"};
  Function<void(char*)> dispose_message{library, "LLVMDisposeMessage"};
  Function<char*(Error)> get_error_message{library, "LLVMGetErrorMessage"};
  Function<void(char*)> dispose_error_message{library, "LLVMDisposeErrorMessage"};
  Function<char*(Diagnostic)> get_diagnostic_text{library, "LLVMGetDiagInfoDescription"};
  Function<int(Diagnostic)> get_diagnostic_severity{library, "LLVMGetDiagInfoSeverity"};

  // text to module
  Function<Context()> create_context{library, "LLVMContextCreate"};
  Function<void(Context)> dispose_context{library, "LLVMContextDispose"};
  Function<void(Context, DiagnosticHandler, void*)> set_diagnostic_handler{library, "LLVMContextSetDiagnosticHandler"};
  Function<MemoryBuffer(const char*, size_t, const char*)> copy_to_buffer{library,
                                                                          "LLVMCreateMemoryBufferWithMemoryRangeCopy"};
  Function<Bool(Context, MemoryBuffer, IrModule*, char**)> parse{library, "LLVMParseIRInContext"};
  Function<Bool(IrModule, int, char**)> verify{library, "LLVMVerifyModule"};
  Function<void(IrModule)> dispose_module{library, "LLVMDisposeModule"};
  Function<void(IrModule, const char*)> set_target{library, "LLVMSetTarget"};
  Function<void(IrModule, TargetData)> set_data_layout{library, "LLVMSetModuleDataLayout"};

  // target
  Function<char*()> default_triple{library, "LLVMGetDefaultTargetTriple"};
  Function<char*()> host_cpu_name{library, "LLVMGetHostCPUName"};
  Function<char*()> host_cpu_features{library, "LLVMGetHostCPUFeatures"};
  Function<Bool(const char*, Target*, char**)> target_from_triple{library, "LLVMGetTargetFromTriple"};
  Function<TargetMachine(Target, const char*, const char*, const char*, int, int, int)> create_target_machine{
      library, "LLVMCreateTargetMachine"};
  Function<void(TargetMachine)> dispose_target_machine{library, "LLVMDisposeTargetMachine"};
  Function<TargetData(TargetMachine)> create_target_data{library, "LLVMCreateTargetDataLayout"};
  Function<void(TargetData)> dispose_target_data{library, "LLVMDisposeTargetData"};
  Function<Bool(TargetMachine, IrModule, int, char**, MemoryBuffer*)> emit_to_memory{
      library, "LLVMTargetMachineEmitToMemoryBuffer"};
  Function<const char*(MemoryBuffer)> buffer_start{library, "LLVMGetBufferStart"};
  Function<size_t(MemoryBuffer)> buffer_size{library, "LLVMGetBufferSize"};
  Function<void(MemoryBuffer)> dispose_buffer{library, "LLVMDisposeMemoryBuffer"};

  // passes
  Function<PassOptions()> create_pass_options{library, "LLVMCreatePassBuilderOptions"};
  Function<void(PassOptions)> dispose_pass_options{library, "LLVMDisposePassBuilderOptions"};
  Function<Error(IrModule, const char*, TargetMachine, PassOptions)> run_passes{library, "LLVMRunPasses"};

  // The host's target: LLVM names these after its architectures.
#if defined(__aarch64__)
  Function<void()> initialize_target_info{library, "LLVMInitializeAArch64TargetInfo"};
  Function<void()> initialize_target{library, "LLVMInitializeAArch64Target"};
  Function<void()> initialize_target_mc{library, "LLVMInitializeAArch64TargetMC"};
  Function<void()> initialize_asm_printer{library, "LLVMInitializeAArch64AsmPrinter"};
#else
  Function<void()> initialize_target_info{library, "LLVMInitializeX86TargetInfo"};
  Function<void()> initialize_target{library, "LLVMInitializeX86Target"};
  Function<void()> initialize_target_mc{library, "LLVMInitializeX86TargetMC"};
  Function<void()> initialize_asm_printer{library, "LLVMInitializeX86AsmPrinter"};
#endif
};

}  // namespace smelt::runtime::llvm
