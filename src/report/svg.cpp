#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/units.hpp"

namespace smelt::report {
namespace {

// Measures in pixels.
constexpr int kWidth = 760, kMargin = 24, kLabelWidth = 84, kTextWidth = 150;
constexpr int kBarLeft = kMargin + kLabelWidth, kBarSpace = kWidth - kBarLeft - kTextWidth - kMargin;
constexpr int kRow = 24, kBarHeight = 16, kGroupLabel = 22, kGroupGap = 8, kPanelTitle = 30, kPanelGap = 18;

constexpr std::string_view kStyle = R"(  <style>
    svg { color-scheme: light dark; font-family: system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
    .page { fill: #ffffff; }
    .title { font-size: 17px; font-weight: 600; }
    .panel { font-size: 13px; font-weight: 600; }
    text { fill: #1f2328; font-size: 12px; }
    .quiet { fill: #59636e; }
    .axis { stroke: #d1d9e0; stroke-width: 1; }
    .before { fill: #b3591f; }
    .after { fill: #1a7f6b; }
    .yardstick { fill: #8c959f; }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117; }
      text { fill: #e6edf3; }
      .quiet { fill: #9198a1; }
      .axis { stroke: #3d444d; }
      .before { fill: #e0823d; }
      .after { fill: #3fb99f; }
      .yardstick { fill: #6e7681; }
    }
  </style>
)";

const char* class_of(Bar::Kind kind) {
  switch (kind) {
    case Bar::Before: return "before";
    case Bar::After: return "after";
    case Bar::Yardstick: return "yardstick";
  }
  return "";
}

// Collects elements from the top of the page down.
struct Page {
  std::string body;
  int y = kMargin;

  void text(int x, int baseline, std::string_view css, std::string_view words, std::string_view anchor = "start") {
    body += fmt::format("  <text x=\"{}\" y=\"{}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, baseline, css,
                        anchor, xml_escaped(words));
  }

  void bar(const Bar& bar, double scale) {
    const double share = std::isfinite(bar.value) && scale > 0 ? std::clamp(bar.value / scale, 0.0, 1.0) : 0;
    const double width = std::max(share * kBarSpace, 1.0);
    text(kBarLeft - 8, y + 17, "", bar.label, "end");
    body += fmt::format(
        "  <rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\" class=\"{}\"><title>{}: {}</title></rect>\n",
        kBarLeft, y + (kRow - kBarHeight) / 2, width, kBarHeight, class_of(bar.kind), xml_escaped(bar.label),
        xml_escaped(bar.text));
    text(kBarLeft + static_cast<int>(std::lround(width)) + 8, y + 17, "", bar.text);
    y += kRow;
  }

  void panel(const Panel& panel) {
    text(kMargin, y + 18, "panel", panel.title);
    y += kPanelTitle;
    double scale = 0;
    for (const BarGroup& group : panel.groups)
      for (const Bar& b : group.bars)
        if (std::isfinite(b.value)) scale = std::max(scale, b.value);
    const int top = y;
    for (size_t g = 0; g < panel.groups.size(); ++g) {
      if (g > 0) y += kGroupGap;
      if (!panel.groups[g].label.empty()) {
        text(kBarLeft + 6, y + 15, "quiet", panel.groups[g].label);
        y += kGroupLabel;
      }
      for (const Bar& b : panel.groups[g].bars) bar(b, scale);
    }
    body += fmt::format("  <line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" class=\"axis\"/>\n", kBarLeft, top, y);
    y += kPanelGap;
  }
};

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text, 400)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string to_svg(const Chart& chart) {
  Page page;
  page.text(kMargin, page.y + 14, "title", chart.title);
  page.y += 24;
  page.text(kMargin, page.y + 12, "quiet", chart.subtitle);
  page.y += 28;
  for (const Panel& panel : chart.panels) page.panel(panel);
  if (!chart.footnote.empty()) {
    page.text(kMargin, page.y + 8, "quiet", chart.footnote);
    page.y += 16;
  }
  const int height = page.y + kMargin / 2;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n  "
      "<title>{2}</title>\n",
      kWidth, height, xml_escaped(chart.title + ": " + chart.subtitle));
  out += kStyle;
  out += fmt::format("  <rect class=\"page\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n", kWidth, height);
  return out + page.body + "</svg>\n";
}

}  // namespace smelt::report
