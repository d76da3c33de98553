#!/bin/sh
# variants.sh FOLDER: the kernels in other shapes, as PTX, for ops_bench's tune=FOLDER: threads of a block, vectors a
# thread loads at once, blocks that shall fit a multiprocessor. Run it in the repository's root.
set -eu
folder=$1
mkdir -p "$folder"

variant() { # variant FILE ELEM PREFIX UNROLL_NAME THREADS UNROLL RESIDENT
  "${CLANG:-clang-19}" -x cuda -std=c++14 --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
    --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx60 -DMU_PTX=60 -ffp-contract=off -O3 -Iinclude -DELEM="$2" \
    -DOPS_"$3"_THREADS="$5" -DOPS_"$3"_"$4"="$6" -DOPS_"$3"_RESIDENT="$7" -S "src/ops/kernels/$1.cu" \
    -o "$folder/$1.$2.t$5u$6b$7.ptx"
}

for shape in "256 4 4" "256 8 4" "512 2 4" "512 4 2" "512 4 4" "512 8 2" "1024 2 2" "1024 4 1" "1024 4 2"; do
  # shellcheck disable=SC2086 # a shape is words
  variant reduce f32 REDUCE UNROLL $shape
done
for shape in "128 8 8" "256 4 6" "256 8 3" "256 8 4" "256 12 2" "256 16 2" "512 4 3" "512 6 2" "512 8 1" "512 8 2" "512 12 1" \
  "1024 4 1" "1024 8 1"; do
  # shellcheck disable=SC2086
  variant scan f32 SCAN_LARGE ROWS $shape
done
for shape in "1024 1 2" "1024 2 2" "1024 4 1" "1024 4 2" "512 2 4" "512 4 4"; do
  # shellcheck disable=SC2086
  variant histogram u8 HISTOGRAM UNROLL $shape
done
for shape in "1024 1 1" "1024 2 1" "1024 4 1" "1024 2 2"; do
  # shellcheck disable=SC2086
  variant histogram u32 HISTOGRAM UNROLL $shape
done
