// Statistics, units, tables and colour.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "report/statistics.hpp"
#include "report/style.hpp"
#include "report/table.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::report {
namespace {

using testing::message_of;

TEST(Statistics, SpreadIgnoresAnOutlier) {
  const Summary s = summarize({10, 11, 9, 10, 10, 1000});
  EXPECT_EQ(s.median, 10);
  EXPECT_EQ(s.min, 9);
  EXPECT_EQ(s.max, 1000);
  EXPECT_NEAR(s.spread, 1.4826 * 0.5, 1e-12);
  EXPECT_NEAR(s.noise, 1.2533 * s.spread / std::sqrt(6) / 10, 1e-12);
  EXPECT_EQ(summarize({}).runs, 0);
  EXPECT_EQ(summarize({0, 0}).noise, 0);
}

TEST(Statistics, MoreRunsMakeTheMedianSurer) {
  std::vector<double> values;
  double last = INFINITY;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(100 + i % 7);
    if (i == 20 || i == 100 || i == 999) {
      EXPECT_LT(summarize(values).noise, last);
      last = summarize(values).noise;
    }
  }
}

TEST(Units, AreShortAndExact) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.0 kB");
  EXPECT_EQ(format_bytes(999999), "1.0 MB");
  EXPECT_EQ(format_bytes(33554432), "33.6 MB");
  EXPECT_EQ(format_memory(int64_t{64} << 30), "64.0 GiB");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1048576), "1,048,576");
  EXPECT_EQ(format_count(-1000), "-1,000");
  EXPECT_EQ(format_significant(0.0029612), "0.00296");
  EXPECT_EQ(format_significant(21.904), "21.9");
  EXPECT_EQ(format_significant(1234.5), "1234");
  EXPECT_EQ(format_significant(-0.5), "-0.500");
  EXPECT_EQ(format_significant(1e-9), "1.00e-09");
  EXPECT_EQ(format_significant(NAN), "nan");
  EXPECT_EQ(format_error(4.8e-7), "4.8e-07");
  EXPECT_EQ(format_error(0), "0");
}

TEST(Units, PrintableTextIsHarmless) {
  EXPECT_EQ(printable("a\x1b[31m\n\tb\x7f"), "a?[31m??b?");
  EXPECT_EQ(printable("größe ±"), "größe ±");
  EXPECT_EQ(printable("\xff\xc0\x80\xed\xa0\x80x"), "??????x");
  EXPECT_EQ(printable("\xc2\x85"), "?");   // a control character of two bytes
  EXPECT_EQ(printable("\xe2\x82"), "??");  // cut short
  EXPECT_EQ(printable("äöüß", 2), "äö...");
  EXPECT_EQ(display_width("21.90 ± 0.41"), 12u);
}

TEST(Table, AlignsAndCountsCharacters) {
  Table table({{"", Align::Left}, {"time (ms)"}, {"n"}});
  table.add({"unfused", "21.90 ± 0.41", "9"});
  table.add({"x", "2 ± 0", "10"});
  EXPECT_EQ(table.str(2),
            "               time (ms)    n\n"
            "  unfused   21.90 ± 0.41    9\n"
            "  x                2 ± 0   10\n");
  EXPECT_EQ(message_of<InternalError>([&] { table.add({"one cell"}); }),
            "internal error in smelt: a row of 1 cells in a table of 3 columns");
}

TEST(Table, WithoutTitlesThereIsNoLineOfThem) {
  Table table({{"", Align::Left}, {""}});
  table.add({"a", "1"});
  EXPECT_EQ(table.str(), "a   1\n");
}

TEST(Table, MarkdownEscapesBars) {
  Table table({{"op", Align::Left}, {"ULP"}});
  table.add({"a | b", "0.5"});
  EXPECT_EQ(table.markdown(), "| op | ULP |\n|---|---:|\n| a \\| b | 0.5 |\n");
}

TEST(Style, NoColourOutsideATerminal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_FALSE(Style::of(ends[1]).colour);
  EXPECT_EQ(Style::of(ends[1]).bad("x"), "x");
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(Style{true}.good("x"), "\033[32mx\033[0m");
}

}  // namespace
}  // namespace smelt::report
