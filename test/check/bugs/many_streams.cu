// broken: race-launch
// Forty launches at once, each in a stream of its own; the last reads what the first writes and waits for
// nobody.
#include "../check.h"

enum { STREAMS = 40, THREADS = 32 };

__global__ void copy(const unsigned *from, unsigned *to) {
  to[threadIdx.x] = from[threadIdx.x] + 1;
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  unsigned *words = device_zeros<unsigned>((STREAMS + 1) * THREADS);
  CHECK(cudaDeviceSynchronize()); // a fill is over when its stream is
  cudaStream_t streams[STREAMS];
  cudaEvent_t first;
  CHECK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
  for (int i = 0; i < STREAMS; i++)
    CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
  for (int i = 0; i < STREAMS - 1; i++)
    copy<<<1, THREADS, 0, streams[i]>>>(words + STREAMS * THREADS, words + i * THREADS);
  CHECK(cudaEventRecord(first, streams[0]));
  if (fixed)
    CHECK(cudaStreamWaitEvent(streams[STREAMS - 1], first, 0));
  copy<<<1, THREADS, 0, streams[STREAMS - 1]>>>(words, words + (STREAMS - 1) * THREADS);
  CHECK(cudaDeviceSynchronize());
  EXPECT(!fixed || download(words + (STREAMS - 1) * THREADS) == 2);
}
