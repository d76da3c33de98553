#!/bin/sh
# plain_c.sh CLANG ARCH SOURCE OUTPUT [PTXAS]: SOURCE's kernels as plain C for nvptx64, compute capability ARCH (75),
# with no CUDA header; PTXAS then has to accept the PTX. The ISA version is named, since clang takes that of a toolkit
# it happens to find, and without one the oldest that has ARCH, which lacks barrier.cluster.arrive.release.
set -eu
clang=$1 arch=$2 source=$3 output=$4
shift 4
mkdir -p "$(dirname "$output")"
"$clang" -x c -std=gnu11 --target=nvptx64-nvidia-cuda -march=sm_"$arch" -Xclang -target-feature -Xclang +ptx83 \
  -O2 -Wall -Wextra -Werror -S "$source" -o "$output"
[ $# = 0 ] || "$1" -arch=sm_"$arch" "$output" -o /dev/null
