#include "report/savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "report/table.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kForm =
    R"(help: an entry looks like {"name": "relu", "input_size": 1024, "output_size": 1024})";

std::string entry_name(const ordered_json& entry, size_t index) {
  std::string text = fmt::format("entry {}", index + 1);
  if (entry.is_object() && entry.contains("name") && entry["name"].is_string())
    text += fmt::format(" (\"{}\")", printable(entry["name"].get<std::string>()));
  return text;
}

std::string short_dump(const ordered_json& value) {
  const std::string text = value.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

int64_t size_of_entry(const ordered_json& entry, const char* key, const std::string& where) {
  if (!entry.contains(key)) throw UserError(fmt::format("{} has no \"{}\"\n{}", where, key, kForm));
  const ordered_json& value = entry[key];
  if (!value.is_number_integer())
    throw UserError(
        fmt::format("{}: \"{}\" must be a whole number, and is {}\n{}", where, key, short_dump(value), kForm));
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    throw UserError(fmt::format("{}: \"{}\" does not fit 64 bits: {}", where, key, short_dump(value)));
  const int64_t size = value.get<int64_t>();
  if (size < 0) throw UserError(fmt::format("{}: \"{}\" must not be negative, and is {}\n{}", where, key, size, kForm));
  return size;
}

// "line 2, column 7: unexpected end of input". The parser's message has its own place and name in
// front of that.
std::string what_is_wrong(const std::string& text, size_t byte, const std::string& message) {
  const std::string before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t column = before.size() - (before.rfind('\n') == std::string::npos ? 0 : before.rfind('\n') + 1) + 1;
  const size_t dash = message.find(" - ");
  return fmt::format("line {}, column {}: {}", line, column,
                     printable(dash == std::string::npos ? "no value of JSON" : message.substr(dash + 3)));
}

}  // namespace

double round_to_decimals(double value, int decimals) {
  return std::strtod(fmt::format("{:.{}f}", value, decimals).c_str(), nullptr);  // rounds the exact value, once
}

std::vector<ChainOperation> parse_chain(const std::string& json_text, const std::string& where) {
  ordered_json list;
  try {
    list = ordered_json::parse(json_text, [&](int depth, ordered_json::parse_event_t, ordered_json&) {
      // A list of objects of numbers is three deep; far deeper text would exhaust the stack when it
      // is printed.
      if (depth > 64) throw UserError(fmt::format("{} is nested more than 64 deep\n{}", where, kForm));
      return true;
    });
  } catch (const ordered_json::parse_error& e) {
    throw UserError(fmt::format("{} is not JSON: {}\n{}", where, what_is_wrong(json_text, e.byte, e.what()), kForm));
  } catch (const ordered_json::exception&) {
    throw UserError(fmt::format("{} is not JSON: a number does not fit 64 bits\n{}", where, kForm));
  }
  if (!list.is_array()) throw UserError(fmt::format("{} must hold a list of operations\n{}", where, kForm));
  std::vector<ChainOperation> chain;
  for (size_t i = 0; i < list.size(); ++i) {
    const ordered_json& entry = list[i];
    const std::string place = fmt::format("{}: {}", where, entry_name(entry, i));
    if (!entry.is_object())
      throw UserError(fmt::format("{} must be an object, and is {}\n{}", place, short_dump(entry), kForm));
    if (!entry.contains("name")) throw UserError(fmt::format("{} has no \"name\"\n{}", place, kForm));
    if (!entry["name"].is_string())
      throw UserError(
          fmt::format("{}: \"name\" must be a string, and is {}\n{}", place, short_dump(entry["name"]), kForm));
    chain.push_back({entry["name"].get<std::string>(), size_of_entry(entry, "input_size", place),
                     size_of_entry(entry, "output_size", place)});
  }
  return chain;
}

Savings chain_savings(const std::vector<ChainOperation>& chain, int64_t dtype_bytes) {
  if (dtype_bytes < 1) throw UserError(fmt::format("--dtype-bytes must be 1 or more, and is {}", dtype_bytes));
  if (chain.empty()) return {};
  Savings s;
  for (size_t i = 0; i < chain.size(); ++i) {
    int64_t bytes = 0;
    if (__builtin_add_overflow(chain[i].input_size, chain[i].output_size, &bytes) ||
        __builtin_mul_overflow(bytes, dtype_bytes, &bytes) ||
        __builtin_add_overflow(s.unfused_bytes, bytes, &s.unfused_bytes)) {
      throw UserError(
          fmt::format("the bytes moved up to entry {} (\"{}\") do not fit 64 bits", i + 1, printable(chain[i].name)));
    }
  }
  s.fused_bytes =
      (chain.front().input_size + chain.back().output_size) * dtype_bytes;  // at most unfused_bytes, or checked below
  s.savings_bytes = s.unfused_bytes - s.fused_bytes;
  if (s.unfused_bytes > 0) {
    s.savings_pct =
        round_to_decimals(100.0 * static_cast<double>(s.savings_bytes) / static_cast<double>(s.unfused_bytes), 2);
  }
  if (s.fused_bytes > 0)
    s.speedup_estimate =
        round_to_decimals(static_cast<double>(s.unfused_bytes) / static_cast<double>(s.fused_bytes), 2);
  return s;
}

ordered_json to_json(const Savings& s) {
  return {{"unfused_bytes", s.unfused_bytes},
          {"fused_bytes", s.fused_bytes},
          {"savings_bytes", s.savings_bytes},
          {"savings_pct", s.savings_pct},
          {"speedup_estimate", s.speedup_estimate}};
}

std::string to_text(const Savings& s, size_t operations) {
  Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Right}});
  const auto bytes = [](int64_t n) { return fmt::format("({})", format_bytes(n)); };
  table.add({"operations", fmt::format("{}", operations), ""});
  table.add({"unfused_bytes", fmt::format("{}", s.unfused_bytes), bytes(s.unfused_bytes)});
  table.add({"fused_bytes", fmt::format("{}", s.fused_bytes), bytes(s.fused_bytes)});
  table.add({"savings_bytes", fmt::format("{}", s.savings_bytes), bytes(s.savings_bytes)});
  table.add({"savings_pct", fmt::format("{:.2f}", s.savings_pct), ""});
  table.add({"speedup_estimate", fmt::format("{:.2f}", s.speedup_estimate), ""});
  return table.str();
}

}  // namespace smelt::report
