#!/usr/bin/env bash
# The reference of the C++ library, into FOLDER/html; fails where something public is not described. Usage: check_docs.sh FOLDER. 77: no Doxygen.
set -euo pipefail
folder=${1:?usage: check_docs.sh FOLDER}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v doxygen >/dev/null || { echo "check_docs: skipped, there is no Doxygen here (apt-get install doxygen)"; exit 77; }
rm -rf "$folder/html"
mkdir -p "$folder"
status=0
{ cat docs/Doxyfile; echo "OUTPUT_DIRECTORY = \"$folder\""; } | doxygen - >/dev/null 2>"$folder/log" || status=$?
if [ $status -ne 0 ] || [ ! -f "$folder/html/index.html" ]; then
  sed "s|$PWD/||" "$folder/log" | sort -u
  exit 1
fi
echo "check_docs: every public name is described: $folder/html/index.html"
