#!/bin/sh
# python.sh ROOT VERSION: muster.py, from its template and the public header.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
awk -v root="$1/include" -f "$here/api.awk" "$1/include/muster.h" |
  awk -v version="$2" -f "$here/python.awk" - "$1/python/muster.py.in"
