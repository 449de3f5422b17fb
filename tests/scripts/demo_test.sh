#!/usr/bin/env bash
# Runs the demonstration on small arrays, in a copy, and looks at what it leaves. Usage: demo_test.sh SMELT
set -euo pipefail
smelt=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/scripts" "$copy/examples"
cp "$here/scripts/demo.sh" "$copy/scripts"
cp "$here"/examples/*.smelt "$copy/examples"

fail() { echo "demo test: $*" >&2; exit 1; }
cd "$copy"
SMELT_DEMO_SCALE=64 bash scripts/demo.sh "$smelt" >out.txt 2>err.txt || { cat out.txt err.txt; fail "exit status not 0"; }
for name in relu_layernorm quantize_int8 add_mul_exp; do
  [ -s "examples/$name.svg" ] || fail "no picture of $name"
  head -c 200 "examples/$name.svg" | grep -q '<svg' || fail "examples/$name.svg is no SVG"
  grep -q "^$name " out.txt || fail "no table of $name"
  grep -q "examples/$name.svg" out.txt || fail "the picture of $name is not named"
done
[ "$(grep -c '^ *unfused ' out.txt)" -ge 3 ] || fail "not three unfused rows"
[ "$(grep -c '^ *fused ' out.txt)" -ge 3 ] || fail "not three fused rows"
[ "$(grep -c '^ *correct: ' out.txt)" -eq 3 ] || fail "not three correctness checks"
# One kernel each, whatever the machine.
[ "$(awk '$1 == "fused" && $2 != 1' out.txt | wc -l)" -eq 0 ] || { cat out.txt; fail "an example is not one kernel"; }

# A tool that fails must show in the exit status.
printf '#!/bin/sh\nexit 3\n' >broken && chmod +x broken
if bash scripts/demo.sh ./broken >/dev/null 2>&1; then fail "a failing tool went unnoticed"; fi
if bash scripts/demo.sh ./absent >/dev/null 2>&1; then fail "a missing tool went unnoticed"; fi
