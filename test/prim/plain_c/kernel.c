// kernel.c: group barrier, sum and collective in plain C, no CUDA header: for any GPU, by clang. out[0]
// counts wrong values, out[1] is the worst status, out[2] the threads that came to the end.
#include "muster/collect.cuh"

enum { THREADS = 64, BLOCKS_MAX = 16 };

MU_KERNEL k(void *workspace, mu_u32 *out, mu_u32 rounds, mu_u32 *data) {
  mu_group g = mu_group_grid();
  mu_barrier b;
  mu_u32 wrong = 0, sum, all = g.blocks * (g.blocks - 1) / 2;
  mu_f32 reduced;
  mu_status status = mu_barrier_open(&b, workspace, &g);
  for (mu_u32 round = 1; round <= rounds && !status; round++) {
    mu_u32 *now = data + (round & 1) * BLOCKS_MAX * THREADS + mu_thread();
    now[mu_block() * THREADS] = round * 7919 + mu_block() * THREADS + mu_thread();
    status = mu_barrier_sync(&b);
    for (mu_u32 rank = 0; rank < g.blocks; rank++)
      wrong += now[rank * THREADS] != round * 7919 + rank * THREADS + mu_thread();
    status |= mu_barrier_sync_add_u32(&b, b.rank + round, &sum);
    wrong += sum != all + g.blocks * round;
    status |= mu_collect_reduce_add_f32(&b, (mu_f32)b.rank, &reduced);
    wrong += reduced != (mu_f32)all;
  }
  mu_red_add_relaxed_device_u32(out, wrong);
  mu_red_max_relaxed_device_u32(out + 1, status);
  mu_red_add_relaxed_device_u32(out + 2, 1);
}
