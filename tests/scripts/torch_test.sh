#!/usr/bin/env bash
# scripts/torch.sh in environments that are made up: their Python is a script. Nothing is fetched here.
set -euo pipefail
script=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/torch.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder="$work/an environment"

make_command() { # make_command FILE BODY
  printf '#!%s\n%s\n' "$(type -P bash)" "$2" >"$1"
  chmod +x "$1"
}
# An environment whose pip does this; `import torch` does what $imports says.
environment() { # environment DOES
  rm -rf "$folder" "$work/calls"
  mkdir -p "$folder/bin" "$folder/site"
  echo ready >"$folder/ready"
  make_command "$folder/bin/python" "case \"\$*\" in
  *purelib*) echo '$folder/site' ;;
  *'import torch'*) ${imports:-exit 0} ;;
  *'pip install'*)
    echo \"\$*\" >>'$work/calls'
    while [ \"\$1\" != --target ]; do shift; done
    mkdir -p \"\$2/torch\"
    $1 ;;
esac"
}
free_mb() { # as df says
  mkdir -p "$work/bin"
  make_command "$work/bin/df" "printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/x 9 9 $1000 9%% /\n'"
}
run() { # its text in $out, its status in $status
  status=0
  out=$(PATH=$work/bin:$PATH bash "$script" "$folder" 2>&1 </dev/null) || status=$?
}
fail() { echo "torch test: $*"; echo "--- status $status, it said:"; echo "$out"; exit 1; }
says() { [[ $out == *"$1"* ]] || fail "does not say: $1"; }
calls() { wc -l <"$work/calls"; }
unchanged() { [ "$(ls "$folder")" = $'bin\nready\nsite' ] && [ -z "$(ls "$folder/site")" ] || fail "left something: $(ls "$folder" "$folder/site")"; }
refuses() { # refuses TEXT
  run
  [ $status -eq 1 ] || fail "no failure: $1"
  says "$1"
  says "help: "
}

# It is fetched once, and again for other requirements.
free_mb 20000
environment 'exit 0'
run
[ $status -eq 0 ] || fail "fetching"
says "5.4 GB"
[ -d "$folder/torch/torch" ] && [ "$(cat "$folder/site/smelt-torch.pth")" = "$folder/torch" ] || fail "not in the environment"
[ ! -e "$folder/torch.part" ] || fail "left its own folder"
run
[ $status -eq 0 ] && [ -z "$out" ] && [ "$(calls)" = 1 ] || fail "fetched twice"
echo "torch==1" >"$folder/torch/requirements.txt"
run
[ $status -eq 0 ] && [ "$(calls)" = 2 ] || fail "kept another version"

# An interrupted run leaves a folder that does not count.
rm -rf "$folder/torch"
mkdir -p "$folder/torch.part/lib/torch"
touch "$folder/torch.part/lib/old"
run
[ $status -eq 0 ] && [ "$(calls)" = 3 ] && [ ! -e "$folder/torch/old" ] || fail "took a part for the whole"

# What fails says why, and changes nothing.
environment 'echo "ERROR: Could not find a version that satisfies the requirement torch"; exit 1'
refuses "Could not find a version"
says "could not be fetched"
unchanged
environment 'echo "ERROR: [Errno 28] No space left on device"; exit 1'
refuses "the disk is full"
unchanged
imports='echo "ImportError: libcublas.so"; exit 1' environment 'exit 0'
refuses "cannot be imported"
unchanged
free_mb 3000
environment 'exit 0'
refuses "takes 9000 MB of disk space, $folder has 3000 MB"
unchanged
[ ! -e "$work/calls" ] || fail "fetched without space"

# Without an environment there is nothing to install into, and SMELT_SETUP=skip installs nothing.
rm "$folder/ready"
refuses "has no Python environment"
SMELT_SETUP=skip run
[ $status -eq 0 ] && [ ! -e "$work/calls" ] || fail "SMELT_SETUP=skip"
says "skipped"
echo "torch: all as wanted"
