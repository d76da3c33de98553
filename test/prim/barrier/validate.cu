// validate.cu: plain payload through every form of the barrier, between every pair of blocks.
//
//   nvcc -std=c++17 -O3 -arch=sm_90 -Iinclude test/prim/barrier/validate.cu -o /tmp/barrier_validate
//   /tmp/barrier_validate [ROUNDS]      default 2,000; ends with 0, 1 (wrong) or 77 (no device)
//
// In each round every block writes words that only this round has, waits, and reads the words of the others:
// of all of them if it has that many threads, else of another part of them each round. Weak accesses, two
// buffers in turn. Some blocks come late. Nothing can hang: every wait has a deadline of two seconds.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../bench/check.h"
#include "muster/barrier.cuh"

// How blocks form groups, and how a group synchronises.
enum kind { GRID, X, Y, Z, XY, XZ, YZ, CHUNK, STRIDE, SPLIT, LIST, CLUSTER, KINDS };
enum form { SYNC, APART, ADD, VOTES, EVERY, PART, FORMS }; // EVERY: another form each round
static const char *kind_name[] = {"grid", "x",     "y",      "z",     "xy",   "xz",
                                  "yz",   "chunk", "stride", "split", "list", "cluster"};
static const char *form_name[] = {"sync", "arrive wait", "add", "or and count", "every", "part"};

enum { WORDS = 4 };

struct test {
  int kind, form;
  unsigned size;         // of chunks, splits and lists; the stride
  unsigned rounds, late; // one arrival in 8 comes up to so many cycles late
  unsigned *payload;     // [2][block][WORDS]
  unsigned *wrong;       // values that differ; [1]: the status of a barrier that failed; [2]: the round
  void *workspace;
  const unsigned *list;
  mu_tuning tuning;
  unsigned tuned;
  unsigned nonce, close; // not 0: this launch number; the launch ends with mu_barrier_close
};

