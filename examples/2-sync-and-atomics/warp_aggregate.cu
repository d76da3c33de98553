// warp_aggregate: section 6.4 of "Synchronisation and atomics" (seed 001). The lanes that want a ticket from
// one counter send one of them for all; the tickets compact an array. The printed function is right, for this
// reason: lanes that execute one __activemask() together all get the same mask, and nothing between it and
// the shuffle lets one of them go elsewhere; so each lane that the mask names comes to the shuffle with that
// mask, and the shuffle waits for them even if they part in between. Guaranteed: every ticket is given once,
// none is left out. Not guaranteed: one atomic a warp (the mask may name only some of the lanes that are on
// their way), nor any order. take_ticket_of is the form for many counters. Arguments: N BUCKETS.
#include "../common/tour.h"

// Blocks of one dimension: else the lane is not threadIdx.x % 32. OPERATIONS, if any, counts the atomics.
__device__ static unsigned take_ticket(unsigned *counter, unsigned *operations) {
  unsigned peers = __activemask();
  unsigned lane = threadIdx.x % 32, leader = __ffs(peers) - 1, first = 0;
  if (lane == leader) {
    first = atomicAdd(counter, (unsigned)__popc(peers));
    if (operations)
      atomicAdd(operations, 1u);
  }
  first = __shfl_sync(peers, first, leader);
  return first + __popc(peers & ((1u << lane) - 1));
}

// Lanes with the same bucket go together: __match_any_sync gives each of them the same mask, and masks of
// different buckets are disjoint, so that one shuffle serves them all (from sm_70 on).
__device__ static unsigned take_ticket_of(unsigned *counters, unsigned bucket) {
  unsigned peers = __match_any_sync(__activemask(), bucket);
  unsigned lane = threadIdx.x % 32, leader = __ffs(peers) - 1, first = 0;
  if (lane == leader)
    first = atomicAdd(&counters[bucket], (unsigned)__popc(peers));
  first = __shfl_sync(peers, first, leader);
  return first + __popc(peers & ((1u << lane) - 1));
}

// Which items stay: KEEP of 8, scattered.
__device__ static bool stays(unsigned item, unsigned keep) {
  return item % 8 < keep;
}

TOUR_C __global__ void compact_warp(const unsigned *items, unsigned n, unsigned keep, unsigned *kept,
                                    unsigned *count, unsigned *operations, unsigned limit) {
  (void)limit;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && stays(items[i], keep))
    kept[take_ticket(count, operations)] = i;
}

// One atomic a lane: atomicInc that never wraps counts like atomicAdd(count, 1), and since the compiler does
// not know the limit, it cannot make one of many.
TOUR_C __global__ void compact_plain(const unsigned *items, unsigned n, unsigned keep, unsigned *kept,
                                     unsigned *count, unsigned *operations, unsigned limit) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && stays(items[i], keep)) {
    kept[atomicInc(count, limit)] = i;
    if (operations)
      atomicAdd(operations, 1u);
  }
}

// ptxas makes compact_warp of this by itself: one 32-bit counter, one constant.
TOUR_C __global__ void compact_compiler(const unsigned *items, unsigned n, unsigned keep, unsigned *kept,
                                        unsigned *count, unsigned *operations, unsigned limit) {
  (void)limit;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && stays(items[i], keep)) {
    kept[atomicAdd(count, 1u)] = i;
    if (operations)
      atomicAdd(operations, 1u);
  }
}

TOUR_C __global__ void bucket_plain(const unsigned *items, unsigned n, unsigned buckets, unsigned *tickets,
                                    unsigned *counters) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    tickets[i] = atomicAdd(&counters[items[i] % buckets], 1u);
}

TOUR_C __global__ void bucket_warp(const unsigned *items, unsigned n, unsigned buckets, unsigned *tickets,
                                   unsigned *counters) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    tickets[i] = take_ticket_of(counters, items[i] % buckets);
}

#ifdef TOUR_HOST
enum { THREADS = 256 };

typedef void (*Compact)(const unsigned *, unsigned, unsigned, unsigned *, unsigned *, unsigned *, unsigned);
typedef void (*Bucket)(const unsigned *, unsigned, unsigned, unsigned *, unsigned *);

typedef struct {
  const unsigned *items; // on the device
  unsigned n, keep, buckets;
  unsigned *result, *counters, *operations;
  Compact compact;
  Bucket bucket;
} Launch;

static void launch(void *context) {
  Launch *l = (Launch *)context;
  unsigned blocks = (l->n + THREADS - 1) / THREADS;
  CHECK(cudaMemsetAsync(l->counters, 0, l->buckets * sizeof(unsigned), 0));
  if (l->compact)
    l->compact<<<blocks, THREADS>>>(l->items, l->n, l->keep, l->result, l->counters, l->operations, ~0u);
  else
    l->bucket<<<blocks, THREADS>>>(l->items, l->n, l->buckets, l->result, l->counters);
}

