// broken: before sm_70 the lane that has the lock waits for the lanes that want it; rule: deadlock-spin
// A loop that takes the lock, then the section, then the unlock. Lanes of one warp in lockstep leave the
// loop together: the winner waits at its end for the losers, the losers for the winner's unlock, for ever.
// From Volta on every lane makes progress of its own and this ends, correctly but slowly; an older GPU, or
// `muster run --gpu p100`, never ends. Compiled only. The shape that ends everywhere: ../lock.cu.
#include "../../common/tour.h"

TOUR_C __global__ void enter(unsigned *lock, unsigned *account, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  while (atomicCAS(lock, 0u, 1u) != 0)
    ;
  __threadfence();
  *account += tour_hash((unsigned)i);
  __threadfence();
  atomicExch(lock, 0u);
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 32, 1, 1024);
  unsigned *lock = (unsigned *)tour_zeroed(sizeof *lock);
  unsigned *account = (unsigned *)tour_zeroed(sizeof *account), sum, want = 0;
  enter<<<(n + 31) / 32, 32>>>(lock, account, n);
  CHECK(cudaGetLastError());
  tour_sync();
  for (int i = 0; i < n; i++)
    want += tour_hash((unsigned)i);
  tour_download(&sum, account, sizeof sum);
  return tour_end_broken(sum != want, 1, "sums");
}
#endif
