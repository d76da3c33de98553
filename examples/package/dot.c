/* dot.c: a dot product on whatever device there is, in plain C: MUSTER_DEVICE=gpu or cpu chooses. */
#include <muster.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 100000 };

/* Ends the program where a call failed, with the library's words. */
static void check(muster_result result) {
  if (result == MUSTER_OK)
    return;
  fprintf(stderr, "dot: %s: %s\n", muster_result_name(result), muster_message());
  exit(1);
}

int main(void) {
  static float x[N], y[N];
  double expected = 0;
  for (int i = 0; i < N; i++) {
    x[i] = (float)(i % 7);
    y[i] = (float)(i % 5) - 2;
    expected += (double)x[i] * y[i]; /* small integers: every sum is exact */
  }

  muster_device *device;
  check(muster_open(NULL, &device));
  uint64_t at_x, at_y, at_out, workspace;
  size_t bytes;
  check(muster_dot_workspace(device, MUSTER_f32, N, &bytes));
  check(muster_alloc(device, sizeof x, &at_x));
  check(muster_alloc(device, sizeof y, &at_y));
  check(muster_alloc(device, sizeof(float), &at_out));
  check(muster_alloc(device, bytes, &workspace));
  check(muster_copy_in(device, at_x, x, sizeof x));
  check(muster_copy_in(device, at_y, y, sizeof y));
  check(muster_fill_bytes(device, workspace, 0, bytes));

  muster_call call = MUSTER_CALL_INIT;
  call.workspace = workspace;
  call.workspace_bytes = bytes;
  float dot;
  check(muster_dot(device, &call, MUSTER_f32, at_x, at_y, N, at_out));
  check(muster_copy_out(device, &dot, at_out, sizeof dot));

  muster_device_info info = MUSTER_DEVICE_INFO_INIT;
  check(muster_device_get(device, &info));
  printf("dot: %g on %s, %g expected\n", dot, info.name, expected);
  muster_close(device);
  return dot == expected ? 0 : 1;
}
