// primitives.cu: the primitives of synchronisation that muster bench measures, each in a loop of `rounds`.
// What a round costs is the slope between two numbers of rounds, so that nothing else of the launch counts.
#include "muster/collect.cuh"

MU_KERNEL nothing(void) {}

// The multiprocessor's clock: cycles and nanoseconds of at least `time_ns`.
MU_KERNEL clock_of(mu_u64 *out, mu_u64 time_ns) {
  mu_u64 start_ns = mu_time_ns(), now_ns;
  mu_u32 start = mu_cycles();
  do
    now_ns = mu_time_ns();
  while (now_ns - start_ns < time_ns);
  out[0] = mu_cycles() - start;
  out[1] = now_ns - start_ns;
}

MU_KERNEL warp_barrier(mu_u32 *out, mu_u32 rounds) {
  mu_tile warp = mu_tile_warp();
  MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) mu_tile_sync(&warp);
  *out = rounds;
}

MU_KERNEL warp_shuffle(mu_u32 *out, mu_u32 rounds) {
  mu_u32 value = mu_lane();
  MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) value = mu_lane_shuffle_u32(0xffffffffu, value, value ^ 1);
  out[mu_lane()] = value; // each needs the one before
}

MU_KERNEL block_barrier(mu_u32 rounds) {
  MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) mu_block_sync();
}

// Groups of `blocks` consecutive blocks; any error ends up in *failed.
MU_KERNEL MU_BOUNDS(128, 8) group_barrier(void *workspace, mu_u32 blocks, mu_u32 rounds, mu_u32 *failed) {
  mu_group group = mu_group_chunk(blocks);
  mu_barrier barrier;
  mu_status status = mu_barrier_open(&barrier, workspace, &group);
  MU_ROLLED for (mu_u32 i = 0; !status && i < rounds; i++)(void) mu_barrier_sync(&barrier);
  if (!status)
    status = mu_barrier_status(&barrier);
  if (status && mu_thread() == 0)
    *failed = status;
}

#if MU_HAS_CLUSTER
MU_KERNEL cluster_barrier(mu_u32 rounds) {
  MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) {
    mu_cluster_arrive();
    mu_cluster_wait();
  }
}
#endif

// A word a lane, so that the fence has a store to see through.
#define FENCE(order, scope, unused)                                 \
  MU_KERNEL fence_##order##_##scope(mu_u32 *words, mu_u32 rounds) { \
    MU_ROLLED for (mu_u32 i = 0; i < rounds; i++) {                 \
      mu_global_store_relaxed_##scope##_u32(words + mu_lane(), i);  \
      mu_fence_##order##_##scope();                                 \
    }                                                               \
  }
#define FENCES(scope, unused) FENCE(acq_rel, scope, ) FENCE(sc, scope, )
MU_EACH_SCOPE(FENCES, )

// What the operations are measured on: hashes, as they are or as f32 in [0,1).
MU_KERNEL fill(mu_u32 *to, mu_u64 n, mu_u32 floats) {
  MU_FOR_GRID(i, n) {
    mu_u32 x = (mu_u32)i * 2654435769u + 12345;
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
    to[i] = floats ? mu_bits_of_f32((mu_f32)(x >> 8) * (1.0f / 16777216)) : x;
  }
}
