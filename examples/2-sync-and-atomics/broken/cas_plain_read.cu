// broken: the first read of the atomicCAS loop is a plain one; rule: race-global
// Seed 001, section 5.4, prints it so. A plain read beside atomics on the same word is a data race: the
// compiler may split it, repeat it or move it. Today's GPUs read an old value at worst, the first atomicCAS
// then fails and the sum still comes out right: nothing but the rule shows the fault.
// The right form, a volatile first read: ../cas_atomics.cu.
#include "../../common/tour.h"

TOUR_C __global__ void add(double *cell, const double *value, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n)
    return;
  unsigned long long *bits = (unsigned long long *)cell, assumed, old = *bits;
  do {
    assumed = old;
    double sum = __longlong_as_double((long long)assumed) + value[i];
    old = atomicCAS(bits, assumed, (unsigned long long)__double_as_longlong(sum));
  } while (old != assumed);
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 500, 1, 10000);
  double *value = (double *)tour_host_alloc((size_t)n * sizeof *value), sum, want = 0;
  for (int i = 0; i < n; i++)
    want += value[i] = (int)(tour_hash((unsigned)i) % 2001) - 1000;
  double *cell = (double *)tour_zeroed(sizeof *cell);
  add<<<(n + 95) / 96, 96>>>(cell, (double *)tour_upload(value, (size_t)n * sizeof *value), n);
  CHECK(cudaGetLastError());
  tour_sync();
  tour_download(&sum, cell, sizeof sum);
  return tour_end_broken(sum != want, 1, "sums");
}
#endif
