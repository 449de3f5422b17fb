#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz with clang, and runs each for a while on what is known to be interesting and what earlier runs
# found. Usage: scripts/fuzz.sh [SECONDS [language|c_function|npy|object]...]
#
# What makes one fail is kept in build/fuzz/found; the fuzzer's own words say how to run that input alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-30}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(language c_function npy object)
build=build/fuzz

clang=
for name in ${CLANG:-clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14}; do
  if command -v "$name" >/dev/null && echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    "$name" -x c++ - -fsanitize=fuzzer,address,undefined -o /dev/null 2>/dev/null; then
    clang=$name
    break
  fi
done
if [ -z "$clang" ]; then
  echo "fuzz: no clang++ with libFuzzer here, so nothing is fuzzed (Debian: apt-get install clang libclang-rt-dev)"
  exit 0
fi

generator=()
if [ ! -e $build/CMakeCache.txt ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
cmake -S . -B $build "${generator[@]}" -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None -DSMELT_TESTS=OFF -DSMELT_FUZZ=ON -Wno-dev --log-level=NOTICE >/dev/null
cmake --build $build -j "${JOBS:-$(nproc)}" --target "${targets[@]/#/fuzz_}"

seeds=$build/seeds
mkdir -p $seeds/{language,c_function,npy,object} $build/corpus/{language,c_function,npy,object} $build/found
# The language's own words.
{
  sed -nE 's/^ *\{"([a-z_0-9]+)", ".*/\1(/p' src/frontends/table_*.cpp
  sed -nE 's/^SMELT_OP\([A-Za-z0-9]+, "([a-z_0-9]+)".*/\1(/p' src/ops/ops.def
  printf '%s\n' 'input ' 'return ' ' if ' ' else ' 'axis=' 'keepdims=True' '[B, C]' '[:, None]' '[::-1]' '[..., 0]' .shape .T \
    f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool False None
} | sort -u | sed 's/.*/"&"/' >$seeds/words
# Those of scalar functions in C.
{
  grep -oE '\{"[a-zA-Z_0-9]+"' src/frontends/c_math.cpp src/frontends/c_function.cpp | grep -oE '[a-zA-Z_0-9]+'
  sed -nE 's/.*name == "([a-zA-Z_0-9]+)".*/\1/p' src/frontends/c_math.cpp
  printf '%s\n' 'if (' else 'for (int i = 0; i < 4; ++i)' 'return ' int unsigned 'long long' short char const static ' ? 1 : ' '&&' '||' \
    '<<' '>>' '<=' '>=' '==' '!=' '+=' '++' '--' 0x1p-2f 1e3f 7u 5LL '/*' '*/' '//'
} | sort -u | sed 's/.*/"&"/' >$seeds/c_words
cp tests/fuzz/c_function/*.c $seeds/c_function
cp examples/*.smelt $seeds/language
bash tests/errors/programs.sh $seeds/language
cp tests/fuzz/npy/*.npy $seeds/npy
# Objects of this machine: constants, a switch by a table, calls outside, a table of addresses.
for level in 0 1 2; do
  "$clang" -x c -c -O$level -fPIC -fno-asynchronous-unwind-tables -o $seeds/object/$level.o - <<'C'
#include <string.h>
double fmod(double, double);
static double one(double x) { return x * 1.25; }
static double two(double x) { return fmod(x, 4); }
static double (*const table[])(double) = {one, two, two};
double by_table(int i, double x) { return table[i](x); }
int by_switch(int i, int x) {
  switch (i) { case 0: return x + 1; case 1: return x * 3; case 2: return x ^ 7; case 3: return x - 9; case 4: return x / 5; }
  return 0;
}
void copy(char* to, const char* from, long n) { memcpy(to, from, n); }
C
done

for target in "${targets[@]}"; do
  options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0)
  case $target in
    language) options+=(-max_len=4000 -dict=$seeds/words) ;;
    c_function) options+=(-max_len=3000 -dict=$seeds/c_words) ;;
    npy) options+=(-max_len=600) ;;
    object) options+=(-max_len=8000) ;;
  esac
  echo "fuzz: $target for $seconds s"
  $build/tests/fuzz/fuzz_$target "${options[@]}" -artifact_prefix=$build/found/$target- $build/corpus/$target $seeds/$target 2>&1 |
    grep -vE '^(INFO|Running|stat::(new|slow|average)|#|"|[[:space:]])' || { echo "fuzz: $target failed"; exit 1; }
done
