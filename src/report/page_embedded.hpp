// The files of src/report/page, as cmake/page.cmake joins them. Internal to this folder.
#pragma once

#include <string_view>

namespace smelt::report {

extern const std::string_view kPageHtml, kPageStyle, kPageScript;
extern const std::string_view kPageStyleHash, kPageScriptHash;  // SHA-256, in hexadecimal digits

}  // namespace smelt::report
