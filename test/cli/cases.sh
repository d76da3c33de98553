#!/bin/sh
# cases.sh FILE.cli...: runs the cases of each file and compares output and exit code.
#
#   $ COMMAND     run by sh, in a new empty folder for each file; the lines that follow are expected:
#   1| TEXT       this line on standard output        2| TEXT  on standard error
#   1~ PATTERN    a line that this glob matches       2~ PATTERN
#   1...          any number of lines                 2...
#   = N           the exit code; 0 where it is not written
#   # TEXT        for people; everything else is an error of the file
#
# The programs under test come by PATH and the variables that CMake sets. Exit code 77: every case needs something
# that is not here (a command of `? COMMAND` lines failed, which skip the cases behind them).
set -u
command -v muster >/dev/null || { echo "no muster in PATH"; exit 1; }
failed=0 ran=0 skipped=0
root=$(mktemp -d "${TMPDIR:-/tmp}/muster-cli-XXXXXX") || exit 1
trap 'rm -rf "$root"' EXIT

# matches EXPECTED ACTUAL: every line, in order. EXPECTED has "| TEXT", "~ PATTERN" and "..." lines.
matches() {
  exec 3<"$2"
  any=no
  while IFS= read -r want; do
    case "$want" in
    '...') any=yes; continue ;;
    '| '*) kind=text want=${want#'| '} ;;
    '|') kind=text want= ;;
    '~ '*) kind=pattern want=${want#'~ '} ;;
    esac
    while :; do
      IFS= read -r line <&3 || [ -n "$line" ] || { exec 3<&-; return 1; }
      if [ "$kind" = text ] && [ "$line" = "$want" ]; then break; fi
      # shellcheck disable=SC2254 # a pattern it shall be
      if [ "$kind" = pattern ]; then case "$line" in $want) break ;; esac; fi
      [ $any = yes ] || { exec 3<&-; return 1; }
    done
    any=no
  done <"$1"
  if [ $any = no ] && IFS= read -r line <&3; then exec 3<&-; return 1; fi
  exec 3<&-
}

finish() { # runs the case read so far
  [ -n "$command" ] || return 0
  ran=$((ran + 1))
  (cd "$folder" && exec sh -c "$command") >"$root/out" 2>"$root/err" </dev/null
  code=$?
  bad=
  [ $code -eq "$exit" ] || bad="exit code $code, expected $exit"
  matches "$root/want1" "$root/out" || bad="${bad:+$bad; }standard output differs"
  matches "$root/want2" "$root/err" || bad="${bad:+$bad; }standard error differs"
  if [ -n "$bad" ]; then
    failed=$((failed + 1))
    printf '%s:%s: %s\n$ %s\n' "$file" "$line_of" "$bad" "$command"
    sed 's/^/  1| /' "$root/out"
    sed 's/^/  2| /' "$root/err"
  fi
  command=
}

for file; do
  folder=$root/$(basename "$file")
  mkdir "$folder"
  command='' number=0 skipping=no
  while IFS= read -r row || [ -n "$row" ]; do
    number=$((number + 1))
    case "$row" in
    '$ '*)
      finish
      if [ $skipping = yes ]; then skipped=$((skipped + 1)); continue; fi
      command=${row#'$ '} exit=0 line_of=$number
      : >"$root/want1"
      : >"$root/want2"
      ;;
    '? '*)
      finish
      skipping=no
      sh -c "${row#'? '}" >/dev/null 2>&1 </dev/null || { skipping=yes; echo "skipped from line $number of $file: ${row#'? '}"; }
      ;;
    1*) printf '%s\n' "${row#1}" >>"$root/want1" ;;
    2*) printf '%s\n' "${row#2}" >>"$root/want2" ;;
    '= '*) exit=${row#'= '} ;;
    '#'* | '') ;;
    *) echo "$file:$number: not understood: $row"; exit 1 ;;
    esac
  done <"$file"
  finish
done
echo "$ran cases, $failed failed, $skipped skipped"
[ $failed -eq 0 ] || exit 1
[ $ran -gt 0 ] || exit 77
