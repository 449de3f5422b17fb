#!/usr/bin/env bash
# What a machine without a compiler needs of a build to run the benchmark. Usage: bench/cpu/pack.sh BUILD FOLDER [WHEELS]
# WHEELS: a folder of .whl files of numexpr, or of numexpr, numba and llvmlite, for one version of Python or for several.
set -euo pipefail
build=${1:?usage: bench/cpu/pack.sh BUILD FOLDER [WHEELS]} folder=${2:?usage: bench/cpu/pack.sh BUILD FOLDER [WHEELS]}
rm -rf "$folder"
mkdir -p "$folder/lib"
strip -o "$folder/smelt" "$build/smelt"
strip -o "$folder/libsmelt_bench.so" "$build/bench/libsmelt_bench.so"
# Not those that come with every system.
ldd "$folder/libsmelt_bench.so" "$folder/smelt" | awk '$3 ~ /^\// {print $3}' | sort -u |
  grep -Ev '/lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so' | while read -r library; do cp -L "$library" "$folder/lib/"; done
if [ -n "${3:-}" ]; then cp -r "$3" "$folder/wheels"; fi
du -sh "$folder"
