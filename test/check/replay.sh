#!/bin/sh
# replay.sh MUSTER TIMES PROGRAM [ARGUMENT...]: a fault that 64 schedules find is found again TIMES times out of TIMES
# by the replay that its finding names, and each report is the same, byte for byte.
set -eu
muster=$1 times=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
timeout -k 2 60 "$muster" check --quiet --schedules 64 --format "json:$folder/found" "$@" >"$folder/log" 2>&1 || true
tr -d '\n' <"$folder/found" | grep -oE '"severity": *"error".*' | grep -oE '"replay": *"[^"]+"' | cut -d'"' -f4 >"$folder/ids" || true
id=$(sed 's/.*--replay[ =]//; s/ .*//; q' "$folder/ids") # of an id, or of a command line with it
[ -n "$id" ] || { echo "no finding with a replay"; cat "$folder/log"; exit 1; }
i=0
while [ $i -lt "$times" ]; do
  code=0
  timeout -k 2 60 "$muster" check --quiet --replay "$id" --format "json:$folder/$i" "$@" >"$folder/log" 2>&1 || code=$?
  [ $code = 1 ] || { echo "replay $i of $id ends with $code"; cat "$folder/log"; exit 1; }
  cmp "$folder/0" "$folder/$i" || { echo "replay $i of $id differs from the first"; diff "$folder/0" "$folder/$i"; exit 1; }
  [ $i = 0 ] || rm "$folder/$i"
  i=$((i + 1))
done
