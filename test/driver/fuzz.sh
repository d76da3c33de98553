#!/bin/sh
# fuzz.sh [RUNS]: fuzzes the reader of fat binaries and cubins with clang's libFuzzer, under ASan and UBSan; the corpus
# begins with what nvcc makes, where there is one.
set -eu
runs=${1:-1000000}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/corpus"
if command -v nvcc >/dev/null; then
  printf '__device__ int n; __global__ void k(float *x) { x[threadIdx.x] += n; }\n' >"$work/k.cu"
  for options in -arch=sm_80 -arch=compute_75 "-arch=sm_90 -compress-mode=speed" "-arch=sm_80 -no-compress"; do
    # shellcheck disable=SC2086 # options are words
    nvcc $options -fatbin -o "$work/corpus/$(echo "$options" | tr -c 'a-z0-9\n' _)" "$work/k.cu"
  done
fi
clang-19 -std=c11 -g -O1 -fsanitize=fuzzer,address,undefined -I"$here/../../src" "$here/fuzz_fatbin.c" \
  "$here/../../src/driver/fatbin.c" "$here/../../src/driver/cubin.c" -lzstd -llz4 -o "$work/fuzz"
"$work/fuzz" -runs="$runs" -max_len=65536 -timeout=10 -print_final_stats=1 "$work/corpus" 2>&1 | tail -12
