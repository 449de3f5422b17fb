#!/usr/bin/env bash
# Writes the program of every case of tests/errors to FOLDER/CASE.smelt: seeds for the fuzzer of the language.
# Usage: tests/errors/programs.sh FOLDER
set -euo pipefail
mkdir -p "$1"
LC_ALL=C awk -v folder="$1" '
  /^=== / { if (file) close(file); file = folder "/" $2 ".smelt"; printf "" >file; next }
  /^---$/ { close(file); file = ""; next }
  file { print >file }
' "$(dirname "${BASH_SOURCE[0]}")"/*.txt
