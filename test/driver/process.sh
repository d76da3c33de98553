#!/bin/sh
# process.sh PROGRAM KERNELS.ptx: what a program sees that is linked with our libcuda.so.1 alone: exit codes, lines on
# standard error, what it printed.
set -u
program=$1
kernels=$2
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

try() { # try CODE NAME [ENV=VALUE...] : runs the program's NAME
  want=$1
  name=$2
  shift 2
  env "$@" timeout 20 "$program" "$name" "$kernels" >"$work/out" 2>"$work/err"
  got=$?
  if [ $got -ne "$want" ]; then
    echo "$name ($*): exit code $got, not $want"
    cat "$work/out" "$work/err"
    failed=1
  fi
}
says() { # says FILE PATTERN
  grep -q -- "$2" "$work/$1" || { echo "no line '$2' in: $(cat "$work/$1")"; failed=1; }
}
lines() { # lines FILE N
  [ "$(wc -l <"$work/$1")" -eq "$2" ] || { echo "not $2 lines: $(cat "$work/$1")"; failed=1; }
}

try 0 name MUSTER_DEVICE=cpu:a100
says out 'NVIDIA A100'
try 0 name MUSTER_OPTIONS='run --gpu=t4'
says out 'Tesla T4'
try 0 name MUSTER_OPTIONS='run --gpu nonsense'
says err 'no profile nonsense'
says out 'RTX 4090'
try 0 name MUSTER_OPTIONS='run --gpus=many'
says err 'a number from 1 to'

try 124 hang MUSTER_OPTIONS='run'
says err 'hang: nothing can move any more in spin'
says err 'waits for a change of allocation'
says out '^before$' # what the program had printed is not lost
try 0 hang MUSTER_DEVICE=cpu
says out 'synchronize gives 702'

try 5 exit MUSTER_DEVICE=cpu
says out 'freed at exit: 4'
try 3 fork MUSTER_DEVICE=cpu
try 6 fault MUSTER_DEVICE=cpu
says out 'synchronize gives 700'
says err 'stores_to: block (0,0,0), thread (0,0,0)'
lines err 1
try 0 assert MUSTER_DEVICE=cpu
says out 'synchronize gives 710'
# shellcheck disable=SC2016 # CUDA's own words
says err '^a.cu:7: void k(): block: \[0,0,0\], thread: \[0,0,0\] Assertion `x != 3` failed\.$'
try 0 refused MUSTER_DEVICE=cpu
says out 'array gives 801'
says err 'cuArrayCreate is not provided'
lines err 1 # once
try 0 peers MUSTER_OPTIONS='run --gpus=2'
try 8 peers MUSTER_OPTIONS='run'
[ $failed -eq 0 ] && echo ok
exit $failed
