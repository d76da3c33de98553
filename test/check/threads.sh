#!/bin/sh
# threads.sh MUSTER PROGRAM [ARGUMENT...]: schedules that run at once say what they say one after the other, byte for byte.
set -eu
muster=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for n in 1 2 3 100; do
  code=0
  timeout -k 2 60 "$muster" check --quiet --schedules 64 --threads $n --format "json:$folder/$n" "$@" >"$folder/log" 2>&1 || code=$?
  [ $code = 1 ] || { echo "--threads $n ends with $code"; cat "$folder/log"; exit 1; }
  cmp "$folder/1" "$folder/$n" || { diff "$folder/1" "$folder/$n"; exit 1; }
done
