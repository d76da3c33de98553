#!/bin/sh
# Builds the fuzz target with clang and runs it on the tests' files: fuzz.sh [libFuzzer options]. Needs compiler-rt.
# (Errors leave by longjmp, after which looking for returned frames costs half of the time.)
# The corpus grows in build/fuzz; a finding is left there as crash-*.
set -eu
cd "$(dirname "$0")/../.."
CC=${FUZZ_CC:-clang-19}
mkdir -p build/fuzz/corpus
"$CC" -std=gnu11 -O2 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fsanitize-address-use-after-return=never -Isrc \
  test/ptx/fuzz_ptx.c src/base/*.c src/ptx/*.c -o build/fuzz/fuzz_ptx
exec build/fuzz/fuzz_ptx -dict=test/ptx/fuzz_ptx.dict -artifact_prefix=build/fuzz/ -timeout=10 "$@" \
  build/fuzz/corpus test/ptx test/ptx/rows test/reject
