#!/usr/bin/env bash
# scripts/setup.sh against machines that are made up: commands of the same names that say what a test wants. Nothing is
# installed here.
set -euo pipefail
setup=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/setup.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools=(bash env cat sed grep printf mktemp tail rm echo)

# A machine: the folder of its commands becomes the whole PATH.
machine() {
  rm -rf "$work/bin" "$work/state"
  mkdir "$work/bin" "$work/state"
  local tool
  for tool in "${tools[@]}"; do
    if command -v "$tool" >/dev/null; then ln -s "$(type -P "$tool" || echo /bin/true)" "$work/bin/$tool"; fi
  done
  make_command id 'echo ${TEST_UID:-0}'
}
make_command() { # make_command NAME BODY
  printf '#!%s\n%s\n' "$(type -P bash)" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
# apt that offers the packages in $offers, notes its calls, and "installs" into $work/state.
debian() { # debian OFFERED...
  machine
  printf '%s\n' "$@" >"$work/state/offered"
  make_command apt-cache "grep -qx \"\$2\" '$work/state/offered' && printf '  Candidate: 1.0\n'; exit 0"
  make_command dpkg-query "grep -qx \"\${@: -1}\" '$work/state/installed' 2>/dev/null && printf installed"
  make_command apt-get "echo \"\$*\" >>'$work/state/calls'
[ -e '$work/state/broken' ] && [[ \"\$*\" == *install* ]] && { echo 'E: 404'; exit 100; }
[[ \"\$*\" == *update* ]] && cat '$work/state/after-update' >>'$work/state/offered' 2>/dev/null
[[ \"\$*\" == *install* ]] && printf '%s\n' \"\$@\" >>'$work/state/installed'
exit 0"
  make_command ldconfig "grep -q '^libllvm' '$work/state/installed' 2>/dev/null && echo '	libLLVM.so.19.1 (libc6,x86-64) => there'; exit 0"
}
run() { # run GOAL: its text in $out, its status in $status
  status=0
  out=$(PATH=$work/bin SMELT_LDCONFIG=ldconfig "$work/bin/bash" "$setup" "$@" 2>&1 </dev/null) || status=$?
}
export SMELT_NVRTC=there # but where a test wants it missing
export SMELT_OPENCL_VENDORS=$work/vendors
fail() { echo "setup test: $*"; echo "--- status $status, it said:"; echo "$out"; cat "$work/state/calls" 2>/dev/null || true; exit 1; }
says() { [[ $out == *"$1"* ]] || fail "does not say: $1"; }
silent() { [[ $out != *"$1"* ]] || fail "should not say: $1"; }
calls() { grep -c -- "$1" "$work/state/calls" 2>/dev/null || true; }

everything=(g++ make cmake ninja-build libfmt-dev nlohmann-json3-dev libgtest-dev libgmock-dev libexpat1-dev python3 python3-numpy python3-matplotlib python3-venv python3-dev libeigen3-dev libllvm19 libllvm16 ocl-icd-libopencl1 pocl-opencl-icd clang-format-14)

# A bare machine: all of it, each with its reason, then nothing the second time.
debian "${everything[@]}"
run test
[ $status -eq 0 ] || fail "bare machine"
for package in g++ make cmake ninja-build libfmt-dev nlohmann-json3-dev libgtest-dev libgmock-dev libexpat1-dev python3 python3-numpy python3-matplotlib python3-venv python3-dev libeigen3-dev libllvm19 clang-format-14 ocl-icd-libopencl1 pocl-opencl-icd; do
  says "    $package "
done
silent libllvm16
says "compiles smelt"
[ "$(calls install)" = 1 ] || fail "not one call of apt-get install"
[ "$(calls update)" = 0 ] || fail "updated lists that had everything"
run test
[ $status -eq 0 ] || fail "second time"
says "nothing to install"
[ "$(calls install)" = 1 ] || fail "installed twice"

# The demonstration needs less.
debian "${everything[@]}"
run demo
[ $status -eq 0 ] || fail "demo"
silent libgtest-dev
silent clang-format
silent python3

# Fuzzing takes clang, and goes on without.
debian "${everything[@]}" clang libclang-rt-dev
CLANG=absent run fuzz
[ $status -eq 0 ] || fail "fuzz"
says "    clang "
says "    libclang-rt-dev "
silent libgtest-dev
debian "${everything[@]}"
CLANG=absent run fuzz
[ $status -eq 0 ] || fail "fuzz without clang"
says "nothing is fuzzed"

# Empty lists: an update, then all is offered.
debian
printf '%s\n' "${everything[@]}" >"$work/state/after-update"
run test
[ $status -eq 0 ] || fail "empty lists"
[ "$(calls update)" = 1 ] || fail "not one update"

# Another LLVM where there is no 19; the newest of those that will do.
debian g++ make cmake ninja-build libfmt-dev nlohmann-json3-dev libllvm15 libllvm17t64 libllvm18
run demo
[ $status -eq 0 ] || fail "another LLVM"
says libllvm18
silent libllvm15
# None at all: it goes on, and says what that means.
debian g++ make cmake ninja-build libfmt-dev nlohmann-json3-dev libllvm14
run demo
[ $status -eq 0 ] || fail "no LLVM"
says "interpreter"
[ "$(calls update)" = 0 ] || fail "looked for what this system does not have by an update"
# No clang-format 14: the check is skipped.
debian "${everything[@]:0:15}"
run test
[ $status -eq 0 ] || fail "no clang-format"
says "will be skipped"
run test
[ $status -eq 0 ] || fail "no clang-format, second time"
[ "$(calls 'update\|install')" = 1 ] || fail "did something the second time"

# A package that cannot be had stops it.
debian g++ make cmake ninja-build libfmt-dev libllvm19
run demo
[ $status -eq 1 ] || fail "a missing package went unnoticed"
says "no package nlohmann-json3-dev"

# A failing installation stops it, after one update.
debian "${everything[@]}"
touch "$work/state/broken"
run demo
[ $status -eq 1 ] || fail "a failed installation went unnoticed"
says "E: 404"
[ "$(calls update)" = 1 ] || fail "not one update after a failure"

# NVRTC for the tests: through pip, in a folder of the build; without pip, or when it fails, the tests go without.
pip_that() { # pip_that DOES: a python3 whose pip and zipfile do this
  make_command python3 "case \"\$*\" in
  *'pip --version'*) exit 0 ;;
  *'pip download'*) echo download >>'$work/state/pip'; $1 ;;
  *zipfile*) mkdir -p nvidia/cu13/lib && touch nvidia/cu13/lib/libnvrtc.so.13 ;;
esac"
}
export SMELT_BUILD=$work/build SMELT_TOOLKITS=/nonexistent
tools+=(mkdir touch mv)
debian "${everything[@]}" python3-pip
SMELT_NVRTC= run test
[ $status -eq 0 ] || fail "pip"
says "    python3-pip "
debian "${everything[@]}"
pip_that "touch '$work/build/nvrtc/nvidia_cuda_nvrtc-13.whl'"
SMELT_NVRTC= run test
[ $status -eq 0 ] || fail "NVRTC"
says "fetching NVRTC"
SMELT_NVRTC= run test
[ "$(wc -l <"$work/state/pip")" -eq 1 ] || fail "fetched NVRTC twice"
rm -rf "$work/build"
SMELT_NVRTC= run demo
[ $status -eq 0 ] || fail "demo without NVRTC"
silent NVRTC
debian "${everything[@]}"
pip_that 'exit 1'
SMELT_NVRTC= run test
[ $status -eq 0 ] || fail "NVRTC that cannot be fetched stopped it"
says "will be skipped"

# A NumPy with DLPack 1.0 in the same way, where that of python3 is older.
numpy_that() { # numpy_that DOES: a python3 with an old NumPy, whose pip does this
  make_command python3 "case \"\$*\" in
  *'pip --version'*) exit 0 ;;
  *'pip download'*) echo download >>'$work/state/pip'; $1 ;;
  *zipfile*) mkdir -p numpy && touch numpy/__init__.py ;;
  *'(2, 1)'*) exit 1 ;;
esac"
}
debian "${everything[@]}"
numpy_that "touch '$work/build/numpy/numpy-2.whl'"
run test
[ $status -eq 0 ] || fail "NumPy"
says "fetching NumPy"
run test
[ "$(wc -l <"$work/state/pip")" -eq 1 ] || fail "fetched NumPy twice"
rm -rf "$work/build"
debian "${everything[@]}"
numpy_that 'exit 1'
run test
[ $status -eq 0 ] || fail "NumPy that cannot be fetched stopped it"
says "NumPy could not be fetched"

