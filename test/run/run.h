// run.h: what the programs of this folder share. They are ordinary CUDA programs: nothing here knows muster.
#ifndef RUN_H
#define RUN_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A call that has to succeed.
#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t error_ = (call);                                                      \
    if (error_ != cudaSuccess) {                                                      \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_)); \
      exit(1);                                                                        \
    }                                                                                 \
  } while (0)

// A condition that has to hold.
#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                       \
    }                                                                \
  } while (0)

// A call that has to fail with one certain error.
#define FAILS(call, expected)                                                                      \
  do {                                                                                             \
    cudaError_t error_ = (call);                                                                   \
    if (error_ != (expected)) {                                                                    \
      printf("%s:%d: %s: %s, should be %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_), \
             cudaGetErrorName(expected));                                                          \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

template <typename T> static inline T *device_zeros(size_t count) {
  T *memory;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

template <typename T> static inline T download(const T *from) {
  T value;
  CHECK(cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

#endif
