#!/bin/sh
# case.sh MUSTER SOURCE PROGRAM NUMBER: case NUMBER of a program of this folder, as its first lines say.
#
# A case begins with `// run:` and ends before the next one or at the first line that is no comment:
#   // run: ARGUMENTS         of the program, may be empty
#   // options: OPTIONS       of muster run
#   // exit: CODE             default 0
#   // stdout: LINE           a line that is printed, in this order (the whole line)
#   // stdout~ PATTERN        a line that matches (grep -E)
#   // stderr~ PATTERN        a line on standard error that matches
#   // lines: N               how many lines `muster: ` there are, default as many as stderr~ patterns (>=)
#   // seconds: N             the limit, default 60
#   // cpu: WHY               not for a GPU
# MUSTER `gpu` runs the program itself, on the GPU at hand: standard error is then not looked at.
set -eu
muster=$1 source=$2 program=$3 number=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  printf '%s\n' "$@"
  printf -- '--- stdout\n'; head -40 "$folder/stdout"
  printf -- '--- stderr\n'; head -40 "$folder/stderr"
  exit 1
}

awk -v n="$number" '!/^\/\//{exit} /^\/\/ run:/{k++} k==n' "$source" >"$folder/case"
# @NAME@ in a pattern is the number of the line that ends with `// here: NAME`.
sed -n 's|.*// here: \([a-z]*\)$|\1|p' "$source" | while read -r name; do
  line=$(grep -n "// here: $name\$" "$source" | head -1 | cut -d: -f1)
  sed -i "s|@$name@|$line|g" "$folder/case"
done
[ -s "$folder/case" ] || { echo "$source has no case $number"; exit 1; }
value() { sed -n "s|^// $1: *||p" "$folder/case" | head -1; }
arguments=$(value run) options=$(value options) code=$(value exit) limit=$(value seconds)

case $muster in
gpu)
  [ -z "$(value cpu)" ] || { echo "not for a GPU: $(value cpu)"; exit 77; }
  set -- "$program" ;;
*)
  # shellcheck disable=SC2086 # words
  set -- "$muster" run $options -- "$program" ;;
esac
got=0
# shellcheck disable=SC2086
timeout -k 2 "${limit:-60}" "$@" $arguments >"$folder/stdout" 2>"$folder/stderr" </dev/null || got=$?
[ "$got" = "${code:-0}" ] || fail "ends with $got, should be ${code:-0}: muster run $options $program $arguments"

sed -n 's|^// stdout: ||p' "$folder/case" >"$folder/lines"
awk 'FILENAME==ARGV[1]{want[++n]=$0; next} i<n && $0==want[i+1]{i++} END{if(i<n){print "this line is missing on stdout: " want[i+1]; exit 1}}' \
  "$folder/lines" "$folder/stdout" >"$folder/missing" || fail "$(cat "$folder/missing")"
sed -n 's|^// stdout~ ||p' "$folder/case" >"$folder/patterns"
while read -r pattern; do
  grep -qE -e "$pattern" "$folder/stdout" || fail "nothing on stdout matches: $pattern"
done <"$folder/patterns"
[ "$muster" != gpu ] || exit 0

sed -n 's|^// stderr~ ||p' "$folder/case" >"$folder/patterns"
while read -r pattern; do
  grep -qE -e "$pattern" "$folder/stderr" || fail "nothing on stderr matches: $pattern"
done <"$folder/patterns"
# A run of which nothing is expected on standard error is silent.
[ -s "$folder/patterns" ] || [ ! -s "$folder/stderr" ] || fail "standard error should be empty"
lines=$(value lines)
[ -z "$lines" ] || [ "$(grep -c '^muster: ' "$folder/stderr")" = "$lines" ] || fail "should say $lines line(s)"
