// rows.cu: the sum of each row of a matrix, by a row of blocks. Plain C that is C++ too, and needs muster's
// headers alone: nvcc compiles it, and clang for nvptx64 without any CUDA.
#include <muster/collect.cuh>

// `workspace` has a slot for each row. Row r of `in` has `columns` numbers; blocks with y = r add them up.
MU_KERNEL row_sums(void *workspace, const float *in, mu_u32 columns, float *sums) {
  mu_group row = mu_group_x();
  mu_barrier b;
  if (mu_barrier_open(&b, workspace, &row))
    return;
  float sum = 0;
  for (mu_u64 i = mu_grid_thread_x(); i < columns; i += mu_grid_threads_x())
    sum += in[(mu_u64)row.index * columns + i];
  sum = mu_block_reduce_add_f32(sum);
  if (mu_collect_reduce_add_f32(&b, sum, &sum)) // of one number a block; every block gets it
    return;
  if (row.rank == 0 && mu_thread() == 0)
    sums[row.index] = sum;
}
