// broken: the loop compares doubles instead of their bits, and a NaN never ends; rule: deadlock-spin
// A NaN is unequal to itself: once the cell or a value is one, no exchange ever counts as done, though each
// succeeds and stores the same NaN again. And 0.0 equals -0.0 with other bits: an exchange that failed on
// that difference counts as done, its addition is lost. Compiled only: it hangs.
// The right form, with a NaN that ends: ../cas_atomics.cu.
#include "../../common/tour.h"

TOUR_C __global__ void add(double *cell, const double *value, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  unsigned long long *bits = (unsigned long long *)cell;
  double assumed, old = __longlong_as_double((long long)*(volatile unsigned long long *)bits);
  do {
    assumed = old;
    old = __longlong_as_double(
        (long long)atomicCAS(bits, (unsigned long long)__double_as_longlong(assumed),
                             (unsigned long long)__double_as_longlong(assumed + value[i])));
  } while (old != assumed);
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 100, 1, 10000);
  double *value = (double *)tour_host_alloc((size_t)n * sizeof *value), sum;
  for (int i = 0; i < n; i++)
    value[i] = i == n / 2 ? nan("") : (int)(tour_hash((unsigned)i) % 2001) - 1000;
  double *cell = (double *)tour_zeroed(sizeof *cell);
  add<<<(n + 95) / 96, 96>>>(cell, (double *)tour_upload(value, (size_t)n * sizeof *value), n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&sum, cell, sizeof sum);
  return tour_end_broken(sum == sum, 1, "sums");
}
#endif
