// payload.h: what the broken barriers of this folder have in common: plain payload through broken_sync(),
// between neighbours, in rounds. A broken barrier may still pass on a GPU, so the program ends with 0 either
// way and says what it saw; the inspection has to find the fault in every run.
#ifndef BROKEN_PAYLOAD_H
#define BROKEN_PAYLOAD_H

#include <cuda_runtime.h>
#include <stdio.h>
#include "muster/insn.cuh"

enum { BLOCKS = 8, THREADS = 64, ROUNDS = 20, LOOKS_MAX = 1 << 22 };

// Waits until *word shows `all` arrivals, by looks of the kind the barrier wants; bounded.
#define WATCH(load, word, all)                                                 \
  for (unsigned looks = 0; load(word) < (all) && looks < LOOKS_MAX; looks++) { \
  }

static __device__ void broken_sync(mu_u64 *word, mu_u64 all);

static __global__ void rounds(mu_u64 *word, unsigned *payload, unsigned *wrong) {
  unsigned me = mu_block(), i = mu_thread(), from = (me + 1) % BLOCKS;
  for (unsigned round = 1; round <= ROUNDS; round++) {
    unsigned *now = payload + round % 2 * BLOCKS * THREADS;
    now[me * THREADS + i] = round * 1000 + me * THREADS + i;
    broken_sync(word, (mu_u64)round * BLOCKS);
    if (now[from * THREADS + i] != round * 1000 + from * THREADS + i)
      atomicAdd(wrong, 1);
  }
}

int main(void) {
  mu_u64 *word;
  unsigned *payload, *wrong, seen = 0;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  if (cudaMalloc(&word, 8) || cudaMalloc(&payload, 2 * BLOCKS * THREADS * 4) || cudaMalloc(&wrong, 4) ||
      cudaMemset(word, 0, 8) || cudaMemset(payload, 0, 2 * BLOCKS * THREADS * 4) || cudaMemset(wrong, 0, 4))
    return 1;
  void *args[] = {&word, &payload, &wrong};
  if (cudaLaunchCooperativeKernel((const void *)rounds, dim3(BLOCKS), dim3(THREADS), args, 0, 0) ||
      cudaMemcpy(&seen, wrong, 4, cudaMemcpyDeviceToHost))
    return 1;
  printf("%u of %u values wrong\n", seen, ROUNDS * BLOCKS * THREADS);
  return 0;
}

#endif