// Every item that stays is in the result once, and nothing else. Returns items kept for each atomic.
static double verify_compact(const char *what, Launch l, Compact kernel, const unsigned *items,
                             unsigned keep) {
  unsigned *kept = (unsigned *)tour_host_alloc(l.n * sizeof *kept), count, operations, want = 0;
  unsigned char *seen = (unsigned char *)tour_host_alloc(l.n);
  memset(seen, 0, l.n);
  l.compact = kernel;
  l.keep = keep;
  l.operations = (unsigned *)tour_zeroed(sizeof operations);
  CHECK(cudaMemset(l.result, 0xA5, l.n * sizeof *kept));
  launch(&l);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&count, l.counters, sizeof count);
  tour_download(&operations, l.operations, sizeof operations);
  tour_download(kept, l.result, l.n * sizeof *kept);
  for (unsigned i = 0; i < l.n; i++)
    want += items[i] % 8 < keep;
  if (tour_expect(count == want, "%s: %u items kept, should be %u", what, count, want))
    for (unsigned k = 0; k < count; k++) {
      unsigned i = kept[k];
      tour_expect(i < l.n && items[i] % 8 < keep && !seen[i]++,
                  "%s: kept[%u] is %u: not to keep or there twice", what, k, i);
    }
  CHECK(cudaFree(l.operations));
  free(kept);
  free(seen);
  return operations ? (double)count / operations : 0;
}

// In each bucket, the tickets are 0, 1, 2 and so on, each once.
static void verify_buckets(const char *what, Launch l, Bucket kernel, const unsigned *items) {
  unsigned *tickets = (unsigned *)tour_host_alloc(l.n * sizeof *tickets);
  unsigned *start = (unsigned *)tour_host_alloc((l.buckets + 1) * sizeof *start);
  unsigned char *seen = (unsigned char *)tour_host_alloc(l.n);
  memset(seen, 0, l.n);
  memset(start, 0, (l.buckets + 1) * sizeof *start);
  for (unsigned i = 0; i < l.n; i++)
    start[items[i] % l.buckets + 1]++;
  for (unsigned b = 0; b < l.buckets; b++)
    start[b + 1] += start[b];
  l.bucket = kernel;
  CHECK(cudaMemset(l.result, 0xA5, l.n * sizeof *tickets));
  launch(&l);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(tickets, l.result, l.n * sizeof *tickets);
  for (unsigned i = 0; i < l.n; i++) {
    unsigned b = items[i] % l.buckets, size = start[b + 1] - start[b];
    tour_expect(tickets[i] < size && !seen[start[b] + tickets[i]]++,
                "%s: item %u of bucket %u has ticket %u of %u", what, i, b, tickets[i], size);
  }
  free(tickets);
  free(start);
  free(seen);
}

static double time_of(Launch l, Compact compact, Bucket bucket, unsigned buckets) {
  l.compact = compact;
  l.bucket = bucket;
  l.buckets = buckets;
  return tour_time_us(launch, &l, 10);
}

static void run(unsigned n, unsigned buckets, bool timing) {
  unsigned *items = (unsigned *)tour_host_alloc(n * sizeof *items);
  for (unsigned i = 0; i < n; i++)
    items[i] = tour_hash(i);
  Launch l = {};
  l.items = (unsigned *)tour_upload(items, n * sizeof *items);
  l.n = n;
  l.buckets = buckets;
  l.result = (unsigned *)tour_alloc(n * sizeof *items);
  l.counters = (unsigned *)tour_alloc((buckets > 1024 ? buckets : 1024) * sizeof *items);
  verify_compact("plain", l, compact_plain, items, 4);
  verify_compact("compiler", l, compact_compiler, items, 4);
  double half = verify_compact("warp", l, compact_warp, items, 4);
  double all = verify_compact("warp", l, compact_warp, items, 8);
  verify_compact("warp", l, compact_warp, items, 1);
  verify_buckets("by bucket, plain", l, bucket_plain, items);
  verify_buckets("by bucket, warp", l, bucket_warp, items);
  if (timing) {
    l.keep = 8;
    double plain = time_of(l, compact_plain, NULL, 1), warp = time_of(l, compact_warp, NULL, 1);
    double compiler = time_of(l, compact_compiler, NULL, 1);
    tour_figure("aggregate.plain_us", plain, "us");
    tour_figure("aggregate.compiler_us", compiler, "us");
    tour_figure("aggregate.warp_us", warp, "us");
    tour_figure("aggregate.gain", plain / warp, "x");
    tour_figure("aggregate.compiler_gain", plain / compiler, "x");
    tour_figure("aggregate.tickets_per_atomic", all, "tickets");
    tour_figure("aggregate.tickets_per_atomic_half", half, "tickets");
    tour_figure("aggregate.bucket_gain_4",
                time_of(l, NULL, bucket_plain, 4) / time_of(l, NULL, bucket_warp, 4), "x");
    tour_figure("aggregate.bucket_gain_1024",
                time_of(l, NULL, bucket_plain, 1024) / time_of(l, NULL, bucket_warp, 1024), "x");
  }
  CHECK(cudaFree((void *)l.items));
  CHECK(cudaFree(l.result));
  CHECK(cudaFree(l.counters));
  free(items);
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N [BUCKETS]]");
  unsigned n = (unsigned)tour_arg(0, 50021, 1, 1 << 24);
  unsigned buckets = (unsigned)tour_arg(1, 7, 1, 1 << 20);
  run(n, buckets, false);
  run(1, 1, false);
  run(33, 40, false);
  if (tour.timing)
    run(1u << 24, buckets, true);
  return tour_end("tickets of %u items, one counter and %u, each given once", n, buckets);
}
#endif
