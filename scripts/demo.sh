#!/usr/bin/env bash
# Benchmarks the three examples on this machine: the correctness check, the table and a picture of each.
# Usage: scripts/demo.sh [path of the smelt tool]; SMELT_DEMO_SCALE=N divides the first size of every input by N.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
smelt=${1:-build/release/smelt}
scale=${SMELT_DEMO_SCALE:-1}

if [ ! -x "$smelt" ]; then
  echo "demo: there is no $smelt; 'make demo' builds it" >&2
  exit 2
fi

pictures=()
status=0
bench() { # bench NAME -i INPUT=TYPE...
  local name=$1 picture=examples/$1.svg code=0
  shift
  "$smelt" bench "examples/$name.smelt" "$@" --time-limit 0.5 --plot "$picture" || code=$?
  if [ $code -ne 0 ]; then
    echo "demo: $name ended with exit status $code" >&2
    status=1
  fi
  [ -s "$picture" ] && pictures+=("$picture")
  echo
}

rm -f examples/*.svg
bench relu_layernorm -i "x=f32[$((4096 / scale)),1024]"
bench quantize_int8 -i "x=f32[$((50000000 / scale))]"
bench add_mul_exp -i "x=f32[$((20000000 / scale))]" -i "y=f32[$((20000000 / scale))]"

echo "Pictures (time, bytes moved, bandwidth):"
for picture in "${pictures[@]}"; do
  echo "    $picture"
done
echo "Next: build/release/smelt explain examples/relu_layernorm.smelt -i 'x=f32[4096,1024]'   says what was fused, and why"
exit $status
