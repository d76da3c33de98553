// lock: seed 001, section 5.4 calls atomicCAS the base of every other atomic operation; for data wider than
// an atomic it is the base of a lock. Two things make it right:
// - fences on both sides of the section: atomicCAS and atomicExch themselves order nothing else;
// - its shape: the lane that has the lock gives it back before the lanes of its warp meet again. A loop that
//   waits first and works afterwards never ends before Volta: broken/spin_lock_in_warp.cu.
// Without the fences: broken/exchange_as_lock_no_fence.cu.
// usage: lock [N]  N threads, each enters ROUNDS times
#include "../common/tour.h"

enum { BLOCK = 96, ROUNDS = 3 };

struct account { // plain data: only the lock keeps it whole
  unsigned entries;
  unsigned long long sum;
  unsigned last; // who was inside last
};

TOUR_C __global__ void enter(unsigned *lock, struct account *account, unsigned *before, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  for (int round = 0; round < ROUNDS; round++)
    for (bool done = false; !done;)
      if (atomicCAS(lock, 0u, 1u) == 0) {
        __threadfence(); // acquire: what the owner before us wrote comes before our reads
        before[account->entries] = account->last;
        account->entries += 1;
        account->sum += tour_hash((unsigned)(round * n + i));
        account->last = (unsigned)i;
        __threadfence(); // release: our writes come before the lock is seen free
        atomicExch(lock, 0u);
        done = true;
      }
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 500, 1, 20000), entries = n * ROUNDS;
  unsigned *lock = (unsigned *)tour_zeroed(sizeof *lock);
  struct account result, first = {0, 0, (unsigned)n};
  struct account *account = (struct account *)tour_upload(&first, sizeof first);
  unsigned *before = (unsigned *)tour_alloc((size_t)entries * sizeof *before);

  enter<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(lock, account, before, n);
  CHECK(cudaGetLastError());
  tour_sync();

  unsigned long long sum = 0;
  for (int i = 0; i < entries; i++)
    sum += tour_hash((unsigned)i);
  tour_download(&result, account, sizeof result);
  tour_expect_int("entries", 0, result.entries, entries);
  tour_expect_int("sum", 0, (long long)result.sum, (long long)sum);

  // Everybody found the mark of the one before: in the list of marks each thread stands ROUNDS times, the
  // first mark is the host's.
  unsigned *mark = (unsigned *)tour_host_alloc((size_t)(entries + 1) * sizeof *mark);
  int *times = (int *)calloc((size_t)n + 1, sizeof *times);
  if (!times)
    tour_fail("no host memory");
  tour_download(mark, before, (size_t)entries * sizeof *mark);
  mark[entries] = result.last;
  for (int i = 0; i <= entries; i++)
    if (tour_expect(mark[i] <= (unsigned)n, "mark[%d] is %#x", i, mark[i]))
      times[mark[i]]++;
  tour_expect_int("mark", 0, mark[0], n);
  for (int i = 0; i <= n; i++)
    tour_expect_int("entries of thread", i, times[i], i < n ? ROUNDS : 1);
  return tour_end("%d threads entered %d times under one lock", n, entries);
}
#endif
