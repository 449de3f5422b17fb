#!/usr/bin/env bash
# The benchmark on a machine with a CPU and little else, in one call: no compiler of C++ but for torch.compile, no network.
#
#   bench/cpu/all.sh FOLDER OUT [more options of bench/run.py cpu]
#
# FOLDER is a build folder with the benchmark's library (-DSMELT_BENCH=ON), or what bench/cpu/pack.sh made of one, with wheels of peers or
# without. OUT gets all.log, results.json, report.md and its picture after every workload, and in the end report.tar.gz.
#   TOTAL=420       seconds in all
#   AHEAD=0         of them at most, to compile ahead what torch.compile and numba compile, all workloads at once
#   PYTHON=python3  the one with NumPy, and PyTorch and JAX where they are there
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
folder=$(realpath "${1:?usage: bench/cpu/all.sh FOLDER OUT}") out=${2:?usage: bench/cpu/all.sh FOLDER OUT}
shift 2
total=${TOTAL:-420} python=${PYTHON:-python3}
ahead=${AHEAD:-0}
mkdir -p "$out" && out=$(realpath "$out")
log=$out/all.log
: >"$log"
# One thread to compile: what is compiled is one file at a time, and a pool of processes would import PyTorch while others are measured.
export PYTHONUNBUFFERED=1 TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=${TORCHINDUCTOR_CACHE_DIR:-$out/inductor} NUMBA_CACHE_DIR=${NUMBA_CACHE_DIR:-$out/numba}
library=$folder/libsmelt_bench.so
[ -f "$library" ] || library=$folder/bench/libsmelt_bench.so
remaining() { echo $((total - SECONDS)); }

if [ -d "$folder/wheels" ]; then
  # Each by itself: a Python that one of them does not fit may have the others. --target leaves the Python as it is, and --no-deps its NumPy.
  for package in numexpr llvmlite numba; do
    "$python" -c "import $package" 2>/dev/null ||
      timeout 60 "$python" -m pip install -q --disable-pip-version-check --no-index --no-deps --find-links "$folder/wheels" --target "$out/site" "$package" \
        >>"$log" 2>&1 || echo "all: $package is left out: no wheel in $folder/wheels fits $("$python" --version)" | tee -a "$log"
  done
  [ -d "$out/site" ] && export PYTHONPATH=$out/site${PYTHONPATH:+:$PYTHONPATH}
fi
lscpu >>"$log" 2>&1

# torch.compile calls a C++ compiler for every workload, numba takes seconds for some. All at once, and the results are left on disk.
if [ "$ahead" -gt 0 ]; then
  timeout -k 5 $((ahead + 15)) "$python" bench/run.py cpu --library "$library" --out "$out" --warm --budget "$ahead" "$@" 2>&1 | tee -a "$log" | tail -n 3
  echo "== compiled ahead: $SECONDS s" | tee -a "$log"
fi
limit=$(remaining)
timeout -k 5 "$limit" "$python" bench/run.py cpu --library "$library" --out "$out" --seconds 4 --budget $((limit - 20)) --peer-limit 30 "$@" 2>&1 |
  tee -a "$log" | cut -c1-400
[ -f "$out/results.json" ] && "$python" bench/run.py cpu --render "$out/results.json" --out "$out" >>"$log" 2>&1 &&
  tar -C "$out" -czf "$out/report.tar.gz" results.json report.md $([ -d "$out/report" ] && echo report) && sed -n '/^## In short/,/^## All peers/p' "$out/report.md"
rm -rf "$out/site" "$out/inductor" "$out/numba"
echo "all: ${SECONDS} s; $log"
exit 0
