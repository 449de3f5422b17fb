#include "support/fake_cuda/emulate.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "support/fake_cuda/open.hpp"

namespace smelt::testing {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = std::string(SMELT_SOURCE_DIR) + "/tests/support/fake_cuda";

std::string read(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Where a comment, a string, or a line of the preprocessor that begins at `at` ends; `at` itself
// where none does.
size_t past_what_is_no_code(const std::string& text, size_t at) {
  if (text.compare(at, 2, "//") == 0 || text[at] == '#') return std::min(text.find('\n', at), text.size());
  if (text[at] != '"') return at;
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

bool is_word_at(const std::string& text, size_t at, const std::string& word) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return text.compare(at, word.size(), word) == 0 && (at == 0 || !part(text[at - 1])) &&
         (at + word.size() >= text.size() || !part(text[at + word.size()]));
}

// The text without the functions that are written in PTX.
std::string without_assembler(const std::string& text) {
  std::string kept;
  size_t item = 0;
  int depth = 0;
  bool has_asm = false;
  for (size_t at = 0; at < text.size();) {
    if (const size_t past = past_what_is_no_code(text, at); past != at) {
      at = past;
      if (depth == 0) kept += text.substr(item, at - item), item = at;
      continue;
    }
    has_asm = has_asm || is_word_at(text, at, "asm");
    if (text[at] == '{') ++depth;
    const bool ends = text[at] == '}' && --depth == 0;
    ++at;
    if (!ends) continue;
    if (at < text.size() && text[at] == ';') ++at;  // of a struct
    if (!has_asm) kept += text.substr(item, at - item);
    item = at, has_asm = false;
  }
  return kept + text.substr(item);
}

// `extern __shared__` names memory that is there; `__shared__` alone makes some.
std::string for_host(const std::string& cuda) {
  return std::regex_replace(without_assembler(cuda), std::regex("extern __shared__"), "extern");
}

std::string kernels_text(const std::string& cuda) {
  std::string text;
  static const std::regex kernel(R"(extern "C" __global__ void (?:__\w+__\([^)]*\) )*(\w+)\()");
  for (std::sregex_iterator it(cuda.begin(), cuda.end(), kernel), end; it != end; ++it)
    text += fmt::format(
        "extern \"C\" const char* launch_{0}(void** a, const unsigned* grid, const unsigned* block, unsigned bytes) "
        "{{\n"
        "  return on_host::launch(&{0}, a, grid, block, bytes);\n}}\n"
        "extern \"C\" unsigned sizes_{0}(unsigned* bytes) {{ return on_host::sizes(&{0}, bytes); }}\n",
        (*it)[1].str());
  return text;
}

// The headers as one, for a compiler with its options: a copy in the folder, beside which lies what
// GCC reads in half the time. Its name has what it is made of.
std::string precompiled(const std::string& compiler, const fs::path& folder) {
  const std::string header = read(kFolder + "/cuda_on_host.hpp") + read(kFolder + "/cuda_functions_on_host.hpp");
  const std::string made =
      (folder / fmt::format("cuda-{:016x}.hpp", std::hash<std::string>()(header + compiler))).string();
  if (fs::exists(made)) return made;
  const std::string own = fmt::format("{}.{}", made, ::getpid());
  std::ofstream(own) << header;
  const std::string command = fmt::format("{0} -x c++-header -o '{1}.gch' '{1}' > /dev/null 2>&1", compiler, own);
  if (std::system(command.c_str()) == 0) fs::rename(own + ".gch", made + ".gch");  // without it the header is read
  fs::rename(own, made);
  return made;
}

using SizesOnHost = unsigned(unsigned*);

fake_cuda::Kernel kernel_of(fake_cuda::State* driver, const HostLibrary& library, const std::string& name) {
  fake_cuda::Kernel made;
  unsigned bytes[4096];
  auto* const sizes = library.function<SizesOnHost>("sizes_" + name);
  if (!sizes) throw std::runtime_error("no kernel " + name);
  made.sizes.assign(bytes, bytes + sizes(bytes));
  made.run = [driver, library, name](const fake_cuda::Launch& l) {
    std::vector<void*> arguments;
    for (const std::vector<char>& a : l.arguments) arguments.push_back(const_cast<char*>(a.data()));
    const std::string fault =
        library.launch(name, arguments, {l.grid, l.grid_y, l.grid_z}, {l.block, l.block_y, l.block_z}, l.shared_bytes);
    if (!fault.empty() && driver->fault.empty()) driver->fault = name + ": " + fault;
  };
  return made;
}

}  // namespace

bool can_emulate() { return std::system(SMELT_TEST_CXX " --version > /dev/null 2>&1") == 0; }

HostLibrary::HostLibrary(const std::string& cuda, const std::string& more, int compute, const std::string& flags) {
  const fs::path folder = fs::path(SMELT_BINARY_DIR) / "test-kernels";
  fs::create_directories(folder);
  const std::string compiler =
      fmt::format("'{}' -std=c++17 -O0 -w -U_FORTIFY_SOURCE -fno-strict-aliasing -ffp-contract=off -fPIC {} {}",
                  SMELT_TEST_CXX, compute < 80 ? "-DSMELT_BEFORE_SM_80" : "", flags);
  const std::string text =
      fmt::format("#include \"{}\"\n", precompiled(compiler, folder)) + for_host(cuda) + kernels_text(cuda) + more;
  // Kept in the build folder under what it was made of.
  const size_t key = std::hash<std::string>()(text + compiler);
  const std::string base = (folder / fmt::format("host-{:016x}", key)).string(), made = base + ".so";
  if (!fs::exists(made)) {
    const std::string own = fmt::format("{}.{}", base, ::getpid());
    std::ofstream(own + ".cpp") << text;
    // The linker gets no flags: what sanitizers call is in `more`.
    const std::string command =
        fmt::format("({0} -c -o '{1}.o' '{1}.cpp' && '{2}' -shared -o '{1}.so' '{1}.o') > '{1}.log' 2>&1", compiler,
                    own, SMELT_TEST_CXX);
    const int status = std::system(command.c_str());
    const std::string said = read(own + ".log");
    fs::remove(own + ".log");
    fs::remove(own + ".o");
    if (status != 0) throw std::runtime_error(fmt::format("{}.cpp:\n{}", own, said.substr(0, 3000)));
    fs::remove(own + ".cpp");
    fs::rename(own + ".so", made);
  }
  void* const opened = dlopen(made.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) throw std::runtime_error(dlerror());
  handle_ = std::shared_ptr<void>(opened, [](void* h) { dlclose(h); });
}

std::string HostLibrary::launch(const std::string& name, std::vector<void*> arguments, const Sizes& grid,
                                const Sizes& block, unsigned shared_bytes) const {
  using Launch = const char*(void**, const unsigned*, const unsigned*, unsigned);
  auto* const run = function<Launch>("launch_" + name);
  if (!run) throw std::runtime_error("no kernel " + name);
  return run(arguments.data(), grid.data(), block.data(), shared_bytes);
}

void* HostLibrary::find(const std::string& name) const { return dlsym(handle_.get(), name.c_str()); }

EmulatedMachine emulated_gpu(const EmulatedCode& code) {
  EmulatedMachine gpu;
  gpu.driver = &fresh_fake();
  gpu.driver->major = code.major;
  gpu.driver->processors = code.processors;
  const Variable driver("SMELT_CUDA", SMELT_FAKE_CUDA), nvrtc("SMELT_NVRTC", SMELT_FAKE_CUDA);
  const Variable cache("SMELT_CACHE_DIR", "off");
  gpu.machine = Machine::cuda();
  const auto libraries = std::make_shared<std::map<std::string, HostLibrary>>();
  gpu.driver->kernel_of_image = [libraries, code, state = gpu.driver](const std::string& name,
                                                                      const std::string& image) {
    const std::string text = image.substr(4);  // after what makes it look like a cubin
    auto at = libraries->find(text);
    if (at == libraries->end()) {
      at = libraries->emplace(text, HostLibrary(text, code.more, 80, code.flags)).first;
      if (code.opened) code.opened(at->second);
    }
    return kernel_of(state, at->second, name);
  };
  return gpu;
}

}  // namespace smelt::testing
