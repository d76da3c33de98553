// broken: the mask names lanes that never come to the shuffle; rule: warp-mask
//
// The aggregated counter of section 6.4 of seed 001 with a full mask instead of the mask of the lanes that
// are there. Lanes whose item does not stay are named, and wait elsewhere: at a warp barrier that needs the
// others. Only built: it may hang. Right: ../warp_aggregate.cu.
#include "../../common/tour.h"

TOUR_C __global__ void compact(const unsigned *items, unsigned *kept, unsigned *count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (items[i] % 2) {
    unsigned peers = __activemask(), leader = __ffs(peers) - 1, first = 0;
    if (lane == leader)
      first = atomicAdd(count, (unsigned)__popc(peers));
    first = __shfl_sync(0xffffffffu, first, leader);
    kept[first + __popc(peers & ((1u << lane) - 1))] = i;
  }
  __syncwarp();
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  enum { N = 1024 };
  tour_begin(argc, argv, "");
  unsigned items[N], kept[N], count, want = 0, wrong = 0;
  for (unsigned i = 0; i < N; i++)
    want += (items[i] = tour_hash(i)) % 2;
  unsigned *device_kept = (unsigned *)tour_alloc(sizeof kept),
           *device_count = (unsigned *)tour_zeroed(sizeof count);
  compact<<<N / 128, 128>>>((unsigned *)tour_upload(items, sizeof items), device_kept, device_count);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(kept, device_kept, sizeof kept);
  tour_download(&count, device_count, sizeof count);
  for (unsigned k = 0; k < want; k++)
    wrong += k >= count || kept[k] >= N || items[kept[k]] % 2 == 0;
  return tour_end_broken(wrong, want, "items");
}
#endif
