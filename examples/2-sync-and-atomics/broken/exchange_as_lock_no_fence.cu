// broken: a lock of atomicCAS and atomicExch without fences; rule: missing-release, missing-acquire
// The two atomics order themselves and nothing else. The new owner may read the account as it was before the
// last owner's writes (no acquire), and those may arrive after the lock is seen free (no release). The wait
// is bounded and one thread a block tries, so that it ends under every scheduler.
// The right form: ../lock.cu.
#include "../../common/tour.h"

enum { TRIES = 1000000 };

TOUR_C __global__ void enter(unsigned *lock, unsigned *account, unsigned *entered) {
  for (int tries = 0; tries < TRIES; tries++)
    if (atomicCAS(lock, 0u, 1u) == 0) {
      *account += 1;
      atomicExch(lock, 0u);
      entered[blockIdx.x] = 1;
      return;
    }
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 200, 1, 2000);
  unsigned first = tour_hash((unsigned)n) >> 1, last, want = 0;
  unsigned *lock = (unsigned *)tour_zeroed(sizeof *lock);
  unsigned *account = (unsigned *)tour_upload(&first, sizeof first);
  unsigned *entered = (unsigned *)tour_zeroed((size_t)n * sizeof *entered);
  enter<<<n, 1>>>(lock, account, entered);
  CHECK(cudaGetLastError());
  tour_sync();
  unsigned *in = (unsigned *)tour_host_alloc((size_t)n * sizeof *in);
  tour_download(in, entered, (size_t)n * sizeof *in);
  tour_download(&last, account, sizeof last);
  for (int i = 0; i < n; i++)
    want += in[i];
  return tour_end_broken(want - (last - first), want, "entries");
}
#endif
