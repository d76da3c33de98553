// device.cuh: which compiler, which architecture, which language: the only place that asks.
//
//   MU_DEVICE          1 where device code is compiled or at least parsed; 0 for a plain host compiler, which
//                      then sees the types only
//   MU_ARCH            compute capability times 10 (750, 900, ...). In the host pass of nvcc and clang, whose
//                      output holds no device code, the highest
//   MU_PTX             version of the PTX language the compiler writes, times 10; set it by hand for a clang
//                      that is told another one (-Xclang -target-feature -Xclang +ptx84: -DMU_PTX=84)
//   MU_FN              in front of every function of these headers, and of yours if you like
//   MU_KERNEL          in front of a kernel's name; it returns void and keeps its name
//   MU_BOUNDS          MU_BOUNDS(threads, blocks) behind it: it is launched with at most so many threads a
//                      block, of which so many blocks shall fit a multiprocessor
//   MU_SHARED          in front of a variable in shared memory
//   MU_SHARED_DYNAMIC  of the array whose size the launch says
//   MU_HAS_<x>         1 where instruction x exists; where it does not, either a fall-back with the same name
//                      stands in its place, or the name is not declared and its use does not compile
//   MU_ROLLED          in front of a loop that is not worth unrolling
//   MU_ASM             the compiler's word for inline PTX
//
// What MU_OWN or MU_COLD stands in front of is these headers' own, not for users.
//
// Compilers: nvcc (C++14 on), NVRTC, clang as CUDA with and without CUDA headers, clang as plain C11 for
// nvptx64. No CUDA header is needed.
#ifndef MUSTER_DEVICE_CUH
#define MUSTER_DEVICE_CUH

#include "types.h"

// (MU_FN set by hand: test/headers has every function emitted.)
#if defined(__CUDACC_RTC__) || defined(__NVCC__)
#define MU_DEVICE 1
#ifndef MU_FN
#define MU_FN __device__ static __forceinline__
#endif
#define MU_COLD __device__ static __noinline__ __attribute__((unused))
#define MU_KERNEL extern "C" __global__ void
#define MU_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define MU_SHARED static __shared__
#define MU_SHARED_DYNAMIC extern __shared__
#elif defined(__CUDA__)
#define MU_DEVICE 1
#ifndef MU_FN
#define MU_FN __attribute__((device)) static inline __attribute__((always_inline, unused))
#endif
#define MU_COLD __attribute__((device, noinline, unused)) static
#define MU_KERNEL extern "C" __attribute__((global)) void
#define MU_BOUNDS(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#define MU_SHARED static __attribute__((shared))
#define MU_SHARED_DYNAMIC extern __attribute__((shared))
#elif defined(__NVPTX__)
#define MU_DEVICE 1
#ifndef MU_FN
#define MU_FN static inline __attribute__((always_inline, unused))
#endif
#define MU_COLD static __attribute__((noinline, unused))
#define MU_KERNEL __attribute__((nvptx_kernel)) void
#define MU_BOUNDS(threads, blocks) // C has no way to say it
#define MU_SHARED static __attribute__((address_space(3)))
#define MU_SHARED_DYNAMIC extern __attribute__((address_space(3)))
#else
#define MU_DEVICE 0
#endif

#if MU_DEVICE

// NVRTC knows only this spelling, C11 only the other.
#ifdef __cplusplus
#define MU_ASM asm
#else
#define MU_ASM __asm__
#endif

#if defined(MU_ARCH)
// set by hand
#elif defined(__CUDA_ARCH__)
#define MU_ARCH __CUDA_ARCH__
#else
#define MU_ARCH 10000
#endif

#if defined(MU_PTX)
// set by hand
#elif defined(__clang__)
#define MU_PTX (MU_ARCH >= 900 ? 78 : MU_ARCH >= 800 ? 70 : MU_ARCH >= 750 ? 63 : MU_ARCH >= 700 ? 60 : 50)
#elif defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ >= 13
#define MU_PTX 90
#elif defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ == 12
#define MU_PTX (__CUDACC_VER_MINOR__ >= 4 ? 84 : 80)
#else
#define MU_PTX 78
#endif

#if MU_ARCH < 600
#error "muster's device headers need compute capability 6.0"
#endif

#define MU_HAS_ORDER (MU_ARCH >= 700) // order and scope as part of loads, stores, atomics
#define MU_HAS_MATCH (MU_ARCH >= 700) // match.any, match.all
#define MU_HAS_NANOSLEEP (MU_ARCH >= 700)
#define MU_LANES_PART \
  (MU_ARCH >= 700 && MU_PTX >= 62)      // lanes of a warp may part, and it can be asked who is here
#define MU_HAS_REDUX (MU_ARCH >= 800)   // reductions of a warp by one instruction, 32-bit integers
#define MU_HAS_CLUSTER (MU_ARCH >= 900) // clusters of blocks in hardware
#define MU_HAS_B128 (MU_ARCH >= 700 && MU_PTX >= 84)        // ordered 16-byte loads and stores
#define MU_HAS_B128_ATOMIC (MU_ARCH >= 900 && MU_PTX >= 84) // 16-byte exchange and compare-and-swap

// In front of a function that users do not call. (Set by hand, as MU_FN: mk/names.sh tells the two apart.)
#ifndef MU_OWN
#define MU_OWN MU_FN
#endif

// MU_COLD is in front of one for what seldom happens. It is called: code that is jumped over costs the
// common way some 50 ns a barrier, since instructions then come from farther away.
#define MU_SELDOM(condition) __builtin_expect(!!(condition), 0)

// In front of a loop that is not worth unrolling.
#define MU_ROLLED _Pragma("unroll 1")

#endif
#endif
