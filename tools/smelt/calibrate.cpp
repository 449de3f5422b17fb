// smelt devices --calibrate, --forget: the numbers of the cost model, measured here.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "arguments.hpp"
#include "compile/calibration_file.hpp"
#include "progress.hpp"
#include "report/calibrate.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/units.hpp"
#include "schedule/calibration.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

std::string now() {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

// Those that are named, or all that can be calibrated: the CPU and the GPUs.
std::vector<Machine> devices_named(const DevicesOptions& options) {
  if (!options.named.empty()) {
    CommonOptions one = options.common;
    one.device = options.named;
    one.threads = 0;
    return {find_device_here(one)};
  }
  std::vector<Machine> devices = {Machine::cpu()};
  if (!devices[0].compiles()) devices.clear();
  for (Machine (*device)(int) : {Machine::cuda, Machine::opencl_device})
    for (int ordinal = 0;; ++ordinal) {
      Machine gpu = device(ordinal);
      if (!gpu.gpu) break;
      if (gpu.compiles() && !gpu.gpu_facts.is_processor) devices.push_back(std::move(gpu));
    }
  return devices;
}

struct Numbers {
  double before = 0, measured = 0;  // measured: 0 where there is none that is believed
};

// In the units of the table.
double shown(size_t place, double number) {
  const std::string_view unit = schedule::unit_of_number(place);
  return unit == "GB/s" || unit == "Gop/s" ? number * 1e-3 : number;
}

std::string cell(size_t place, double number) {
  return number > 0 ? report::format_significant(shown(place, number)) : "";
}

// Facts of the machine, then the operations, f32 and f64 side by side.
std::string table_of(const std::vector<Numbers>& numbers) {
  using report::Align;
  report::Table facts({{"", Align::Left}, {"before"}, {"measured"}, {"", Align::Left}});
  for (size_t place = 0; place < schedule::kFactCount; ++place)
    if (const Numbers& n = numbers[place]; n.measured > 0)
      facts.add({schedule::name_of_number(place), cell(place, n.before), cell(place, n.measured),
                 std::string(schedule::unit_of_number(place))});
  report::Table operations({{"operations of", Align::Left}, {"before"}, {"f32"}, {"before"}, {"f64"}});
  bool any = false;
  for (int i = 0; i < kOpCount; ++i) {
    const size_t narrow = schedule::place_of(static_cast<Op>(i), false),
                 wide = schedule::place_of(static_cast<Op>(i), true);
    if (numbers[narrow].measured <= 0 && numbers[wide].measured <= 0) continue;
    any = true;
    operations.add({std::string(name_of(static_cast<Op>(i))), cell(narrow, numbers[narrow].before),
                    cell(narrow, numbers[narrow].measured), cell(wide, numbers[wide].before),
                    cell(wide, numbers[wide].measured)});
  }
  return facts.str(2) + (any ? "\n" + operations.str(2) : "");
}

nlohmann::ordered_json calibrate_one(const Machine& device, Progress& progress, const Output& output) {
  check_keeps_calibration(device);
  report::CalibrateOptions options;
  options.progress = [&](const std::string& what) { progress.stage(fmt::format("{}: {}", device.name, what)); };
  const report::Calibrated found = report::calibrate(device, options);
  const schedule::Target target = report::target_of(device);
  const std::string when = now();
  keep_calibration(device, found.calibration, when);
  std::vector<Numbers> numbers(schedule::kNumbers);
  nlohmann::ordered_json json = {{"name", device.name}, {"measured", when}};
  json["numbers"] = nlohmann::ordered_json::object();
  for (size_t place = 0; place < schedule::kNumbers; ++place) {
    Numbers& n = numbers[place];
    n.measured = found.calibration.numbers[place];
    const double known = device.measured ? device.measured->numbers[place] : 0;
    n.before = known > 0 ? known : schedule::built_in(target, place);
    if (n.measured > 0)
      json["numbers"][schedule::name_of_number(place)] = {{"before", shown(place, n.before)},
                                                          {"measured", shown(place, n.measured)},
                                                          {"unit", schedule::unit_of_number(place)}};
  }
  std::string text = output.style().bold(device.name) + "\n" + table_of(numbers);
  json["refused"] = nlohmann::ordered_json::array();
  for (const report::Calibrated::Refused& r : found.refused) {
    const std::string name = schedule::name_of_number(r.place);
    text += fmt::format("  {} stays as it was: {} was measured, and {}\n", name,
                        report::format_significant(shown(r.place, r.number)), r.why);
    json["refused"].push_back({{"name", name}, {"measured", shown(r.place, r.number)}, {"why", r.why}});
  }
  output.text(text);
  return json;
}

}  // namespace

int run_calibrate(const DevicesOptions& options) {
  if (options.common.threads != 0)
    throw UserError("--threads has no meaning here: one thread and all of them are measured\nhelp: leave it out");
  const Output output(options.common);
  const std::vector<Machine> devices = devices_named(options);
  if (devices.empty()) throw UserError("there is no device that compiles\nhelp: `smelt devices` says what is missing");
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  if (options.forget) {
    for (const Machine& device : devices) {
      const bool was = forget_calibration(device);
      output.text(fmt::format("{}: {}\n", device.name, was ? "the calibration is removed" : "there is no calibration"));
      json.push_back({{"name", device.name}, {"removed", was}});
    }
  } else {
    auto progress = std::make_unique<Progress>(options.common);
    for (const Machine& device : devices) json.push_back(calibrate_one(device, *progress, output));
  }
  output.json({{"version", SMELT_VERSION}, {options.forget ? "forgotten" : "calibrated", json}});
  return kFine;
}

}  // namespace smelt::tool
