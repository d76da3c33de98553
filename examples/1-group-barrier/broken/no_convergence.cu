// broken: thread 0 arrives while its block still writes; rule: missing-release, race-global
// The published sync_ctas (seed 000, "A barrier of our own across blocks"), reworded: no block
// barrier stands before the arrival, so the arrival speaks for one thread only. Other blocks go on and read
// what warps that are late have not written yet. Here some warps are made late; with warps in step the fault
// hides. It cannot hang. The right form: ../sync_ctas.cuh. Argument: ROUNDS. --time measures it as published,
// packed words.
#include "../../common/tour.h"

__device__ static inline void published_sync(unsigned *bar) {
  if (threadIdx.x == 0) { // missing before this line: __syncthreads()
    const unsigned share = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
    unsigned before, now;
    __threadfence();
    before = atomicAdd(bar, share);
    do
      __asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(bar) : "memory");
    while (((before ^ now) & 0x80000000u) == 0);
  }
  __barrier_sync(0);
}

// A word a thread. WRONG, where given: count of words that were not what their block wrote in this round.
__global__ void reset(unsigned *words, unsigned length, unsigned *barriers, unsigned rounds,
                      unsigned *wrong) {
  const unsigned all = gridDim.x * blockDim.x, mine = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned theirs = (mine + blockDim.x) % all;
  unsigned *segment = words + blockIdx.y * all, different = 0;
  for (unsigned round = 0; round < rounds; round++) {
    if (wrong && threadIdx.x >= 32 && blockIdx.x == round % gridDim.x)
      __nanosleep(5000); // work that takes these warps longer
    if (mine < length)
      segment[mine] = tour_hash(mine) + round;
    published_sync(barriers + blockIdx.y);
    if (wrong) {
      if (theirs < length)
        different += segment[theirs] != tour_hash(theirs) + round;
      published_sync(barriers + blockIdx.y);
    }
  }
  if (wrong)
    atomicAdd(wrong, different);
}

#ifdef TOUR_HOST
enum { BLOCKS = 4, GROUPS = 32, THREADS = 128, LENGTH = BLOCKS * THREADS };
struct run {
  unsigned *words, *barriers, *wrong, length;
  int rounds;
};

static void launch(void *context) {
  struct run *run = (struct run *)context;
  void *args[] = {&run->words, &run->length, &run->barriers, &run->rounds, &run->wrong};
  CHECK(cudaLaunchCooperativeKernel((const void *)reset, dim3(BLOCKS, GROUPS), dim3(THREADS), args, 0, 0));
}

int main(int argc, char **argv) {
  tour_begin(argc, argv, "[ROUNDS]");
  const int rounds = (int)tour_arg(0, 10, 1, 1000);
  const unsigned long reads = (unsigned long)GROUPS * LENGTH * rounds;
  struct run run = {NULL, NULL, NULL, LENGTH, rounds};
  unsigned wrong;
  run.words = (unsigned *)tour_alloc(GROUPS * LENGTH * sizeof(unsigned));
  run.barriers = (unsigned *)tour_zeroed(GROUPS * sizeof(unsigned));
  run.wrong = (unsigned *)tour_zeroed(sizeof(unsigned));
  launch(&run);
  tour_sync();
  tour_download(&wrong, run.wrong, sizeof wrong);

  if (tour.timing) {
    tour_figure("published.wrong_percent", 100.0 * wrong / reads, "%");
    run.wrong = NULL;
    run.rounds = 10;
    tour_figure("published.launch_us", tour_time_us(launch, &run, 20), "us");
    run.length = 0; // barriers only
    tour_figure("published.sync_ns", tour_slope_ns(launch, &run, &run.rounds, 2000, 10000, 15), "ns");
  }
  return tour_end_broken(wrong, reads, "words read after the barrier");
}
#endif
