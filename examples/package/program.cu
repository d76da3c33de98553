// program.cu: the kernel of rows.cu in a CUDA program as anybody writes it: muster's headers, no library.
// Without a GPU: `muster run program`; whether it is right: `muster check program`.
#include "rows.cu"

#include <cstdio>

int main() {
  const unsigned rows = 5, columns = 3000, blocks = 4;
  float *in, *sums;
  void *workspace;
  cudaMallocManaged(&in, rows * columns * sizeof(float));
  cudaMallocManaged(&sums, rows * sizeof(float));
  cudaMalloc(&workspace, rows * MU_SLOT_BYTES(blocks));
  cudaMemset(workspace, 0, rows * MU_SLOT_BYTES(blocks));
  for (unsigned i = 0; i < rows * columns; i++)
    in[i] = (float)(i % 9);

  void *parameters[] = {&workspace, &in, (void *)&columns, &sums};
  cudaError_t error =
      cudaLaunchCooperativeKernel((void *)row_sums, dim3(blocks, rows), dim3(96), parameters, 0, 0);
  if (error == cudaSuccess)
    error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    std::fprintf(stderr, "program: %s\n", cudaGetErrorString(error));
    return 1;
  }
  bool wrong = false;
  for (unsigned row = 0; row < rows; row++) {
    float expected = 0;
    for (unsigned i = 0; i < columns; i++)
      expected += in[row * columns + i];
    wrong |= sums[row] != expected;
  }
  std::printf("program: %u sums %s\n", rows, wrong ? "WRONG" : "right");
  return wrong;
}
