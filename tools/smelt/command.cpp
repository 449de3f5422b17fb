#include "command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

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

}  // namespace

Device find_device(const CommonOptions& options) {
  if (options.device == "cpu") return Device::cpu();
  const std::string name = report::printable(options.device, 40);
  if (options.device == "cuda") {
    throw UserError("there is no CUDA engine in this version\nhelp: run on the CPU: --device cpu (the default)");
  }
  throw UserError(fmt::format(
      "there is no device \"{}\"\nhelp: this version has one: --device cpu; `smelt devices` tells more", name));
}

int thread_count(const CommonOptions& options, const Device& device) {
  return options.threads > 0 ? options.threads : device.facts.threads;
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
