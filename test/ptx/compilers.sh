#!/bin/sh
# compilers.sh T_PTX FOLDER: the PTX that nvcc makes of cuda/*.cu for four targets, and clang of cuda/*.c, must pass.
# 77: neither compiler is here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
t_ptx=$1 out=$2 found=no
NVCC=${NVCC:-nvcc} CLANG=${CLANG:-clang-19}
mkdir -p "$out"
rm -f "$out"/*.ptx

if command -v "$NVCC" >/dev/null; then
  found=yes
  for spec in sync:75,80,90,100 math:75,80,90,100 half:80,90,100 program:75,80,90,100 cluster:90,100 cub:90; do
    name=${spec%%:*}
    for sm in $(echo "${spec#*:}" | tr , ' '); do
      "$NVCC" -ptx -std=c++17 -lineinfo -arch="sm_$sm" "$here/cuda/$name.cu" -o "$out/${name}_$sm.ptx"
    done
  done
  "$NVCC" -ptx -std=c++17 -rdc=true -G -arch=sm_80 "$here/cuda/program.cu" -o "$out/program_debug.ptx"
  "$NVCC" -ptx -std=c++17 -use_fast_math -arch=sm_80 "$here/cuda/math.cu" -o "$out/math_fast.ptx"
fi
if command -v "$CLANG" >/dev/null && "$CLANG" --print-targets | grep -q nvptx64; then
  found=yes
  for sm in 60 70 90; do
    "$CLANG" -S -O2 -gline-tables-only --target=nvptx64-nvidia-cuda -march=sm_$sm "$here/cuda/plain.c" -o "$out/plain_$sm.ptx"
    "$CLANG" -S -O0 -g --target=nvptx64-nvidia-cuda -march=sm_$sm "$here/cuda/plain.c" -o "$out/plain_debug_$sm.ptx"
  done
fi
test $found = yes || exit 77
exec "$t_ptx" pass "$out"/*.ptx
