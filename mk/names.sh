#!/bin/sh
# names.sh ROOT CC: "NAME FILE" for each function that a user of the device headers below ROOT/include can call, for any
# GPU, macros expanded; fails with a line for each public declaration that has no contract (mk/names.awk).
set -eu
root=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
for header in include/muster.h include/muster/*.h include/muster/*.cuh; do
  printf 'header\t%s\n' "${header#include/}"
  awk -v root=include -f "$here/api.awk" "$header"
done >"$work/api"
for header in include/muster/*.cuh; do
  printf '#include "%s"\n' "${header#include/}"
done >"$work/all.c"
# The oldest architecture has what later ones do in hardware, the latest what older ones lack.
for arch in 600 9000; do
  $cc -E -x c -D__NVPTX__ -DMU_ARCH=$arch -DMU_PTX=90 -DMU_FN=MU_PUBLIC -DMU_OWN=MU_PRIVATE -Iinclude "$work/all.c" || exit 1
done | awk '
  /^# [0-9]+ "/ {
    name = $3
    gsub(/"/, "", name)
    if (name ~ /\.cuh$/) { sub(/^include\//, "", name); file = name }
    next
  }
  {
    while (match($0, /MU_PUBLIC [^(]*\(/)) {
      name = substr($0, RSTART, RLENGTH - 1)
      $0 = substr($0, RSTART + RLENGTH)
      sub(/.*[ *]/, "", name)
      if (!seen[name]++) print "expanded\t" file "\t" name
    }
  }' >"$work/expanded"
grep -oE '\bMU_[A-Z_0-9]+\(?' -r README.md doc examples --include='*.md' --include='*.c' --include='*.cu' --include='*.cuh' --include='*.h' |
  awk -F : '{ sub(/\($/, "", $2); if (!seen[$2]++) print "used\t" $1 "\t" $2 }' >"$work/used"
awk -f "$here/names.awk" "$work/api" "$work/expanded" "$work/used"
