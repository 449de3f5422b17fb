#!/usr/bin/env bash
# Builds and runs tests/package as a user would. Usage: test.sh install|find|headers|inside|configure BUILD ...
#   install BUILD            installs BUILD into BUILD/package/prefix, what the next two use, and runs the tool from there
#   find BUILD KIND          a program that finds the static or the shared library
#   headers BUILD            the installed headers include one another and the standard library only
#   alone BUILD              a program that includes smelt/static.hpp and nothing else compiles as C++17 without a warning, and links nothing
#   inside BUILD WAY FLAGS   a program with smelt as a part of it, all of it compiled: minutes, seconds where ccache has it
#   configure BUILD WAY      the same without building
#   deb BUILD                the .deb of BUILD has the right files and dependencies, and what it brings runs; 77: no dpkg here
#   clean BUILD              clean_machine.sh with that .deb, in continuous integration or with SMELT_CLEAN_MACHINE=1; else 77
set -euo pipefail
shopt -s nullglob
what=$1 build=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$here/../.." && pwd)
prefix=$build/package/prefix
fail() { echo "package test: $*" >&2; exit 1; }

configure() { # configure FOLDER OPTION...: a folder of its own below $place
  local folder=$place/$1
  shift
  rm -rf "$folder"
  cmake -S "$here" -B "$folder" -G "${GENERATOR:-Unix Makefiles}" -DCMAKE_BUILD_TYPE=Release "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; fail "does not configure"; }
}
build_and_run() { # build_and_run FOLDER
  cmake --build "$place/$1" --target consumer -j 2 >"$place/$1.log" 2>&1 || { tail -n 40 "$place/$1.log"; fail "does not build"; }
  SMELT_CACHE_DIR=$build/test-cache "$place/$1/consumer"
}

