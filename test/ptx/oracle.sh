#!/bin/sh
# oracle.sh [T_PTX]: a second opinion. ptxas takes every file that must pass, and what T_PTX prints of it, and refuses
# every file that must be refused. 77: no ptxas.
set -u
here=$(cd "$(dirname "$0")" && pwd)
PTXAS=${PTXAS:-ptxas}
command -v "$PTXAS" >/dev/null || exit 77
wrong=0 seen=0

# The target that a file is for; ptxas of CUDA 13 makes code for sm_75 and up.
target() {
  t=$(sed -n 's/^\.target *\(sm_[0-9]*[af]*\).*/\1/p' "$1" | head -n 1)
  case $t in
  sm_[1-6]? | sm_70 | sm_72) echo sm_75 ;;
  '') echo sm_80 ;;
  *) echo "$t" ;;
  esac
}

# This ptxas knows the file's version and target at all.
knows() {
  { sed -n '/^\.version/p; /^\.target/p; /^\.address_size/p' "$1"; echo '.entry k () { ret; }'; } >"$small"
  "$PTXAS" -c -arch="$(target "$1")" "$small" -o /dev/null >/dev/null 2>&1
}
small=$(mktemp)
trap 'rm -f "$small"' EXIT

for f in "$here"/*.ptx "$here"/rows/*.ptx; do
  seen=$((seen + 1))
  if "$PTXAS" -c -arch="$(target "$f")" "$f" -o /dev/null >/dev/null 2>&1; then
    test $# -gt 0 || continue
    "$1" print "$f" >"$small" 2>/dev/null
    "$PTXAS" -c -arch="$(target "$f")" "$small" -o /dev/null >/dev/null 2>&1 || {
      echo "ptxas refuses what is printed of $f"
      wrong=$((wrong + 1))
    }
  elif knows "$f"; then
    echo "ptxas refuses $f"
    wrong=$((wrong + 1))
  else
    echo "too new for this ptxas: $f"
  fi
done
for f in "$here"/../reject/*.ptx; do
  case $f in
  */array-huge.ptx) continue ;; # a size beyond 64 bits, which ptxas does not notice
  esac
  seen=$((seen + 1))
  if "$PTXAS" -c -arch="$(target "$f")" "$f" -o /dev/null >/dev/null 2>&1; then
    echo "ptxas takes $f"
    wrong=$((wrong + 1))
  fi
done
echo "$seen files, $wrong differ"
test $wrong -eq 0
