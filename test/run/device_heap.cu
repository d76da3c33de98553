// run:
// stdout: 256 lists right
// stdout: default heap: 8388608 bytes
// stdout: too large is NULL
// Memory that kernels allocate: malloc, free, new, delete, a block that outlives its launch, an exhausted
// heap.
#include "run.h"

struct node {
  struct node *next;
  int value;
};

__device__ struct node *lists[256];

__global__ void build(int length) {
  struct node *head = NULL;
  for (int i = 0; i < length; i++) {
    struct node *one = (struct node *)malloc(sizeof *one);
    one->next = head;
    one->value = i * 1000 + threadIdx.x;
    head = one;
  }
  lists[threadIdx.x + blockIdx.x * blockDim.x] = head;
}

__global__ void check_and_free(int length, int *right) {
  struct node *one = lists[threadIdx.x + blockIdx.x * blockDim.x];
  int good = 1;
  for (int i = length - 1; i >= 0; i--) {
    if (!one || one->value != i * 1000 + (int)threadIdx.x) {
      good = 0;
      break;
    }
    struct node *next = one->next;
    free(one);
    one = next;
  }
  atomicAdd(right, good && !one);
}

__global__ void limits(int *results) {
  results[0] = malloc((size_t)1 << 40) == NULL;
  int *many = new int[100];
  for (int i = 0; i < 100; i++)
    many[i] = i;
  results[1] = many[99];
  delete[] many;
  free(NULL);
  void *aligned = malloc(1);
  results[2] = ((size_t)aligned & 15) == 0;
  memset(aligned, 0, 1);
  free(aligned);
}

int main(void) {
  int *words = device_zeros<int>(4);
  build<<<4, 64>>>(10);
  check_and_free<<<4, 64>>>(10, words);
  CHECK(cudaDeviceSynchronize());
  printf("%d lists right\n", download(words));
  size_t heap;
  CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  printf("default heap: %zu bytes\n", heap);
  limits<<<1, 1>>>(words);
  CHECK(cudaDeviceSynchronize());
  EXPECT(download(words + 1) == 99);
  EXPECT(download(words + 2) == 1);
  puts(download(words) ? "too large is NULL" : "WRONG");
}
