# Joins the files of src/report/page and writes them as a C++ file: cmake -DFOLDER=.. -DOUT=.. -P page.cmake
#
# A page that is opened from a disk cannot import modules. Each becomes a function with names of its own, which gives what it
# exports; imports take it from there.
set(modules format model select layout graph summary memory threads value savings laws limits source reload main)

set(script "'use strict';\nconst modules = {};\n")
foreach(module ${modules})
  file(READ ${FOLDER}/${module}.js text)
  string(REGEX MATCHALL "export [a-z]+ [A-Za-z]+" exports "${text}")
  list(TRANSFORM exports REPLACE ".* " "")
  list(JOIN exports ", " exports)
  string(REGEX REPLACE "import ({[^}]*}) from './([a-z]+)\\.js';" "const \\1 = modules.\\2;" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(APPEND script "modules.${module} = (() => {\n${text}return {${exports}};\n})();\n")
endforeach()
file(READ ${FOLDER}/page.css style)
file(READ ${FOLDER}/page.html html)
string(SHA256 script_hash "${script}")
string(SHA256 style_hash "${style}")

# String literals of a compiler have a largest length: pieces of it follow each other.
function(literal out text)
  set(made "")
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND made "R\"=====(${piece})=====\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  set(${out} "${made}" PARENT_SCOPE)
endfunction()
literal(script_text "${script}")
literal(style_text "${style}")
literal(html_text "${html}")
file(WRITE ${OUT}.new "// Written by cmake/page.cmake.
#include \"report/page_embedded.hpp\"

namespace smelt::report {

const std::string_view kPageScriptHash = \"${script_hash}\";
const std::string_view kPageStyleHash = \"${style_hash}\";
const std::string_view kPageHtml =
${html_text};
const std::string_view kPageStyle =
${style_text};
const std::string_view kPageScript =
${script_text};

}  // namespace smelt::report
")
file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUT}.new)
