// Seed 002, section 5.2: what shared memory is for. Threads of a block exchange values through it, and
// through global memory, which is as right and slower; and a chase along a chain of addresses measures how
// long a load takes from shared memory, L1, L2, device memory and the host's memory.
// The seed's reason is not the right one: an ordinary buffer lies on the GPU as well. Shared memory is near
// because it is part of the SM, and so is L1, which nobody has to program.
// Arguments: THREADS a block and BLOCKS of the exchange.
#include "../common/tour.h"

typedef unsigned long long u64;
enum { BLOCK_MAX = 1024, LINE = 128, SHARED_CELLS = 1024 };

// Every round each thread hands its value to a thread of another warp and mixes in what it is handed.
TOUR_C __global__ void exchange_shared(unsigned *out, const unsigned *in, int rounds) {
  __shared__ unsigned slot[BLOCK_MAX];
  unsigned t = threadIdx.x, from = (t + 33) % blockDim.x, block = blockIdx.x * blockDim.x;
  unsigned value = in[block + t];
  for (int round = 0; round < rounds; round++) {
    slot[t] = value;
    __syncthreads(); // every slot is written before one is read
    value = value * 5 + slot[from];
    __syncthreads(); // every slot is read before one is written again
  }
  out[block + t] = value;
}

// The same with slots in global memory: a block barrier orders that as well, within the block.
TOUR_C __global__ void exchange_global(unsigned *out, const unsigned *in, unsigned *slots, int rounds) {
  unsigned t = threadIdx.x, from = (t + 33) % blockDim.x, block = blockIdx.x * blockDim.x;
  unsigned *slot = slots + block;
  unsigned value = in[block + t];
  for (int round = 0; round < rounds; round++) {
    slot[t] = value;
    __syncthreads();
    value = value * 5 + slot[from];
    __syncthreads();
  }
  out[block + t] = value;
}

// Stop K of a chain through PLACES places, a power of two: each place at most once, in an order that nothing
// prefetches.
__host__ __device__ static u64 stop(unsigned k, unsigned places) {
  return (k * 0x9e3779b1u) & (places - 1);
}

// A stop holds the address of the next, so that a load is all there is between two.
TOUR_C __global__ void link_chain(char *memory, unsigned lines, unsigned stops) {
  unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < stops)
    *(u64 *)(memory + stop(k, lines) * LINE) = (u64)(memory + stop((k + 1) % stops, lines) * LINE);
}

// PTX, since the cache operator is the point: .ca may hit in L1, .cg never does.
#define CHASE(name, load)                                       \
  static __device__ u64 name(u64 at, unsigned steps) {          \
    for (unsigned i = 0; i < steps; i++)                        \
      __asm__ volatile(load " %0, [%0];" : "+l"(at)::"memory"); \
    return at;                                                  \
  }
CHASE(chase_l1, "ld.global.ca.u64")
CHASE(chase_l2, "ld.global.cg.u64")
CHASE(chase_cells, "ld.shared.u64")

// One thread: WARM steps first, then STEPS on the clock. The end shows that no step was skipped.
TOUR_C __global__ void chase_global(u64 *end, long long *cycles, u64 at, int l1, unsigned warm,
                                    unsigned steps) {
  at = l1 ? chase_l1(at, warm) : chase_l2(at, warm);
  long long start = clock64();
  at = l1 ? chase_l1(at, steps) : chase_l2(at, steps);
  *cycles = clock64() - start;
  *end = at;
}

TOUR_C __global__ void chase_shared(u64 *end, long long *cycles, unsigned steps) {
  __shared__ u64 cell[SHARED_CELLS];
  u64 first;
  __asm__("cvta.to.shared.u64 %0, %1;" : "=l"(first) : "l"((u64)(void *)cell));
  for (unsigned k = threadIdx.x; k < SHARED_CELLS; k += blockDim.x)
    cell[stop(k, SHARED_CELLS)] = first + stop((k + 1) % SHARED_CELLS, SHARED_CELLS) * sizeof(u64);
  __syncthreads(); // the chain is whole
  if (threadIdx.x == 0) {
    u64 at = chase_cells(first, SHARED_CELLS);
    long long start = clock64();
    at = chase_cells(at, steps);
    *cycles = clock64() - start;
    *end = (at - first) / sizeof(u64);
  }
}

