#!/usr/bin/env bash
# Installs torch into the environment that scripts/setup.sh makes, for the tests of smelt.torch. Usage: scripts/torch.sh build/python
#
# Everything goes to FOLDER/torch, a folder that gets this name once it is complete; a .pth file adds it to the environment. So an
# installation that fails or is interrupted changes nothing, and `rm -r build/python/torch` undoes one.
set -euo pipefail

folder=${1:?usage: scripts/torch.sh FOLDER}
requirements=${BASH_SOURCE[0]%/*}/../tests/python/requirements-torch.txt
least=9000000 # free KB: 3.0 GB of wheels and the 5.4 GB that they unpack to

fail() { # fail TEXT HELP
  echo "torch: $1" >&2
  echo "help: $2" >&2
  exit 1
}

if [ "${SMELT_SETUP:-}" = skip ]; then
  echo "torch: skipped, since SMELT_SETUP=skip"
  exit 0
fi
[ -f "$folder/ready" ] || fail "$folder has no Python environment" "scripts/setup.sh test makes it, or says what it lacks"
folder=$(cd "$folder" && pwd)
if cmp -s "$requirements" "$folder/torch/requirements.txt"; then
  exit 0
fi

part=$folder/torch.part
rm -rf "$part" "$folder/torch" # of another version, or of an interrupted run
free=$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')
[ "$free" -ge "$least" ] || fail "installing torch takes $((least / 1000)) MB of disk space, $folder has $((free / 1000)) MB" \
  "free some, or run make test without TORCH=1"
echo "torch: fetching $(sed -n 's/^torch/torch/p' "$requirements") into $folder/torch: 3 GB to download, 5.4 GB on disk"
trap 'rm -rf "$part"' EXIT
mkdir -p "$part/tmp" "$part/lib" # pip unpacks in the temporary folder: on this disk, too
if ! TMPDIR=$part/tmp "$folder/bin/python" -m pip install -q --disable-pip-version-check --no-cache-dir --retries 2 --timeout 60 \
  --only-binary :all: --target "$part/lib" -r "$requirements" >"$part/log" 2>&1; then
  tail -n 4 "$part/log" >&2
  case $(<"$part/log") in
    *"No space left on device"*) fail "the disk is full" "free $((least / 1000)) MB, or run make test without TORCH=1" ;;
    *) fail "it could not be fetched, as pip says above; the environment is as it was" \
      "is PyPI reachable (https_proxy, PIP_INDEX_URL)? Or run make test without TORCH=1" ;;
  esac
fi
PYTHONPATH=$part/lib "$folder/bin/python" -c 'import torch' 2>"$part/log" || {
  tail -n 4 "$part/log" >&2
  fail "what was fetched cannot be imported" "run make test without TORCH=1"
}
cp "$requirements" "$part/lib/requirements.txt"
echo "$folder/torch" >"$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/smelt-torch.pth"
mv "$part/lib" "$folder/torch"
