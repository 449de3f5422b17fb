#include "report/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "report/table.hpp"
#include "report/traffic.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

constexpr const char* kRead = "dram__bytes_read.sum";
constexpr const char* kWritten = "dram__bytes_write.sum";
constexpr const char* kWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kDuration = "gpu__time_duration.sum";

// Fields are in quotes, in which a quote is doubled.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

// "1,234.5" too: some locales group digits.
double number_of(const std::string& text, const std::string& column) {
  std::string digits;
  for (const char c : text)
    if (c != ',' && c != '\'') digits += c;
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0')
    throw UserError(
        fmt::format("Nsight Compute gives \"{}\" for {}, which is no number\n"
                    "help: the GPU may lack this counter; `ncu --query-metrics` lists those that it has",
                    printable(text, 40), column));
  return value;
}

// What a unit of Nsight Compute is in bytes, milliseconds or a share.
double scale_of(const std::string& unit) {
  static const std::map<std::string, double> known = {
      {"byte", 1},       {"Kbyte", 1e3},  {"Mbyte", 1e6},    {"Gbyte", 1e9}, {"Tbyte", 1e12},
      {"nsecond", 1e-6}, {"ns", 1e-6},    {"usecond", 1e-3}, {"us", 1e-3},   {"msecond", 1},
      {"ms", 1},         {"second", 1e3}, {"s", 1e3},        {"%", 0.01}};
  const auto found = known.find(unit);
  if (found == known.end())
    throw UserError(fmt::format("Nsight Compute counts in \"{}\", which smelt does not know", printable(unit, 40)));
  return found->second;
}

[[noreturn]] void refuse(const std::string& text) {
  if (text.find("ERR_NVGPUCTRPERM") != std::string::npos)
    throw UserError(
        "the driver does not let this user read the counters of the GPU (ERR_NVGPUCTRPERM)\n"
        "help: run it as root, in a container with --cap-add=SYS_ADMIN, or let every user read them: the module option "
        "NVreg_RestrictProfilingToAdminUsers=0 of nvidia (https://developer.nvidia.com/ERR_NVGPUCTRPERM)");
  std::string errors;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.rfind("==ERROR==", 0) == 0 || line.rfind("error: ", 0) == 0) errors += "\n" + printable(line, 400);
    at = end + 1;
  }
  throw UserError("Nsight Compute counted no launch" +
                  (errors.empty() ? ": " + printable(text.substr(0, 400), 400) : errors));
}

}  // namespace

std::string counters_wanted() { return fmt::format("{},{},{},{}", kRead, kWritten, kWarps, kDuration); }

std::vector<CountedLaunch> parse_counters(const std::string& text) {
  std::vector<std::string> titles, units;
  std::vector<CountedLaunch> launches;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.rfind('"', 0) != 0) continue;
    const std::vector<std::string> fields = fields_of(line);
    if (fields[0] == "ID") {
      titles = fields;
      units.clear();
    } else if (titles.empty() || fields.size() != titles.size()) {
      continue;
    } else if (units.empty()) {
      units = fields;  // are in the line below the titles
    } else {
      const auto value = [&](const char* title, bool scaled = true) {
        const auto column = static_cast<size_t>(std::find(titles.begin(), titles.end(), title) - titles.begin());
        if (column == titles.size()) throw UserError(fmt::format("Nsight Compute did not count {}", title));
        return number_of(fields[column], title) * (scaled ? scale_of(units[column]) : 1);
      };
      CountedLaunch launch;
      const auto name = static_cast<size_t>(std::find(titles.begin(), titles.end(), "Kernel Name") - titles.begin());
      launch.function = name < fields.size() ? fields[name] : "";
      launch.read_bytes = value(kRead);
      launch.written_bytes = value(kWritten);
      launch.occupancy = value(kWarps);
      launch.ms = value(kDuration);
      launches.push_back(launch);
    }
  }
  if (launches.empty()) refuse(text);
  return launches;
}

static double total(const std::vector<CountedLaunch>& launches, double CountedLaunch::*figure) {
  double sum = 0;
  for (const CountedLaunch& l : launches) sum += l.*figure;
  return sum;
}

