#!/bin/sh
# runtime_doc.sh: writes doc/cuda-runtime.md to standard output, from src/runtime/api.def: which functions of the CUDA
# runtime muster provides. ./dev docs keeps the document, ./dev lint compares it.
set -eu
cd "$(dirname "$0")/.."
awk '
function versions(m) { gsub(/ALL/, "11, 12, 13", m); gsub(/_/, ", ", m); return m }
/^\/\* [a-z].*\*\/$/ {
  title = $0
  sub(/^\/\* /, "", title); sub(/ \*\/$/, "", title)
  list = list "\n## " toupper(substr(title, 1, 1)) substr(title, 2) "\n\n| function | in CUDA |\n|---|---|\n"
  next
}
/^(API|API_AS|STREAM|STREAM_AS|DEFAULT|RAW|NO)\(/ {
  split($0, part, /[(,] */)
  kind = part[1]
  name = kind == "RAW" ? part[4] : part[3]
  sub(/\).*/, "", name)
  if (kind == "NO") refused++; else provided++
  suffix = kind ~ /^STREAM/ ? ", `" name "_ptsz`" : kind == "DEFAULT" ? ", `" name "_ptds`" : ""
  if (suffix != "") provided++
  list = list "| `" name "`" suffix " | " versions(part[2]) " |\n"
}
END {
  print "# The CUDA runtime on the CPU device"
  print ""
  print "Generated from `src/runtime/api.def` (`./dev docs`). A program that `muster run` starts gets these functions, with"
  print "the static runtime and the shared one; its own are not changed. The last part lists what is known and refused: it"
  print "answers `cudaErrorNotSupported`, after one line that names the function."
  print ""
  printf "Forms of functions in CUDA 11.8, 12.9 and 13.0: %d provided, %d refused.\n", provided, refused
  printf "%s", list
}' src/runtime/api.def