static __host__ __device__ inline unsigned hash(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

static __device__ mu_group group_of(const struct test *t) {
  mu_group g = mu_group_grid();
  switch (t->kind) {
  case X:
    return mu_group_x();
  case Y:
    return mu_group_y();
  case Z:
    return mu_group_z();
  case XY:
    return mu_group_xy();
  case XZ:
    return mu_group_xz();
  case YZ:
    return mu_group_yz();
  case CHUNK:
    return mu_group_chunk(t->size);
  case STRIDE:
    return mu_group_stride(t->size);
  case SPLIT:
    return mu_group_split(&g, t->size);
  case LIST: { // list[i] is a permutation of the blocks; groups are pieces of it
    unsigned all = mu_grid_blocks(), at = 0;
    while (t->list[at] != mu_block())
      at++;
    unsigned from = at / t->size * t->size;
    g = mu_group_list(t->list + from, all - from < t->size ? all - from : t->size, at / t->size);
    g.largest = t->size;
    return g;
  }
  case CLUSTER:
    return mu_group_cluster_of(t->size);
  }
  return g;
}

static __device__ mu_status meet(mu_barrier *b, int form, unsigned round, unsigned *wrong) {
  mu_status status;
  mu_u32 n = b->blocks, value, expected;
  if (form == EVERY)
    form = hash(round) % EVERY;
  switch (form) {
  case APART: {
    mu_token token = mu_barrier_arrive(b);
    while (!mu_barrier_test_wait(b, token) && hash(round) % 3 == 0 && !b->hardware)
      if (hash(round) % 5 == 0)
        break;
    return mu_barrier_wait(b, token);
  }
  case ADD:
    status = mu_barrier_sync_add_u32(b, b->rank * 3 + round, &value);
    expected = n * (n - 1) / 2 * 3 + n * round;
    break;
  case VOTES:
    if (round % 3 == 0) { // one thread of one block
      status = mu_barrier_sync_or(b, b->rank == round % n && mu_thread() == 0 && round % 2, &value);
      expected = round % 2;
    } else if (round % 3 == 1) {
      status = mu_barrier_sync_and(b, !(b->rank == round % n && mu_thread() == 0 && round % 2), &value);
      expected = !(round % 2);
    } else {
      status = mu_barrier_sync_count(b, mu_thread() % 3 == 0, &value);
      expected = n * ((mu_block_threads() + 2) / 3);
    }
    break;
  default:
    return mu_barrier_sync(b);
  }
  if (!status && value != expected)
    atomicAdd(wrong, 1);
  return status;
}

// PARTS: whether t.form may be PART, which takes named barriers, 16 for the block: such blocks are few on a
// multiprocessor.
template <bool PARTS> static __device__ __forceinline__ void exchange_as(struct test t) {
  mu_group g = group_of(&t);
  mu_barrier b;
  mu_status status;
  unsigned me = mu_thread(), threads = mu_block_threads();
  if (PARTS &&
      t.form == PART) { // the second half of the block's warps; the others have nothing to do with it
    threads /= 2;
    if (me < threads)
      return;
    me -= threads;
    status = mu_barrier_open_part(&b, t.workspace, &g, 3, threads, me);
  } else if (t.tuned) {
    t.tuning.near = mu_block() % t.tuning.copies;
    status = mu_barrier_open_as(&b, t.workspace, &g, &t.tuning,
                                t.nonce ? t.nonce : mu_grid_nonce() | MU_POISON, 0, 0, me);
  } else {
    status = mu_barrier_open(&b, t.workspace, &g);
  }
  b.timeout_ns = 2000000000;
  if (!status && t.form == EVERY)
    status = mu_barrier_sync_relaxed(&b);
  unsigned writers = threads < WORDS ? threads : WORDS, gap = threads / writers, round;
  for (round = 1; !status && round <= t.rounds; round++) {
    unsigned *payload = t.payload + (size_t)(round % 2) * mu_grid_blocks() * WORDS;
    if (me % gap == 0 && me / gap < writers)
      payload[mu_block() * WORDS + me / gap] = hash(round * 8191u + mu_block() * WORDS + me / gap);
    if (t.late && hash(round * 31 + mu_block()) % 8 == 0) {
      unsigned start = mu_cycles(), wait = hash(round + mu_block() * 977) % t.late;
      while (mu_cycles() - start < wait) {
      }
    }
    status = meet(&b, PARTS ? SYNC : t.form, round, t.wrong);
    if (status)
      break;
    for (unsigned i = me; i < g.blocks * writers && i < threads * 4; i += threads) {
      unsigned at = (unsigned)((i + (mu_u64)round * threads * 4) % (g.blocks * writers));
      unsigned block = mu_group_member(&g, at / writers), word = block * WORDS + at % writers;
      if (payload[word] != hash(round * 8191u + word))
        atomicAdd(t.wrong, 1);
    }
  }
  if (t.close)
    mu_barrier_close(&b);
  if (status && me == 0) {
    atomicMax(t.wrong + 1, status);
    atomicMax(t.wrong + 2, round);
  }
}
static __global__ void __launch_bounds__(1024) exchange(struct test t) {
  exchange_as<false>(t);
}
static __global__ void __launch_bounds__(1024) exchange_parts(struct test t) {
  exchange_as<true>(t);
}

// Rows, columns and the whole grid in turn: three workspaces, three barriers a block.
static __global__ void __launch_bounds__(1024) mixed(struct test t, void *columns, void *whole) {
  mu_group gx = mu_group_x(), gy = mu_group_y(), all = mu_group_grid();
  mu_barrier x, y, a;
  mu_status status = mu_barrier_open(&x, t.workspace, &gx);
  status |= mu_barrier_open(&y, columns, &gy) | mu_barrier_open(&a, whole, &all);
  unsigned me = mu_thread(), round;
  for (round = 1; !status && round <= t.rounds; round++) {
    unsigned which = hash(round) % 3, *payload = t.payload + (size_t)(round % 3) * mu_grid_blocks();
    if (me == 0)
      payload[mu_block()] = hash(round * 8191u + mu_block());
    status = mu_barrier_sync(which == 0 ? &x : which == 1 ? &y : &a);
    const mu_group *g = which == 0 ? &gx : which == 1 ? &gy : &all;
    for (unsigned i = me; !status && i < g->blocks; i += mu_block_threads()) {
      unsigned block = mu_group_member(g, i);
      if (payload[block] != hash(round * 8191u + block))
        atomicAdd(t.wrong, 1);
    }
    if (!status) // all have read: rows and columns alone do not keep the grid together
      status = mu_barrier_sync(&a);
  }
  if (status && me == 0)
    t.wrong[1] = status, t.wrong[2] = round;
}

// Block `absent` leaves before the last round. status[block]: what the others got; missing[block]: whom they
// name.
static __global__ void __launch_bounds__(1024)
    lost(struct test t, unsigned absent, unsigned *status_of, mu_missing *missing) {
  mu_group g = group_of(&t);
  mu_barrier b;
  mu_missing who = {0, 0};
  mu_status status = mu_barrier_open(&b, t.workspace, &g);
  for (unsigned round = 1; !status && round <= t.rounds; round++) {
    if (round == t.rounds && mu_block() == absent)
      return;
    mu_token token = mu_barrier_arrive(&b);
    status = mu_barrier_try_wait(&b, token, 1000000, &who);
  }
  if (mu_thread() == 0) {
    status_of[mu_block()] = status;
    missing[mu_block()] = who;
  }
}

// After some rounds some blocks arrive and leave without waiting.
static __global__ void abandon(void *workspace, unsigned rounds, unsigned arrivals) {
  mu_group g = mu_group_grid();
  mu_barrier b;
  mu_status status = mu_barrier_open(&b, workspace, &g);
  for (unsigned round = 1; !status && round <= rounds; round++)
    status = mu_barrier_sync(&b);
  if (!status && g.rank < arrivals)
    mu_barrier_arrive(&b);
}

// Block i leaves for good after round t.size * (i + 1), the last stays.
static __global__ void __launch_bounds__(1024) leaving(struct test t) {
  mu_group g = group_of(&t);
  mu_barrier b;
  mu_status status = mu_barrier_open(&b, t.workspace, &g);
  b.timeout_ns = 2000000000;
  unsigned me = mu_thread(), round;
  for (round = 1; !status && round <= t.rounds; round++) {
    unsigned *payload = t.payload + (size_t)(round % 2) * mu_grid_blocks();
    if (me == 0)
      payload[mu_block()] = round;
    if (round == t.size * (g.rank + 1) && g.rank + 1 < g.blocks) {
      mu_barrier_arrive_and_drop(&b);
      return;
    }
    unsigned sum, summing = round % 4 > 1; // blocks leave in sums and in plain barriers
    status = summing ? mu_barrier_sync_add_u32(&b, 1, &sum) : mu_barrier_sync(&b);
    for (unsigned i = me; !status && i < g.blocks; i += mu_block_threads())
      if ((t.size * (i + 1) >= round || i + 1 == g.blocks) && payload[mu_group_member(&g, i)] != round)
        atomicAdd(t.wrong, 1);
    if (!status && summing) {
      unsigned left = (round - 1) / t.size; // those whose last round was before this one
      unsigned here = g.blocks - (left < g.blocks - 1 ? left : g.blocks - 1);
      unsigned leaves_now = round % t.size == 0 && round / t.size < g.blocks; // it drops without a number
      if (sum != here - leaves_now)
        atomicAdd(t.wrong, 1);
    }
  }
  if (status && me == 0)
    t.wrong[1] = status, t.wrong[2] = round;
}

static struct {
  void *workspace;
  unsigned *payload, *wrong, *list;
  int cases, bad, skipped, sms;
} v;
enum { WORKSPACE_BYTES = 48 << 20 };

static void launch(const void *kernel, dim3 grid, dim3 block, void **args, unsigned cluster) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attributes[2] = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.attrs = attributes;
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  config.numAttrs = 1;
  if (cluster) {
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = cluster;
    attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
    config.numAttrs = 2;
  }
  CHECK(cudaLaunchKernelExC(&config, kernel, args));
}