double ProfileSide::read() const { return total(launches, &CountedLaunch::read_bytes); }
double ProfileSide::written() const { return total(launches, &CountedLaunch::written_bytes); }
double ProfileSide::ms() const { return total(launches, &CountedLaunch::ms); }
double ProfileSide::occupancy() const {
  double sum = 0;
  for (const CountedLaunch& l : launches) sum += l.occupancy * l.ms;
  return ms() > 0 ? sum / ms() : 0;
}

ProfileSide predicted_side(const Executable& executable, const SizeBinding& sizes) {
  ProfileSide side;
  for (const plan::FusionGroup& group : executable.plan().groups) {
    ++side.kernels;
    for (const NodeId id : group.inputs) side.predicted_read += bytes_of(executable.graph(), id, sizes);
    for (const NodeId id : group.outputs) side.predicted_written += bytes_of(executable.graph(), id, sizes);
  }
  return side;
}

namespace {

double ratio(double counted, int64_t predicted) { return predicted > 0 ? counted / static_cast<double>(predicted) : 0; }
std::string ratio_text(double counted, int64_t predicted) {
  return predicted > 0 ? fmt::format("{:.3f}", ratio(counted, predicted)) : "";
}

nlohmann::ordered_json side_json(const ProfileSide& s) {
  nlohmann::ordered_json launches = nlohmann::ordered_json::array();
  for (const CountedLaunch& l : s.launches)
    launches.push_back({{"function", l.function},
                        {"read_bytes", l.read_bytes},
                        {"written_bytes", l.written_bytes},
                        {"occupancy", l.occupancy},
                        {"ms", l.ms}});
  return {{"kernels", s.kernels},
          {"ms", s.ms()},
          {"read_bytes", s.read()},
          {"predicted_read_bytes", s.predicted_read},
          {"read_ratio", ratio(s.read(), s.predicted_read)},
          {"written_bytes", s.written()},
          {"predicted_written_bytes", s.predicted_written},
          {"written_ratio", ratio(s.written(), s.predicted_written)},
          {"ratio", ratio(s.read() + s.written(), s.predicted_read + s.predicted_written)},
          {"occupancy", s.occupancy()},
          {"launches", launches}};
}

}  // namespace

std::string to_text(const Profile& p, const Style& style) {
  Table table({{"", Align::Left},
               {"kernels"},
               {"launches"},
               {"time (µs)"},
               {"read"},
               {"predicted"},
               {"ratio"},
               {"written"},
               {"predicted"},
               {"ratio"},
               {"occupancy"}});
  const auto bytes = [](double b) { return format_bytes(static_cast<int64_t>(b)); };
  for (const auto& [name, side] : {std::pair{"unfused", &p.unfused}, {"fused", &p.fused}})
    table.add({name, fmt::format("{}", side->kernels), fmt::format("{}", side->launches.size()),
               format_significant(side->ms() * 1e3), bytes(side->read()), format_bytes(side->predicted_read),
               ratio_text(side->read(), side->predicted_read), bytes(side->written()),
               format_bytes(side->predicted_written), ratio_text(side->written(), side->predicted_written),
               fmt::format("{:.0f} %", 100 * side->occupancy())});
  std::string out = fmt::format("{}   {}   {}\n", style.bold(printable(p.title.program, 80)),
                                printable(fmt::format("{}", fmt::join(p.inputs, ", "))), describe_machine(p.title)) +
                    table.str();
  Table launches({{"", Align::Left}, {"", Align::Right}, {"", Align::Right}, {"", Align::Right}, {"", Align::Right}});
  for (const CountedLaunch& l : p.fused.launches)
    launches.add({printable(l.function, 40), format_significant(l.ms * 1e3) + " µs", bytes(l.read_bytes) + " read",
                  bytes(l.written_bytes) + " written", fmt::format("occupancy {:.0f} %", 100 * l.occupancy)});
  return out + style.faint(launches.str()) +
         style.faint(
             "bytes of the GPU's memory by Nsight Compute, caches flushed before every launch; what a launch leaves in "
             "the "
             "L2 cache\nis written after it and not counted; times under a profiler are not those of a benchmark\n");
}

nlohmann::ordered_json to_json(const Profile& p) {
  return {{"program", p.title.program},
          {"device", p.title.device},
          {"gpu", {{"name", p.title.gpu}, {"driver", p.title.driver}, {"nvrtc", p.title.nvrtc}}},
          {"inputs", p.inputs},
          {"fused", side_json(p.fused)},
          {"unfused", side_json(p.unfused)}};
}

}  // namespace smelt::report
