#!/usr/bin/env bash
# A Python with the peers of the benchmark, once. Usage: bench/cpu/environment.sh FOLDER [PYTHON]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${1:?usage: bench/cpu/environment.sh FOLDER [PYTHON]} python=${2:-python3}
wanted() { cat "$here/requirements.txt" "$here/optional.txt"; }
if wanted | cmp -s - "$folder/installed.txt"; then
  exit 0
fi
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "bench: $python cannot make a virtual environment, or is older than 3.11" >&2
  echo "help: apt-get install python3-venv, or name another: make bench PYTHON=python3.12" >&2
  exit 1
fi
echo "bench: installing numexpr, jax, numba and halide from PyPI into $folder"
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: -r "$here/requirements.txt"
# What has no wheel for this machine is left out, and the page says so.
grep -v '^#' "$here/optional.txt" | while read -r package; do
  "$folder/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: -c "$here/requirements.txt" "$package" ||
    echo "bench: $package is left out" >&2
done
wanted >"$folder/installed.txt"
