// groups: sections 7.1 and 7.2 of "Synchronisation and atomics" (seed 001). Cooperative groups of every size:
// tiles of 1 to 32 threads, tiles of several warps (64 to 512; the seed stops at 32), the block, and the
// threads of a warp that took a branch. Each group adds up its values in shared memory with no other barrier
// than group.sync(); rank, size, place and sum are checked for every thread. The printed example calls
// coalesced_threads() "the current warp": it is those lanes of it that are together there, maybe one alone.
// Arguments: X Y Z (the block's shape; tiles are cut by linear rank, where the block's size is a multiple).
// Needs cooperative_groups.h, so it is C++, with templates: every tile size is a type of its own.
#include <cooperative_groups.h>
#include "../common/tour.h"

namespace cg = cooperative_groups;

typedef struct {
  unsigned rank, size, place; // in the group; of the group; which group of the block
  unsigned sum;
} Seen;

// Sum of the group's values, for every member. ROOM holds a word for each of them.
template <typename Group> __device__ static unsigned group_sum(Group group, unsigned *room, unsigned value) {
  unsigned rank = group.thread_rank();
  room[rank] = value;
  for (unsigned left = group.size(); left > 1; left = (left + 1) / 2) {
    unsigned half = (left + 1) / 2;
    group.sync();
    if (rank + half < left)
      room[rank] += room[rank + half];
  }
  group.sync();
  unsigned sum = room[0];
  group.sync(); // the room may be used again
  return sum;
}

// Cycles that ROUNDS syncs took, seen by the caller.
template <typename Group> __device__ static long long sync_cycles(Group group, unsigned rounds) {
  group.sync();
  long long start = clock64();
#pragma unroll 8
  for (unsigned i = 0; i < rounds; i++)
    group.sync();
  return clock64() - start;
}

// The sums twice, so that the room is used again.
template <unsigned SIZE> __global__ void tile_sums(const unsigned *values, Seen *seen) {
  __shared__ cg::block_tile_memory<1024> memory; // tiles above 32 need it before sm_80
  __shared__ unsigned room[1024];
  cg::thread_block block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<SIZE>(block);
  unsigned i = blockIdx.x * block.size() + block.thread_rank();
  unsigned *mine = room + block.thread_rank() - tile.thread_rank();
  unsigned once = group_sum(tile, mine, values[i]), twice = group_sum(tile, mine, values[i] + once);
  Seen s = {tile.thread_rank(), (unsigned)tile.size(), tile.meta_group_rank(), twice};
  seen[i] = s;
}

template <unsigned SIZE> __global__ void tile_sync(long long *cycles, unsigned rounds) {
  __shared__ cg::block_tile_memory<1024> memory;
  cg::thread_block block = cg::this_thread_block(memory);
  long long spent = sync_cycles(cg::tiled_partition<SIZE>(block), rounds);
  if (block.thread_rank() == 0)
    *cycles = spent;
}

__global__ void block_sums(const unsigned *values, Seen *seen) {
  __shared__ unsigned room[1024];
  cg::thread_block block = cg::this_thread_block();
  unsigned i = blockIdx.x * block.size() + block.thread_rank();
  unsigned once = group_sum(block, room, values[i]), twice = group_sum(block, room, values[i] + once);
  Seen s = {block.thread_rank(), block.size(), 0, twice};
  seen[i] = s;
}

__global__ void block_sync(long long *cycles, unsigned rounds) {
  cg::thread_block block = cg::this_thread_block();
  long long spent = sync_cycles(block, rounds);
  if (block.thread_rank() == 0)
    *cycles = spent;
}

__global__ void grid_sync(long long *cycles, unsigned rounds) {
  long long spent = sync_cycles(cg::this_grid(), rounds);
  if (cg::this_grid().thread_rank() == 0)
    *cycles = spent;
}

