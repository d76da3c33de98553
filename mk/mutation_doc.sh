#!/bin/sh
# mutation_doc.sh: writes doc/mutation.md to standard output, from test/mutation: mutants.tsv, reasons.txt and
# programs.txt. ./dev docs keeps the document, ./dev lint compares it; `sh test/mutation/run.sh test build` holds the list
# against what happens.
set -eu
cd "$(dirname "$0")/../test/mutation"

cat <<'END'
# What muster check makes of weakened programs

Every correct program of the tour that synchronises, with one synchronisation weakened in its PTX, run under
`muster check --gpu h200 --schedules 64`. Generated from `test/mutation` (`./dev docs`); the tests `mutation.*` hold it
against what happens.

| weakness | what changes |
|---|---|
| `drop` | a fence or barrier that yields no value is left out |
| `scope` | of a fence or of a strong access of global memory: sys becomes gpu, gpu and cluster become cta |
| `no-release`, `no-acquire` | an access loses one side of its order: acq_rel becomes acquire or release, these become relaxed |
| `weak` | a relaxed or volatile load or store becomes a weak one |
| `mask` | of the lanes that bar.warp, shfl, vote, match or redux names, the lowest is left out |

A place is the line of the kernel and, behind `>`, the lines of functions inlined there. Instructions that came from
one place (an unrolled loop, instances of a template) change together; places of one line, such as the functions that a
macro makes, are mutants of their own, and are counted here. A `membar` is a `fence.sc`, but the inspection grants it no
more than acquire and release (`--fence-sc=acqrel`), so that its programs need no more.

END

awk -F'\t' '
  FILENAME == "reasons.txt" { if ($0 !~ /^#/) reason[$1] = $2; next }
  FILENAME == "programs.txt" { if ($0 !~ /^#/) { program = $0; sub(/ .*/, "", program); command[program] = $0 }; next }
  /^#/ { next }
  {
    split($4, word, " ")
    all++
    verdicts[word[1]]++
    name = $2
    sub(/ #[0-9]+$/, "", name)
    row = $1 FS name FS $4
    if (!(row in count))
      order[++rows] = row
    count[row]++
  }
  function shown(verdict, word, n, i, text) {
    n = split(verdict, word, " ")
    if (word[1] == "found") {
      for (i = 2; i <= n; i++)
        text = text (i > 2 ? ", " : "") "`" word[i] "`"
      return text
    }
    if (word[1] == "same")
      return "the same: " reason[word[2]]
    if (word[1] == "missed")
      return "**missed**: " reason[word[2]]
    if (word[1] == "fault")
      return "the launch ends with a fault that names the instruction"
    return "not reached: it runs with `--time` only"
  }
  END {
    printf "Of %d mutants %d are found by a rule and %d end with a fault; %d behave the same, for the reason that stands there; ", all, verdicts["found"], verdicts["fault"], verdicts["same"]
    printf "%d are missed; %d are in code that only measures.\n", verdicts["missed"], verdicts["not"]
    for (i = 1; i <= rows; i++) {
      split(order[i], part, FS)
      if (part[1] != last)
        printf "\n## %s\n\n`%s`\n\n| place | instruction | weakness | |\n|---|---|---|---|\n", part[1], command[part[1]]
      last = part[1]
      split(part[2], word, " ")
      times = count[order[i]] > 1 ? " (" count[order[i]] ")" : ""
      printf "| %s%s | `%s` | %s | %s |\n", word[1], times, word[2], word[3], shown(part[3])
    }
  }' reasons.txt programs.txt mutants.tsv
