#!/bin/sh
# abi.sh: our own cuda_abi.h and driver.def against NVIDIA's cuda.h and libcuda stub, where a toolkit of CUDA 13.0 is at
# hand. Fails where a size, a place or a number differs, or a function is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
nvcc=$(command -v nvcc) || { echo "skipped: no toolkit"; exit 77; }
root=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd)
"$nvcc" --version | grep -q 'release 13\.0' || { echo "skipped: not CUDA 13.0"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -std=gnu11 -I"$here/../../src" "$here/abi.c" -o "$work/ours"
cc -std=gnu11 -DNVIDIA -I"$root/include" -I"$here/../../src" "$here/abi.c" -o "$work/theirs"
"$work/ours" >"$work/ours.txt"
"$work/theirs" >"$work/theirs.txt"
diff "$work/ours.txt" "$work/theirs.txt"
stub=$root/lib64/stubs/libcuda.so
[ -e "$stub" ] || stub=$root/lib/stubs/libcuda.so
if [ -e "$stub" ]; then
  nm -D --defined-only "$stub" | sed -n 's/.* T \(cu.*\)/\1/p' | sort >"$work/stub.txt"
  nm -D --defined-only "$1" | sed -n 's/.* T \(cu[A-Z].*\)/\1/p' | sort >"$work/own.txt"
  diff "$work/own.txt" "$work/stub.txt"
fi
echo "$(wc -l <"$work/ours.txt") sizes, places and numbers agree"
