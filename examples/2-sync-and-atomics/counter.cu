// counter: seed 001, section 5.1. Every thread adds one to one counter. An atomic add is one indivisible
// read, change and write, so no increment is lost; and since it returns the value it found, the counter is
// a ticket machine: every thread draws a number that no other thread draws.
// The form without an atomic: broken/counter_plain.cu.
// usage: counter [N]  N threads, each increments ROUNDS times
#include "../common/tour.h"

enum { BLOCK = 96, ROUNDS = 3 };

TOUR_C __global__ void count(unsigned *counter, unsigned *ticket, int n) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    for (int round = 0; round < ROUNDS; round++)
      ticket[round * n + i] = atomicAdd(counter, 1u);
}

#ifdef TOUR_HOST
int main(int argc, char **argv) {
  tour_begin(argc, argv, "[N]");
  int n = (int)tour_arg(0, 5000, 1, 10000000);
  long draws = (long)ROUNDS * n;
  unsigned first = tour_hash((unsigned)n) >> 1; // no counter needs to start at 0
  unsigned *counter = (unsigned *)tour_upload(&first, sizeof first);
  unsigned *ticket = (unsigned *)tour_alloc((size_t)draws * sizeof *ticket);

  count<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(counter, ticket, n);
  CHECK(cudaGetLastError());
  tour_sync();

  unsigned last;
  unsigned *drawn = (unsigned *)tour_host_alloc((size_t)draws * sizeof *drawn);
  unsigned char *seen = (unsigned char *)tour_host_alloc((size_t)draws);
  tour_download(&last, counter, sizeof last);
  tour_download(drawn, ticket, (size_t)draws * sizeof *drawn);
  tour_expect_int("counter", 0, last, (long long)first + draws);

  // A permutation: every ticket in range and drawn once.
  memset(seen, 0, (size_t)draws);
  for (long i = 0; i < draws; i++) {
    unsigned number = drawn[i] - first;
    int fresh = number < (unsigned long)draws && !seen[number];
    if (fresh)
      seen[number] = 1;
    tour_expect(fresh, "ticket[%ld] is %u, drawn before or out of range", i, drawn[i]);
  }
  // One thread's tickets rise: operations on one word have one order that agrees with every thread's own.
  for (int i = 0; i < n; i++)
    for (int round = 1; round < ROUNDS; round++)
      tour_expect(drawn[round * (long)n + i] - first > drawn[(round - 1) * (long)n + i] - first,
                  "thread %d drew %u after %u", i, drawn[round * (long)n + i],
                  drawn[(round - 1) * (long)n + i]);
  return tour_end("%d threads drew %ld tickets, each of them once", n, draws);
}
#endif
