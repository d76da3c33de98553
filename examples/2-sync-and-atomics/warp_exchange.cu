// warp_exchange.cu: when does a warp need __syncwarp? (seed 001, sections 3.1 to 3.3)
//
// The four rows of the table, for Volta and later, with lanes arriving at different times: exchange through
// shared memory (needs two: after the writing, and before the next writing, which the printed form leaves
// out); shuffle, vote and a reduction by shuffles (need none). Then an exchange by a part of the warp, which
// names its lanes. A shuffle waits for its lanes and hands over registers; that it orders memory as well is
// nowhere promised, so it cannot stand in for __syncwarp. Without any: broken/warp_exchange.cu.
// Arguments: [ROW] of the table, 1 to 4; 5: the part of a warp; 0: everything.
#include "../common/tour.h"

enum { BLOCK = 128 };
#define ALL_LANES 0xffffffffu

// Lanes come out of this up to 300 cycles apart.
static __device__ __forceinline__ void stagger(unsigned x) {
  long long cycles = 100 * (x % 4), start = clock64();
  while (clock64() - start < cycles)
    ;
}

// Row 1: through shared memory.
TOUR_C __global__ void through_shared(const unsigned *in, unsigned *out, int rounds) {
  __shared__ unsigned tile[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  unsigned value = in[i];
  for (int r = 0; r < rounds; r++) {
    stagger(t + r);
    tile[t] = value;
    __syncwarp(); // every lane has written
    unsigned other = tile[t ^ (1 << r % 5)];
    __syncwarp(); // every lane has read: the next round may write
    value = value * 31 + other;
  }
  out[i] = value;
}

// Row 2: a shuffle needs nothing before or after it.
TOUR_C __global__ void by_shuffle(const unsigned *in, unsigned *out, int rounds) {
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  unsigned value = in[i];
  for (int r = 0; r < rounds; r++) {
    stagger(t + r);
    value = value * 31 + __shfl_sync(ALL_LANES, value, (t + 1 + r) % 32);
  }
  out[i] = value;
}

// Row 3: so does a vote.
TOUR_C __global__ void by_vote(const unsigned *in, unsigned *out, int rounds) {
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  unsigned value = in[i];
  for (int r = 0; r < rounds; r++) {
    stagger(t + r);
    unsigned odd = __ballot_sync(ALL_LANES, value % 2);
    unsigned any = __any_sync(ALL_LANES, (value >> 8) % 64 == 0) ? 1 : 0;
    unsigned all = __all_sync(ALL_LANES, (value >> 16) % 64 != 0) ? 2 : 0;
    value = value * 31 + (odd ^ any ^ all);
  }
  out[i] = value;
}

// Row 4: a reduction loop of shuffles; the last one hands lane 0's sum to all.
TOUR_C __global__ void by_reduction(const unsigned *in, unsigned *out, int rounds) {
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  unsigned value = in[i];
  for (int r = 0; r < rounds; r++) {
    stagger(t + r);
    unsigned sum = value;
    for (int step = 16; step > 0; step /= 2)
      sum += __shfl_down_sync(ALL_LANES, sum, step);
    value = value * 31 + __shfl_sync(ALL_LANES, sum, 0);
  }
  out[i] = value;
}

// The first LANES lanes of each warp pass values round; the others go their own way and are not waited for.
TOUR_C __global__ void part_of_warp(const unsigned *in, unsigned *out, int rounds, int lanes) {
  __shared__ unsigned tile[BLOCK];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * BLOCK + t;
  unsigned mask = ALL_LANES >> (32 - lanes);
  unsigned value = in[i];
  if (lane < lanes) {
    for (int r = 0; r < rounds; r++) {
      stagger(t + r);
      tile[t] = value;
      __syncwarp(mask);
      unsigned other = tile[t - lane + (lane + 1) % lanes];
      __syncwarp(mask);
      value = value * 31 + other;
    }
  } else {
    value = ~value;
  }
  out[i] = value;
}

// One warp, what lane 0 sees.
TOUR_C __global__ void time_syncwarp(long long *cycles, unsigned *out, int rounds) {
  long long start = clock64();
  for (int r = 0; r < rounds; r++)
    __syncwarp();
  long long stop = clock64();
  if (threadIdx.x == 0) {
    *cycles = stop - start;
    *out = rounds;
  }
}

// Each shuffle waits for the value of the one before.
TOUR_C __global__ void time_shuffle(long long *cycles, unsigned *out, int rounds) {
  unsigned value = threadIdx.x, source = (threadIdx.x + 1) % 32;
  long long start = clock64();
  for (int r = 0; r < rounds; r++)
    value = __shfl_sync(ALL_LANES, value, source);
  long long stop = clock64();
  if (threadIdx.x == 0) {
    *cycles = stop - start;
    *out = value;
  }
}

#ifdef TOUR_HOST

enum { SHARED = 1, SHUFFLE, VOTE, REDUCTION, PART, ROWS = PART, BLOCKS = 3, ROUNDS = 37, RUNS = 9 };
static const char *const row_names[] = {"", "shared", "shuffle", "vote", "reduction", "part"};

// One round of one warp; of PART only the first LANES take part.
static void reference_round(int row, unsigned *value, int r, int lanes) {
  unsigned old[32], odd = 0, any = 0, all = 2, sum = 0;
  memcpy(old, value, sizeof old);
  for (int lane = 0; lane < 32; lane++) {
    odd |= (old[lane] & 1) << lane;
    any |= (old[lane] >> 8) % 64 == 0 ? 1 : 0;
    all &= (old[lane] >> 16) % 64 != 0 ? 2 : 0;
    sum += old[lane];
  }
  for (int lane = 0; lane < lanes; lane++) {
    unsigned other = 0;
    switch (row) {
    case SHARED:
      other = old[lane ^ (1 << r % 5)];
      break;
    case SHUFFLE:
      other = old[(lane + 1 + r) % 32];
      break;
    case VOTE:
      other = odd ^ any ^ all;
      break;
    case REDUCTION:
      other = sum;
      break;
    case PART:
      other = old[(lane + 1) % lanes];
      break;
    }
    value[lane] = old[lane] * 31 + other;
  }
}

static void run(int row, int lanes) {
  enum { N = BLOCKS * BLOCK };
  unsigned want[N], out[N];
  for (int i = 0; i < N; i++)
    want[i] = tour_hash(row * N + i);
  unsigned *in = (unsigned *)tour_upload(want, sizeof want);
  unsigned *device_out = (unsigned *)tour_alloc(sizeof out);

  switch (row) {
  case SHARED:
    through_shared<<<BLOCKS, BLOCK>>>(in, device_out, ROUNDS);
    break;
  case SHUFFLE:
    by_shuffle<<<BLOCKS, BLOCK>>>(in, device_out, ROUNDS);
    break;
  case VOTE:
    by_vote<<<BLOCKS, BLOCK>>>(in, device_out, ROUNDS);
    break;
  case REDUCTION:
    by_reduction<<<BLOCKS, BLOCK>>>(in, device_out, ROUNDS);
    break;
  case PART:
    part_of_warp<<<BLOCKS, BLOCK>>>(in, device_out, ROUNDS, lanes);
    break;
  }
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(out, device_out, sizeof out);

  for (int first = 0; first < N; first += 32) {
    for (int lane = lanes; lane < 32; lane++)
      want[first + lane] = ~want[first + lane];
    for (int r = 0; r < ROUNDS; r++)
      reference_round(row, want + first, r, lanes);
  }
  for (int i = 0; i < N; i++)
    tour_expect_int(row_names[row], i, out[i], want[i]);
  CHECK(cudaFree(in));
  CHECK(cudaFree(device_out));
}

typedef void timed_kernel(long long *, unsigned *, int);

// Cycles for one more round: the slope between two counts, medians of both.
static double cycles_per_round(timed_kernel *kernel) {
  const int rounds[] = {2000, 10000};
  double cycles[2][RUNS];
  long long *device_cycles = (long long *)tour_alloc(sizeof *device_cycles), value;
  unsigned *device_out = (unsigned *)tour_alloc(sizeof *device_out);
  for (int i = 0; i < RUNS; i++)
    for (int k = 0; k < 2; k++) {
      kernel<<<1, 32>>>(device_cycles, device_out, rounds[k]);
      CHECK(cudaGetLastError());
      tour_sync();
      tour_download(&value, device_cycles, sizeof value);
      cycles[k][i] = (double)value;
    }
  CHECK(cudaFree(device_cycles));
  CHECK(cudaFree(device_out));
  return (tour_median(cycles[1], RUNS) - tour_median(cycles[0], RUNS)) / (rounds[1] - rounds[0]);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROW]");
  int only = (int)tour_arg(0, 0, 0, ROWS);

  for (int row = SHARED; row < PART; row++)
    if (!only || only == row)
      run(row, 32);
  const int lanes[] = {1, 7, 20, 31, 32};
  for (int k = 0; k < 5; k++)
    if (!only || only == PART)
      run(PART, lanes[k]);

  if (tour.timing) {
    tour_figure("warp_exchange.syncwarp_cycles", cycles_per_round(time_syncwarp), "cycles");
    tour_figure("warp_exchange.shuffle_cycles", cycles_per_round(time_shuffle), "cycles");
  }
  return tour_end("%s, lanes arriving at different times", only ? row_names[only] : "every row of the table");
}
#endif