# The environment of the Python module: made once; without it its tests are skipped.
python_that() { # python_that DOES: a python3 that makes environments whose pip does this
  make_command python3 "case \"\$*\" in
  *'pip --version'*) exit 1 ;;
  *'-m venv'*) mkdir -p '$work/build/python/bin' && printf '#!%s\n%s\n' '$(type -P bash)' '$1' >'$work/build/python/bin/python' &&
    $(type -P chmod) +x '$work/build/python/bin/python' ;;
esac"
}
rm -rf "$work/build"
debian "${everything[@]}"
python_that 'exit 0'
run test
[ $status -eq 0 ] || fail "the environment of Python"
says "fetching what the Python module is built and tested with"
silent "Python tests will be skipped"
run test
silent "fetching what the Python module"
rm -rf "$work/build"
python_that 'echo no network; exit 1'
run test
[ $status -eq 0 ] || fail "an environment of Python that cannot be made stopped it"
says "the Python tests will be skipped"
says "no network"

# The reference takes Doxygen, and nothing else.
debian "${everything[@]}" doxygen
run docs
[ $status -eq 0 ] || fail "docs"
says "    doxygen "
silent g++

# Without root: through sudo, never asking; or the list, where there is no sudo.
debian "${everything[@]}"
make_command sudo "echo \"sudo \$*\" >>'$work/state/calls'; [ \"\$1\" = -n ] && shift; exec \"\$@\""
TEST_UID=1000 run demo
[ $status -eq 0 ] || fail "sudo"
[ "$(calls '^sudo -n env DEBIAN_FRONTEND=noninteractive')" -ge 1 ] || fail "sudo may ask where nobody can answer"
debian "${everything[@]}"
TEST_UID=1000 run demo
[ $status -eq 1 ] || fail "no sudo"
says "takes root"
says "libfmt-dev"

# Another system: the names, and nothing else.
machine
run test
[ $status -eq 1 ] || fail "another system"
says "neither Debian nor Ubuntu"
says "nlohmann-json3-dev"
SMELT_SETUP=skip run test
[ $status -eq 0 ] || fail "skip"
run neither
[ $status -eq 2 ] || fail "usage"
echo "setup: all as wanted"
