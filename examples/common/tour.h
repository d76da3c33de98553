// tour.h: what every program of the tour shares: arguments, error check, verdict, figures.
//
// A program of the tour is one file: its kernels first, its host part under `#ifdef TOUR_HOST` (or in a .c
// file of the same name). The kernels are C: nvcc compiles them, and so does clang as plain C for nvptx64
// with no CUDA header (cuda_c.h); that compilation sees no host part.
//
// A program verifies its result against a serial reference and ends with 0 (verified), 1 (wrong result or
// failed CUDA call), 2 (usage) or 77 (no CUDA device). A kernel that runs for more than 20 seconds, or those
// of TOUR_DEADLINE in the environment, counts as hanging: a failed call. With --time it also measures and
// prints lines `figure KEY VALUE UNIT`, which ./dev gpu-bench collects.
#ifndef TOUR_H
#define TOUR_H

#if defined(__NVPTX__) && !defined(__CUDA__)
#include "cuda_c.h"
#else
#define TOUR_HOST 1
#include "host.h"
#endif

// Kernels have their plain names, whether nvcc or clang made them: a C host launches them by those.
#ifdef __cplusplus
#define TOUR_C extern "C"
#else
#define TOUR_C
#endif

// Dynamic shared memory: TOUR_DYNAMIC_SHARED(float, name); then name[i].
#ifdef __CUDACC__
#define TOUR_DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#elif defined(__NVPTX__)
#define TOUR_DYNAMIC_SHARED(type, name) extern __attribute__((address_space(3))) type name[]
#endif

// A hash of an index: inputs that differ in every bit, the same on host and device.
#ifdef __CUDACC__
__host__ __device__
#endif
    static inline unsigned
    tour_hash(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

#endif
