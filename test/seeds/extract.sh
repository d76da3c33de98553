#!/bin/sh
# extract.sh SEEDS NUMBER: the program that document NUMBER (000 or 002) of SEEDS prints, as it stands, as program.cu
# in the folder at hand, with the headers that it needs. 77: there is no such document.
set -eu
seeds=$1 number=$2
document=$(find "$seeds" -name "${number}_*.txt" 2>/dev/null | head -1)
[ -n "$document" ] || { echo "skipped: no document $number in $seeds"; exit 77; }

# code FROM: the lines from the first that begins with FROM up to the end of a function at column 0; of `main`
# if the code has one.
code() {
  awk -v from="$1" -v whole="$2" '
    !on && index($0, from) == 1 { on = 1 }
    on { print }
    on && /^int main/ { whole = 0 }
    on && /^}\r?$/ && !whole { exit }' "$document"
}

case $number in
000)
  code '// sync_ctas.cuh' 0 >sync_ctas.cuh
  { echo '#include <cstdio>'; code '#include <cooperative_groups.h>' 1; } >program.cu # the include that it lacks
  ;;
002) code '#include <iostream>' 1 >program.cu ;;
*) echo "no program is known in document $number"; exit 2 ;;
esac
grep -q '^int main' program.cu || { echo "the program of $document is not where it was"; exit 1; }
