#!/bin/sh
# tour.sh MUSTER RESULTS FOLDER PROGRAM [ARGUMENT...]: a program of the tour under `muster run --gpu h200`. It has to
# end as it did on an H200 (RESULTS, a tour.tsv): with 0 and the same last line, number of values included.
set -eu
muster=$1 results=$2 folder=$3 program=$4
shift 4
tab=$(printf '\t')
recorded=$(awk -F"$tab" -v p="$program" -v a="$*" '$1 == "run" && $2 == p && $3 == a && $4 == "ok" { print $5; exit }' "$results")
[ -n "$recorded" ] || { echo "no result of '$program $*' in $results"; exit 1; }
options="--gpu h200"
case $recorded in *"GPU to GPU"*) options="$options --gpus 2" ;; esac
code=0
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
# shellcheck disable=SC2086 # words
output=$("$muster" run $options -- "$folder/$program" "$@" 2>"$errors") || code=$?
last=$(printf '%s\n' "$output" | tail -1)
if [ $code != 0 ] || [ "$last" != "$recorded" ]; then
  printf '%s\n' "ends with $code" "$output" "$(cat "$errors")" "on an H200: $recorded"
  exit 1
fi
