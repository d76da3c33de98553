#!/bin/sh
# seed.sh MUSTER NVCC SEEDS NUMBER LINKAGE FOLDER: the program that document NUMBER (000 or 002) of SEEDS prints,
# extracted as it stands, compiled with the runtime static or shared, run by MUSTER (`gpu`: directly), and what it
# prints checked. Nothing of the documents is in this repository; without them the test is skipped.
set -eu
muster=$1 nvcc=$2 seeds=$3 number=$4 linkage=$5 folder=$6
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
cd "$folder"
sh "$here/extract.sh" "$seeds" "$number"
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
