// remedies.cu: the rows of remedy.def: atomics that all threads hit, and the same result with fewer of them.
#include "muster/collect.cuh"

// How many elements are odd, as a sum of floats.
MU_KERNEL sum_direct(const mu_u32 *in, mu_u64 n, mu_f32 *out) {
  MU_FOR_GRID(i, n) mu_global_red_add_relaxed_device_f32(out, (mu_f32)(in[i] & 1));
}
MU_KERNEL sum_layers(const mu_u32 *in, mu_u64 n, mu_f32 *out) {
  mu_f32 sum = 0;
  MU_FOR_GRID(i, n) sum += (mu_f32)(in[i] & 1);
  sum = mu_block_reduce_add_f32(sum);
  if (mu_thread() == 0)
    mu_global_red_add_relaxed_device_f32(out, sum);
}

// How often each value of the low eight bits occurs.
MU_KERNEL bins_global(const mu_u32 *in, mu_u64 n, mu_u32 *out) {
  MU_FOR_GRID(i, n) mu_global_red_add_relaxed_device_u32(out + (in[i] & 255), 1);
}
MU_KERNEL bins_shared(const mu_u32 *in, mu_u64 n, mu_u32 *out) {
  MU_SHARED mu_u32 own[256];
  MU_FOR_BLOCK(b, 256) own[b] = 0;
  mu_block_sync();
  MU_FOR_GRID(i, n) mu_shared_red_add_relaxed_block_u32((mu_u32 *)own + (in[i] & 255), 1);
  mu_block_sync();
  MU_FOR_BLOCK(b, 256) mu_global_red_add_relaxed_device_u32(out + b, own[b]);
}

// How often each value of the low two bits occurs.
MU_KERNEL quarters_direct(const mu_u32 *in, mu_u64 n, mu_u32 *out) {
  MU_FOR_GRID(i, n) mu_global_red_add_relaxed_device_u32(out + (in[i] & 3), 1);
}
MU_KERNEL quarters_private(const mu_u32 *in, mu_u64 n, mu_u32 *out) {
  mu_u32 own[4] = {0, 0, 0, 0};
  MU_FOR_GRID(i, n) {
    mu_u32 quarter = in[i] & 3;
    _Pragma("unroll") for (mu_u32 q = 0; q < 4; q++) own[q] +=
        quarter == q; // numbered by constants: registers
  }
  _Pragma("unroll") for (mu_u32 q = 0; q < 4; q++) if (own[q])
      mu_global_red_add_relaxed_device_u32(out + q, own[q]);
}

// How many elements are odd, each of which gets a number (as in a filter).
MU_KERNEL count_direct(const mu_u32 *in, mu_u64 n, mu_u32 *out) {
  MU_FOR_GRID(i, n) if (in[i] & 1)(void) mu_global_add_relaxed_device_u32(out, 1);
}
MU_KERNEL count_aggregated(const mu_u32 *in, mu_u64 n, mu_u32 *out) {
  MU_FOR_GRID(i, n) if (in[i] & 1)(void) mu_aggregate_add_device_u32(out, 1);
}
