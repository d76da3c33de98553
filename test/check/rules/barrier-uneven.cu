// A barrier of the whole grid is for every block, as often: a loop whose length depends on the block calls it
// unevenly.
// also: deadlock-spin
__global__ void broken(int *out) {
  for (unsigned i = 0; i < 2 + blockIdx.x; i++) {
    out[blockIdx.x] = i;
    cooperative_groups::this_grid().sync();
  }
}
__global__ void fixed(int *out) {
  for (unsigned i = 0; i < 2 + gridDim.x; i++) {
    if (i < 2 + blockIdx.x)
      out[blockIdx.x] = i;
    cooperative_groups::this_grid().sync();
  }
}
LAUNCH_COOPERATIVE(2, 1)
