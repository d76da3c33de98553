#!/bin/sh
# check.sh MUSTER EXPECT [also=RULES] [never=RULES] [says=PATTERN]... [OPTION...] -- PROGRAM [ARGUMENT...]: a program under
# `muster check OPTION...`, judged by its JSON report. RULES are ids, `|` between them; `*` ends a family.
#   EXPECT clean        exit code 0, no error, no warning
#   EXPECT note=RULES   the same, and one of the notes is of RULES
#   EXPECT any          it is judged; for what `never` and `says` ask
#   EXPECT RULES        exit code 1, an error or a warning of one of RULES, and of no rule outside RULES and `also`
# Rules of `never` are not found at all, not as a note either. PATTERN (grep -E) has to match in the report, which
# is one line for it.
set -eu
muster=$1 expect=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
report="$folder/report.json" also='' never='' options=''
: >"$folder/patterns"
while [ "$1" != -- ]; do
  case $1 in
  also=*) also=${1#also=} ;;
  never=*) never=${1#never=} ;;
  says=*) printf '%s\n' "${1#says=}" >>"$folder/patterns" ;;
  *) options="$options $1" ;;
  esac
  shift
done
fail() {
  printf '%s\n' "$1" "command: muster check$options $command"
  printf -- '--- findings\n'; cat "$folder/findings" 2>/dev/null || true
  printf -- '--- stdout\n'; head -20 "$folder/stdout"
  printf -- '--- stderr\n'; head -120 "$folder/stderr"
  exit 1
}

code=0
seconds=${CHECK_SECONDS:-60}
case $expect in
# A program that hangs leaves after its own deadline, for a GPU; what is right may take longer, with many schedules.
clean | note=*) export TOUR_DEADLINE="$seconds" ;;
*) export TOUR_DEADLINE=5 ;;
esac
# shellcheck disable=SC2086 # words
timeout -k 2 "$seconds" "$muster" check --format text --format "json:$report" $options "$@" \
  >"$folder/stdout" 2>"$folder/stderr" </dev/null || code=$?
shift
command=$*
[ -s "$report" ] || fail "no report; ends with $code"

tr -d '\n' <"$report" >"$folder/line"
# A line for each finding: severity, rule.
grep -oE '"rule": *"[^"]*", *"severity": *"[^"]*"' "$folder/line" | awk -F'"' '{ print $8, $4 }' >"$folder/findings" || true
pattern() { printf '%s' "$1" | sed 's/\*/[a-z-]*/g'; }
serious='^(error|warning) '
case $expect in
any) [ $code -le 1 ] || fail "ends with $code, should be 0 or 1" ;;
clean | note=*)
  ! grep -qE "$serious" "$folder/findings" || fail "an error or a warning in a program that is right"
  [ $code = 0 ] || fail "ends with $code, should be 0"
  [ "$expect" = clean ] || grep -qE "^note ($(pattern "${expect#note=}"))\$" "$folder/findings" || fail "no note of ${expect#note=}"
  ;;
*)
  grep -qE "$serious($(pattern "$expect"))\$" "$folder/findings" || fail "no finding of $expect"
  ! grep -E "$serious" "$folder/findings" | grep -qvE " ($(pattern "$expect${also:+|$also}"))\$" || fail "findings of other rules"
  [ $code = 1 ] || fail "ends with $code, should be 1"
  ;;
esac
[ -z "$never" ] || ! grep -qE " ($(pattern "$never"))\$" "$folder/findings" || fail "a finding of $never"
while read -r wanted; do
  grep -qE -e "$wanted" "$folder/line" || fail "nothing in the report matches: $wanted"
done <"$folder/patterns"
