// The host side of a standalone C++ file: sizes, memory, the order of the kernels.
#include <fmt/format.h>

#include "base/check.hpp"
#include "compile/standalone_text.hpp"
#include "emit/cpp.hpp"
#include "emit/cuda.hpp"
#include "emit/llvm.hpp"

namespace smelt {
namespace {

constexpr int64_t kWorkPerThread = 32768;  // elements below which a piece of work is not given to a thread

std::string comment(const StandaloneText& file) {
  return file.comment(
             "C++17",
             fmt::format("//   workspace: {}_workspace_bytes(sizes) bytes, aligned to 64; may be null where that is 0\n"
                         "// bool is one byte, f16 and bf16 their bits in an unsigned short, a number a pointer to "
                         "one. Outputs overlap nothing.\n"
                         "// Returns 0; 1 when the sizes do not fit the program, outputs unwritten; 2 when an index "
                         "was out of range, outputs unspecified.\n",
                         file.name())) +
         "//\n// g++ or clang++ -std=c++17 -O3 -march=native -fno-math-errno -c FILE, and -fopenmp for threads. Square "
         "roots are\n"
         "// in vectors with -fno-math-errno only. -ffp-contract=off where results must be those of the compiled "
         "program to the\n"
         "// bit (g++ 12 and later need it not for products).\n\n";
}

// The most of one thread's scratch, and all memory: slots one after the other.
std::string size_functions(const StandaloneText& file) {
  std::string most = "0LL";
  for (const StandaloneRun& run : file.runs()) {
    const kernel::Kernel& kernel = file.kernels()[run.code];
    IntExpr bytes = emit::scratch_bytes(kernel);
    for (size_t l = kernel.launch_sizes.size(); l-- > 0;)
      bytes = bytes.substitute({{kernel.launch_sizes[l].symbol, kernel.launch_sizes[l].value}}, {});
    for (const auto& [symbol, size] : run.sizes) bytes = bytes.substitute({{symbol, size}}, {});
    if (!bytes.is(0)) most = fmt::format("larger<long long>({}, {})", most, file.integer(bytes));
  }
  const std::string threads = "  [[maybe_unused]] const int64_t threads = smelt_threads();\n";
  std::string text =
      "static int64_t smelt_threads() {\n#if defined(_OPENMP)\n  return omp_get_max_threads();\n#else\n  return "
      "1;\n#endif\n}\n\n";
  text += fmt::format("static int64_t {}_scratch({}) {{\n{}  return ({} + 63) / 64 * 64;\n}}\n\n", file.name(),
                      file.size_parameters(), threads, most);
  text += fmt::format("extern \"C\" int64_t {}_workspace_bytes({}) {{\n{}  int64_t bytes = 0;\n", file.name(),
                      file.size_parameters(), threads);
  for (const Slot& slot : file.slots())
    text +=
        fmt::format("  bytes += ({} * {}LL + 63) / 64 * 64;\n", file.integer(count(slot.dims)), size_of(slot.dtype));
  return text + fmt::format("  return bytes + threads * {}_scratch({});\n}}\n\n", file.name(), file.size_names());
}

std::string launch(const StandaloneText& file, const StandaloneRun& run) {
  const kernel::Kernel& kernel = file.kernels()[run.code];
  std::string text = "  {\n" + file.launch_sizes(run), arguments;
  size_t arrays = 0;
  for (const kernel::Param& p : kernel.params)
    arguments += ", " + (p.kind == kernel::ParamKind::Size ? file.symbol_name(*p.symbol)
                                                           : file.array(run.launch.arrays[arrays++]));
  for (size_t p = 0; p < kernel.phases.size(); ++p)
    text += fmt::format(
        "    smelt_spread({0}, {1}, threads, [&](int64_t begin, int64_t end, int64_t thread) {{\n"
        "      {2}_p{3}(begin, end{4}, scratch + thread * scratch_bytes);\n    }});\n",
        file.integer(kernel.phases[p].body.back().get<kernel::Loop>().extent), file.integer(kernel.phases[p].work),
        kernel.name, p, arguments);
  text += "  }\n";
  if (kernel.error_param >= 0) text += "  if (error[0]) return 2;\n";
  return text;
}

std::string function(const StandaloneText& file) {
  const Graph& graph = file.graph();
  std::string text = fmt::format(
      "// Iterations 0 .. extent-1 over threads, in pieces that are worth one.\n"
      "template <class Run>\nstatic void smelt_spread(int64_t extent, int64_t work, int64_t threads, const Run& run) "
      "{{\n"
      "  if (extent <= 0) return;\n"
      "  const int64_t least = larger<int64_t>(1, {} / larger<int64_t>(work, 1));\n"
      "  const int64_t pieces = smaller<int64_t>(threads, (extent + least - 1) / least);\n"
      "  if (pieces <= 1) return run(0, extent, 0);\n"
      "#if defined(_OPENMP)\n#pragma omp parallel for schedule(static, 1) "
      "num_threads(static_cast<int>(pieces))\n#endif\n"
      "  for (int64_t piece = 0; piece < pieces; ++piece)\n"
      "    run(extent * piece / pieces, extent * (piece + 1) / pieces, piece);\n}}\n\n",
      kWorkPerThread);
  std::string parameters;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    parameters += fmt::format("[[maybe_unused]] const {}* x{}, ", file.pointer_to(graph.inputs[i]), i);
  if (!file.symbols().empty()) parameters += file.size_parameters() + ", ";
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    parameters += fmt::format("{}* y{}, ", file.pointer_to(graph.outputs[i]), i);
  text += fmt::format("extern \"C\" int {}({}[[maybe_unused]] void* workspace) {{\n", file.name(), parameters) +
          file.checks();
  text +=
      "  [[maybe_unused]] const int64_t threads = smelt_threads();\n  [[maybe_unused]] int32_t error[1] = {0};\n"
      "  [[maybe_unused]] char* scratch = static_cast<char*>(workspace);\n";
  for (size_t s = 0; s < file.slots().size(); ++s) {
    const Slot& slot = file.slots()[s];
    text += fmt::format(
        "  {0}* const t{1} = reinterpret_cast<{0}*>(scratch);\n  scratch += ({2} * {3}LL + 63) / 64 * 64;\n",
        emit::c_like::memory_type(emit::cuda_spellings(), slot.dtype), s, file.integer(count(slot.dims)),
        size_of(slot.dtype));
  }
  text +=
      fmt::format("  [[maybe_unused]] const int64_t scratch_bytes = {}_scratch({});\n", file.name(), file.size_names());
  for (const StandaloneRun& run : file.runs()) text += launch(file, run);
  text += file.last_copies("  std::memcpy(y{}, y{}, static_cast<size_t>({}));\n");
  return text + "  return 0;\n}\n";
}

}  // namespace

std::string standalone_cpp(const Executable& executable, const StandaloneOptions& options) {
  if (executable.interpreted() || executable.device().is_gpu)
    throw UserError(
        fmt::format("smelt emit --as cpp needs LLVM to plan kernels for a CPU\nhelp: {}", executable.device().missing));
  const StandaloneText file(executable, options);
  std::string text = comment(file) + emit::cpp_prelude();
  for (const kernel::Kernel& kernel : file.kernels()) text += emit::emit_cpp(kernel);
  return text + "}  // namespace\n\n" + size_functions(file) + function(file);
}

}  // namespace smelt
