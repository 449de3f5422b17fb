#include "compile/calibration_file.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/bytes.hpp"
#include "runtime/disk_cache.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

// Another form of the file, or of the programs that measure, has another number.
constexpr std::string_view kForm = "smelt calibration 1";
constexpr std::string_view kDevice = "device ", kMachine = "machine ", kMeasured = "measured ", kEnd = "end ";

std::string kind_of(const Machine& device) { return !device.is_gpu ? "cpu" : device.opencl ? "opencl" : "cuda"; }

std::string model_of(const Machine& device) {
  if (device.is_gpu) return device.gpu_facts.name;
  return device.level.empty() ? device.facts.name : fmt::format("{} as {}", device.facts.name, device.level);
}

std::string file_of(const Machine& device) {
  std::string name = "calibration-" + kind_of(device) + "-";
  for (const char c : model_of(device)) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (name.back() != '-')
      name += '-';
  }
  return name + ".txt";
}

// What the numbers depend on besides the model, in words.
std::string machine_of(const Machine& device) {
  if (!device.is_gpu) {
    const runtime::CpuFacts& f = device.facts;
    const std::string identity = device.level.empty() ? runtime::cpu_identity() : runtime::cpu_identity(device.level);
    return fmt::format("processor {:016x}, {} threads, caches of {}, {} and {} bytes", checksum(identity), f.threads,
                       f.l1_bytes, f.l2_bytes, f.l3_bytes);
  }
  const runtime::GpuFacts& f = device.gpu_facts;
  return fmt::format("{} multiprocessors, driver {}, last cache of {} bytes", f.processors, f.driver, f.l2_bytes);
}

std::string text_of(const Machine& device, const schedule::Calibration& calibration, const std::string& measured) {
  std::string text = fmt::format("{}\n{}{} {}\n{}{}\n{}{}\n{}", kForm, kDevice, kind_of(device), model_of(device),
                                 kMachine, machine_of(device), kMeasured, measured, schedule::text_of(calibration));
  return text + fmt::format("{}{:016x}\n", kEnd, checksum(text));
}

// Takes the rest of the first line that begins in this way.
std::optional<std::string> take_line(std::string_view& text, std::string_view beginning) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(beginning)) return std::nullopt;
  std::string rest(text.substr(beginning.size(), end - beginning.size()));
  text.remove_prefix(end + 1);
  return rest;
}

constexpr const char* kBroken = "its file is damaged";

KeptCalibration ignored(std::string why) { return {nullptr, "", std::move(why)}; }

KeptCalibration read(const Machine& device, std::string_view text) {
  const std::string_view whole = text;
  const auto form = take_line(text, "");
  if (!form) return ignored(kBroken);
  if (*form != kForm)
    return ignored(form->starts_with("smelt calibration ") ? "another version of smelt wrote it" : kBroken);
  const size_t end = whole.rfind(kEnd);
  if (end == std::string_view::npos ||
      whole.substr(end) != fmt::format("{}{:016x}\n", kEnd, checksum(whole.substr(0, end))))
    return ignored(kBroken);
  const auto model = take_line(text, kDevice), machine = take_line(text, kMachine),
             measured = take_line(text, kMeasured);
  if (!model || !machine || !measured) return ignored(kBroken);
  if (*model != fmt::format("{} {}", kind_of(device), model_of(device))) return ignored("it is of " + *model);
  if (*machine != machine_of(device))
    return ignored(fmt::format("it is of {}, and here are {}", *machine, machine_of(device)));
  const auto calibration = schedule::calibration_of(text.substr(0, text.rfind(kEnd)));
  if (!calibration) return ignored(kBroken);
  return {std::make_shared<const schedule::Calibration>(*calibration), *measured, ""};
}

bool is_here(const Machine& device) { return device.cache && (device.gpu || !device.is_gpu); }

}  // namespace

KeptCalibration kept_calibration(const Machine& device) {
  if (!is_here(device)) return {};
  const auto text = device.cache->text(file_of(device));
  return text ? read(device, *text) : KeptCalibration{};
}

static void say_not_kept(const std::string& why) {
  throw UserError(
      fmt::format("the calibration cannot be kept: {}\nhelp: it is a file in the folder of the cache; "
                  "smelt cache info says where that is",
                  why));
}

void check_keeps_calibration(const Machine& device) {
  if (!device.cache) say_not_kept(device.name + " has no cache");
  if (!is_here(device)) say_not_kept(device.name + " is not in this machine");
  if (const std::string refused = device.cache->info().refused; !refused.empty()) say_not_kept(refused);
}

void keep_calibration(const Machine& device, const schedule::Calibration& calibration, const std::string& measured) {
  check_keeps_calibration(device);
  if (!device.cache->keep_text(file_of(device), text_of(device, calibration, measured)))
    say_not_kept("its file cannot be written");
}

bool forget_calibration(const Machine& device) { return is_here(device) && device.cache->remove_text(file_of(device)); }

}  // namespace smelt
