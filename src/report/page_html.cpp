// The HTML file around a document. The page's own files are in src/report/page; the build embeds
// them (cmake/page.cmake).
#include <cstdint>
#include <nlohmann/json.hpp>

#include "report/page.hpp"
#include "report/page_embedded.hpp"
#include "report/svg.hpp"

namespace smelt::report {
namespace {

// "9f86d081..." as base64, which a Content-Security-Policy takes.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto digit = [](char c) { return static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4 | digit(c);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += kDigits[bits >> count & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

// Escaped, so that text of the user cannot close the script element around it.
std::string safe_json(const nlohmann::ordered_json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

std::string assemble(const nlohmann::ordered_json& json, const std::string& policy, const std::string& style,
                     const std::string& script, int version) {
  const std::string name = json.contains("program") ? json["program"]["name"].get<std::string>() : "";
  std::string html(kPageHtml);
  html = replaced(std::move(html), "<!--title-->", xml_escaped(name));
  html = replaced(std::move(html), "<!--policy-->",
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">");
  html = replaced(std::move(html), "<!--style-->", style);
  html = replaced(std::move(html), "<html",
                  version > 0 ? "<html data-served=\"" + std::to_string(version) + "\"" : "<html");
  // The data last: it may hold any of the marks.
  return replaced(std::move(html), "<!--data-->",
                  "<script type=\"application/json\" id=\"report\">" + safe_json(json) + "</script>\n" + script);
}

}  // namespace

std::string page_style() { return std::string(kPageStyle); }
std::string page_script() { return std::string(kPageScript); }

std::string page_html(const nlohmann::ordered_json& json, int version) {
  const std::string policy = "default-src 'none'; script-src 'sha256-" + base64_of_hex(kPageScriptHash) +
                             "'; style-src 'sha256-" + base64_of_hex(kPageStyleHash) +
                             "'; img-src data:; base-uri 'none'; form-action 'none'" +
                             (version > 0 ? "; connect-src 'self'" : "");
  return assemble(json, policy, "<style>" + page_style() + "</style>",
                  "<script type=\"module\">" + page_script() + "</script>", version);
}

std::string page_html(const nlohmann::ordered_json& json, const std::string& style, const std::string& script) {
  // Files next to a page that is opened from a disk have no origin of their own, so that 'self'
  // would not let them in.
  return assemble(json,
                  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' data: file:; "
                  "base-uri 'none'; form-action 'none'",
                  "<link rel=\"stylesheet\" href=\"" + style + "\">", "<script defer src=\"" + script + "\"></script>",
                  0);
}

}  // namespace smelt::report
