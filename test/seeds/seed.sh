#!/bin/sh
# seed.sh MUSTER NVCC SEEDS NUMBER LINKAGE FOLDER: the program that document NUMBER (000 or 002) of SEEDS prints,
# extracted as it stands, compiled with the runtime static or shared, run by MUSTER (`gpu`: directly), and what it
# prints checked. Nothing of the documents is in this repository; without them the test is skipped.
set -eu
muster=$1 nvcc=$2 seeds=$3 number=$4 linkage=$5 folder=$6
document=$(find "$seeds" -name "${number}_*.txt" 2>/dev/null | head -1)
[ -n "$document" ] || { echo "skipped: no document $number in $seeds"; exit 77; }
mkdir -p "$folder"
cd "$folder"

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
cat ./*.cu* >all
cmp -s all compiled || {
  "$nvcc" -std=c++17 -cudart "$linkage" -lineinfo -w "-gencode=arch=compute_75,code=[compute_75,sm_75]" program.cu -o program
  mv all compiled
}

# Two seconds is the bar; a machine that is busy with something else gets two more tries.
tries=0
while [ $tries -lt 3 ]; do
  tries=$((tries + 1))
  code=0
  if [ "$muster" = gpu ]; then
    ./program >out 2>err </dev/null || code=$?
  else
    timeout 2 "$muster" run ./program >out 2>err </dev/null || code=$?
  fi
  [ "$code" = 124 ] || break
done
cat out err
[ "$code" = 0 ] || { echo "ends with $code after $tries tries"; exit 1; }
case $number in
000)
  grep -qE '^ctas_sync [0-9.e+-]+ ms$' out && grep -qE '^grid_sync [0-9.e+-]+ ms$' out || exit 1
  # Its printed barrier has a fault: an `err` line is an honest answer, anything else is none.
  ! grep -vE '^(ctas|grid)_sync |^err 0$' out
  ;;
002) grep -q 'our answer is 16384$' out ;;
esac
