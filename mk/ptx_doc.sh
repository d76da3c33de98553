#!/bin/sh
# ptx_doc.sh: writes doc/ptx-support.md to standard output, from src/ptx/opcodes.def: which instructions of PTX muster
# models, in which spellings, and which it refuses. ./dev docs keeps the document, ./dev lint compares it.
set -eu
cd "$(dirname "$0")/.."

# The table as records that begin with @@, of fields with @ between: the preprocessor writes its macros out.
rows() {
  {
    printf '%s\n' '#define OP(name, class, sync, meaning) @@OP@#name@meaning' \
      '#define OP_NO(name, class, reason) @@NO@#name@reason' \
      '#define FORM(words, operands, isa, sm) @@FORM@words@isa@sm'
    sed 's|^/\* ---- \(.*\) ---- \*/$|@@SECTION@\1|' src/ptx/opcodes.def
  } | "${CC:-cc}" -E -P -x c -
}

rows | awk '
BEGIN { RS = "@@"; FS = "@" }

function string(s) { gsub(/" *"/, "", s); gsub(/^ *"|" *$/, "", s); return s }
function line(spelling, isa, sm) {
  table = table "| " first " | " spelling " | " isa " | " sm " |\n"
  first = " | "
}

# The words of a form as they stand behind the name: "a|b?" is [.{a,b}]; "group:" in front only tells words apart.
function spelled(words, list, n, i, text, word, optional) {
  n = split(words, list, " ")
  for (i = 1; i <= n; i++) {
    word = list[i]
    optional = sub(/\?$/, "", word)
    if (word ~ /^[a-z0-9_]+:[^:]/) sub(/^[a-z0-9_]+:/, "", word)
    if (gsub(/\|/, ",", word)) word = "{" word "}"
    text = text (word == "*" ? "..." : optional ? "[." word "]" : "." word)
  }
  return text
}
function target(sm) {
  if (sm ~ /\(/) { split(sm, part, /[^0-9]+/); return "sm_" part[3] ", with a suffix" }
  return sm + 0 ? "sm_" (sm + 0) : "any"
}
# What has no forms is refused however it is spelled.
function finish() { if (name != "" && first != " | ") line("`" name "...`", "", ""); name = "" }

{ gsub(/\n/, " ") }
$1 == "SECTION" { finish(); section = toupper(substr($2, 1, 1)) substr($2, 2); sub(/ +$/, "", section) }
$1 == "OP" || $1 == "NO" {
  finish()
  count[$1]++
  if (section != "")
    table = table "\n## " section "\n\n| instruction | " ($1 == "OP" ? "what it does" : "why it is refused") " | spelling | since PTX | from |\n|---|---|---|---|---|\n"
  section = ""
  name = string($2)
  meaning = string($3)
  gsub(/\|/, "\\|", meaning)
  first = "`" name "` | " meaning
  kind = $1
}
$1 == "FORM" { forms += kind == "OP"; line("`" name spelled(string($2)) "`", sprintf("%d.%d", $3 / 10, $3 % 10), target($4)) }
END {
  finish()
  print "# The PTX that muster models"
  print ""
  print "Generated from `src/ptx/opcodes.def` (`./dev docs`), the table that parser, machine and inspection read. In a spelling"
  print "`{a,b}` is one of these words, `[.a]` may be missing, `...` is anything. What is known and not modelled stands in the"
  print "last part: a program that contains it starts, and is refused by name when a thread gets there. What stands nowhere"
  print "here is an error of the PTX, with its place, before anything runs."
  print ""
  printf "%d instructions, by name and kind of operands, are modelled in %d forms; %d are refused.\n", count["OP"], forms, count["NO"]
  printf "%s", table
}'