// Whether that many blocks can be resident; what does not fit on this device is left out and counted.
static int fits(const void *kernel, dim3 grid, dim3 block) {
  int each = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, (int)(block.x * block.y * block.z), 0));
  if ((unsigned)(each * v.sms) >= grid.x * grid.y * grid.z)
    return 1;
  v.skipped++;
  return 0;
}

static void fresh(void) {
  CHECK(cudaMemset(v.workspace, 0, WORKSPACE_BYTES));
  CHECK(cudaMemset(v.payload, 0xa5, 1 << 20));
  CHECK(cudaMemset(v.wrong, 0, 16));
}

static int verdict(const char *format, dim3 grid, dim3 block, const char *a, const char *b, unsigned size) {
  unsigned wrong[3];
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(wrong, v.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
  v.cases++;
  if (wrong[0] || wrong[1]) {
    v.bad++;
    printf("WRONG: ");
    printf(format, a, b, size);
    printf(", grid %u %u %u, block %u %u %u: %u values, status %u in round %u\n", grid.x, grid.y, grid.z,
           block.x, block.y, block.z, wrong[0], wrong[1], wrong[2]);
    return 0;
  }
  return 1;
}

static struct test test_of(int kind, int form, unsigned rounds) {
  struct test t = {};
  t.kind = kind;
  t.form = form;
  t.rounds = rounds;
  t.payload = v.payload;
  t.wrong = v.wrong;
  t.workspace = v.workspace;
  t.list = v.list;
  return t;
}

static void run(int kind, int form, unsigned size, dim3 grid, dim3 block, unsigned rounds, unsigned late,
                const mu_tuning *tuning) {
  struct test t = test_of(kind, form, rounds);
  t.size = size;
  t.late = late;
  if (tuning) {
    t.tuning = *tuning;
    t.tuned = 1;
  }
  void *args[] = {&t};
  const void *kernel = form == PART ? (const void *)exchange_parts : (const void *)exchange;
  if (!fits(kernel, grid, block))
    return;
  fresh();
  launch(kernel, grid, block, args, kind == CLUSTER ? size : 0);
  if (!verdict("%s, %s, %u", grid, block, kind_name[kind], form_name[form], size))
    return;
  launch(kernel, grid, block, args, kind == CLUSTER ? size : 0); // the workspace goes on as it is
  verdict("%s, %s, %u, second launch", grid, block, kind_name[kind], form_name[form], size);
}

static void must(int good, const char *what, unsigned got) {
  v.cases++;
  if (!good) {
    v.bad++;
    printf("WRONG: %s (%u)\n", what, got);
  }
}

// A missing block is named, the others leave, the workspace says so until it is zeroed.
static void run_lost(unsigned blocks, unsigned absent) {
  struct test t = {};
  unsigned *status, host[1056], timeouts = 0;
  mu_missing *missing, who[1056];
  CHECK(cudaMalloc(&status, sizeof host));
  CHECK(cudaMalloc(&missing, sizeof who));
  t.rounds = 20;
  t.workspace = v.workspace;
  void *args[] = {&t, &absent, &status, &missing};
  if (!fits((const void *)lost, dim3(blocks), dim3(64)))
    return;
  fresh();
  for (int turn = 0; turn < 3; turn++) {
    CHECK(cudaMemset(status, 0xff, sizeof host));
    launch((const void *)lost, dim3(blocks), dim3(64), args, 0);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, status, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(who, missing, sizeof who, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < blocks; i++) {
      if (turn == 1) { // everybody is told at once
        must(host[i] == MU_POISONED, "a poisoned workspace is refused", host[i]);
      } else if (i != absent) {
        must(host[i] == MU_TIMEOUT || host[i] == MU_POISONED, "the others leave with an error", host[i]);
        if (host[i] == MU_TIMEOUT) {
          timeouts++;
          must(who[i].count == 1 && who[i].first == absent, "the missing block is named", who[i].first);
        }
      }
    }
    if (turn == 1)
      fresh(); // and the third launch finds it new
  }
  must(timeouts >= 2, "somebody's deadline passed in both launches", timeouts);
  CHECK(cudaFree(status));
  CHECK(cudaFree(missing));
}

// A launch left in the middle: the next is told so by one block, by the others' first barrier at the latest.
static void run_abandoned(unsigned blocks, unsigned rounds, unsigned arrivals) {
  struct test t = test_of(GRID, SYNC, 3);
  unsigned wrong[3];
  void *args[] = {&t}, *abandoned[] = {&v.workspace, &rounds, &arrivals};
  if (!fits((const void *)exchange, dim3(blocks), dim3(64)))
    return;
  fresh();
  launch((const void *)abandon, dim3(blocks), dim3(64), abandoned, 0);
  for (int turn = 0; turn < 2; turn++) {
    CHECK(cudaMemset(v.wrong, 0, 16));
    launch((const void *)exchange, dim3(blocks), dim3(64), args, 0);
    CHECK(cudaMemcpy(wrong, v.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    must(wrong[0] == 0, "no round of a launch that was told", wrong[0]);
    must(wrong[1] == (arrivals % blocks == 0 ? MU_OK
                      : turn                 ? MU_POISONED
                                             : MU_STALE),
         "what the launch after an abandoned one is told", wrong[1]);
  }
}

// Two launches that look alike: closed, the second goes on; not closed, it is told that the sums are not
// known.
static void run_alike(unsigned close) {
  struct test t = test_of(GRID, ADD, 7);
  unsigned wrong[3];
  t.tuning.shards = t.tuning.copies = t.tuned = 1;
  t.nonce = 5;
  t.close = close;
  void *args[] = {&t};
  fresh();
  for (int i = 0; i < 2; i++)
    launch((const void *)exchange, dim3(9), dim3(64), args, 0);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(wrong, v.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
  must(wrong[0] == 0, "sums of launches that look alike", wrong[0]);
  must(wrong[1] == (close ? MU_OK : MU_STALE), "status of launches that look alike", wrong[1]);
}

int main(int argc, char **argv) {
  unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 2000;
  static const unsigned sizes[] = {2, 3, 4, 7, 8, 16, 33, 66, 132, 264, 528, 1056};
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  v.sms = device.multiProcessorCount;
  unsigned few = rounds < 50000 ? rounds / 10 + 1 : 5000;
  CHECK(cudaMalloc(&v.workspace, WORKSPACE_BYTES));
  CHECK(cudaMalloc(&v.payload, 1 << 20));
  CHECK(cudaMalloc(&v.wrong, 16));
  CHECK(cudaMalloc(&v.list, 132 * 4));
  unsigned list[132];
  for (unsigned i = 0; i < 132; i++) // a permutation: 35 and 132 have no common factor
    list[i] = (i * 35 + 17) % 132;
  CHECK(cudaMemcpy(v.list, list, sizeof list, cudaMemcpyHostToDevice));

  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned n = sizes[i], groups = n < 132 ? 132 / n : 1;
    int left_out = v.skipped;
    run(X, SYNC, 0, dim3(n, groups), dim3(128), rounds, 0, NULL);
    run(X, EVERY, 0, dim3(n, groups), dim3(128), few, 8000, NULL);
    run(CHUNK, APART, n, dim3(n * groups), dim3(32), few, 2000, NULL);
    printf("%4u blocks x %2u: %s\n", n, groups, v.bad ? "WRONG" : v.skipped > left_out ? "left out" : "ok");
    fflush(stdout);
  }
  for (unsigned shards = 1; shards <= MU_SHARDS_MAX; shards *= 2)
    for (unsigned copies = 1; copies <= MU_COPIES_MAX; copies++) {
      mu_tuning t = {shards, copies, 0, 150, 0, MU_SHARDS_MAX, 0};
      run(CHUNK, EVERY, 66, dim3(132), dim3(96), few, 3000, &t);
      run(STRIDE, SYNC, 7, dim3(64), dim3(33), few, 0, &t);
    }
  for (unsigned n = 1; n <= 40; n += 13) { // on the line that rank 0 chooses
    mu_tuning t = {1, 1, 0, 0, 0, 0, 1};
    for (int form = SYNC; form < PART; form++)
      run(CHUNK, form, n, dim3(n * 3), dim3(64), few, form == ADD ? 0 : 2000, &t);
  }
  static const dim3 shapes[] = {dim3(1),        dim3(7),        dim3(32),     dim3(48),  dim3(8, 8),
                                dim3(4, 2, 16), dim3(1, 1, 33), dim3(16, 16), dim3(1024)};
  for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int form = SYNC; form < PART; form++)
      run(GRID, form, 0, dim3(5, 3, 4), shapes[i], few, 2000, NULL);
  for (int kind = GRID; kind < CLUSTER; kind++) {
    int form = kind % 2 ? EVERY : ADD;
    run(kind, form, 5, kind == LIST ? dim3(132) : dim3(5, 3, 4), dim3(64), few, 1000, NULL);
    run(kind, PART, 7, kind == LIST ? dim3(132) : dim3(2, 7, 3), dim3(128), few, 1000, NULL);
  }
  if (device.major >= 9)
    for (unsigned size = 2; size <= 8; size *= 2) {
      run(CLUSTER, SYNC, size, dim3(64), dim3(96), few, 2000, NULL);
      run(CLUSTER, APART, size, dim3(64), dim3(96), few, 2000, NULL);
    }
  {
    struct test t = test_of(GRID, SYNC, few);
    void *columns = (char *)v.workspace + (8 << 20), *whole = (char *)v.workspace + (16 << 20);
    void *args[] = {&t, &columns, &whole};
    fresh();
    if (fits((const void *)mixed, dim3(11, 12), dim3(64)))
      launch((const void *)mixed, dim3(11, 12), dim3(64), args, 0);
    verdict("rows, columns and grid%s%s", dim3(11, 12), dim3(64), "", "", 0);
  }
  printf("kinds, shapes, arrangements: %s\n", v.bad ? "WRONG" : "ok");
  for (unsigned left = 0; left < 3;
       left++) { // in the first barrier, in the next, which may be on another line
    run_abandoned(9, left, 9);
    run_abandoned(9, left, 4);
    run_abandoned(700, left, 1);
  }
  run_alike(1);
  run_alike(0);
  run_lost(2, 1);
  run_lost(132, 77);
  run_lost(600, 0);
  static const unsigned leave[] = {2, 9, 21, 40};
  for (unsigned i = 0; i < 2 * sizeof leave / sizeof *leave; i++) {
    unsigned n = leave[i / 2];
    struct test t = test_of(GRID, SYNC, 600);
    t.size = i % 2 ? 10 : 1;
    void *args[] = {&t};
    fresh();
    launch((const void *)leaving, dim3(n), dim3(64), args, 0);
    verdict("leaving%s%s, %u", dim3(n), dim3(64), "", "", n);
  }
  printf("lost and leaving blocks: %s\n", v.bad ? "WRONG" : "ok");
  printf("%d cases, %d wrong, %d launches left out that do not fit\n", v.cases, v.bad, v.skipped);
  return v.bad ? 1 : 0;
}
