// run:
// stdout: initialised 42 3.5 hello 7
// stdout: to and from symbols
// stdout: managed by both sides
// Variables of a module: initialised, constant, managed, pointers to other variables; copies by symbol.
#include "run.h"

__device__ int answer = 42;
__device__ float numbers[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__constant__ char words[16] = "hello";
__constant__ int table[256];
__device__ int *pointer = &answer;
__managed__ int shared_by_both = 7;
__managed__ int row[1000];
__device__ unsigned char untouched[4096];

__global__ void show(void) {
  printf("initialised %d %g %s %d\n", *pointer, numbers[3], words, shared_by_both);
}

__global__ void sum_table(int *out) {
  atomicAdd(out, table[threadIdx.x]);
}

__global__ void fill(void) {
  for (int i = threadIdx.x; i < 1000; i += blockDim.x)
    row[i] += i;
  if (threadIdx.x == 0)
    shared_by_both++;
}

int main(void) {
  show<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());

  int values[256], total = 0, part[4];
  for (int i = 0; i < 256; i++)
    total += values[i] = i * i;
  int *out = device_zeros<int>(1);
  CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
  sum_table<<<1, 256>>>(out);
  EXPECT(download(out) == total);
  CHECK(cudaMemcpyToSymbol(table, values, 16, 32)); // the first four to the places 8 to 11
  CHECK(cudaMemcpyFromSymbol(part, table, 16, 28));
  EXPECT(part[0] == 49 && part[1] == 0 && part[2] == 1 && part[3] == 4);
  void *address;
  size_t bytes;
  CHECK(cudaGetSymbolAddress(&address, numbers));
  CHECK(cudaGetSymbolSize(&bytes, numbers));
  EXPECT(bytes == 16);
  float back[4];
  CHECK(cudaMemcpy(back, address, 16, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 0.5f && back[3] == 3.5f);
  CHECK(cudaGetSymbolAddress(&address, untouched));
  CHECK(cudaMemset(address, 3, 4096));
  unsigned char byte;
  CHECK(cudaMemcpyFromSymbolAsync(&byte, untouched, 1, 4095, cudaMemcpyDeviceToHost, 0));
  CHECK(cudaDeviceSynchronize());
  EXPECT(byte == 3);
  puts("to and from symbols");

  row[999] = 1000;
  fill<<<1, 64>>>();
  CHECK(cudaDeviceSynchronize());
  EXPECT(row[999] == 1999 && row[5] == 5 && shared_by_both == 8);
  shared_by_both = 1;
  fill<<<1, 64>>>();
  CHECK(cudaDeviceSynchronize());
  EXPECT(row[5] == 10 && shared_by_both == 2);
  puts("managed by both sides");
}
