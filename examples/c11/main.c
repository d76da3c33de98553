/* main.c DOT.ptx: the host, plain C11 over libmuster: a dot product on whatever device MUSTER_DEVICE names.
 */
#include <stdio.h>
#include <stdlib.h>

#include "muster.h"

static void check(muster_result r) {
  if (r != MUSTER_OK) {
    fprintf(stderr, "%s: %s\n", muster_result_name(r), muster_message());
    exit(1);
  }
}

int main(int argc, char **argv) {
  enum { N = 64 * 256 };
  static float a[N], b[N];
  float sum = 0;
  uint32_t n = N;
  uint64_t on_a, on_b, on_sum;
  muster_device *device;
  muster_module *module;
  muster_kernel *dot;
  for (int i = 0; i < N; i++) {
    a[i] = 1;
    b[i] = (float)(i % 4);
  }
  check(muster_open(NULL, &device));
  check(muster_module_open(device, argc > 1 ? argv[1] : "dot.ptx", &module));
  check(muster_module_find(module, "dot", &dot));
  check(muster_alloc(device, sizeof a, &on_a));
  check(muster_alloc(device, sizeof b, &on_b));
  check(muster_alloc(device, sizeof sum, &on_sum));
  check(muster_copy_in(device, on_a, a, sizeof a));
  check(muster_copy_in(device, on_b, b, sizeof b));
  check(muster_copy_in(device, on_sum, &sum, sizeof sum));

  muster_launch launch = MUSTER_LAUNCH_INIT;
  launch.grid[0] = 64;
  launch.block[0] = 128;
  void *parameters[] = {&on_a, &on_b, &n, &on_sum};
  check(muster_kernel_launch(dot, &launch, parameters));
  check(muster_copy_out(device, &sum, on_sum, sizeof sum));
  muster_close(device);

  printf("dot product of %d elements: %g\n", N, (double)sum);
  return sum == 1.5f * N ? 0 : 1;
}
