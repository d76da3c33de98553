// broken: missing-release
// options: --schedules 64
// The holder of a lock writes and lets the lock go without a fence. Block 0 looks at the data only if it
// comes second.
#include "../check.h"

struct shared_state {
  unsigned lock, ready, data;
};

template <bool fixed> __global__ void hand_over(struct shared_state *s, unsigned *out) {
  while (atomicCAS(&s->lock, 0, 1) != 0)
    ;
  __threadfence();
  if (blockIdx.x == 1) {
    s->data = 42;
    atomicExch(&s->ready, 1);
  } else if (atomicAdd(&s->ready, 0)) {
    *out = s->data;
  }
  if (fixed)
    __threadfence();
  atomicExch(&s->lock, 0);
}

int main(int argc, char **argv) {
  bool fixed = fixed_form(argc, argv);
  struct shared_state *s = device_zeros<struct shared_state>(1);
  unsigned *out = device_zeros<unsigned>(1);
  (fixed ? hand_over<true> : hand_over<false>)<<<2, 1>>>(s, out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(out) == 0 || download(out) == 42);
}
