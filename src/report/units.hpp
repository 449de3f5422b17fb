// Figures and names as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smelt::report {

std::string format_bytes(int64_t bytes);                       // "285.2 MB": powers of 1000, as bandwidths are given
std::string format_memory(int64_t bytes);                      // "64 GiB": powers of 1024, as memories are sold
std::string format_count(int64_t count);                       // "1,048,576"
std::string format_significant(double value, int digits = 3);  // "0.00296", "21.9", "1234"
std::string format_ms(double ms, double scale = 0);  // three digits or more; decimals as for `scale`, when it is given
std::string format_error(double error);              // "4.8e-07", "0"

// Text of a user made safe for a terminal, a table or an XML file: control characters and broken
// UTF-8 become '?', and what is longer than `limit` characters ends in "...".
std::string printable(std::string_view text, size_t limit = 200);
// Columns that a terminal gives the text (every code point counted as one).
size_t display_width(std::string_view text);

}  // namespace smelt::report