place=$build/package
mkdir -p "$place"
case $what in
  install)
    rm -rf "$prefix"
    cmake --install "$build" --prefix "$prefix" >"$prefix.log" || fail "does not install"
    "$prefix/bin/smelt" --version
    for file in man/man1/smelt.1 bash-completion/completions/smelt zsh/vendor-completions/_smelt \
      fish/vendor_completions.d/smelt.fish; do
      [ -s "$prefix/share/$file" ] || fail "there is no share/$file"
    done
    grep -q '^\.TH SMELT 1' "$prefix/share/man/man1/smelt.1" || fail "smelt.1 is no manual page"
    ;;
  find)
    kind=$3
    configure "find_$kind" -DWAY=find_package -DKIND="$kind" -DCMAKE_PREFIX_PATH="$prefix"
    build_and_run "find_$kind"
    needed=$(readelf -d "$build/package/find_$kind/consumer")
    if [ "$kind" = shared ]; then
      [[ $needed =~ libsmelt\.so\.[0-9]+\.[0-9]+\] ]] || fail "the program does not need a libsmelt.so of a version"
      shown=$(nm -DC --defined-only "$prefix"/lib/libsmelt.so "$prefix"/lib/*/libsmelt.so "$prefix"/lib64/libsmelt.so 2>/dev/null || true)
      [[ $shown == *' smelt::eval('* ]] || fail "the shared library does not show smelt::eval"
      inner=$(grep -E ' (fmt|nlohmann|smelt::(graph|plan|schedule|kernel|emit|runtime|report))::' <<<"$shown" || true)
      [ -z "$inner" ] || { head <<<"$inner"; fail "the shared library shows what is not public"; }
    else
      [[ $needed != *libsmelt* ]] || fail "the program needs libsmelt.so, though the static library was asked for"
    fi
    ;;
  headers)
    for header in "$prefix"/include/smelt/*.hpp "$prefix"/include/smelt/static/*.hpp "$prefix"/include/smelt/static/expand/*.hpp; do
      included=$("${CXX:-c++}" -std=c++20 -M -I "$prefix/include" -x c++ "$header")
      [[ ! $included =~ (/fmt/|/nlohmann/|/CLI/|$source/src/) ]] || fail "$header includes ${BASH_REMATCH[1]}"
    done
    ;;
  alone)
    "${CXX:-c++}" -std=c++17 -O1 -Wall -Wextra -Wpedantic -Werror -I "$prefix/include" -o "$build/package/alone" "$here/static.cpp"
    "$build/package/alone"
    ;;
  inside | configure)
    way=$3
    if [ "$what" = inside ] && command -v ninja >/dev/null; then GENERATOR=Ninja; fi
    folder=$way
    configure "$folder" -DWAY="$way" -DSMELT_SOURCE="$source" -DCMAKE_CXX_COMPILER="${CXX:-c++}" "${@:4}"
    cmake --install "$place/$folder" --prefix "$place/$folder-prefix" >/dev/null
    [ -z "$(ls -A "$place/$folder-prefix" 2>/dev/null)" ] || fail "smelt installs itself with the project that uses it"
    [ "$what" = configure ] || build_and_run "$folder"
    ;;
  deb)
    command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || { echo "no dpkg-deb or no dpkg-shlibdeps here"; exit 77; }
    out=$build/package/deb
    rm -rf "$out"
    mkdir -p "$out"
    (cd "$build" && cpack -G DEB -B "$out") >"$out.log" 2>&1 || { tail -n 40 "$out.log"; fail "cpack"; }
    debs=("$out"/*.deb)
    files=$(dpkg-deb -c "${debs[0]}" | sed 's/.* \.\//\//; s/ -> .*//')
    for file in bin/smelt lib/libsmelt.a lib/libsmelt.so include/smelt/smelt.hpp lib/cmake/smelt/smeltConfig.cmake \
      lib/cmake/smelt/smeltConfigVersion.cmake lib/cmake/smelt/smelt-static.cmake lib/cmake/smelt/smelt-shared.cmake \
      share/doc/smelt/copyright share/man/man1/smelt.1 share/bash-completion/completions/smelt \
      share/zsh/vendor-completions/_smelt share/fish/vendor_completions.d/smelt.fish; do
      grep -qx "/usr/$file" <<<"$files" || fail "the package lacks /usr/$file"
    done
    beyond=$(grep -v '/$' <<<"$files" |
      grep -vE '^/usr/(bin/smelt|lib/libsmelt\.(a|so[.0-9]*)|include/smelt/([a-z_]+|static/[a-z_]+|static/expand/[a-z_]+)\.hpp|lib/cmake/smelt/[A-Za-z-]+\.cmake|share/(doc/smelt/copyright|man/man1/smelt\.1|bash-completion/completions/smelt|zsh/vendor-completions/_smelt|fish/vendor_completions\.d/smelt\.fish))$' || true)
    [ -z "$beyond" ] || fail "the package has more than it should: $beyond"
    depends=$(dpkg-deb -f "${debs[0]}" Depends)
    for library in libc6 'libstdc\+\+6' 'libfmt[0-9]+'; do
      [[ $depends =~ (^|, )$library($|[ ,]) ]] || fail "the package depends on $depends, not on $library"
    done
    [[ $(dpkg-deb -f "${debs[0]}" Suggests) == *libllvm* ]] || fail "the package does not name LLVM"
    dpkg-deb -x "${debs[0]}" "$out/root"
    # Nothing of the folder that it was built in: run from where it lies.
    "$out/root/usr/bin/smelt" --version
    SMELT_CACHE_DIR=$build/test-cache "$out/root/usr/bin/smelt" run 'x + 1' -i 'x=f32[4]'
    ;;
  clean)
    if [ -z "${CI:-}${SMELT_CLEAN_MACHINE:-}" ]; then
      echo "skipped: minutes, root and a mirror of Debian; SMELT_CLEAN_MACHINE=1 runs it, and continuous integration does"
      exit 77
    fi
    debs=("$build"/package/deb/*.deb)
    [ ${#debs[@]} -eq 1 ] || fail "there is no .deb in $build/package/deb"
    exec bash "$here/clean_machine.sh" "${debs[0]}" "$build/package/clean" consumer
    ;;
  *) fail "what is $what?" ;;
esac
