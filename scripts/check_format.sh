#!/usr/bin/env bash
# Checks the layout of every tracked C++ file and of the page's script, or with --fix corrects it. Exit 77 (CTest: skipped)
# without clang-format 14.
#
# Version 14 and no other: two versions lay the same code out differently under the same .clang-format, so a newer one would
# find fault with files that are right. 14 is what Debian 12 and Ubuntu 22.04 and 24.04 have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tool=
for candidate in clang-format-14 clang-format; do
  if [ "$("$candidate" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')" = 14 ]; then
    tool=$candidate
    break
  fi
done

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  mapfile -d '' files < <(git ls-files -z -- '*.cpp' '*.hpp' 'src/report/page/*.js')
else # a tarball
  mapfile -d '' files < <(find include src tools tests bench \( -name '*.[ch]pp' -o -path '*/report/page/*.js' \) -print0)
fi
existing=()
for file in "${files[@]}"; do [ -e "$file" ] && existing+=("$file"); done

if [ -z "$tool" ]; then
  echo "format: skipped, ${#existing[@]} files not looked at: clang-format 14 is not here (apt-get install clang-format-14)"
  exit 77
fi
if [ "${1:-}" = --fix ]; then
  "$tool" -i "${existing[@]}"
else
  "$tool" --dry-run -Werror "${existing[@]}" || { echo "format: run 'make format'" >&2; exit 1; }
  echo "format: ${#existing[@]} files in order"
fi
