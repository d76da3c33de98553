#!/bin/sh
# full.sh: ./dev test full. What runs on the host under the address and undefined-behaviour sanitizers, the readers of
# input under valgrind, and a shard of all 2^32 operands of every approximation (SHARDS="I/N ..." picks others; "0/1" is
# everything, 40 minutes of one core).
set -eu
cd "$(dirname "$0")/.."
sanitized=build/sanitized

# sanitized REGEX [OPTION]: these tests of the sanitized build, with a further option of the sanitizer. Its reports go
# to files, so that what a test expects on standard error stays as it is; undefined behaviour is a SIGILL, reported
# like everything else. A preloaded library comes before the sanitizer's.
sanitized() {
  rm -f $sanitized/report.*
  code=0
  ASAN_OPTIONS="log_path=$PWD/$sanitized/report:handle_sigill=1:allocator_may_return_null=1:verify_asan_link_order=0${2:+:$2}" \
    ctest --test-dir $sanitized -j"$(nproc)" -R "$1" -E '^ptx[.](compilers|oracle)|^cli_(run|compile)' --output-on-failure \
    >build/full.log 2>&1 || code=1
  tail -15 build/full.log
  if grep -q ERROR $sanitized/report.* 2>/dev/null; then
    cat $sanitized/report.*
    code=1
  fi
  return $code
}

cmake -S . -B $sanitized -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-O1 -fno-omit-frame-pointer \
  -fsanitize=address,undefined -fsanitize-undefined-trap-on-error" >build/full.log 2>&1
targets=$(cmake --build $sanitized --target help | sed -n 's/^\.\.\. //p' | grep -x \
  't_.*\|run_ptx\|approx_all\|driver_.*\|cli_.*\|test_tool_.*\|test_ops_.*\|muster_.*\|check\.rules\|check\.report\.ends')
# shellcheck disable=SC2086 # words
cmake --build $sanitized -j"$(nproc)" --target $targets >>build/full.log 2>&1 || { tail -20 build/full.log; exit 1; }
sanitized '^(ptx|sim|tool|cli)[._]|^check\.(unit|weak|litmus|report|rules)'
# Devices live as long as their process, and more: nothing is said of leaks.
sanitized '^(driver|ops)[._]' detect_leaks=0

# The same for values that nobody wrote, which the sanitizers do not see: readers, and the inspection of small kernels.
# A loop that polls must not keep valgrind's one core from the thread it waits for.
rm -f build/memcheck.*
memcheck="valgrind -q --trace-children=yes --fair-sched=yes --error-exitcode=9 --log-file=$PWD/build/memcheck.%p"
$memcheck build/test/ptx/t_ptx pass test/ptx/*.ptx test/ptx/rows/*.ptx
$memcheck build/test/ptx/t_ptx reject test/reject/*.ptx
printf '#!/bin/sh\nexec %s %s/build/bin/muster "$@"\n' "$memcheck" "$PWD" >build/memchecked.sh
chmod +x build/memchecked.sh
printf '%s\n' test/check/unit/*.ptx |
  CASE_SECONDS=300 xargs -n 4 -P "$(nproc)" sh test/check/unit/unit.sh "$PWD/build/memchecked.sh"
find build -maxdepth 1 -name 'memcheck.*' -size +0 -exec cat {} + | grep . && exit 1

for shard in ${SHARDS:-0/64}; do
  build/test/sim/approx_all -s "$shard"
done
