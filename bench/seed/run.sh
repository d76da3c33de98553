#!/bin/sh
# run.sh MUSTER NVCC SEEDS FOLDER [RUNS]: the program that the first document of SEEDS prints, extracted at run time, and
# the same with muster's group barrier in place of its own; each as printed, and with each kernel launched once before
# the clock starts (and nobody waits for these: on an idle GPU the time of the first kernel that is measured would hold the
# host's for launching it). Runs each RUNS times (20) by MUSTER (`gpu`: directly), writes FOLDER/seed.tsv, prints medians beside
# grid.sync()'s of the same runs. Nothing of the document is in this repository; without it the script ends with 77.
set -eu
muster=$1 nvcc=$2 seeds=$3 folder=$4 runs=${5:-20}
here=$(cd "$(dirname "$0")/../.." && pwd)
case $seeds in /*) ;; *) seeds=$PWD/$seeds ;; esac
mkdir -p "$folder/own" "$folder/muster"
folder=$(cd "$folder" && pwd)

replaced() { # replaced PATTERN FILE: the edit that PATTERN stands for has found its place
  grep -q -- "$1" "$2" || { echo "$2: no $1: the document's program is not what it was"; exit 1; }
}

(cd "$folder/own" && sh "$here/test/seeds/extract.sh" "$seeds" 000) || exit $?
# The group of each row takes the place of a pointer to one word; its slots take the place of the words.
sed -e 's|^#include "sync_ctas.cuh"|#include "muster/barrier.cuh"|' \
  -e 's|sync(unsigned \*barrier)|sync(mu_barrier *barrier)|' \
  -e 's|sync_ctas(barrier)|mu_barrier_sync(barrier)|' \
  -e 's|auto barrier = .*|mu_group row = mu_group_x(); mu_barrier held, *barrier = \&held; if (!grid_sync \&\& mu_barrier_open(barrier, barriers, \&row)) return;|' \
  -e 's|32\*sizeof(unsigned)|32*MU_SLOT_BYTES(4)|' "$folder/own/program.cu" >"$folder/muster/program.cu"
for edit in 'muster/barrier.cuh' 'sync(mu_barrier' 'mu_barrier_sync(barrier)' 'mu_barrier_open(' 'cudaMalloc.*MU_SLOT_BYTES' \
  'cudaMemset.*MU_SLOT_BYTES'; do
  replaced "$edit" "$folder/muster/program.cu"
done
for barrier in own muster; do
  sed '/^  cudaEventRecord(st);/i\
  cudaLaunchKernel(reset<false>, gd, bd, args, 0, 0);\
  cudaLaunchCooperativeKernel(reset<true>, gd, bd, args, 0, 0);' "$folder/$barrier/program.cu" >"$folder/$barrier/warm.cu"
  [ "$(grep -c 'cudaLaunch.*reset' "$folder/$barrier/warm.cu")" = 5 ] || { echo "no place for the launches before the clock"; exit 1; }
done

arch=native
[ "$muster" = gpu ] || arch=sm_90
for program in own/program own/warm muster/program muster/warm; do
  "$nvcc" -std=c++17 -O3 -w "-arch=$arch" "-I$here/include" "$folder/$program.cu" -o "$folder/$program"
done

printf 'barrier\tkernels\tmethod\tms\n' >"$folder/seed.tsv"
run=0
while [ $run -lt "$runs" ]; do # in turns: what disturbs the machine disturbs all
  run=$((run + 1))
  for program in own/program own/warm muster/program muster/warm; do
    if [ "$muster" = gpu ]; then
      output=$(timeout 60 "$folder/$program")
    else
      output=$(timeout 60 "$muster" run --gpu h200 "$folder/$program" 2>/dev/null)
    fi || { echo "WRONG: $program ends with $?"; exit 1; }
    case "$program:$output" in muster/*err*) echo "WRONG: $program: $output"; exit 1 ;; esac
    printf '%s\n' "$output" | awk -v which="$program" '
      BEGIN { split(which, part, "/"); kernels = part[2] == "warm" ? "launched before" : "as printed" }
      /^(ctas|grid)_sync / { print part[1] "\t" kernels "\t" $1 "\t" $2; seen++ }
      END { exit seen != 2 }' >>"$folder/seed.tsv" || { echo "WRONG: $program prints: $output"; exit 1; }
  done
done

awk -F '\t' '
  NR == 1 { next }
  { key = $1 "\t" $2; if ($3 == "ctas_sync") group[key, ++n[key]] = $4; else grid[key, n[key]] = $4 }
  function median(of, key, count,   i, j, swap, sorted) {
    for (i = 1; i <= count; i++) sorted[i] = of[key, i] + 0
    for (i = 1; i <= count; i++) for (j = i + 1; j <= count; j++)
      if (sorted[j] < sorted[i]) { swap = sorted[i]; sorted[i] = sorted[j]; sorted[j] = swap }
    return 1000 * (count % 2 ? sorted[(count + 1) / 2] : (sorted[count / 2] + sorted[count / 2 + 1]) / 2)
  }
  END {
    printf "the first seed'"'"'s program, us, medians\n%-8s %-16s %8s %9s %6s %s\n", "barrier", "kernels", "group", "grid.sync", "ratio", "runs faster"
    split("own\tas printed;own\tlaunched before;muster\tas printed;muster\tlaunched before", order, ";")
    for (k = 1; k <= 4; k++) {
      key = order[k]
      split(key, part, "\t")
      faster = 0
      for (i = 1; i <= n[key]; i++) faster += group[key, i] + 0 < grid[key, i] + 0
      a = median(group, key, n[key])
      b = median(grid, key, n[key])
      printf "%-8s %-16s %8.2f %9.2f %6.2f %d of %d\n", part[1], part[2], a, b, b / a, faster, n[key]
    }
  }' "$folder/seed.tsv"
