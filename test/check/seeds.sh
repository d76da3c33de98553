#!/bin/sh
# The programs that the seeds print, under the inspection.
#   seeds.sh extract SEEDS FOLDER                    writes them: barrier.cu, the same with two other shapes of launch,
#                                                    dot.cu
#   seeds.sh test MUSTER FOLDER NAME PROGRAM         NAME.cu, built as PROGRAM: what is to be found in it
set -eu
here=$(cd "$(dirname "$0")" && pwd)

extract() {
  mkdir -p "$2"
  cd "$2"
  sh "$here/../seeds/extract.sh" "$1" 002
  mv program.cu dot.cu
  sh "$here/../seeds/extract.sh" "$1" 000
  mv program.cu barrier.cu
  reshape 's/bd(128,1,1)/bd(64,2,1)/' barrier_64x2.cu
  reshape 's/gd(4,32,1)/gd(4,32,2)/' barrier_z2.cu
}

reshape() { # reshape SED FILE
  sed "$1" barrier.cu >"$2"
  ! cmp -s barrier.cu "$2" || { echo "the launch is not where it was"; exit 1; }
}

line() { # line PATTERN FILE: its number
  number=$(grep -nF -e "$1" "$2" | head -1 | cut -d: -f1)
  [ -n "$number" ] || { echo "$2 has no line $1"; exit 1; }
  printf '%s' "$number"
}

# The barrier does not wait for its block before thread 0 arrives: the finding names the write that may still be
# under way, and the arrival.
barrier() { # barrier MUSTER FOLDER NAME PROGRAM
  write=$(line 'arr[i] = val;' "$2/$3.cu") arrival=$(line 'oldarr = atomicAdd' "$2/sync_ctas.cuh")
  exec sh "$here/check.sh" "$1" missing-release says="$3\\.cu\", *\"line\": *$write," \
    says="sync_ctas\\.cuh(:|\", *\"line\": *)${arrival}[,: \"]" -- "$4"
}

# With twice the arrivals some wait for ever, and some are let go early: those read what was not ordered at all.
reshaped() { # reshaped MUSTER FOLDER NAME PROGRAM
  write=$(line 'arr[i] = val;' "$2/$3.cu")
  exec sh "$here/check.sh" "$1" 'missing-*|race-global' 'also=deadlock-*|uninit-global' \
    says="$3\\.cu\", *\"line\": *$write," -- "$4"
}

case $1 in
extract) extract "$2" "$3" ;;
test)
  shift
  case $3 in
  barrier) barrier "$@" ;;
  barrier_*) reshaped "$@" ;;
  dot) exec sh "$here/check.sh" "$1" clean --schedules 16 -- "$4" ;;
  esac
  ;;
esac
