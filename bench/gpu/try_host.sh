#!/usr/bin/env bash
# Shows on a machine with a GPU, in less than a minute, what the host does around kernels: measured times, counters, ranges, machine
# instructions. Each step has its own limit; what a machine lacks is said and passed over.
#
#   bench/gpu/try_host.sh FOLDER OUT
#
# FOLDER is what bench/gpu/pack.sh made of a build. OUT gets host.log and the JSON of every step.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
folder=$(realpath "${1:?usage: bench/gpu/try_host.sh FOLDER OUT}") out=${2:?usage: bench/gpu/try_host.sh FOLDER OUT}
mkdir -p "$out" && out=$(realpath "$out")
log=$out/host.log
: >"$log"
smelt=$folder/smelt
# Only those of the packed libraries that this machine lacks.
absent=$(ldd "$smelt" 2>/dev/null | awk '/not found/ {print $1}')
if [ -n "$absent" ]; then
  libraries=$(mktemp -d)
  for name in $absent; do ln -s "$folder/lib/$name" "$libraries/$name"; done
  export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
failed=0
step() { # step NAME LIMIT LINES COMMAND...: all of its output goes to the log, the last LINES of it are shown
  local name=$1 limit=$2 lines=$3 start=$SECONDS code=0 part
  shift 3
  part=$(mktemp)
  timeout -k 5 "$limit" "$@" >"$part" 2>&1 || code=$?
  { echo "== $name: $*"; cat "$part"; } >>"$log"
  echo "== $name: exit status $code after $((SECONDS - start)) s"
  tail -n "$lines" "$part"
  rm -f "$part"
  [ $code -eq 0 ] || failed=$((failed + 1))
}

softmax=(softmax\(x\) -i "x=uniform:bf16[16384,4096]" --device cuda)
long=('softmax(x)' -i "x=uniform:f32[2048,50257]" --device cuda)
sum=('sqrt(sum(x*x))' -i "x=uniform:f32[N]" --size N=67108864 --device cuda)

# shellcheck disable=SC2317 # called through bash -c, so that timeout can end it
kernels() { # kernels ARGUMENTS...: how the kernels of a program are built, and how long they take
  "$smelt" explain "$@" >"$out/explained.txt" || return
  grep -E '^kernel|^  (rebuilt|untuned|built|time) ' "$out/explained.txt"
}
export -f kernels
export smelt out
explained() { # explained NAME LIMIT ARGUMENTS...
  local name=$1 limit=$2
  shift 2
  # shellcheck disable=SC2016 # for the shell inside
  step "$name" "$limit" 12 bash -c 'kernels "$@"' kernels "$@"
}

explained measure-softmax 15 "${softmax[@]}" --measure --json "$out/measure_softmax.json"
explained measure-long 15 "${long[@]}" --measure
explained measure-unfused 15 'x*2+y' -i "x=f32[16777216]" -i "y=f32[16777216]" --no-fuse --device cuda --measure
explained measure-sum 15 "${sum[@]}" --measure
step sass 15 3 "$smelt" explain "${softmax[@]}" --dump sass
step profile 40 9 "$smelt" profile "${softmax[@]}" --json "$out/profile_softmax.json"
# Schedules that are timed, and taken again from the cache; then a program whose first schedule spills registers.
SMELT_CACHE_DIR=$(mktemp -d) && export SMELT_CACHE_DIR
for program in 'exp((x + y) * 2)' 'softmax(x)' 'sqrt(sum(x * x))'; do
  inputs=(-i "x=uniform:f32[4096,8192]")
  [[ $program == *y* ]] && inputs+=(-i "y=uniform:f32[4096,8192]")
  explained "tune $program" 20 "$program" "${inputs[@]}" --device cuda --tune
done
explained tuned-before 10 'softmax(x)' -i "x=f32[4096,8192]" --device cuda
{
  echo 'input x: f32[B, 4096]'
  for i in $(seq 100); do echo "s$i = sum(x * $i.5 if x > $i.25 else -x, axis=1)"; done
  printf 'return s1'
  for i in $(seq 2 100); do printf ' + s%d' "$i"; done
} >"$out/spills.smelt"
explained spills 30 "$out/spills.smelt" --size B=16384 --device cuda --measure
if [ -f "$folder/tests/libfake_nvtx.so" ]; then
  rm -f "$out/ranges.txt"
  step ranges 15 2 env NVTX_INJECTION64_PATH="$folder/tests/libfake_nvtx.so" FAKE_NVTX_LOG="$out/ranges.txt" \
    "$smelt" run "exp(x) * 2" -i "x=f32[1024]" --device cuda
  cat "$out/ranges.txt"
fi
if command -v nsys >/dev/null; then
  step nsys 25 12 nsys profile -t cuda,nvtx -o "$out/nsys" --force-overwrite true --stats true "$smelt" run "exp(x) * 2" -i "x=f32[1024]" --device cuda
fi
echo "try_host: $failed steps failed, $SECONDS s; $log"
exit 0