// The lanes with an odd value. Which of them are together is not up to us: PLACE is the lowest lane of the
// group, and the host checks that the groups partition those lanes. NEXT is what the group's next member left
// in shared memory.
__global__ void coalesced_sums(const unsigned *values, Seen *seen, unsigned *next) {
  __shared__ unsigned room[1024];
  cg::thread_block block = cg::this_thread_block();
  unsigned rank = block.thread_rank(), i = blockIdx.x * block.size() + rank, value = values[i];
  if (value % 2) {
    cg::coalesced_group group = cg::coalesced_threads();
    unsigned sum = 0;
    for (unsigned member = 0; member < group.size(); member++)
      sum += group.shfl(value, member);
    Seen s = {group.thread_rank(), group.size(), group.shfl(rank, 0), sum};
    seen[i] = s;
    unsigned follower = group.shfl(rank, (group.thread_rank() + 1) % group.size());
    room[rank] = ~value;
    group.sync();
    next[i] = room[follower];
  }
}

#ifdef TOUR_HOST
enum { BLOCKS = 3 };

typedef struct {
  unsigned size; // 0: the block
  void (*sums)(const unsigned *, Seen *);
  void (*sync)(long long *, unsigned);
} Kind;

#define KIND(size) {size, tile_sums<size>, tile_sync<size>}
static const Kind kinds[] = {KIND(1),
                             KIND(2),
                             KIND(4),
                             KIND(8),
                             KIND(16),
                             KIND(32),
                             KIND(64),
                             KIND(128),
                             KIND(256),
                             KIND(512),
                             {0, block_sums, block_sync}};

static void verify_contiguous(const Kind *kind, dim3 shape, const unsigned *values,
                              const unsigned *device_values, Seen *seen, Seen *device_seen) {
  unsigned threads = shape.x * shape.y * shape.z, size = kind->size ? kind->size : threads;
  if (threads % size)
    return; // such a block cannot be cut into these tiles
  size_t bytes = BLOCKS * threads * sizeof *seen;
  CHECK(cudaMemset(device_seen, 0xA5, bytes));
  kind->sums<<<BLOCKS, shape>>>(device_values, device_seen);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(seen, device_seen, bytes);
  for (unsigned first = 0; first < BLOCKS * threads; first += size) {
    unsigned once = 0, twice = 0;
    for (unsigned r = 0; r < size; r++)
      once += values[first + r];
    for (unsigned r = 0; r < size; r++)
      twice += values[first + r] + once;
    for (unsigned r = 0; r < size; r++) {
      const Seen *s = &seen[first + r];
      tour_expect(s->rank == r && s->size == size && s->place == first % threads / size && s->sum == twice,
                  "groups of %u: thread %u has rank %u of %u, place %u, sum %u, should have %u of %u, %u, %u",
                  size, first + r, s->rank, s->size, s->place, s->sum, r, size, first % threads / size,
                  twice);
    }
  }
}

// The groups are whatever they are, but: each odd lane is in one group, ranks follow the lanes, sums are
// right.
static void verify_coalesced(dim3 shape, const unsigned *values, const unsigned *device_values, Seen *seen,
                             Seen *device_seen) {
  unsigned threads = shape.x * shape.y * shape.z, all = BLOCKS * threads;
  unsigned *next = (unsigned *)tour_host_alloc(all * sizeof *next);
  unsigned *device_next = (unsigned *)tour_alloc(all * sizeof *next);
  CHECK(cudaMemset(device_seen, 0xA5, all * sizeof *seen));
  coalesced_sums<<<BLOCKS, shape>>>(device_values, device_seen, device_next);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(seen, device_seen, all * sizeof *seen);
  tour_download(next, device_next, all * sizeof *next);
  for (unsigned i = 0; i < all; i++) {
    if (values[i] % 2 == 0)
      continue;
    // All the members: threads of this warp with the same place.
    unsigned block = i - i % threads, warp = i % threads / 32 * 32;
    unsigned size = 0, rank = 0, sum = 0, lowest = 0, follower = i, wrap = i;
    for (unsigned t = warp; t < threads && t < warp + 32; t++) {
      unsigned j = block + t;
      if (values[j] % 2 == 0 || seen[j].place != seen[i].place)
        continue;
      if (size++ == 0)
        lowest = t, wrap = j;
      rank += j < i;
      sum += values[j];
      if (j > i && follower == i)
        follower = j;
    }
    if (follower == i)
      follower = wrap;
    tour_expect(seen[i].rank == rank && seen[i].size == size && seen[i].place == lowest &&
                    seen[i].sum == sum && next[i] == ~values[follower],
                "coalesced: thread %u has rank %u of %u, sum %u, next %u, should have %u of %u, %u, %u", i,
                seen[i].rank, seen[i].size, seen[i].sum, next[i], rank, size, sum, ~values[follower]);
  }
  CHECK(cudaFree(device_next));
  free(next);
}