#ifdef TOUR_HOST
struct chain {
  char *memory; // as the device sees it; NULL: the chain in shared memory
  unsigned lines, stops;
  int l1;        // loads may hit in L1
  unsigned warm; // steps before the clock starts
  char *flush;   // where not NULL: written before each walk, so that L2 holds nothing of the chain
  size_t flush_bytes;
};

static struct {
  u64 *end;
  long long *cycles;
} device;

static void link_lines(const struct chain *c) {
  link_chain<<<(c->stops + 255) / 256, 256>>>(c->memory, c->lines, c->stops);
  CHECK(cudaGetLastError());
}

// Cycles of a walk of STEPS steps, which is verified to end where it should.
static double walk(const struct chain *c, unsigned steps) {
  u64 end, want;
  long long cycles;
  CHECK(cudaMemset(device.end, 0xA5, sizeof end));
  if (c->flush)
    CHECK(cudaMemset(c->flush, 1, c->flush_bytes));
  if (c->memory) {
    want = (u64)(c->memory + stop((c->warm + steps) % c->stops, c->lines) * LINE);
    chase_global<<<1, 1>>>(device.end, device.cycles, (u64)c->memory, c->l1, c->warm, steps);
  } else {
    want = stop(steps % SHARED_CELLS, SHARED_CELLS);
    chase_shared<<<1, 256>>>(device.end, device.cycles, steps);
  }
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&end, device.end, sizeof end);
  tour_download(&cycles, device.cycles, sizeof cycles);
  tour_expect_int("end of chain after", steps, (long long)end, (long long)want);
  return (double)cycles;
}

// Cycles of one load: the slope between two lengths, so that what both have in common drops out.
static double latency(const struct chain *c, unsigned few, unsigned many, const char *key) {
  double times[9];
  for (int i = 0; i < 9; i++)
    times[i] = (walk(c, many) - walk(c, few)) / (many - few);
  double cycles = tour_median(times, 9);
  tour_figure(key, cycles, "cycles");
  return cycles;
}

struct exchange {
  unsigned *out, *in, *slots; // slots NULL: in shared memory
  unsigned threads, blocks;
  int rounds;
};

static void exchange(void *context) {
  struct exchange *e = (struct exchange *)context;
  if (e->slots)
    exchange_global<<<e->blocks, e->threads>>>(e->out, e->in, e->slots, e->rounds);
  else
    exchange_shared<<<e->blocks, e->threads>>>(e->out, e->in, e->rounds);
  CHECK(cudaGetLastError());
}

// Both ways against a serial run; with TIMES also the nanoseconds of a round, [0] shared, [1] global.
static void exchange_and_verify(unsigned threads, unsigned blocks, int rounds, double *times) {
  unsigned count = threads * blocks;
  size_t bytes = count * sizeof(unsigned);
  unsigned *in = (unsigned *)tour_host_alloc(bytes), *out = (unsigned *)tour_host_alloc(bytes);
  unsigned *want = (unsigned *)tour_host_alloc(bytes), *slot = (unsigned *)tour_host_alloc(bytes);
  for (unsigned i = 0; i < count; i++)
    want[i] = in[i] = tour_hash(i);
  for (int round = 0; round < rounds; round++) {
    memcpy(slot, want, bytes);
    for (unsigned i = 0; i < count; i++)
      want[i] = want[i] * 5 + slot[i / threads * threads + (i % threads + 33) % threads];
  }

  struct exchange e = {NULL, NULL, NULL, threads, blocks, rounds};
  e.in = (unsigned *)tour_upload(in, bytes);
  for (int global = 0; global < 2; global++) {
    e.out = (unsigned *)tour_alloc(bytes);
    e.slots = global ? (unsigned *)tour_alloc(bytes) : NULL;
    exchange(&e);
    tour_sync();
    tour_download(out, e.out, bytes);
    for (unsigned i = 0; i < count; i++)
      tour_expect_int(global ? "exchange, global" : "exchange, shared", i, out[i], want[i]);
    if (times) {
      times[global] = tour_slope_ns(exchange, &e, &e.rounds, 1000, 5000, 25);
      e.rounds = rounds;
    }
    CHECK(cudaFree(e.out));
    if (e.slots)
      CHECK(cudaFree(e.slots));
  }
  CHECK(cudaFree(e.in));
  free(in);
  free(out);
  free(want);
  free(slot);
}

