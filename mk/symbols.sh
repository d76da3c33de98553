#!/bin/sh
# symbols.sh map NODE|list ROOT HEADER...: the functions that the headers declare, as the linker's version script with
# one node, or a line each. ROOT is the folder that the headers' own includes start from.
set -eu
form=$1
node=
[ "$form" != map ] || { node=$2; shift; }
root=$2
shift 2
api=$(dirname "$0")/api.awk
for header; do
  awk -v root="$root" -f "$api" "$header" || exit 1
done | awk -F '\t' -v node="$node" '
  $1 == "function" && $5 != "own" { names[++n] = $2 }
  END {
    if (!n) { print "symbols.sh: the headers declare nothing" > "/dev/stderr"; exit 1 }
    if (node != "") print node " {\n  global:"
    for (i = 1; i <= n; i++) print (node != "" ? "    " names[i] ";" : names[i])
    if (node != "") print "  local: *;\n};"
  }'
