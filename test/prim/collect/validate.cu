// validate.cu: values across groups of blocks, tickets, locks, semaphores, sequence locks, histogram pieces.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude test/prim/collect/validate.cu -o /tmp/collect_validate
//   /tmp/collect_validate [ROUNDS]      default 50
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../../bench/check.h"
#include "muster/collect.cuh"

static __host__ __device__ unsigned hashed(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

struct test {
  void *workspace;
  unsigned *wrong; // [0] values, [1] status
  unsigned rounds, part;
  float *bits; // [group]: a sum of f32 that depends on the order, as block 0 got it
};

static __device__ unsigned value_of(unsigned group, unsigned rank, unsigned round) {
  return hashed(group * 7919 + rank * 104729 + round);
}

// Every collective; the expected values are computed anew by each thread. Plain barriers between now and
// then.
static __global__ void everything(struct test t) {
  mu_group g = mu_group_x();
  mu_barrier b;
  mu_status status;
  unsigned me = mu_thread(), wrong = 0;
  if (t.part) {
    if (me < 32)
      return;
    me -= 32;
    status = mu_barrier_open_part(&b, t.workspace, &g, 2, mu_block_threads() - 32, me);
  } else {
    status = mu_barrier_open(&b, t.workspace, &g);
  }
  b.timeout_ns = 2000000000;
  for (unsigned round = 1; !status && round <= t.rounds; round++) {
    unsigned mine = value_of(g.index, g.rank, round), root = round % g.blocks;
    unsigned sum = 0, least = ~0u, before = 9, upto = 0, exact = 0;
    unsigned long long wide = 0;
    double real = 0;
    for (unsigned i = 0; i < g.blocks; i++) {
      unsigned v = value_of(g.index, i, round);
      sum += v;
      least = v < least ? v : least;
      wide = (unsigned long long)v << 21 > wide ? (unsigned long long)v << 21 : wide;
      before += i < g.rank ? v : 0;
      upto ^= i <= g.rank ? v : 0;
      real += v % 4096;
      exact |= v;
    }
    mu_u32 got;
    mu_u64 big;
    mu_f64 number;
    mu_f32 odd;
    unsigned mine_here = me ? hashed(me) : mine; // only the first thread's value counts
    status |= mu_collect_reduce_add_u32(&b, mine_here, &got);
    wrong += got != sum;
    status |= mu_collect_reduce_min_u32(&b, mine_here, &got);
    wrong += got != least;
    status |= mu_collect_reduce_max_u64(&b, (mu_u64)mine_here << 21, &big);
    wrong += big != wide;
    status |= mu_collect_scan_excl_add_u32(&b, mine_here, 9, &got);
    wrong += got != before;
    status |= mu_collect_scan_incl_xor_u32(&b, mine_here, &got);
    wrong += got != upto;
    status |= mu_collect_reduce_add_f64(&b, (double)(mine_here % 4096), &number);
    wrong += number != real;
    status |= mu_collect_broadcast_u32(&b, mine_here, root, &got);
    wrong += got != value_of(g.index, root, round);
    status |= mu_collect_reduce_or_u32(&b, mine_here, &got);
    wrong += got != exact;
    status |= mu_collect_reduce_add_f32(&b, 1.0f / (float)(value_of(g.index, g.rank, 77) % 1000 + 1), &odd);
    if (g.rank == 0 && me == 0 && round == 1)
      t.bits[g.index] = odd;
    if (round % 3 == 0)
      status |= mu_barrier_sync(&b);
    if (round > 1 && round % 3 == 1) // after a barrier: the same bits in every block and round
      wrong += odd != *(volatile float *)(t.bits + g.index);
  }
  if (wrong)
    atomicAdd(t.wrong, wrong);
  if (status && me == 0)
    t.wrong[1] = status;
}

// Gathers into shared memory.
static __global__ void gather(struct test t) {
  __shared__ mu_u64 all[256];
  mu_group g = mu_group_x();
  mu_barrier b;
  mu_status status = mu_barrier_open(&b, t.workspace, &g);
  for (unsigned round = 1; !status && round <= t.rounds; round++) {
    status = mu_collect_gather_u64(&b, (mu_u64)value_of(g.index, g.rank, round) << 30 | g.rank, all);
    for (unsigned i = mu_thread(); !status && i < g.blocks; i += mu_block_threads())
      if (all[i] != ((mu_u64)value_of(g.index, i, round) << 30 | i))
        atomicAdd(t.wrong, 1);
    mu_block_sync();
  }
  if (status)
    t.wrong[1] = status;
}

// Block `absent` leaves before the last of some meetings of one form. status[block]: what the others got.
enum { LOST_ROUNDS = 5, LOST_BLOCKS = 40 };
enum form { SUM, SUM_ORDERED, EACH, FIRST, FIRST_WIDE, FORMS };
static __global__ void lost(void *workspace, int form, unsigned absent, mu_status *status_of) {
  mu_group g = mu_group_grid();
  mu_barrier b;
  mu_status status = mu_barrier_open(&b, workspace, &g);
  mu_u32 sum;
  mu_f32 real;
  mu_f64 wide;
  b.timeout_ns = 1000000;
  for (unsigned round = 1; !status && round <= LOST_ROUNDS; round++) {
    if (round == LOST_ROUNDS && mu_block() == absent)
      return;
    status = form == SUM           ? mu_collect_reduce_add_u32(&b, 1, &sum)
             : form == SUM_ORDERED ? mu_barrier_sync_add_u32(&b, 1, &sum)
             : form == EACH        ? mu_collect_reduce_each_add_f32(&b, 1, &real)
             : form == FIRST       ? mu_collect_reduce_first_add_f32(&b, 1, &real)
                                   : mu_collect_reduce_first_add_f64(&b, 1, &wide);
  }
  if (mu_thread() == 0)
    status_of[mu_block()] = status;
}

struct shared_things {
  unsigned ticket, lasts, sum_seen, free, inside, most_inside, entered, plain, sequence, torn;
  mu_lock lock;
  unsigned data[8];
};

// One ticket a block; the last adds up what all wrote, plainly. Locks: a plain counter. Semaphore: at most
// three inside.
static __global__ void sharing(struct shared_things *s, unsigned *slots, unsigned rounds) {
  for (unsigned round = 1; round <= rounds; round++) {
    slots[mu_block() * mu_block_threads() + mu_thread()] = hashed(mu_block() + mu_thread() + round) % 100;
    if (mu_ticket_last(&s->ticket, mu_grid_blocks())) {
      unsigned sum = 0;
      for (unsigned i = mu_thread(); i < mu_grid_threads(); i += mu_block_threads())
        sum += slots[i];
      sum = mu_block_reduce_add_u32(sum);
      if (mu_thread() == 0) {
        s->sum_seen = sum;
        s->lasts++;
      }
      break; // the others go on to the locks; only the first round has a ticket
    }
    break;
  }
  if (mu_thread() == 0)
    for (unsigned round = 0; round < rounds; round++) {
      mu_lock_acquire(&s->lock);
      s->plain = *(volatile unsigned *)&s->plain + 1;
      mu_lock_release(&s->lock);
      if (mu_lock_try_acquire(&s->lock)) {
        s->plain = *(volatile unsigned *)&s->plain + 1;
        mu_lock_release(&s->lock);
      } else {
        mu_lock_acquire(&s->lock);
        s->plain = *(volatile unsigned *)&s->plain + 1;
        mu_lock_release(&s->lock);
      }
      mu_semaphore_acquire(&s->free);
      unsigned inside = mu_add_relaxed_device_u32(&s->inside, 1) + 1;
      mu_max_relaxed_device_u32(&s->most_inside, inside);
      mu_red_add_relaxed_device_u32(&s->entered, 1);
      mu_sub_relaxed_device_u32(&s->inside, 1);
      mu_semaphore_release(&s->free);
      if (mu_block() == 0) {
        mu_sequence_write_begin(&s->sequence);
        for (unsigned i = 0; i < 8; i++)
          mu_store_relaxed_device_u32(&s->data[i], round * 8 + i);
        mu_sequence_write_end(&s->sequence);
      } else {
        unsigned copy[8], begun;
        do {
          begun = mu_sequence_read_begin(&s->sequence);
          for (unsigned i = 0; i < 8; i++)
            copy[i] = mu_load_relaxed_device_u32(&s->data[7 - i]);
        } while (mu_sequence_read_retry(&s->sequence, begun));
        for (unsigned i = 1; i < 8 && begun; i++)
          if (copy[i] + 1 != copy[i - 1])
            atomicAdd(&s->torn, 1);
      }
    }
}

static __global__ void histogram(const unsigned char *items, unsigned n, unsigned copies, unsigned *total,
                                 unsigned long long *total64) {
  extern __shared__ unsigned bins[];
  mu_bins_clear(bins, 256, copies);
  MU_FOR_GRID(i, n)
  mu_bins_add(bins, copies, items[i]);
  mu_bins_flush_u32(bins, 256, copies, total);
  MU_FOR_GRID(i, n)
  mu_bins_add(bins, copies, items[i]);
  mu_bins_flush_u64(bins, 256, copies, total64);
}

static int cases, bad;
static void must(int good, const char *what, unsigned a, unsigned b) {
  cases++;
  if (!good && bad++ < 30)
    printf("WRONG: %s (%u, %u)\n", what, a, b);
}

// The missing block is named, the others leave with an error, and a zeroed workspace is as good as new.
static void run_lost(void *workspace, int form, unsigned blocks, unsigned absent) {
  mu_status *status, host[LOST_BLOCKS];
  mu_slot slot;
  unsigned timeouts = 0;
  CHECK(cudaMalloc(&status, sizeof host));
  for (int turn = 0; turn < 2; turn++) {
    void *args[] = {&workspace, &form, &absent, &status};
    CHECK(cudaMemset(workspace, 0, MU_SLOT_BYTES(blocks)));
    CHECK(cudaMemset(status, 0xff, sizeof host));
    CHECK(cudaLaunchCooperativeKernel((const void *)lost, dim3(blocks), dim3(64), args, 0, 0));
    CHECK(cudaMemcpy(host, status, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&slot, workspace, sizeof slot, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < blocks; i++)
      if (i != absent) {
        must(host[i] == MU_TIMEOUT || host[i] == MU_POISONED, "the others leave with an error", form,
             host[i]);
        timeouts += host[i] == MU_TIMEOUT;
      }
    must(slot.error == MU_TIMEOUT && slot.missing_count == 1 && slot.missing_rank == absent,
         "the missing block is named", form, slot.missing_rank);
  }
  must(timeouts >= 2, "somebody's deadline passed in both launches", form, timeouts);
  CHECK(cudaFree(status));
}

int main(int argc, char **argv) {
  unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 50, wrong[2];
  static const unsigned sizes[] = {1, 2, 3, 8, 31, 32, 33, 66, 132};
  int count = 0;
  struct test t = {};
  enum { WORKSPACE_BYTES = 8 << 20 };
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  CHECK(cudaMalloc(&t.workspace, WORKSPACE_BYTES));
  CHECK(cudaMalloc(&t.wrong, 8));
  CHECK(cudaMalloc(&t.bits, 132 * 4));
  t.rounds = rounds;
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (unsigned threads = 7; threads <= 96; threads += 89)
      for (t.part = 0; t.part < (threads > 64 ? 2 : 1); t.part++) {
        void *args[] = {&t};
        dim3 grid(sizes[i], sizes[i] < 66 ? 66 / sizes[i] : 1);
        CHECK(cudaMemset(t.workspace, 0, WORKSPACE_BYTES));
        CHECK(cudaMemset(t.wrong, 0, 8));
        for (int launch = 0; launch < 2; launch++) // the second goes on where the first ended
          CHECK(cudaLaunchCooperativeKernel((const void *)everything, grid, dim3(threads), args, 0, 0));
        if (!t.part)
          CHECK(cudaLaunchCooperativeKernel((const void *)gather, grid, dim3(threads), args, 0, 0));
        CHECK(cudaMemcpy(wrong, t.wrong, 8, cudaMemcpyDeviceToHost));
        must(wrong[0] == 0 && wrong[1] == 0, "collectives: values, status", wrong[0], wrong[1]);
        if (wrong[0] || wrong[1])
          printf("  %u blocks of %u threads, part %u\n", sizes[i], threads, t.part);
      }
  for (int form = 0; form < FORMS; form++) {
    run_lost(t.workspace, form, LOST_BLOCKS, 33);
    run_lost(t.workspace, form, 3, 0); // rank 0, which owes the result
  }
  {
    struct shared_things *ds, s = {};
    unsigned *slots, want = 0, blocks = 60, threads = 64;
    s.free = 3;
    CHECK(cudaMalloc(&ds, sizeof s));
    CHECK(cudaMalloc(&slots, blocks * threads * 4));
    CHECK(cudaMemcpy(ds, &s, sizeof s, cudaMemcpyHostToDevice));
    void *args[] = {&ds, &slots, &rounds};
    CHECK(cudaLaunchCooperativeKernel((const void *)sharing, dim3(blocks), dim3(threads), args, 0, 0));
    CHECK(cudaMemcpy(&s, ds, sizeof s, cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < blocks; b++)
      for (unsigned i = 0; i < threads; i++)
        want += hashed(b + i + 1) % 100;
    must(s.lasts == 1 && s.ticket == 0, "one last block, counter zero again", s.lasts, s.ticket);
    must(s.sum_seen == want, "the last block sees all", s.sum_seen, want);
    must(s.plain == 2 * blocks * rounds, "lock", s.plain, blocks * rounds);
    must(s.most_inside <= 3 && s.most_inside > 0 && s.free == 3 && s.inside == 0, "semaphore", s.most_inside,
         s.free);
    must(s.entered == blocks * rounds, "semaphore entries", s.entered, blocks * rounds);
    must(s.torn == 0 && s.sequence == 2 * rounds, "sequence lock", s.torn, s.sequence);
  }
  for (unsigned copies = 1; copies <= 32; copies *= 4) {
    enum { N = 20011 };
    static unsigned char items[N];
    static unsigned want[256], got[256];
    static unsigned long long got64[256];
    unsigned char *d;
    unsigned *total;
    unsigned long long *total64;
    for (unsigned i = 0; i < 256; i++)
      want[i] = 0;
    for (unsigned i = 0; i < N; i++)
      want[items[i] = (unsigned char)(hashed(i) % 3 ? hashed(i + 5) : 17)]++;
    CHECK(cudaMalloc(&d, N));
    CHECK(cudaMalloc(&total, sizeof got));
    CHECK(cudaMalloc(&total64, sizeof got64));
    CHECK(cudaMemcpy(d, items, N, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(total, 0, sizeof got));
    CHECK(cudaMemset(total64, 0, sizeof got64));
    histogram<<<5, 96, 1024 * copies>>>(d, N, copies, total, total64);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, total, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got64, total64, sizeof got64, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 256; i++)
      must(got[i] == want[i] && got64[i] == want[i], "histogram", copies, i);
  }
  printf("%d cases, %d wrong\n", cases, bad);
  return bad != 0;
}
