#!/usr/bin/env bash
# What a machine with a GPU and no compiler needs of a build, small: the tool, the tests, the libraries that they load.
# Usage: bench/gpu/pack.sh BUILD FOLDER [TEST...]     without names every test program
set -euo pipefail
build=${1:?usage: bench/gpu/pack.sh BUILD FOLDER} folder=${2:?usage: bench/gpu/pack.sh BUILD FOLDER}
shift 2
rm -rf "$folder"
mkdir -p "$folder/tests" "$folder/lib" "$folder/bench"
strip -o "$folder/smelt" "$build/smelt"
for name in call_overhead first_result; do
  [ -x "$build/bench/$name" ] && strip -o "$folder/bench/$name" "$build/bench/$name"
done
if [ $# -eq 0 ]; then
  for test in "$build"/tests/test_*; do
    [ -f "$test" ] && [ -x "$test" ] && set -- "$@" "$(basename "$test")"
  done
fi
for name in "$@"; do strip -o "$folder/tests/$name" "$build/tests/$name"; done
for name in libfake_cuda.so libfake_nvtx.so; do
  [ -f "$build/tests/$name" ] && strip -o "$folder/tests/$name" "$build/tests/$name"
done
# Not those that come with every system.
for program in "$folder/smelt" "$folder"/tests/*; do
  [ -f "$program" ] && ldd "$program" | awk '$3 ~ /^\// {print $3}'
done | sort -u | grep -Ev '/lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so' | while read -r library; do cp -L "$library" "$folder/lib/"; done
sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt" >"$folder/source_dir"
realpath "$build" >"$folder/binary_dir"
du -sh "$folder"
