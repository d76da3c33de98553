// run: 0 128 0
// stdout: met
// seconds: 60
// run: 1 128 0
// exit: 124
// stderr~ ^muster: .*meet.*can(not| never) become resident
// seconds: 20
// cpu: hangs
// run: 0 1024 20000
// stdout: met
// run: 1 1024 20000
// exit: 124
// stderr~ ^muster: .* 1 of its 129 blocks can(not| never) become resident.* 128 fit
// seconds: 20
// cpu: hangs
// run: 0 256 0
// options: --gpu t4
// stdout: met
// run: 1 256 0
// options: --gpu t4
// exit: 124
// stderr~ 161
// stderr~ 160
// seconds: 20
// cpu: hangs
// A barrier in which every block waits for every other: ends over as many blocks as can be resident, and over
// MORE of them it never can, which is said at once and with both numbers.
// Arguments: MORE THREADS SHARED_BYTES.
#include "run.h"

__global__ void meet(unsigned *arrived, unsigned *left) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (*(volatile unsigned *)arrived < gridDim.x)
      ;
    atomicAdd(left, 1);
  }
  __syncthreads();
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  int threads = atoi(argv[2]), shared = atoi(argv[3]), fits, processors;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, meet, threads, shared));
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  unsigned *words = device_zeros<unsigned>(2);
  unsigned blocks = fits * processors + atoi(argv[1]);
  meet<<<blocks, threads, shared>>>(words, words + 1);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(words + 1) == blocks);
  puts("met");
}
