#!/bin/sh
# run.sh BUILD [WHAT]: builds the benchmark of the CPU device in BUILD and prints its tables. ./dev bench cpu
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
cmake --build "$build" --target cpu_bench muster_tool >"$build/bench.log" 2>&1 || { cat "$build/bench.log"; exit 1; }
printf '%s, %s, %s threads, %s\n\n' "$(date -u +%Y-%m-%d)" "$(git -C "$here" rev-parse --short HEAD 2>/dev/null || echo unknown)" \
  "$(nproc)" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
exec "$build/bench/cpu/cpu_bench" "$build/bin/muster" "$build/bench/cpu/kernels.ptx" "$here/opencl.cl" "$build/bench/cpu/small" ${2:+"$2"}
