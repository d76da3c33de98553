/* rows.c: launches the kernel of rows.cu from its PTX, on whatever device there is. `rows rows.ptx` */
#include <muster.h>
#include <muster/types.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 5, COLUMNS = 3000, BLOCKS = 4, THREADS = 96 };

static void check(muster_result result) {
  if (result == MUSTER_OK)
    return;
  fprintf(stderr, "rows: %s: %s\n", muster_result_name(result), muster_message());
  exit(1);
}

int main(int argc, char **argv) {
  static float in[ROWS][COLUMNS];
  float sums[ROWS], expected[ROWS] = {0};
  if (argc != 2)
    return fprintf(stderr, "usage: rows FILE.ptx\n"), 2;
  for (int row = 0; row < ROWS; row++)
    for (int i = 0; i < COLUMNS; i++) {
      in[row][i] = (float)((row + 1) * i % 9);
      expected[row] += in[row][i];
    }

  muster_device *device;
  muster_module *module;
  muster_kernel *kernel;
  check(muster_open(NULL, &device));
  check(muster_module_open(device, argv[1], &module));
  check(muster_module_find(module, "row_sums", &kernel));

  uint64_t at_in, at_sums, workspace;
  const size_t workspace_bytes = ROWS * MU_SLOT_BYTES(BLOCKS);
  check(muster_alloc(device, sizeof in, &at_in));
  check(muster_alloc(device, sizeof sums, &at_sums));
  check(muster_alloc(device, workspace_bytes, &workspace));
  check(muster_copy_in(device, at_in, in, sizeof in));
  check(muster_fill_bytes(device, at_sums, 0, sizeof sums));
  check(muster_fill_bytes(device, workspace, 0, workspace_bytes));

  /* Blocks that wait for each other have to be resident together: a cooperative launch, or none. */
  muster_launch launch = MUSTER_LAUNCH_INIT;
  launch.grid[0] = BLOCKS;
  launch.grid[1] = ROWS;
  launch.block[0] = THREADS;
  launch.cooperative = 1;
  uint32_t columns = COLUMNS;
  void *parameters[] = {&workspace, &at_in, &columns, &at_sums};
  check(muster_kernel_launch(kernel, &launch, parameters));
  check(muster_copy_out(device, sums, at_sums, sizeof sums));
  muster_close(device);

  int wrong = 0;
  for (int row = 0; row < ROWS; row++)
    wrong |= sums[row] != expected[row];
  printf("rows: %d sums %s\n", ROWS, wrong ? "WRONG" : "right");
  return wrong;
}
