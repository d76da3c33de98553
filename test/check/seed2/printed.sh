#!/bin/sh
# printed.sh SEEDS FOLDER: what document 001 of SEEDS prints as code, as it stands, in files FOLDER/NAME.inc, which
# kernels.cu includes. Nothing of the document is in this repository.
set -eu
document=$(find "$1" -name '001_*.txt' | head -1)
[ -n "$document" ] || { echo "no document 001 in $1"; exit 1; }
mkdir -p "$2"

# take NAME N FROM TO: the lines from the N-th that begins with FROM to the next that begins with TO.
take() {
  awk -v n="$2" -v from="$3" -v to="$4" '
    !on && index($0, from) == 1 { on = ++seen == n }
    on { print }
    on && index($0, to) == 1 { found = 1; exit }
    END { exit !found }' "$document" >"$folder/$1.inc" || { echo "$document does not print $1"; exit 1; }
}
folder=$2

take stencil 1 '__global__ void shared_memory_example' '}'
take branch_wrong 1 'if (threadIdx.x < 128) {' '}'
take branch_right 2 'if (threadIdx.x < 128) {' '__syncthreads();'
take loop_wrong 1 'for (int i = 0; i < array_len[threadIdx.x]; i++) {' '}'
take loop_right 1 'int max_len = MAX_ARRAY_LEN;' '}'
take exchange_wrong 1 'smem[threadIdx.x] = value;' 'float neighbor'
take exchange_right 2 'smem[threadIdx.x] = value;' 'float neighbor'
take multi_block 1 '__device__ unsigned int block_counter' '}'
take counter_wrong 1 'counter += 1;' 'counter += 1;'
take counter_right 1 'atomicAdd(&counter, 1);' 'atomicAdd(&counter, 1);'
take add_double 1 '__device__ double atomicAddDouble' '}'
take hierarchical 1 '__global__ void hierarchical_reduce' '}'
take histogram_naive 1 '__global__ void histogram_naive' '}'
take histogram_shared 1 '__global__ void histogram_shared' '}'
take histogram_private 1 '__global__ void privatized_histogram' '}'
take aggregate 1 '__device__ int atomicAggInc' '}'
take groups 1 '__global__ void cg_example' '}'
take group_sum 1 '__device__ float cg_reduce_sum' '}'
take group_kernel 1 '__global__ void cg_kernel' '}'
take grid 1 '__global__ void grid_sync_kernel' '}'
