#!/bin/sh
# variants.sh FOLDER [OPERATION]: the kernels in other shapes, as PTX, for ops_bench's tune=FOLDER: threads of a block (t),
# vectors a thread loads at once (u), blocks that shall fit a multiprocessor (b). Run it in the repository's root.
set -eu
folder=$1
mkdir -p "$folder"

ptx() { # ptx OUTPUT ARCH ISA FILE ELEM DEFINITION...
  output=$folder/$1 arch=$2 isa=$3 file=$4 elem=$5
  shift 5
  "${CLANG:-clang-19}" -x cuda -std=c++14 --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
    --cuda-gpu-arch="sm_$arch" -Xclang -target-feature -Xclang "+ptx$isa" -DMU_PTX="$isa" -ffp-contract=off -O3 -Iinclude \
    -DELEM="$elem" "$@" -S "src/ops/kernels/$file.cu" -o "$output"
}
variant() { # variant FILE ELEM PREFIX UNROLL_NAME THREADS UNROLL RESIDENT
  ptx "$1.$2.t$5u$6b$7.ptx" 70 60 "$1" "$2" -DOPS_"$3"_THREADS="$5" -DOPS_"$3"_"$4"="$6" -DOPS_"$3"_RESIDENT="$7"
}
streamed() { # streamed ARCH ISA THREADS ROWS RESIDENT LOOKERS: a scan by streams, compiled for sm_ARCH (a), with so many
             # warps that look back (l)
  ptx "stream.f32.t$3u$4b$5l$6a$1.ptx" "$1" "$2" scan f32 -DOPS_SCAN_LARGE_THREADS="$3" -DOPS_SCAN_LARGE_ROWS="$4" \
    -DOPS_SCAN_LARGE_RESIDENT="$5" -DOPS_SCAN_LOOKERS="$6"
}
wanted() {
  [ -z "$only" ] || [ "$only" = "$1" ]
}
only=${2-}

if wanted reduce; then
  for shape in "256 4 4" "256 8 4" "512 2 4" "512 4 2" "512 4 4" "512 8 2" "1024 2 2" "1024 4 1" "1024 4 2"; do
    # shellcheck disable=SC2086 # a shape is words
    variant reduce f32 REDUCE UNROLL $shape
  done
fi
if wanted scan; then
  for shape in "256 4 6" "512 4 3" "512 8 2" "1024 8 1"; do
    # shellcheck disable=SC2086
    variant scan f32 SCAN_LARGE ROWS $shape
  done
  for shape in "512 4 1 1" "512 4 1 2" "512 2 1 2" "768 2 1 2" "512 8 1 1" "256 8 1 2" "256 4 1 2" "256 4 2 1" \
    "256 4 2 2" "512 4 2 1" "256 8 2 1" "768 4 1 2"; do
    # shellcheck disable=SC2086
    streamed 90 80 $shape
  done
  streamed 80 71 512 4 1 2
  streamed 80 71 256 4 2 1
fi
if wanted histogram; then
  for shape in "1024 1 2" "1024 2 2" "1024 4 1" "1024 4 2" "512 2 4" "512 4 4"; do
    # shellcheck disable=SC2086
    variant histogram u8 HISTOGRAM UNROLL $shape
  done
  for shape in "1024 1 1" "1024 2 1" "1024 4 1" "1024 2 2"; do
    # shellcheck disable=SC2086
    variant histogram u32 HISTOGRAM UNROLL $shape
  done
fi
