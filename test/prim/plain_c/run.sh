#!/bin/sh
# run.sh CLANG MUSTER INCLUDE WORK ARCH GPU: kernel.c for ARCH (60, 70, ...), run on the CPU device as GPU.
set -eu
clang=$1 muster=$2 include=$3 work=$4 arch=$5 gpu=$6
here=$(dirname "$0")
mkdir -p "$work"
"$clang" -x c -std=c11 --target=nvptx64-nvidia-cuda -march=sm_"$arch" -Xclang -target-feature -Xclang +ptx83 -O2 -Wall -Wextra -Werror -pedantic -I"$include" \
  -S "$here/kernel.c" -o "$work/kernel.$arch.ptx"
"$muster" run --gpu "$gpu" --kernel k --grid 12 --block 64 --cooperative --arg zero:65536 --arg zero:16 --arg u32:20 \
  --arg zero:8192 --out 1:"$work/out.$arch" "$work/kernel.$arch.ptx"
got=$(od -An -tu4 "$work/out.$arch" | tr -s ' ')
[ "$got" = " 0 0 768 0" ] || { echo "wrong, status, threads, 0:$got, not 0 0 768 0" >&2; exit 1; }
