#!/usr/bin/env bash
# The .deb on a clean machine: a Debian of nothing but what every Debian has, in a folder, where apt installs the package, and the tool runs.
# Usage: clean_machine.sh DEB FOLDER [consumer]
#
# `consumer`: installs a compiler there too, and builds and runs the program of this folder by find_package. SUITE and MIRROR choose another
# Debian than this one. Takes root, debootstrap and a mirror (77 where one of them is missing), and a minute or two.
set -euo pipefail
deb=$(realpath "${1:?usage: clean_machine.sh DEB FOLDER [consumer]}") folder=$(realpath -m "${2:?usage: clean_machine.sh DEB FOLDER [consumer]}")
what=${3:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
skip() { echo "clean machine: skipped, $*"; exit 77; }
fail() { echo "clean machine: $*" >&2; exit 1; }

[ "$(id -u)" -eq 0 ] || skip "this takes root"
command -v debootstrap >/dev/null || skip "there is no debootstrap (apt-get install debootstrap)"
. /etc/os-release
suite=${SUITE:-${VERSION_CODENAME:?}}
mirror=${MIRROR:-$(apt-cache policy | sed -n "s|^ *[0-9]* \(http[^ ]*\) $suite/main .*|\1|p" | head -n 1)}
[ -n "$mirror" ] || skip "no mirror of $suite is known here"

root=$folder/root
unmount() { umount -q "$root/proc" 2>/dev/null || true; }
trap unmount EXIT
unmount
rm -rf "$root"
mkdir -p "$folder"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1 || { tail -n 5 "$folder/debootstrap.log"; skip "$suite cannot be had from $mirror"; }
mkdir -p "$root/srv"
cp "$deb" "$root/srv/smelt.deb"
cp "$here"/CMakeLists.txt "$here"/main.cpp "$root/srv/"
mount -t proc proc "$root/proc" 2>/dev/null || true
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
install() { inside apt-get -q -y --no-install-recommends install "$@" >>"$folder/apt.log" 2>&1 || { tail -n 15 "$folder/apt.log"; fail "apt does not install $*"; }; }
says() { [[ $out == *"$1"* ]] || { echo "$out"; fail "it does not say: $1"; }; }

: >"$folder/apt.log"
! inside sh -c 'command -v smelt || command -v g++' || fail "the machine is not clean"
install /srv/smelt.deb
inside smelt --version
# Without LLVM it says what to install and fails; the interpreter runs where it is asked to.
! out=$(inside smelt run 'sum(relu(x) * 2)' -i 'x=f32[1000]' 2>&1) || { echo "$out"; fail "it runs without LLVM and says nothing"; }
says "libLLVM was not found"
says "apt-get install"
out=$(inside smelt run 'sum(relu(x) * 2)' -i 'x=f32[1000]' --fallback warn 2>&1) || { echo "$out"; fail "the interpreter does not run without LLVM"; }
says LLVM
out=$(inside smelt devices 2>&1) || true
says "apt-get install"
llvm=$(inside apt-cache search --names-only '^libllvm[0-9]+$' | sed 's/ .*//' | sort -V | awk '{n = substr($1, 8)} n >= 16 && n <= 22' | tail -n 1)
[ -n "$llvm" ] || fail "$suite has no LLVM that smelt takes"
install "$llvm"
out=$(inside smelt bench 'softmax(x)' -i 'x=f32[64,1000]' --time-limit 0.1 2>&1) || { echo "$out"; fail "it does not run with $llvm"; }
says "1 kernel"
if [ "$what" = consumer ]; then
  install g++ cmake make
  inside sh -c 'cmake -S /srv -B /srv/build -DWAY=find_package -DCMAKE_BUILD_TYPE=Release && cmake --build /srv/build' >"$folder/consumer.log" 2>&1 ||
    { tail -n 20 "$folder/consumer.log"; fail "the consumer does not build"; }
  inside /srv/build/consumer
fi
inside apt-get -q -y remove smelt >>"$folder/apt.log" 2>&1
! inside sh -c 'command -v smelt || ls /usr/include/smelt /usr/lib/cmake/smelt 2>/dev/null' || fail "something stays when the package is removed"
echo "clean machine: $suite with $llvm: as wanted"
