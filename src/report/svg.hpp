// Bar charts as SVG: one file, no scripts, no fonts from elsewhere, readable on light and dark
// pages.
#pragma once

#include <string>
#include <vector>

namespace smelt::report {

struct Bar {
  enum Kind : unsigned char { Before, After, Yardstick } kind = Before;  // its colour
  std::string label;
  double value = 0;
  std::string text;  // the value as people read it
};
struct BarGroup {
  std::string label;  // "B=1024"; empty when there is one group
  std::vector<Bar> bars;
};
// All of its bars share one scale, which begins at zero.
struct Panel {
  std::string title;
  std::vector<BarGroup> groups;
};
struct Chart {
  std::string title, subtitle;
  std::vector<Panel> panels;  // one below the other
  std::string footnote;
};

std::string to_svg(const Chart& chart);

// Text safe inside an XML element or attribute.
std::string xml_escaped(std::string_view text);

}  // namespace smelt::report