static void verify(dim3 shape) {
  unsigned all = BLOCKS * shape.x * shape.y * shape.z;
  unsigned *values = (unsigned *)tour_host_alloc(all * sizeof *values);
  for (unsigned i = 0; i < all; i++)
    values[i] = tour_hash(i + 77 * all);
  unsigned *device_values = (unsigned *)tour_upload(values, all * sizeof *values);
  Seen *seen = (Seen *)tour_host_alloc(all * sizeof *seen),
       *device_seen = (Seen *)tour_alloc(all * sizeof *seen);
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
    verify_contiguous(&kinds[k], shape, values, device_values, seen, device_seen);
  verify_coalesced(shape, values, device_values, seen, device_seen);
  CHECK(cudaFree(device_values));
  CHECK(cudaFree(device_seen));
  free(values);
  free(seen);
}

// Cycles a sync: slope between two counts, median of 9. 512 threads a block; a grid has a block on each SM.
static double cycles_a_sync(void (*kernel)(long long *, unsigned), unsigned blocks) {
  enum { FEW = 200, MANY = 1000, RUNS = 9 };
  long long *cycles = (long long *)tour_alloc(sizeof *cycles), spent[2];
  double slopes[RUNS];
  for (int run = -1; run < RUNS; run++) { // the first one only warms up
    for (unsigned k = 0; k < 2; k++) {
      unsigned rounds = k ? MANY : FEW;
      void *arguments[] = {&cycles, &rounds};
      if (blocks > 1)
        CHECK(cudaLaunchCooperativeKernel((const void *)kernel, dim3(blocks), dim3(512), arguments, 0, 0));
      else
        CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(512), arguments, 0, 0));
      tour_sync();
      tour_download(&spent[k], cycles, sizeof *cycles);
    }
    if (run >= 0)
      slopes[run] = (double)(spent[1] - spent[0]) / (MANY - FEW);
  }
  CHECK(cudaFree(cycles));
  return tour_median(slopes, RUNS);
}

static void measure(void) {
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    char key[64] = "groups.block_cycles";
    if (kinds[k].size)
      snprintf(key, sizeof key, "groups.tile%u_cycles", kinds[k].size);
    tour_figure(key, cycles_a_sync(kinds[k].sync, 1), "cycles");
  }
  tour_figure("groups.grid_cycles", cycles_a_sync(grid_sync, (unsigned)tour.device.multiProcessorCount),
              "cycles");
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[X [Y [Z]]]");
  unsigned x = (unsigned)tour_arg(0, 8, 1, 1024), y = (unsigned)tour_arg(1, 4, 1, 1024);
  unsigned z = (unsigned)tour_arg(2, 16, 1, 64);
  if ((unsigned long long)x * y * z > 1024) {
    fprintf(stderr, "%s: a block has at most 1024 threads, not %u x %u x %u\n", tour.name, x, y, z);
    return TOUR_USAGE;
  }
  verify(dim3(x, y, z));
  verify(dim3(1));
  verify(dim3(33, 3));
  verify(dim3(96));
  verify(dim3(1024));
  if (tour.timing)
    measure();
  return tour_end("groups of 1 to 512 threads, of a block and of a branch, blocks of %u x %u x %u", x, y, z);
}
#endif
