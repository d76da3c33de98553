#!/bin/sh
# run.sh list|judge|test|renumber BUILD [PROGRAM...]: mutants of the tour's programs (programs.txt; those named, else all).
#   list      which there are: program, mutant, kernel, with tabs between
#   judge     what becomes of each now: program, mutant, kernel, verdict (one.sh). Takes minutes.
#   test      whether that is what mutants.tsv says: each is found, by one of the rules that stand there, or has its
#             reason, and no other mutants exist. MUTATION_JOBS at once (2).
#   renumber  mutants.tsv with the lines of the sources as they are now, where nothing but lines has changed
# Other changes of a program: judge it, and give each mutant that survived its reason (reasons.txt).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
verb=$1 build=$(cd "$2" && pwd)
shift 2
jobs=${MUTATION_JOBS:-2}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tab=$(printf '\t')

programs() { # those asked for, with their arguments
  grep -v '^#' "$here/programs.txt" | awk -v asked=" $* " '{ if (asked == "  " || index(asked, " " $1 " ")) print }'
}

list() {
  programs "$@" | while read -r program arguments; do
    "$build/test/mutation/mutate" list "$build/examples/$program" "$root/examples" | sed "s|^|$program$tab|"
  done
}

judge_share() { # judge_share N: every jobs-th line of $folder/list, from the N-th on
  awk -v n="$1" -v jobs="$jobs" 'NR % jobs == n' "$folder/list" | while IFS=$tab read -r program mutant kernel; do
    arguments=$(programs "$program" | cut -d' ' -f2- -s)
    # shellcheck disable=SC2086 # words
    verdict=$(sh "$here/one.sh" "$build/bin/muster" "$build/test/mutation/mutate" "$build/examples/$program" \
      "$root/examples" "$mutant" $arguments) || verdict=broken
    printf '%s\t%s\t%s\t%s\n' "$program" "$mutant" "$kernel" "$verdict"
  done >"$folder/share.$1"
}

judge() {
  list "$@" >"$folder/list"
  n=0
  while [ $n -lt "$jobs" ]; do
    judge_share $n &
    n=$((n + 1))
  done
  wait
  # In the order of the list.
  cat "$folder"/share.* | awk -F"$tab" -v list="$folder/list" '
    { verdict[$1 FS $2] = $4 }
    END { while ((getline <list) > 0) print $0 FS verdict[$1 FS $2] }'
}

case $verb in
list) list "$@" ;;
judge) judge "$@" ;;
test)
  judge "$@" >"$folder/now"
  [ -s "$folder/now" ] || { echo "no mutants: is the program built?"; exit 1; }
  programs "$@" | cut -d' ' -f1 >"$folder/programs"
  awk -F"$tab" -f "$here/compare.awk" "$folder/programs" "$here/mutants.tsv" "$folder/now"
  ;;
renumber)
  list "$@" >"$folder/now"
  awk -F"$tab" '
    function kind(mutant, word) { split(mutant, word, " "); return word[2] " " word[3] }
    FNR == NR { now[$1, ++n[$1]] = $0; next }
    /^#/ || !($1 in n) { print; next }
    {
      split(now[$1, ++k[$1]], row, FS)
      if (kind(row[2]) != kind($2)) {
        print "more than lines has changed: " $1 > "/dev/stderr"
        exit 1
      }
      print row[1] FS row[2] FS row[3] FS $4
    }
    END { for (program in n) if (n[program] != k[program]) exit 1 }' "$folder/now" "$here/mutants.tsv"
  ;;
*) echo "run.sh: no such verb: $verb" >&2; exit 2 ;;
esac
