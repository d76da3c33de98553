// run: quiet
// exit: 125
// stderr~ ^muster: .*(wmma|mma)
// cpu: a GPU runs it
// run: loud
// exit: 3
// stderr~ ^muster: .*(wmma|mma)
// cpu: a GPU runs it
// An instruction that the CPU device does not model: refused by its name, never skipped. A program that ends
// as if all were well then ends with 125.
#include "run.h"
#include <mma.h>

__global__ void multiply(half *a, half *b, float *c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, b, 16);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main(int argc, char **argv) {
  half *words = device_zeros<half>(1024);
  multiply<<<1, 32>>>(words, words + 256, (float *)(words + 512));
  cudaError_t error = cudaDeviceSynchronize();
  return argc > 1 && !strcmp(argv[1], "loud") && error != cudaSuccess ? 3 : 0;
}
