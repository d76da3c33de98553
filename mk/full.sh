#!/bin/sh
# full.sh: ./dev test full. The layers' own tests under the address and undefined-behaviour sanitizers, the readers
# of input under valgrind, the tour under 16 schedules of three GPUs, and a shard of all 2^32 operands of every approximation (SHARDS="I/N ..." picks others;
# "0/1" is everything, 40 minutes of one core).
set -eu
cd "$(dirname "$0")/.."
sanitized=build/sanitized
tests='^(ptx|sim)\.'
cmake -S . -B $sanitized -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMUSTER_NVCC= -DMUSTER_CLANG= \
  -DCMAKE_C_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -O1" >build/full.log 2>&1
cmake --build $sanitized -j"$(nproc)" --target t_ptx t_ptx_api run_ptx t_arith t_memory t_watch t_occupancy approx_all \
  >>build/full.log 2>&1 || { tail -20 build/full.log; exit 1; }
ctest --test-dir $sanitized -j"$(nproc)" -R "$tests" -E 'compilers|oracle' --output-on-failure | tail -15

ctest --test-dir build -j"$(nproc)" -L long --output-on-failure | tail -40

valgrind -q --error-exitcode=9 build/test/ptx/t_ptx pass test/ptx/*.ptx
valgrind -q --error-exitcode=9 build/test/ptx/t_ptx reject test/reject/*.ptx

for shard in ${SHARDS:-0/64}; do
  build/test/sim/approx_all -s "$shard"
done
