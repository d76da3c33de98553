#!/bin/sh
# arrows.sh ROOT: the arrows of the tree hold, and includes against them are found.
set -u
root=$1
sh "$root/mk/arrows.sh" "$root" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/mk" "$folder/src/base" "$folder/src/ptx" "$folder/src/sim" "$folder/src/check" "$folder/tool" "$folder/include/muster"
cp "$root/mk/arrows.txt" "$folder/mk/"
cd "$folder" || exit 1
touch src/base/base.h src/ptx/ptx.h src/ptx/front.h src/sim/hooks.h src/sim/sim.h src/check/check.h tool/tool.h include/muster.h
failed=0
expect() { # expect FILE INCLUDE ok|wrong
  printf '/* a comment */\n#include %s\n' "$2" >"$1"
  if sh "$root/mk/arrows.sh" . >out 2>&1; then got=ok; else got=wrong; fi
  [ $got = "$3" ] || { echo "$1 with $2: $got, expected $3"; cat out; failed=1; }
  [ $got = ok ] || grep -q "^$1:2: " out || { echo "$1 with $2: no place"; cat out; failed=1; }
  rm "$1"
}
expect src/sim/a.c '"ptx/ptx.h"' ok
expect src/sim/a.c '"sim.h"' ok
expect src/sim/a.c '<stdio.h>' ok
expect src/ptx/a.c '"sim/sim.h"' wrong
expect src/base/a.c '"ptx/ptx.h"' wrong
expect src/base/a.c '"../ptx/ptx.h"' wrong
expect src/check/a.c '"sim/hooks.h"' ok
expect src/check/a.c '"sim/sim.h"' wrong
expect src/check/a.c '"ptx/front.h"' wrong
expect tool/a.c '"tool.h"' ok
expect tool/a.c '"muster.h"' ok
expect tool/a.c '"base/base.h"' wrong
expect tool/a.c '"../src/base/base.h"' wrong
expect include/a.h '"base/base.h"' wrong
expect src/ptx/a.c '"ptx/absent.h"' wrong
expect src/ptx/a.c '<cuda.h>' wrong
expect src/ptx/a.c '  "base/base.h" /* fine */' ok
exit $failed
