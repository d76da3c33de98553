#!/bin/sh
# one.sh MUSTER MUTATE PROGRAM ROOT MUTANT [ARGUMENT...] [: OPTION...]: runs a mutant of PROGRAM under `muster check`, first its plain
# run, then 64 schedules, and prints what became of it in one line:
#   found RULES    errors and warnings, the rules by name
#   fault          the device ended the launch and said where: there is no such use of the instruction
#   not reached    nobody executed the instruction: a trap in its place goes unnoticed
#   survived       nothing of the kind in 64 schedules
#   inconclusive   the same, but something could not be judged
#   ended CODE     no finding, but the program did not end well
set -eu
muster=$1 mutate=$2 program=$3 root=$4 mutant=$5
shift 5
arguments='' options=''
while [ $# -gt 0 ] && [ "$1" != : ]; do
  arguments="$arguments $1"
  shift
done
[ $# = 0 ] || { shift; options=$*; }
export TOUR_DEADLINE=1000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mutated="$folder/${program##*/}"

judge() { # judge SCHEDULES: ends with the verdict, if there is one
  code=0
  # shellcheck disable=SC2086 # words
  "$muster" check --gpu h200 --gpus 2 --time-limit 200 --schedules "$1" $options --format text \
    --format "json:$folder/report" -- "$mutated" $arguments >/dev/null 2>"$folder/said" </dev/null || code=$?
  rules=$(tr -d '\n' <"$folder/report" | grep -oE '"rule": *"[^"]*", *"severity": *"(error|warning)"' |
    sed 's/[^:]*: *"\([^"]*\)".*/\1/' | sort -u | paste -sd' ') || true
  verdict=
  if [ -n "$rules" ]; then
    verdict="found $rules"
  elif grep -q '^muster: a launch failed: ' "$folder/said"; then
    verdict=fault
  elif [ $code = 3 ]; then
    verdict=inconclusive
  elif [ $code != 0 ]; then
    verdict="ended $code"
  fi
  [ -z "$verdict" ] || { echo "$verdict"; exit 0; }
}

"$mutate" write "$program" "$root" "$mutant" "$mutated"
judge 1
"$mutate" trap "$program" "$root" "$mutant" "$mutated"
# shellcheck disable=SC2086 # words
if TOUR_DEADLINE=20 "$muster" run --gpu h200 --gpus 2 -- "$mutated" $arguments >/dev/null 2>&1 </dev/null; then
  echo "not reached"
  exit 0
fi
"$mutate" write "$program" "$root" "$mutant" "$mutated"
judge 64
echo survived
