#!/bin/sh
# manual.sh ROOT VERSION CC MAN OUT: the manual below OUT (man1, man3), and OUT/links, a line "NAME PAGE" for each name
# that the page PAGE of section 3 describes: mk/package/links.cmake makes them findable. ROOT is the source tree, CC a C
# compiler, MAN the program that writes the commands' pages (tool/man.c).
set -eu
root=$1 version=$2 cc=$3 man=$4 out=$5
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$out/man1" "$out/man3"
mkdir -p "$out/man1" "$out/man3"
"$man" "$out/man1"
"$man" >"$out/man1/muster.1"

# page HEADER PAGE HOW ALSO
page() {
  awk -v root="$root/include" -f "$here/api.awk" "$root/include/$1" |
    awk -v out="$out/man3" -v header="$1" -v page="$2" -v by="$3" -v version="$version" -v also="$4" -f "$here/manual.awk"
}
{
  page muster.h libmuster section ".BR muster (1)"
  for path in "$root"/include/muster/*.h "$root"/include/muster/*.cuh; do
    file=${path##*/}
    also=".BR libmuster (3)"
    for other in "$root"/include/muster/*.cuh; do
      other=${other##*/}
      [ "$other" = "$file" ] || also="$also,
.BR muster_${other%.*} (3)"
    done
    page "muster/$file" "muster_${file%.*}" page "$also"
  done
  # what the device headers' macros make
  sh "$here/names.sh" "$root" "$cc" | sed 's|muster/\([a-z]*\)\.cuh$|muster_\1|'
} | sort -u >"$out/links"
