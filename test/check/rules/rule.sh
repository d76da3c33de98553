#!/bin/sh
# rule.sh MUSTER PROGRAM RULE SOURCE: the rule's example, broken and fixed, under muster check: the broken form is found
# with exactly that rule (and what the line `// also: RULES` allows), the fixed one has no finding at all. A line
# `// options: OPTIONS` is for muster check.
set -eu
muster=$1 program=$2 rule=$3 source=$4
value() { sed -n "s|^// $1: *||p" "$source"; }
options=$(value options) also=$(value also)
report=$(mktemp)
trap 'rm -f "$report"' EXIT

judge() { # judge FOUND...: the rules of all findings, once each
  for found; do
    case " $rule $also " in *" $found "*) ;; *) return 1 ;; esac
  done
  case " $* " in *" $rule "*) ;; *) return 1 ;; esac
}

for form in broken fixed; do
  code=0
  # shellcheck disable=SC2086 # words
  timeout 60 "$muster" check --gpu h200 --format "json:$report" --format text $options "$program" "$rule" $form 2>"$report.text" || code=$?
  found=$(python3 -c 'import json, sys; print(*sorted({f["rule"] for f in json.load(open(sys.argv[1]))["findings"]}))' "$report")
  good=true
  # shellcheck disable=SC2086
  if [ $form = broken ]; then judge $found; else [ -z "$found" ] && [ $code = 0 ]; fi || good=false
  $good || { echo "$rule, $form: ends with $code, found: $found"; cat "$report.text"; }
  rm -f "$report.text"
  $good || exit 1
done
