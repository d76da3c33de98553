#!/bin/sh
# run.sh TEST ARGUMENTS...: one test of the runtime stand-in. MUSTER_LIB holds the libraries, PROGRAMS the programs that
# were built, NVCC, CUDA_ROOT and CUDA_INCLUDE say where the toolkit lies. Ends with 77 for what cannot be tested here.
set -eu
preload=$MUSTER_LIB/libmuster-preload.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { printf '%s\n' "$*"; exit 1; }
skip() { printf 'skipped: %s\n' "$*"; exit 77; }
toolkit_runtime() { # the toolkit's own libcudart.so.13
  for library in "$CUDA_ROOT/lib64/libcudart.so.13" "$CUDA_ROOT/lib/libcudart.so.13"; do
    [ -e "$library" ] && { echo "$library"; return; }
  done
  return 1
}
built() { [ -e "$PROGRAMS/$1" ] || skip "$1 was not built: this toolkit has no static runtime"; }
under() { # under KIND COMMAND...: as muster run starts a program
  kind=$1
  shift
  env "LD_PRELOAD=$preload" "LD_LIBRARY_PATH=$MUSTER_LIB" "$@"
}

test_program() { # a program that judges itself
  built "$1.$2"
  program=$PROGRAMS/$1.$2
  kind=$2
  shift 2
  under "$kind" "$program" "$@"
}

test_dlopen() { # a library with device code, loaded, unloaded and loaded again
  built "plugin.$1"
  under "$1" "$PROGRAMS/runtime_loads" "$PROGRAMS/plugin.$1"
}

test_layout() {
  [ -e "$CUDA_INCLUDE/cuda_runtime_api.h" ] || skip "no toolkit headers"
  here=$(dirname "$0")
  "$NVCC" -x cu -DNVIDIA -I "$here/../../src" -I "$here" "$here/layout.c" -o "$work/theirs" || fail "does not compile"
  "$PROGRAMS/runtime_layout" >"$work/a"
  "$work/theirs" >"$work/b"
  diff "$work/a" "$work/b"
}

exported() { nm -D --defined-only "$1" | awk '$2 == "T" { print $3 }' | sort; }
test_exports() { # every function of NVIDIA's library, under the same version, and no other
  library=$(toolkit_runtime) || skip "no libcudart.so.13"
  exported "$library" >"$work/a"
  exported "$MUSTER_LIB/libcudart.so.13" >"$work/b"
  diff "$work/a" "$work/b"
  for soname in 11.0 12 13; do
    exported "$MUSTER_LIB/libcudart.so.$soname" | grep -q "^cudaMalloc@@libcudart.so.$soname$" || fail "$soname"
  done
}

test_texts() { # names and texts of all errors are those of NVIDIA's library
  library=$(toolkit_runtime) || skip "no libcudart.so.13"
  built versions.shared
  LD_LIBRARY_PATH=$(dirname "$library") "$PROGRAMS/versions.shared" texts >"$work/a"
  LD_LIBRARY_PATH=$MUSTER_LIB "$PROGRAMS/versions.shared" texts >"$work/b"
  diff "$work/a" "$work/b"
}

test_majors() {
  "$PROGRAMS/runtime_majors" "$MUSTER_LIB" 2>"$work/err" || fail "$(cat "$work/err")"
  [ "$(grep -c 'cudaIpcGetMemHandle' "$work/err")" = 1 ] || fail "not named exactly once: $(cat "$work/err")"
}

test_sections() { # a linker that drops functions which nobody calls
  built kernels.static
  "$NVCC" -std=c++17 -arch=sm_75 -Xlinker --gc-sections -I "$(dirname "$0")" "$(dirname "$0")/kernels.cu" -o "$work/kernels"
  under static "$work/kernels"
}

test_foreign() { # NVIDIA's shared runtime is loaded in spite of all: by an RPATH, say
  library=$(toolkit_runtime) || skip "no libcudart.so.13"
  built kernels.shared
  env "LD_PRELOAD=$preload" "LD_LIBRARY_PATH=$(dirname "$library")" "$PROGRAMS/kernels.shared"
}

test_stripped() { # it cannot be served: it is told how to be, and does not start
  built kernels.static
  strip -o "$work/kernels" "$PROGRAMS/kernels.static"
  code=0
  under static "$work/kernels" >"$work/out" 2>&1 || code=$?
  [ "$code" = 125 ] || fail "ended with $code"
  grep -q 'symbol table was stripped.*Link it without -s.*-cudart shared' "$work/out" || fail "$(cat "$work/out")"
  # The shared runtime is found by its name: stripping takes nothing away from it.
  built kernels.shared
  strip -o "$work/kernels" "$PROGRAMS/kernels.shared"
  under shared "$work/kernels"
}

test_bystanders() { # shells and programs without CUDA are left alone, silently; programs they start are served
  under static sh -c 'echo one; cat /dev/null; echo two | tr a-z A-Z' >"$work/out" 2>"$work/err"
  [ "$(cat "$work/out")" = "one
TWO" ] || fail "$(cat "$work/out")"
  [ ! -s "$work/err" ] || fail "$(cat "$work/err")"
  built kernels.static
  under static sh -c "'$PROGRAMS/kernels.static' && exit 3" || [ $? = 3 ] || fail "the child failed"
}

test_damaged() { # files that are no good ELF files
  "$PROGRAMS/runtime_elf" "$PROGRAMS/plugin.shared"
  for bytes in 0 10 63 64; do # the loader refuses them; what was preloaded looks at nothing
    head -c $bytes "$PROGRAMS/plugin.shared" >"$work/short.so"
    code=0
    under shared "$PROGRAMS/runtime_loads" "$work/short.so" >"$work/out" 2>&1 || code=$?
    [ $code = 1 ] || fail "ended with $code on $bytes bytes"
  done
}

name=$1
shift
"test_$name" "$@"
