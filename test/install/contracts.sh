#!/bin/sh
# contracts.sh SOURCE CC WORK: mk/names.sh finds a declaration whose contract was taken away, in each way there is.
set -u
source=$1 cc=$2 work=$3
wrong=0
fresh() {
  rm -rf "$work"
  mkdir -p "$work/doc"
  cp -r "$source/include" "$source/examples" "$source/README.md" "$work"
}
# without FILE SED-SCRIPT NAME: after that edit of the header, NAME has no contract.
without() {
  fresh
  sed "$2" "$source/include/$1" >"$work/include/$1"
  if cmp -s "$source/include/$1" "$work/include/$1"; then echo "$1: $2 changes nothing"; wrong=1; fi
  if sh "$source/mk/names.sh" "$work" "$cc" >/dev/null 2>"$work/why"; then echo "$1 without the contract of $3 passes"; wrong=1; fi
  grep -q "$1: $3 has no contract" "$work/why" || { echo "$1, $3: it says:"; head -3 "$work/why"; wrong=1; }
}
fresh
sh "$source/mk/names.sh" "$work" "$cc" >"$work/names" || wrong=1
[ "$(wc -l <"$work/names")" -gt 6000 ] || { echo "too few names"; wrong=1; }
without muster.h '/^\/\* What the device is/d' muster_device_get
without muster/check.h '/^\/\* An empty report/d' muster_report_new
without muster/barrier.cuh '/^\/\/ Both at once/d' mu_barrier_sync
without muster/warp.cuh '/^\/\/   mu_tile_reduce_<op>/d' mu_tile_reduce_add_u8
without muster/insn.cuh 's/mu_fence_<acq_rel|sc>/mu_fence_<sc>/' mu_fence_acq_rel_block
fresh
sed '/^\/\/ Callers /d' "$source/include/muster/block.cuh" >"$work/include/muster/block.cuh"
if sh "$source/mk/names.sh" "$work" "$cc" >/dev/null 2>"$work/why"; then echo "a header without Callers passes"; wrong=1; fi
grep -q 'block.cuh: .*Callers' "$work/why" || { cat "$work/why"; wrong=1; }
fresh
echo 'MU_KERNEL x(void) { MU_PACK_u8(1); }' >"$work/examples/undocumented.cu"
if sh "$source/mk/names.sh" "$work" "$cc" >/dev/null 2>"$work/why"; then echo "the use of an undocumented macro passes"; wrong=1; fi
grep -q 'examples/undocumented.cu: uses MU_PACK_' "$work/why" || { cat "$work/why"; wrong=1; }
rm -rf "$work"
exit $wrong
