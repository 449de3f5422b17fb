#!/usr/bin/env bash
# Builds, and says how far it is in one line: scripts/build.sh build/release JOBS [TARGET...]
#
# In a terminal the line is rewritten; elsewhere there is one for every tenth of the work. What compilers say is printed as it comes.
# A folder that was configured for make prints what make does.
set -euo pipefail
folder=$1 jobs=$2
shift 2
build=(cmake --build "$folder" -j "$jobs")
[ $# -eq 0 ] || build+=(--target "$@")
[ -f "$folder/build.ninja" ] || exec "${build[@]}"

terminal=false
[ -t 1 ] && terminal=true
mark=$'\001'
progress() {
  local line finished all seconds left tenth=-1
  while IFS= read -r line; do
    if [[ $line != "$mark"* ]]; then
      $terminal && printf '\r\033[K'
      printf '%s\n' "$line"
      continue
    fi
    read -r finished all seconds _ <<<"${line#"$mark"}"
    left=
    if ((finished > 2 && finished < all)); then
      left=", about $((${seconds%.*} * (all - finished) / finished + 1)) s left"
    fi
    if $terminal; then
      printf '\r\033[Kbuilding: %d of %d steps%s' "$finished" "$all" "$left"
    elif ((all > 2 && 10 * finished / all != tenth)); then # before: two steps that look for new files
      tenth=$((10 * finished / all))
      printf 'building: %d of %d steps%s\n' "$finished" "$all" "$left"
    fi
  done
  if $terminal; then printf '\r\033[K'; fi
}
# Ninja's status precedes each step: steps done, all of them, seconds so far.
NINJA_STATUS="$mark%f %t %e " "${build[@]}" 2>&1 | progress
