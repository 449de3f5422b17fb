#!/usr/bin/env bash
# Everything that needs a GPU, in one call of eight minutes: what is found, the tests, correctness, the benchmark, and with
# SANITIZE=1 compute-sanitizer. No step ends the run; each has its own limit, and what is left of the time goes to the peers.
#
#   bench/gpu/all.sh FOLDER OUT [more options of bench/run.py gpu]
#
# FOLDER is a build folder, or what bench/gpu/pack.sh made of one. OUT gets all.log, results.json and report.tar.gz.
#   TOTAL=480        seconds in all
#   STEPS="..."      of: devices tests check smelt peers sanitize; all but sanitize without it
#   TESTS="..."      filter of the tests, in GoogleTest's form
#   PROGRAMS=100     random programs that the tests run on the GPU
#   PEERS_CACHE=f    a results.json of an earlier run, whose figures of the peers are used again
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
folder=$(realpath "${1:?usage: bench/gpu/all.sh FOLDER OUT}") out=${2:?usage: bench/gpu/all.sh FOLDER OUT}
shift 2
total=${TOTAL:-480} filter=${TESTS:-*Cuda*:*CUDA*:*cuda*:*Gpu*:*GPU*}
steps=" ${STEPS:-devices tests check smelt peers} "
[ "${SANITIZE:-0}" = 1 ] && steps+="sanitize "
mkdir -p "$out" && out=$(realpath "$out")
log=$out/all.log
: >"$log"
rm -f "$out/results.json" # what --resume goes on with are this run's own steps
smelt=$folder/smelt
export PYTHONUNBUFFERED=1

# Only those of the packed libraries that this machine lacks: Python's packages are to find what they were built with.
absent=$(ldd "$smelt" 2>/dev/null | awk '/not found/ {print $1}')
if [ -n "$absent" ]; then
  libraries=$(mktemp -d)
  for name in $absent; do ln -s "$folder/lib/$name" "$libraries/$name"; done
  export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

# Tests look for their files, and for the tool, where they were built.
stand_in() { # stand_in FILE THERE: THERE, where the path in FILE is looked for
  local path
  [ -f "$1" ] || return 0
  path=$(cat "$1")
  [ -e "$path" ] || { mkdir -p "$(dirname "$path")" && ln -s "$2" "$path"; }
}
stand_in "$folder/source_dir" "$PWD"
stand_in "$folder/binary_dir" "$folder"

# The test programs that have tests for a GPU.
gpu_tests() {
  local test
  for test in "$folder"/tests/test_*; do
    if [ -f "$test" ] && [ -x "$test" ] && "$test" --gtest_list_tests --gtest_filter="$filter" 2>/dev/null | grep -q '^  '; then
      echo "$test"
    fi
  done
}
remaining() { echo $((total - SECONDS)); }
wanted() { [[ $steps == *" $1 "* ]]; }
# step NAME LIMIT LINES COMMAND...: its output goes to the log, the last LINES of it are shown.
step() {
  local name=$1 limit=$2 lines=$3 start=$SECONDS code=0 part
  shift 3
  [ "$limit" -gt "$(remaining)" ] && limit=$(remaining)
  if [ "$limit" -lt 5 ]; then
    echo "== $name: not begun, the time is over" | tee -a "$log"
    return
  fi
  part=$(mktemp)
  echo "== $name: $*" >>"$log"
  timeout -k 10 "$limit" "$@" >"$part" 2>&1 || code=$?
  cat "$part" >>"$log"
  echo "== $name: exit status $code after $((SECONDS - start)) s$([ $code -eq 124 ] && echo ", over its limit of $limit s")" | tee -a "$log"
  tail -n "$lines" "$part"
  rm -f "$part"
}
# shellcheck disable=SC2317 # called through bash -c, so that timeout can end it
bench() { python3 bench/run.py gpu --smelt "$smelt" --out "$out" --resume "$@"; }
export -f bench
export smelt out

wanted devices && step devices 30 20 "$smelt" devices
wanted devices && step machine 20 4 nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv

if wanted tests; then
  for test in $(gpu_tests); do
    step "$(basename "$test")" 90 25 "$test" --gtest_filter="$filter" --gtest_brief=1
  done
  # The tests of programs and operations that run on the CPU elsewhere; those of large memory and many loops are for a CPU.
  for test in test_op_kernels test_programs; do
    [ -x "$folder/tests/$test" ] || continue
    step "$test on the GPU" 120 40 env SMELT_TEST_DEVICE=cuda SMELT_PROGRAMS="${PROGRAMS:-100}" "$folder/tests/$test" \
      --gtest_brief=1 --gtest_filter='-*C13_*:*C44_*'
  done
fi
wanted check && step check 120 50 bash -c 'bench --stages check "$@"' bench "$@"

calls=()
if [ -x "$folder/bench/call_overhead" ]; then
  wanted smelt && step call_overhead 30 20 "$folder/bench/call_overhead" --json "$out/calls.json"
  [ -f "$out/calls.json" ] && calls=(--calls "$out/calls.json")
fi
wanted smelt && step smelt 200 50 bash -c 'bench --stages copy,smelt "$@"' bench "${calls[@]}" "$@"

reserve=10
wanted sanitize && reserve=100
cache=()
[ -n "${PEERS_CACHE:-}" ] && cache=(--peers-cache "$PEERS_CACHE")
if wanted peers; then
  limit=$(($(remaining) - reserve))
  step peers "$limit" 60 bash -c 'bench --stages copy,peers "$@"' bench --budget $((limit > 25 ? limit - 20 : 5)) "${cache[@]}" "$@"
fi
if wanted sanitize; then
  for test in $(gpu_tests); do
    for tool in memcheck racecheck initcheck synccheck; do
      step "$tool of $(basename "$test")" 90 6 compute-sanitizer --tool "$tool" --error-exitcode 9 "$test" --gtest_filter="$filter" --gtest_brief=1
    done
  done
fi

if [ -f "$out/results.json" ]; then
  python3 bench/run.py gpu --render "$out/results.json" --out "$out" >>"$log" 2>&1
  tar -C "$out" -czf "$out/report.tar.gz" report.md report && sed -n '/^## In short/,/^## The peers/p' "$out/report.md"
  rm -rf "$out/report"
fi
echo "all: ${SECONDS} s; $log"
exit 0
