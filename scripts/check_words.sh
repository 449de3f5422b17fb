#!/usr/bin/env bash
# Names that say nothing, words that nobody in the field uses, and things left behind in the text of the project.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  mapfile -d '' files < <(git ls-files -z -- include src tools tests bench examples docs cmake python '*.md')
else
  mapfile -d '' files < <(find include src tools tests bench examples docs cmake python ./*.md -type f -print0 2>/dev/null)
fi
existing=()
for file in "${files[@]}"; do [ -f "$file" ] && existing+=("$file"); done

prose=() pages=()
for file in "${existing[@]}"; do
  case $file in
    *CHANGELOG.md | *golden/* | *gallery/* | docs/torch-operators.md) continue ;;
    *.md) pages+=("$file") ;;
  esac
  prose+=("$file")
done

found=0
words() { # words PATTERN WHY: anywhere but in the history of changes and in what programs printed
  if grep -nIHEi -- "$1" "${prose[@]}"; then
    echo "words: $2"
    found=1
  fi
}
pages() { # pages PATTERN WHY: in pages alone
  if grep -nIHE -- "$1" "${pages[@]}"; then
    echo "words: $2"
    found=1
  fi
}
look() { # look PATTERN WHY
  if grep -nIHE -- "$1" "${existing[@]}"; then
    echo "words: $2"
    found=1
  fi
}
look '\b(class|struct|namespace|enum) +[A-Za-z]*(Manager|Helper|Utils?|Visitor)\b' 'say what it does: Manager, Helper, Utils and Visitor do not'
look '\b(TODO|FIXME|XXX)\b' 'finish it, or say in docs/ what is missing'
look '[Cc]odegen' 'write emit (to text) or lower (to IR)'
look '(^|[^A-Za-z0-9_.])/(home|work|root|Users)/[A-Za-z]' 'a path of one machine'
look '^ *(//|#) Of [a-z]' 'a comment is a sentence with a subject, or a noun'
look '[[:blank:]]+$' 'blanks at the end of a line'
words '\b(mended|thousand million|dear|dearer|for want of)\b' 'fixed; billion; more expensive; without'
words '\banew\b' 'again, or restart'
words '\bstands? in (the|a|its|this|front|memory|scratch)\b' 'is in, or see'
words '\basks? for\b' 'requires, needs or requests'
words '(driver|compiler|executable|kernel|program) serves\b' 'supports'
words 'asks for the next (row|tile)' 'prefetches'
pages '\b(that|which) (is|are) there already\b' 'existing'
pages '\banew\b' 'again, or restart'
pages '\bstands? in\b' 'is in, or see'
for file in "${existing[@]}"; do
  case $(basename "$file") in
    *[Hh]elper* | *[Uu]tils* | *[Mm]anager*) echo "words: $file: a file is called after what it does"; found=1 ;;
  esac
done
[ $found -eq 0 ] && echo "words: ${#existing[@]} files in order"
exit $found
