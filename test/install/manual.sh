#!/bin/sh
# manual.sh MANUAL INCLUDE: the pages below MANUAL are well-formed, and every function has one.
set -u
manual=$1 include=$2
command -v groff >/dev/null || { echo "no groff"; exit 77; }
wrong=0
pages=0
for page in "$manual"/man1/*.1 "$manual"/man3/*.3; do
  [ ! -L "$page" ] || continue
  pages=$((pages + 1))
  for columns in 78 120; do
    said=$(groff -ww -man -Tutf8 -rLL=${columns}n -z "$page" 2>&1)
    [ -z "$said" ] || { echo "$page: $said"; wrong=1; }
  done
  if command -v man >/dev/null; then
    said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
    [ -z "$said" ] || { echo "$page: $said"; wrong=1; }
  fi
  head -20 "$page" | grep -q '^\.SH NAME$' || { echo "$page: no NAME"; wrong=1; }
done
[ "$pages" -ge 25 ] || { echo "only $pages pages"; wrong=1; }
find "$manual" -type l ! -exec test -e {} \; -print | grep . && wrong=1
# An oracle of its own: what muster.h marks, by grep; what the device headers define outside of macros.
for name in $(tr '\n' ' ' <"$include/muster.h" | grep -o 'MUSTER_API [^(]*(' | sed 's/($//; s/.*[ *]//' | grep '^muster_') \
  $(sed -n 's/^MU_FN [^(]*[ *]\(mu_[a-z0-9_]*\)(.*/\1/p' "$include"/muster/*.cuh); do
  page=$manual/man3/$name.3
  [ -e "$page" ] || { echo "no page of $name"; wrong=1; continue; }
  grep -q "\b$name\b" "$page" || { echo "$page does not speak of it"; wrong=1; }
done
exit $wrong
