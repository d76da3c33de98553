#!/bin/sh
# plain_c.sh CLANG SOURCE OUTPUT [PTXAS]: SOURCE's kernels as plain C for nvptx64, with no CUDA header; PTXAS
# then has to accept the PTX.
set -eu
mkdir -p "$(dirname "$3")"
"$1" -x c -std=gnu11 --target=nvptx64-nvidia-cuda -march=sm_75 -Xclang -target-feature -Xclang +ptx78 \
  -O2 -Wall -Wextra -Werror -S "$2" -o "$3"
[ $# -lt 4 ] || "$4" -arch=sm_75 "$3" -o /dev/null
