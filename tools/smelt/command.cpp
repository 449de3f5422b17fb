#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "report/file.hpp"
#include "report/json.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

void write_out(std::FILE* file, const std::string& text, const char* name) {
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0) return;
  throw UserError(fmt::format("cannot write to {}: {}", name, std::strerror(errno)));
}

// 90 for "sm_90"; nothing for other text.
std::optional<int> number_behind(const std::string& text, const std::string& prefix) {
  const std::string digits = text.rfind(prefix, 0) == 0 ? text.substr(prefix.size()) : "";
  const bool number =
      !digits.empty() && digits.size() <= 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::optional(std::atoi(digits.c_str())) : std::nullopt;
}

}  // namespace

void check_device_name(const CommonOptions& options) {
  const std::string& name = options.device;
  for (const char* known : {"auto", "cpu", "cuda", "opencl"})
    if (name == known) return;
  for (const char* numbered : {"cuda:", "opencl:", "sm_"})
    if (number_behind(name, numbered)) return;
  throw UserError(
      fmt::format("there is no device \"{}\"\nhelp: one of auto, cpu, cuda, cuda:1, opencl, opencl:1, and for explain "
                  "and emit sm_90; "
                  "`smelt devices` lists them",
                  report::printable(name, 40)));
}

namespace {

// For a device that was named; auto takes an available one.
void check_threads(const CommonOptions& options, const Machine& device) {
  if (options.threads == 0 || !device.is_gpu) return;
  throw UserError(
      fmt::format("--threads is for the CPU, and --device names {}\nhelp: leave one of them out", options.device));
}

}  // namespace

Machine find_device(const CommonOptions& options) {
  check_device_name(options);
  if (options.device == "auto") return Machine::best();
  if (options.device == "cpu") return Machine::cpu();
  const std::optional<int> architecture = number_behind(options.device, "sm_");
  const bool opencl = options.device.rfind("opencl", 0) == 0;
  const Machine device = architecture ? Machine::cuda_architecture(*architecture)
                         : opencl     ? Machine::opencl_device(number_behind(options.device, "opencl:").value_or(0))
                                      : Machine::cuda(number_behind(options.device, "cuda:").value_or(0));
  if (!device.compiles()) throw UserError(device.missing + "\nhelp: or run on the CPU: --device cpu");
  check_threads(options, device);
  return device;
}

Machine find_device_here(const CommonOptions& options) {
  Machine device = find_device(options);
  if (device.is_gpu && !device.gpu)
    throw UserError(
        fmt::format("{} is an architecture to look at, not a GPU of this machine\n"
                    "help: --device cuda, or `smelt explain --device {}`",
                    device.name, device.name));
  return device;
}

Fallback fallback_of(const std::string& word) {
  if (word == "error") return Fallback::Error;
  if (word == "warn") return Fallback::Warn;
  if (word == "allow") return Fallback::Allow;
  throw UserError(fmt::format("--fallback is \"{}\"\nhelp: one of error, warn, allow", report::printable(word, 40)));
}

int thread_count(const CommonOptions& options, const Machine& device) {
  if (device.is_gpu) return device.gpu_facts.processors;
  return options.threads > 0 ? options.threads : device.facts.threads;
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

void check_ending(const std::string& option, const std::string& path, std::string_view ending,
                  const std::string& what) {
  const std::filesystem::path file(path);
  if (path == "-")
    throw UserError(fmt::format("{} -: {}, not to standard output\nhelp: {} result{}", option, what, option, ending));
  if (file.extension().empty() || file.extension() == ending) return;
  std::filesystem::path right = file;
  throw UserError(fmt::format("{} {}: {}\nhelp: {} {}", option, report::printable(path), what, option,
                              report::printable(right.replace_extension(ending).string())));
}

Output::Output(const CommonOptions& options) : json_path_(options.json), style_(report::Style::of(STDOUT_FILENO)) {}

void Output::text(const std::string& text) const {
  if (json_path_ != "-") write_out(stdout, text, "standard output");
}

void Output::json(const nlohmann::ordered_json& json) const {
  if (json_path_.empty()) return;
  if (json_path_ == "-") return write_out(stdout, report::text_of(json), "standard output");
  report::write_text(json_path_, report::text_of(json));
}

void Output::note(const std::string& text) const { fmt::print(stderr, "{}\n", text); }

}  // namespace smelt::tool
