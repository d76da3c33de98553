#!/bin/sh
# rules_doc.sh: writes doc/rules.md to standard output, from include/muster/rules.def and the example of each rule in
# test/check/rules. ./dev docs keeps the document, ./dev lint compares it.
set -eu
cd "$(dirname "$0")/.."

# id TAB severity TAB what, a line a rule.
rows() {
  awk '
    /^RULE\(/ { row = "" }
    /^RULE\(/, /\)$/ { sub(/^ +/, ""); row = row $0 }
    row != "" && /\)$/ {
      split(row, part, "\"")
      severity = part[3]
      gsub(/[, ]/, "", severity)
      what = row
      sub(/^RULE\([A-Z_]*, *"[^"]*", *[A-Z]*, *"/, "", what)
      sub(/"\)$/, "", what)
      gsub(/" *"/, "", what)
      print part[2] "\t" tolower(severity) "\t" what
      row = ""
    }' include/muster/rules.def
}

cat <<'END'
# What muster check finds

Generated from `include/muster/rules.def` and the examples in `test/check/rules` (`./dev docs`), which the tests run:
each broken form is found with its rule alone, each fixed form has no finding (LAUNCH says the blocks and the threads
of a block; the buffer that kernels get is zeroed). Rule ids are stable; `--rules`,
suppressions and reports use them. An error or a warning makes the exit code 1, a note does not.

END
rows | while IFS='	' read -r id severity what; do printf "%s\n" "- [\`$id\`](#$id) ($severity): $what"; done
rows | while IFS='	' read -r id severity what; do
  file=test/check/rules/$id.cu
  printf '\n## %s\n\n*%s*: %s.\n\n' "$id" "$severity" "$what"
  sed -n '/^\/\//!q; /^\/\/ [a-z]*: /!s|^// ||p' "$file"
  printf '\n```cuda\n'
  awk '!/^\/\// || seen { seen = 1; print }' "$file"
  printf '```\n'
done
