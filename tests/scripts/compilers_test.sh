#!/usr/bin/env bash
# Every compiler of this machine that smelt supports accepts the public headers and a file of every stage without a warning.
# Usage: compilers_test.sh CXX, the compiler of the build, which has compiled all of them already. 77: there is no other.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
identity() { "$1" --version 2>/dev/null | head -n 1 | sed 's/^[^ ]* //'; }

for header in include/smelt/*.hpp; do echo "#include <${header#include/}>"; done >"$work/headers.cpp"
# The second largest file of each stage, all as one: parsing headers is most of the time.
for stage in src/*/; do
  source=$(ls -S "$stage"*.cpp | head -n 2 | tail -n 1)
  echo "#include \"$PWD/$source\""
done >"$work/stages.cpp"

options=(-std=c++20 -fsyntax-only -Wall -Wextra -Wswitch -Wno-missing-field-initializers -Werror -I include -I src
  '-DSMELT_VERSION="0.0.0"')
built_by=$(identity "${1:?usage: compilers_test.sh CXX}")
checked=()
for compiler in g++-12 g++-13 g++-14 clang++-16 clang++-17 clang++-18 clang++-19; do
  command -v "$compiler" >/dev/null || continue
  [ "$(identity "$compiler")" != "$built_by" ] || continue
  own=(-Wno-restrict)
  [[ $compiler != clang* ]] || own=(-Wno-deprecated-declarations)
  for file in headers stages; do
    "$compiler" "${options[@]}" "${own[@]}" "$work/$file.cpp" || {
      echo "compilers test: $compiler does not accept this:" >&2
      cat "$work/$file.cpp" >&2
      exit 1
    }
  done
  checked+=("$compiler")
done
[ ${#checked[@]} -gt 0 ] || { echo "skipped: no other g++ 12 to 14 or clang++ 16 to 19 is installed"; exit 77; }
echo "compilers test: ${checked[*]}"