static void measure(void) {
  size_t flush_bytes = 4 * (size_t)tour.device.l2CacheSize;
  char *flush = (char *)tour_alloc(flush_bytes);
  struct chain shared = {NULL, 0, 0, 0, 0, NULL, 0};
  struct chain l1 = {NULL, 128, 128, 1, 128, NULL, 0};
  struct chain l2 = {NULL, 8192, 8192, 0, 8192, NULL, 0};
  struct chain dram = {NULL, 1u << 21, 16384, 0, 0, flush, flush_bytes};
  struct chain host = {NULL, 8192, 4096, 0, 0, flush, flush_bytes};
  void *host_memory, *mapped;
  CHECK(cudaHostAlloc(&host_memory, (size_t)host.lines * LINE, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&mapped, host_memory, 0));
  l1.memory = (char *)tour_alloc((size_t)l1.lines * LINE);
  l2.memory = (char *)tour_alloc((size_t)l2.lines * LINE);
  dram.memory = (char *)tour_alloc((size_t)dram.lines * LINE);
  host.memory = (char *)mapped;
  link_lines(&l1);
  link_lines(&l2);
  link_lines(&dram);
  link_lines(&host);

  // A chain is walked several times where it shall be cached, and never twice where it shall not.
  double shared_cycles = latency(&shared, 2048, 10240, "shared_memory.shared_cycles");
  double l1_cycles = latency(&l1, 2048, 10240, "shared_memory.l1_cycles");
  double l2_cycles = latency(&l2, 8192, 24576, "shared_memory.l2_cycles");
  double dram_cycles = latency(&dram, 4096, 16000, "shared_memory.dram_cycles");
  double host_cycles = latency(&host, 1024, 4000, "shared_memory.host_cycles");
  tour_figure("shared_memory.l1_ratio", l1_cycles / shared_cycles, "x");
  tour_figure("shared_memory.l2_ratio", l2_cycles / shared_cycles, "x");
  tour_figure("shared_memory.dram_ratio", dram_cycles / shared_cycles, "x");
  tour_figure("shared_memory.host_ratio", host_cycles / dram_cycles, "x");

  // One block alone has L1 and the way to L2 to itself; then as many as the GPU holds.
  double ns[2];
  exchange_and_verify(256, 1, 1000, ns);
  tour_figure("shared_memory.exchange_alone_gain", ns[1] / ns[0], "x");
  exchange_and_verify(256, (unsigned)tour.device.multiProcessorCount * 8, 30, ns);
  tour_figure("shared_memory.exchange_shared_ns", ns[0], "ns");
  tour_figure("shared_memory.exchange_global_ns", ns[1], "ns");
  tour_figure("shared_memory.exchange_gain", ns[1] / ns[0], "x");
  CHECK(cudaFree(l1.memory));
  CHECK(cudaFree(l2.memory));
  CHECK(cudaFree(dram.memory));
  CHECK(cudaFreeHost(host_memory));
  CHECK(cudaFree(flush));
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[THREADS [BLOCKS]]");
  unsigned threads = (unsigned)tour_arg(0, 200, 1, BLOCK_MAX);
  unsigned blocks = (unsigned)tour_arg(1, 3, 1, 4096);
  device.end = (u64 *)tour_zeroed(sizeof(u64));
  device.cycles = (long long *)tour_zeroed(sizeof(long long));

  exchange_and_verify(threads, blocks, 30, NULL);
  exchange_and_verify(BLOCK_MAX, 1, 3, NULL);

  struct chain shared = {NULL, 0, 0, 0, 0, NULL, 0};
  struct chain lines = {(char *)tour_alloc(512 * LINE), 512, 300, 0, 7, NULL, 0};
  link_lines(&lines);
  static const unsigned steps[] = {1, 2, 292, 293, 1023, 1024, 1500};
  for (int i = 0; i < 7; i++) {
    walk(&shared, steps[i]);
    for (lines.l1 = 0; lines.l1 < 2; lines.l1++)
      walk(&lines, steps[i]);
  }
  if (tour.timing)
    measure();
  CHECK(cudaFree(lines.memory));
  CHECK(cudaFree(device.end));
  CHECK(cudaFree(device.cycles));
  return tour_end("exchanges of %u blocks of %u threads in shared and in global memory, and chains", blocks,
                  threads);
}
#endif
